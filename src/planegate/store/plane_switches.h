#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planegate {

/// Which planes are switched off, and who said so. A plane that nobody names is on.
///
/// Text form, in the option `--use` and the environment variable PLANEGATE_USE:
/// `w_exp=off,w_dsc=on`. What is set later wins.
class PlaneSwitches {
 public:
  static constexpr const char* kEnvironment = "PLANEGATE_USE";

  /// What the environment says; nothing where the variable is not set.
  /// @throws ContractError as set().
  static PlaneSwitches from_environment();

  /// Applies `text`; `source` is what reasons name: `--use`, `PLANEGATE_USE`.
  /// @throws ContractError for an entry that is not PLANE=on or PLANE=off; nothing is then applied.
  void set(std::string_view text, const std::string& source);

  /// `plane w_exp is off by choice (--use w_exp=off)`; nullopt where the plane is on.
  std::optional<std::string> off(const std::string& plane) const;
  /// Every plane that was named, for a check against the known ones.
  std::vector<std::string> named() const;

 private:
  std::map<std::string, std::pair<bool, std::string>> planes_;  ///< on, and who said so
};

}  // namespace planegate
