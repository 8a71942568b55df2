#include <new>

#include <sys/mman.h>

#include <planegate/simt/fiber.h>

#if defined(PLANEGATE_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace planegate::simt {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kColours = 16;
constexpr size_t kColourStepBytes = 1088;

size_t mapped_bytes(int lanes) {
  return static_cast<size_t>(lanes) * kStackBytes;
}

}  // namespace

FiberStacks::~FiberStacks() {
  if (memory_ != nullptr) munmap(memory_, mapped_bytes(lanes_));
}

void FiberStacks::reserve(int lanes) {
  if (lanes <= lanes_) {
#if defined(PLANEGATE_ASAN)
    // Abandoned lanes leave the poison of their frames behind.
    for (int lane = 0; lane < lanes; ++lane) {
      __asan_unpoison_memory_region(bottom(lane), kStackBytes - kPageBytes);
    }
#endif
    return;
  }
  if (memory_ != nullptr) munmap(memory_, mapped_bytes(lanes_));
  lanes_ = 0;
  void* memory = mmap(nullptr, mapped_bytes(lanes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    memory_ = nullptr;
    throw std::bad_alloc();
  }
  memory_ = static_cast<std::byte*>(memory);
  lanes_ = lanes;
  for (int lane = 0; lane < lanes; ++lane) {
    if (mprotect(bottom(lane) - kPageBytes, kPageBytes, PROT_NONE) != 0) throw std::bad_alloc();
  }
}

std::byte* FiberStacks::bottom(int lane) const {
  return memory_ + static_cast<size_t>(lane) * kStackBytes + kPageBytes;
}

std::byte* FiberStacks::top(int lane) const {
  const size_t colour = static_cast<size_t>(lane) % kColours;
  return bottom(lane) + (kStackBytes - kPageBytes) - colour * kColourStepBytes / 64 * 64;
}

#if defined(PLANEGATE_ASAN)
void SwitchNotes::leave(const void* next_bottom, size_t next_bytes) {
  __sanitizer_start_switch_fiber(&fake_stack_, next_bottom, next_bytes);
}
void SwitchNotes::arrive(const void** bottom, size_t* bytes) {
  __sanitizer_finish_switch_fiber(fake_stack_, bottom, bytes);
}
void note_first_arrival(const void** bottom, size_t* bytes) {
  __sanitizer_finish_switch_fiber(nullptr, bottom, bytes);
}
#else
void SwitchNotes::leave(const void*, size_t) {}
void SwitchNotes::arrive(const void**, size_t*) {}
void note_first_arrival(const void**, size_t*) {}
#endif

}  // namespace planegate::simt
