#include "mutants/plane_edits.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/devices/device.h>

namespace planegate::mutants {
namespace {

using Plane = std::vector<std::byte>;

const Field& field_of(const Contract& contract, const std::string& name) {
  for (const Field& field : contract.fields) {
    if (field.name == name) return field;
  }
  throw ContractError("field", name, "of " + contract.name);
}

Plane copy_of(ConstBytes plane) {
  return Plane(plane.begin(), plane.end());
}

uint32_t mask_of(int bits) {
  return bits == 32 ? ~uint32_t{0} : (uint32_t{1} << bits) - 1;
}

}  // namespace

Values::Values(const Contract& contract, const Shape& shape, const std::string& name)
    : bits_(0),
      lines_(contract.role == Role::kWeights ? shape.od() : shape.nt()),
      elems_(shape.id()),
      step_(1) {
  const Field& field = field_of(contract, name);
  layout_ = flatten(field.layout, shape);
  bits_ = field.bits;
  step_ = elems_per_value(field);
}

uint32_t Values::get(ConstBytes plane, Place at) const {
  require(at.line >= 0 && at.line < lines_ && at.k >= 0 && at.k < elems_, "k", at.k,
          fmt::format("a place of the tensor, line {}", at.line));
  const int64_t bits = layout_.offset_bits(at.line, at.k);
  uint32_t word = 0;
  std::memcpy(&word, plane.data() + bits / 8, static_cast<size_t>((bits_ + 7) / 8));
  return word >> (bits % 8) & mask_of(bits_);
}

void Values::set(Bytes plane, Place at, uint32_t value) const {
  const int64_t bits = layout_.offset_bits(at.line, at.k);
  const auto bytes = static_cast<size_t>((bits_ + 7) / 8);
  uint32_t word = 0;
  std::memcpy(&word, plane.data() + bits / 8, bytes);
  const uint32_t mask = mask_of(bits_) << (bits % 8);
  word = (word & ~mask) | (value << (bits % 8) & mask);
  std::memcpy(plane.data() + bits / 8, &word, bytes);
}

PlaneEdit moved(const Contract& contract, std::string field, Source source) {
  return [&contract, field = std::move(field), source](const RawTensor& raw, Bytes plane) {
    const Values values(contract, raw.shape, field);
    const Plane good = copy_of(plane);
    values.for_each(
        [&](Place at) { values.set(plane, at, values.get(good, source(at, raw.shape))); });
  };
}

PlaneEdit crossed(const Contract& contract, std::string field, int64_t mask) {
  return moved(contract, std::move(field), [mask](Place at, const Shape&) {
    return Place{at.line, at.k ^ mask};
  });
}

PlaneEdit valued(const Contract& contract, std::string field,
                 std::function<uint32_t(uint32_t)> change) {
  return [&contract, field = std::move(field), change](const RawTensor& raw, Bytes plane) {
    const Values values(contract, raw.shape, field);
    values.for_each([&](Place at) { values.set(plane, at, change(values.get(plane, at))); });
  };
}

PlaneEdit recomputed(const Contract& contract, std::string field,
                     std::function<uint32_t(const RawTensor&, Place)> value) {
  return [&contract, field = std::move(field), value](const RawTensor& raw, Bytes plane) {
    const Values values(contract, raw.shape, field);
    values.for_each([&](Place at) { values.set(plane, at, value(raw, at)); });
  };
}

PlaneEdit placed(const Contract& contract, std::string field, Offset offset_bytes) {
  return [&contract, field = std::move(field), offset_bytes](const RawTensor& raw, Bytes plane) {
    const Values values(contract, raw.shape, field);
    const auto bytes = static_cast<size_t>(field_of(contract, field).bits / 8);
    const Plane good = copy_of(plane);
    std::fill(plane.begin(), plane.end(), kPoison);
    values.for_each([&](Place at) {
      const auto to = static_cast<size_t>(offset_bytes(at, raw.shape));
      const uint32_t value = values.get(good, at);
      if (to + bytes <= plane.size()) std::memcpy(plane.data() + to, &value, bytes);
    });
  };
}

PlaneEdit relaid(const Contract& contract, std::string field,
                 std::function<void(FlatLayout&, const Shape&)> change) {
  return [&contract, field = std::move(field), change](const RawTensor& raw, Bytes plane) {
    FlatLayout layout = flatten(field_of(contract, field).layout, raw.shape);
    change(layout, raw.shape);
    placed(contract, field, [&](Place at, const Shape&) {
      return layout.offset_bits(at.line, at.k) / 8;
    })(raw, plane);
  };
}

PlaneEdit lines_from(const Contract& contract, std::function<int64_t(int64_t, int64_t)> source) {
  return [&contract, source](const RawTensor& raw, Bytes plane) {
    const int64_t lines = contract.role == Role::kWeights ? raw.shape.od() : raw.shape.nt();
    for (const Field& field : contract.fields) {
      moved(contract, field.name, [&](Place at, const Shape&) {
        return Place{source(at.line, lines), at.k};
      })(raw, plane);
    }
  };
}

PlaneEdit padded_with(const Contract& contract, std::byte value) {
  return [&contract, value](const RawTensor& raw, Bytes plane) {
    for (size_t i = 0; i < plane.size(); ++i) {
      if (!locate(contract, raw.shape, static_cast<int64_t>(i))) plane[i] = value;
    }
  };
}

PlaneEdit early_by(int64_t by) {
  return [by](const RawTensor&, Bytes plane) {
    std::copy(plane.begin() + by, plane.end(), plane.begin());
    std::fill(plane.end() - by, plane.end(), kPoison);
  };
}

void plant_edit(Catalog& catalog, const std::string& plane, const PlaneEdit& edit,
                bool behind_mirror) {
  const auto behind = [&edit](const PlaneWriter& write) -> PlaneWriter {
    return [write, edit](const RawTensor& raw, Bytes out) {
      write(raw, out);
      edit(raw, out);
    };
  };
  ProducerSpec producer = *catalog.producer(plane);
  producer.write = behind(producer.write);
  if (behind_mirror) {
    MirrorSpec mirror = catalog.mirror(*producer.plane);
    mirror.write = behind(mirror.write);
    catalog.replace(std::move(mirror));
  }
  catalog.replace(std::move(producer));
}

void plant_sample(Catalog& catalog, const std::string& format,
                  std::function<void(const Shape&, Bytes)> edit) {
  FormatOracle oracle = *catalog.format(format);
  oracle.sample = [sample = oracle.sample, edit = std::move(edit)](const Shape& shape,
                                                                   uint64_t seed, Bytes tensor) {
    sample(shape, seed, tensor);
    edit(shape, tensor);
  };
  catalog.replace(std::move(oracle));
}

gates::Arm producer_arm(const char* plane, const char* consumer, const ProducerFault& fault) {
  gates::Arm arm;
  arm.name = fmt::format("producer: {} {}", plane, fault.name);
  arm.bug_class = fault.bug_class;
  arm.plane = plane;
  arm.consumer = consumer;
  arm.shape = fault.shape;
  arm.expected = gates::kMirrorRed;
  arm.must_name = fault.must_name;
  arm.plant = [name = std::string(plane), edit = fault.edit](Catalog& catalog) {
    plant_edit(catalog, name, edit);
  };
  return arm;
}

}  // namespace planegate::mutants
