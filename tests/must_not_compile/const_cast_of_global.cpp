#include <planegate/simt/dialect.h>

#if defined(PLANEGATE_BAD)
using Word = uint32_t;
#else
using Word = const uint32_t;
#endif

auto words(planegate::simt::GlobalPtr<const std::byte> plane) {
  return plane.cast<Word>();
}
