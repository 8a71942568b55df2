#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace planegate {

/// Finds names by a sorted list of their indices.
///
/// A file may hold a million names that somebody chose: the time is n log n whatever they are (in
/// a hash table names made to collide cost n^2), the memory 8 bytes a name. The names stay with
/// their owner: `name(i)` is the i-th one, the same in every call.
class NameOrder {
 public:
  struct Repeat {
    size_t earlier, later;
  };

  /// Takes `size` names. @return the first name in their order that an earlier one equals.
  template <class Name>
  std::optional<Repeat> sort(size_t size, const Name& name) {
    std::vector<std::pair<std::string_view, size_t>> sorted(size);
    for (size_t i = 0; i < size; ++i) sorted[i] = {name(i), i};
    std::sort(sorted.begin(), sorted.end());
    order_.resize(size);
    std::optional<Repeat> first;
    for (size_t i = 0; i < size; ++i) {
      order_[i] = sorted[i].second;
      if (i == 0 || sorted[i].first != sorted[i - 1].first) continue;
      if (!first || order_[i] < first->later) first = Repeat{order_[i - 1], order_[i]};
    }
    return first;
  }

  template <class Name>
  std::optional<size_t> find(std::string_view wanted, const Name& name) const {
    const auto found =
        std::lower_bound(order_.begin(), order_.end(), wanted,
                         [&](size_t i, std::string_view text) { return name(i) < text; });
    if (found == order_.end() || name(*found) != wanted) return std::nullopt;
    return *found;
  }

 private:
  std::vector<size_t> order_;
};

}  // namespace planegate
