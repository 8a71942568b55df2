#include <fmt/format.h>

#include <planegate/core/errors.h>

namespace planegate {

ContractError::ContractError(std::string_view argument, std::string_view value,
                             std::string_view requirement)
    : std::invalid_argument(fmt::format("{}={}: {}", argument, value, requirement)),
      argument_(argument) {}

void require(bool holds, std::string_view argument, long long value, std::string_view requirement) {
  if (!holds) throw ContractError(argument, std::to_string(value), requirement);
}

}  // namespace planegate
