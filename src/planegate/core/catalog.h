#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <planegate/core/specs.h>

namespace planegate {

/// Everything that was registered: what the gates, the sweeps and the command work through.
///
/// A format registers its stems once (catalog/); a consumer or plane of a user's own likewise.
class Catalog {
 public:
  /// Each throws ContractError for a name that is already taken.
  void add(ProducerSpec producer);
  void add(MirrorSpec mirror);
  void add(FormatOracle oracle);
  void add(ConsumerSpec consumer);
  void add(DeviceProducerSpec producer);

  /// Puts a spec in the place of the registered one of the same name: a fault planted, a consumer
  /// tuned. @throws ContractError when there is none.
  void replace(ProducerSpec producer);
  void replace(MirrorSpec mirror);
  void replace(FormatOracle oracle);
  void replace(ConsumerSpec consumer);
  void replace(DeviceProducerSpec producer);

  const std::vector<ProducerSpec>& producers() const { return producers_; }
  const std::vector<ConsumerSpec>& consumers() const { return consumers_; }
  const std::vector<DeviceProducerSpec>& device_producers() const { return device_producers_; }
  const std::vector<FormatOracle>& formats() const { return formats_; }

  /// The planes that have a producer, in order of registration.
  std::vector<const Contract*> planes() const;
  /// Null when there is none.
  const FormatOracle* format(std::string_view name) const;
  /// The one format of activations. @throws ContractError when none is registered.
  const FormatOracle& activations() const;
  const ConsumerSpec* consumer(std::string_view name) const;
  /// The consumers of `format` that are meant for `shape`, best first.
  std::vector<const ConsumerSpec*> preference(std::string_view format, const Shape& shape) const;
  const ProducerSpec* producer(std::string_view plane) const;
  /// @throws ContractError when the plane has no mirror.
  const MirrorSpec& mirror(const Contract& plane) const;

 private:
  std::vector<ProducerSpec> producers_;
  std::vector<MirrorSpec> mirrors_;
  std::vector<FormatOracle> formats_;
  std::vector<ConsumerSpec> consumers_;
  std::vector<DeviceProducerSpec> device_producers_;
};

/// Up to three of `names`, nearest to `wanted` by edit distance.
std::vector<std::string> nearest(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace planegate
