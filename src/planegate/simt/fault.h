#pragma once

#include <stdexcept>
#include <string>

namespace planegate::simt {

/// A rule of the execution model that a kernel broke on the host executor.
enum class FaultKind {
  kRace,                 ///< shared word touched by two lanes with no barrier between
  kUninitialisedShared,  ///< shared word read before anything wrote it in this block
  kAsyncNotWaited,       ///< destination of a copy touched before it was waited for, or at the end
  kNotFenced,            ///< wgmma or bulk copy with no fence that shows it what it uses
  kWgmmaNotWaited,       ///< a lane ended with wgmma in flight
  kEndlessWait,          ///< a phase that nothing completes is waited for
  kDivergentBarrier,     ///< not all threads of a block reach the same barrier
  kDivergentCollective,  ///< not all lanes of a warp reach the same warp operation
  kMisaligned,           ///< access not aligned to its width
  kOutOfBounds,          ///< access outside its buffer, guard zones included
};

const char* text(FaultKind kind);

/// Names block, thread and place: `race: block 0, thread 37 (warp 1, lane 5) reads shared byte 512,
/// which thread 4 wrote since the last barrier`.
class SimtFault : public std::runtime_error {
 public:
  SimtFault(FaultKind kind, const std::string& what)
      : std::runtime_error(std::string(text(kind)) + ": " + what), kind_(kind) {}

  FaultKind kind() const { return kind_; }

 private:
  FaultKind kind_;
};

}  // namespace planegate::simt
