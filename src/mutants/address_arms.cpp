#include <algorithm>

#include <fmt/format.h>

#include "catalog/catalog.h"
#include "gates/address_mutations.h"
#include "kernels/q6_k/known_bad/by_layout.h"
#include "mutants/mutants.h"

namespace planegate::mutants {
namespace {

/// Three of each outermost digit tell a stride from a divisor; 66 tokens use every mode of the
/// tiled activations.
const Shape kWeights(3, 768, 2);
const Shape kTokenMajor(2, 768, 3);
const Shape kTiled(2, 256, 66);
/// Hides the strides of rows and super-blocks: what is wrong in those must raise no alarm. No shape
/// hides those of tokens: addresses are probed with more tokens than it has.
const Shape kOneBlock(1, 256, 2);

bool tiled(const Contract& plane) {
  return std::any_of(plane.fields.begin(), plane.fields.end(), [](const Field& field) {
    const Layout& layout = field.layout;
    return std::any_of(layout.modes, layout.modes + layout.n_modes,
                       [](const Mode& mode) { return mode.extent.a == Symbol::kTokenTiles; });
  });
}

const Shape& shape_for(const Contract& plane) {
  if (plane.role == Role::kWeights) return kWeights;
  return tiled(plane) ? kTiled : kTokenMajor;
}

/// The consumer whose layouts are data that reads `field`; null where none does.
const ConsumerSpec* reader_of(const std::vector<ConsumerSpec>& consumers, const Contract& plane,
                              const Field& field) {
  for (const ConsumerSpec& consumer : consumers) {
    for (const FieldUse& use : consumer.reads) {
      if (use.plane == &plane &&
          std::find(use.fields.begin(), use.fields.end(), field.name) != use.fields.end()) {
        return &consumer;
      }
    }
  }
  return nullptr;
}

/// Plants `layout` as the address expression of one field of `name`.
std::function<void(Catalog&)> planting(const std::string& name, const Contract& plane,
                                       const std::string& field,
                                       const std::function<FlatLayout(const Shape&)>& layout) {
  return [=, &plane](Catalog& catalog) {
    const kernels::q6_k::Relayout relayout = [=, &plane](const Contract& of, const Field& changed,
                                                         const Shape& shape, FlatLayout& to) {
      if (&of == &plane && changed.name == field) to = layout(shape);
    };
    for (ConsumerSpec& consumer : kernels::q6_k::by_layout_consumers(relayout)) {
      if (consumer.name == name) catalog.add(std::move(consumer));
    }
  };
}

gates::Arm arm_of(const Contract& plane, const Field& field, const ConsumerSpec& reader,
                  const Shape& shape, gates::AddressMutation mutation) {
  gates::Arm arm;
  arm.name = fmt::format("{}.{}: {}", plane.name, field.name, mutation.name);
  arm.bug_class = "address term";
  arm.plane = plane.name;
  arm.consumer = reader.name;
  arm.shape = shape;
  arm.equivalent = mutation.equivalent;
  if (!mutation.equivalent) {
    arm.expected = gates::kParityRed;
    arm.must_name = {fmt::format("{} of {}: ", field.name, plane.name)};
    arm.one_of = std::move(mutation.terms);
  }
  arm.plant = planting(reader.name, plane, field.name, mutation.layout);
  return arm;
}

/// All arms of one field where every term shows, and those that one block hides.
void add_arms(const Contract& plane, const Field& field, const ConsumerSpec& reader,
              std::vector<gates::Arm>& arms) {
  const Catalog& catalog = shipped_catalog();
  const Shape& shape = shape_for(plane);
  for (auto& mutation : gates::address_mutations(catalog, plane, field, shape)) {
    arms.push_back(arm_of(plane, field, reader, shape, std::move(mutation)));
  }
  if (plane.role != Role::kWeights) return;
  for (auto& mutation : gates::address_mutations(catalog, plane, field, kOneBlock)) {
    if (!mutation.equivalent) continue;
    mutation.name += ", hidden";
    arms.push_back(arm_of(plane, field, reader, kOneBlock, std::move(mutation)));
  }
}

}  // namespace

std::vector<gates::Arm> address_arms() {
  const std::vector<ConsumerSpec> readers = kernels::q6_k::by_layout_consumers();
  std::vector<gates::Arm> arms;
  for (const Contract* plane : shipped_catalog().planes()) {
    for (const Field& field : plane->fields) {
      const ConsumerSpec* reader = reader_of(readers, *plane, field);
      if (reader != nullptr) add_arms(*plane, field, *reader, arms);
    }
  }
  return arms;
}

std::vector<std::string> fields_without_reader() {
  const std::vector<ConsumerSpec> readers = kernels::q6_k::by_layout_consumers();
  std::vector<std::string> names;
  for (const Contract* plane : shipped_catalog().planes()) {
    for (const Field& field : plane->fields) {
      if (reader_of(readers, *plane, field) != nullptr) continue;
      names.push_back(fmt::format("{}.{}", plane->name, field.name));
    }
  }
  return names;
}

}  // namespace planegate::mutants
