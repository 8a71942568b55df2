#include <planegate/simt/dialect.h>

#if defined(PLANEGATE_BAD)
using Word = const uint32_t;
#else
using Word = uint32_t;
#endif

void write(planegate::simt::GlobalPtr<Word> at) {
  at.store(0, 1u);
}
