#pragma once

#include <cstddef>

#include <boost/context/detail/fcontext.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define PLANEGATE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PLANEGATE_ASAN 1
#endif
#endif

namespace planegate::simt {

#if defined(PLANEGATE_ASAN)
inline constexpr size_t kStackBytes = size_t{512} << 10;
#else
inline constexpr size_t kStackBytes = size_t{64} << 10;
#endif

/// Lane stacks of one host thread, with guard pages, reused from block to block.
///
/// The low-level interface of Boost.Context is used because lanes of a failed block are abandoned
/// where they stand: boost::context::fiber would unwind them instead.
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
  std::byte* memory_ = nullptr;
  int lanes_ = 0;
};

/// Tells AddressSanitizer about one switch: leave() before the jump, arrive() after it.
class SwitchNotes {
 public:
  void leave(const void* next_bottom, size_t next_bytes);
  /// `bottom` and `bytes` receive the stack that was left.
  void arrive(const void** bottom, size_t* bytes);

 private:
  void* fake_stack_ = nullptr;
};

/// On the first instruction of a fresh fiber.
void note_first_arrival(const void** bottom, size_t* bytes);

}  // namespace planegate::simt
