#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace planegate {

/// A caller broke a precondition: which argument, its value, what was required.
///
/// Text: `id=640: not a multiple of 256`. Thrown before any launch or write.
class ContractError : public std::invalid_argument {
 public:
  ContractError(std::string_view argument, std::string_view value, std::string_view requirement);

  const std::string& argument() const noexcept { return argument_; }

 private:
  std::string argument_;
};

/// Throws ContractError unless `holds`.
void require(bool holds, std::string_view argument, long long value, std::string_view requirement);

}  // namespace planegate
