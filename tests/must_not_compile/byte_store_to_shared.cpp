#include <planegate/simt/dialect.h>

#if defined(PLANEGATE_BAD)
using Value = uint8_t;
#else
using Value = uint32_t;
#endif

void write(planegate::simt::SharedPtr<Value> at) {
  at.store(0, Value{1});
}
