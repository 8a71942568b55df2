#include <cstdint>
#include <cstring>
#include <new>

#include <sys/mman.h>

#include <planegate/simt/fiber.h>

#if !defined(PLANEGATE_INLINE_SWITCH)
#include <boost/context/detail/fcontext.hpp>
#endif

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
  release();
}

void FiberStacks::release() noexcept {
  if (memory_ == nullptr) return;
#if defined(PLANEGATE_ASAN)
  // Whoever gets these addresses next must not find the poison of frames that were.
  __asan_unpoison_memory_region(memory_, mapped_bytes(lanes_));
#endif
  munmap(memory_, mapped_bytes(lanes_));
  memory_ = nullptr;
  lanes_ = 0;
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
  release();
  void* memory = mmap(nullptr, mapped_bytes(lanes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
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

#if defined(PLANEGATE_INLINE_SWITCH)

FiberContext make_fiber(std::byte*, std::byte* top, FiberEntry entry) {
  // As if called: a return address of zero where unwinders end, the stack 8 bytes off 16.
  std::byte* stack = top - reinterpret_cast<uintptr_t>(top) % 16 - 24;
  std::memset(stack, 0, 24);
  return {stack, nullptr, reinterpret_cast<const void*>(entry)};
}

#else
namespace {

using boost::context::detail::transfer_t;

struct Switch {
  FiberContext* from;
  FiberContext* to;
};

void leave(Switch& pair) {
#if defined(PLANEGATE_ASAN)
  __sanitizer_start_switch_fiber(&pair.from->fake_stack, pair.to->bottom, pair.to->stack_bytes);
#else
  static_cast<void>(pair);
#endif
}

const Switch& arrive(transfer_t arrival) {
  const Switch& pair = *static_cast<const Switch*>(arrival.data);
  pair.from->handle = arrival.fctx;
#if defined(PLANEGATE_ASAN)
  __sanitizer_finish_switch_fiber(pair.to->fake_stack, &pair.from->bottom, &pair.from->stack_bytes);
#endif
  return pair;
}

void first_arrival(transfer_t arrival) {
  arrive(arrival).to->entry();
}

}  // namespace

void switch_fiber(FiberContext& from, FiberContext& to) {
  Switch pair{&from, &to};
  leave(pair);
  arrive(boost::context::detail::jump_fcontext(to.handle, &pair));
}

FiberContext make_fiber(std::byte* bottom, std::byte* top, FiberEntry entry) {
  const auto bytes = static_cast<size_t>(top - bottom);
  return {boost::context::detail::make_fcontext(top, bytes, first_arrival), entry, nullptr, bottom,
          bytes};
}

#endif

}  // namespace planegate::simt
