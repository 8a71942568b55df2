#include <algorithm>
#include <numeric>

#include <planegate/core/catalog.h>
#include <planegate/core/errors.h>

namespace planegate {
namespace {

template <class T, class Key>
const T* find_by(const std::vector<T>& all, Key key, std::string_view wanted) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const T& t) { return key(t) == wanted; });
  return found == all.end() ? nullptr : &*found;
}

const auto kPlaneName = [](const auto& spec) { return std::string_view(spec.plane->name); };
const auto kFormatName = [](const FormatOracle& o) { return std::string_view(o.format); };
const auto kConsumerName = [](const ConsumerSpec& c) { return std::string_view(c.name); };
const auto kMakerName = [](const DeviceProducerSpec& p) { return std::string_view(p.name); };

template <class T, class Key>
void add_unique(std::vector<T>& all, T spec, Key key, const char* what) {
  if (find_by(all, key, key(spec)) != nullptr) {
    throw ContractError(what, key(spec), "already registered");
  }
  all.push_back(std::move(spec));
}

template <class T, class Key>
void replace_by(std::vector<T>& all, T spec, Key key, const char* what) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const T& t) { return key(t) == key(spec); });
  if (found == all.end()) throw ContractError(what, key(spec), "not registered");
  *found = std::move(spec);
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

void Catalog::add(ProducerSpec producer) {
  add_unique(producers_, std::move(producer), kPlaneName, "producer of plane");
}
void Catalog::add(MirrorSpec mirror) {
  add_unique(mirrors_, std::move(mirror), kPlaneName, "mirror of plane");
}
void Catalog::add(FormatOracle oracle) {
  add_unique(formats_, std::move(oracle), kFormatName, "format");
}
void Catalog::add(ConsumerSpec consumer) {
  add_unique(consumers_, std::move(consumer), kConsumerName, "consumer");
}

void Catalog::add(DeviceProducerSpec producer) {
  add_unique(device_producers_, std::move(producer), kMakerName, "device producer");
}

void Catalog::replace(ProducerSpec producer) {
  replace_by(producers_, std::move(producer), kPlaneName, "producer of plane");
}
void Catalog::replace(MirrorSpec mirror) {
  replace_by(mirrors_, std::move(mirror), kPlaneName, "mirror of plane");
}
void Catalog::replace(FormatOracle oracle) {
  replace_by(formats_, std::move(oracle), kFormatName, "format");
}
void Catalog::replace(ConsumerSpec consumer) {
  replace_by(consumers_, std::move(consumer), kConsumerName, "consumer");
}
void Catalog::replace(DeviceProducerSpec producer) {
  replace_by(device_producers_, std::move(producer), kMakerName, "device producer");
}

std::vector<const Contract*> Catalog::planes() const {
  std::vector<const Contract*> planes;
  for (const ProducerSpec& producer : producers_) planes.push_back(producer.plane);
  return planes;
}

const FormatOracle* Catalog::format(std::string_view name) const {
  return find_by(formats_, kFormatName, name);
}
const FormatOracle& Catalog::activations() const {
  for (const FormatOracle& format : formats_) {
    if (format.role == Role::kActivations) return format;
  }
  throw ContractError("activations", "none", "a registered activation format");
}

const ConsumerSpec* Catalog::consumer(std::string_view name) const {
  return find_by(consumers_, kConsumerName, name);
}
std::vector<const ConsumerSpec*> Catalog::preference(std::string_view format,
                                                     const Shape& shape) const {
  std::vector<const ConsumerSpec*> found;
  for (const ConsumerSpec& consumer : consumers_) {
    const bool meant = consumer.meant_for == nullptr || consumer.meant_for(shape);
    if (consumer.format == format && meant) found.push_back(&consumer);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const ConsumerSpec* a, const ConsumerSpec* b) { return a->rank < b->rank; });
  return found;
}

const ProducerSpec* Catalog::producer(std::string_view plane) const {
  return find_by(producers_, kPlaneName, plane);
}

const MirrorSpec& Catalog::mirror(const Contract& plane) const {
  const MirrorSpec* mirror = find_by(mirrors_, kPlaneName, plane.name);
  if (mirror == nullptr) throw ContractError("plane", plane.name, "has no mirror in the oracle");
  return *mirror;
}

std::vector<std::string> nearest(std::string_view wanted, const std::vector<std::string>& names) {
  std::vector<std::string> sorted = names;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
    return edit_distance(wanted, a) < edit_distance(wanted, b);
  });
  sorted.resize(std::min<size_t>(sorted.size(), 3));
  return sorted;
}

}  // namespace planegate
