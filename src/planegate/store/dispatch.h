#pragma once

#include <string>
#include <vector>

#include <planegate/core/catalog.h>
#include <planegate/store/plane_store.h>
#include <planegate/store/plane_switches.h>

namespace planegate {

/// Whether the preferred consumer runs; if not, whether somebody chose that.
enum class Path : uint8_t { kOn, kOffByChoice, kFallback };

/// The consumer that Dispatch chose, and why.
struct Choice {
  const ConsumerSpec* consumer = nullptr;  ///< null when none can run
  Path path = Path::kFallback;
  /// Why each consumer before the chosen one was passed over: `w_exp/cp_async: plane w_exp is not
  /// registered`, `...: plane w_exp is off by choice (--use w_exp=off)`, `...: needs id a multiple
  /// of 256`, `...: does not run on cuda`.
  std::vector<std::string> reasons;

  /// `on: w_exp/cp_async` | `off by choice: raw/expand (w_exp/cp_async: ...)` |
  /// `fallback: raw/expand (w_exp/cp_async: ...)` | `none (...)`.
  std::string text() const;
};

/// Why `consumer` cannot run on this tensor's planes; nullopt when it can.
std::optional<std::string> refusal(const ConsumerSpec& consumer, const PlaneStore& store,
                                   const std::string& weights, const std::string& activations,
                                   const Shape& shape);

/// The first of `preference` that can run: planes registered and not switched off, preconditions
/// hold, device fits. `off by choice` when nothing but switches stood in the way of the others.
Choice dispatch(const std::vector<const ConsumerSpec*>& preference, const PlaneStore& store,
                const std::string& weights, const std::string& activations, const Shape& shape,
                const PlaneSwitches& switches = {});

/// The request that launches `consumer` on the registered planes.
/// @throws ContractError with refusal()'s reason.
LaunchRequest request(const ConsumerSpec& consumer, const PlaneStore& store,
                      const std::string& weights, const std::string& activations,
                      const Shape& shape);

}  // namespace planegate
