#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define PLANEGATE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PLANEGATE_ASAN 1
#endif
#endif

#if defined(__x86_64__) && !defined(PLANEGATE_ASAN)
#define PLANEGATE_INLINE_SWITCH 1
#endif

namespace planegate::simt {

#if defined(PLANEGATE_ASAN)
inline constexpr size_t kStackBytes = size_t{512} << 10;
#else
inline constexpr size_t kStackBytes = size_t{64} << 10;
#endif

/// Lane stacks of one host thread, with guard pages, reused from block to block.
class FiberStacks {
 public:
  FiberStacks() = default;
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  /// At least `lanes` stacks. @throws std::bad_alloc
  void reserve(int lanes);
  /// One past the highest byte of a lane's stack. Tops are spread over cache sets.
  std::byte* top(int lane) const;
  std::byte* bottom(int lane) const;

 private:
  void release() noexcept;

  std::byte* memory_ = nullptr;
  int lanes_ = 0;
};

/// What a fiber starts with; it never returns.
using FiberEntry = void (*)();

#if defined(PLANEGATE_INLINE_SWITCH)

/// Where a suspended fiber goes on.
///
/// On x86-64 the switch stands inline in its caller: behind a called switch no return address is
/// where the processor predicts it, which costs more than the switch itself. Elsewhere, and under
/// AddressSanitizer, Boost.Context switches (its low-level interface: lanes of a failed block are
/// abandoned where they stand, boost::context::fiber would unwind them).
struct FiberContext {
  void* stack = nullptr;
  void* frame = nullptr;
  const void* resume = nullptr;
};

/// Suspends the running fiber in `from` and resumes `to`. Rounding modes are not switched.
[[gnu::always_inline]] inline void switch_fiber(FiberContext& from, const FiberContext& to) {
  FiberContext* leave = &from;
  const FiberContext* enter = &to;
  // Nothing is pushed: the caller's red zone may hold data. What lives across goes into the frame.
  asm volatile(
      "leaq 1f(%%rip), %%rdx\n\t"
      "movq %%rsp, 0(%0)\n\t"
      "movq %%rbp, 8(%0)\n\t"
      "movq %%rdx, 16(%0)\n\t"
      "movq 0(%1), %%rsp\n\t"
      "movq 8(%1), %%rbp\n\t"
      "jmpq *16(%1)\n"
      "1:"
      : "+a"(leave), "+c"(enter)
      :
      : "rbx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15",
#if defined(__AVX512F__)
        "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",
        "k7",
#endif
        "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "memory", "cc");
}

#else

struct FiberContext {
  void* handle = nullptr;
  FiberEntry entry = nullptr;
  void* fake_stack = nullptr;    ///< AddressSanitizer's
  const void* bottom = nullptr;  ///< of the stack, for AddressSanitizer
  size_t stack_bytes = 0;
};

void switch_fiber(FiberContext& from, FiberContext& to);

#endif

/// A fiber that will begin with `entry` on the stack [bottom, top).
FiberContext make_fiber(std::byte* bottom, std::byte* top, FiberEntry entry);

}  // namespace planegate::simt
