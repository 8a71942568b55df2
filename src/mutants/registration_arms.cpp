#include <map>
#include <memory>
#include <optional>

#include <planegate/devices/device.h>
#include <planegate/formats/q6_k/contracts.h>

#include "gates/faults.h"
#include "mutants/launches.h"
#include "mutants/mutants.h"

/// Planes that are kept, cached, freed or described wrongly between upload and launch.
namespace planegate::mutants {
namespace {

using gates::Arm;
using gates::Tampering;
using gates::Transfer;

constexpr const char* kConsumer = "w_exp/cp_async";

Arm registration_arm(const char* name, const char* bug_class, std::vector<std::string> must_name) {
  Arm arm;
  arm.name = std::string("registration: ") + name;
  arm.bug_class = bug_class;
  arm.plane = "w_exp";
  arm.consumer = kConsumer;
  arm.shape = Shape{16, 512};
  arm.expected = gates::kParityRed;
  arm.must_name = std::move(must_name);
  return arm;
}

/// The first bytes of each size stand in for all later ones.
Tampering uploads_cached_by_size() {
  const auto cache = std::make_shared<std::map<size_t, std::vector<std::byte>>>();
  Tampering fault{"/w_exp"};
  fault.upload = [cache](const Transfer& copy) {
    const auto found =
        cache->try_emplace(copy.bytes.size(), copy.bytes.begin(), copy.bytes.end()).first;
    std::copy(found->second.begin(), found->second.end(), copy.bytes.begin());
  };
  return fault;
}

/// The launcher keeps a copy of the first plane of each shape and launches on it.
void launch_on_first_of_shape(Device& device, const LaunchRequest& request, const LaunchFn& good,
                              std::map<int64_t, std::vector<std::byte>>& kept) {
  const DeviceBuffer& plane = *request.planes.front().buffer;
  auto& bytes = kept[plane.size_bytes()];
  if (bytes.empty()) {
    bytes.resize(static_cast<size_t>(plane.size_bytes()));
    device.read_back(plane, bytes);
    device.synchronise();
  }
  launch_on_bytes(device, request, good, bytes);
}

Arm kept_by_shape() {
  Arm arm = registration_arm("launcher keeps the first plane of each shape", "stale-plane",
                             {"lattice FAIL", "first: element 0 = token 0, row 0"});
  arm.plant = [](Catalog& catalog) {
    const auto kept = std::make_shared<std::map<int64_t, std::vector<std::byte>>>();
    wrap_launch(catalog, kConsumer,
                [kept](Device& device, const LaunchRequest& request, const LaunchFn& good) {
                  launch_on_first_of_shape(device, request, good, *kept);
                });
  };
  return arm;
}

Arm generation_before() {
  Arm arm = registration_arm("launches bind the generation before", "stale-plane",
                             {"liveness: block 0 stamped", "generation 0"});
  arm.plant = [](Catalog& catalog) {
    wrap_launch(catalog, kConsumer,
                [](Device& device, const LaunchRequest& request, const LaunchFn& good) {
                  LaunchRequest stale = request;
                  for (BoundPlane& plane : stale.planes) --plane.generation;
                  good(device, stale);
                });
  };
  return arm;
}

/// A plane freed and allocated again, launched at its old address. On the GPU such a launch may end
/// the context, so it is kept to the host model, which hands out no address twice.
Arm freed_and_allocated_again() {
  Arm arm = registration_arm("plane freed and allocated again, launched at its old address",
                             "stale-plane", {"not the start of a live buffer"});
  arm.plant = [](Catalog& catalog) {
    wrap_launch(
        catalog, kConsumer, [](Device& device, const LaunchRequest& request, const LaunchFn& good) {
          LaunchRequest stale = request;
          const DeviceBuffer& plane = *request.planes.front().buffer;
          std::optional<DeviceBuffer> old = device.allocate("old", plane.size_bytes());
          const DeviceAddress address = old->address();
          old.reset();
          const DeviceBuffer gone(device, "old", address, plane.size_bytes(), plane.guard_fill());
          stale.planes.front().buffer = &gone;
          good(device, stale);
        });
  };
  arm.device = [](DeviceKind kind, std::string& why_not) -> std::unique_ptr<Device> {
    if (kind == DeviceKind::kHost) return make_host_device();
    why_not = "a launch on freed memory may end the context";
    return nullptr;
  };
  return arm;
}

Arm declared_by_another_contract() {
  Arm arm = registration_arm("consumer declares w_exp with super-blocks 224 apart",
                             "padded-vs-dense", {"w_exp: a plane of this contract"});
  arm.plant = [](Catalog& catalog) {
    static const Contract twin = [] {
      Contract contract = describe<q6_k::WExp>();
      contract.fields.front().layout.modes[1].stride_bits = {8 * 224};
      return contract;
    }();
    ConsumerSpec consumer = *catalog.consumer(kConsumer);
    consumer.reads.front().plane = &twin;
    catalog.replace(std::move(consumer));
  };
  return arm;
}

/// The kernel's input is written after each run, as by a neighbour with a wrong pointer.
Arm written_after_a_launch() {
  Arm arm = registration_arm("a launch leaves its own plane changed", "non-determinism",
                             {"lattice pass", "bound pass", "of 16 elements differ"});
  arm.plant = [](Catalog& catalog) {
    wrap_launch(catalog, kConsumer,
                [](Device& device, const LaunchRequest& request, const LaunchFn& good) {
                  good(device, request);
                  const DeviceBuffer& plane = *request.planes.front().buffer;
                  std::vector<std::byte> bytes(static_cast<size_t>(plane.size_bytes()));
                  device.read_back(plane, bytes);
                  device.synchronise();
                  for (std::byte& code : bytes) code = std::byte{1};
                  device.upload(plane, bytes);
                });
  };
  return arm;
}

/// Outputs 0.1 % too large under a declared arithmetic whose bound forgives them.
Arm forgiving_arithmetic() {
  Arm arm = registration_arm("declared arithmetic with a bound larger than the fault",
                             "harness-defect", {"lattice FAIL", "bound pass"});
  arm.plant = [](Catalog& catalog) {
    ConsumerSpec consumer = *catalog.consumer(kConsumer);
    consumer.arithmetic.roundings_per_term = 1'000'000;
    catalog.replace(std::move(consumer));
    wrap_launch(catalog, kConsumer,
                [](Device& device, const LaunchRequest& request, const LaunchFn& good) {
                  good(device, request);
                  std::vector<float> y(static_cast<size_t>(request.y->size_bytes() / 4));
                  device.read_back(*request.y, std::as_writable_bytes(std::span(y)));
                  device.synchronise();
                  for (float& element : y) element *= 1.001f;
                  device.upload(*request.y, std::as_bytes(std::span(y)));
                });
  };
  return arm;
}

Arm small_workspace() {
  Arm arm = registration_arm("workspace of split K a row short", "undersized-alloc",
                             {"workspace=", "bytes at this shape"});
  arm.consumer = "w_exp/split_k";
  arm.device = [](DeviceKind kind, std::string& why_not) {
    Tampering fault{"workspace"};
    fault.allocate = [](int64_t bytes) { return bytes - 4 * 16; };
    return gates::make_tampering_device(kind, std::move(fault), why_not);
  };
  return arm;
}

}  // namespace

std::vector<gates::Arm> registration_arms() {
  Arm cached = registration_arm("uploads cached by shape alone", "stale-plane",
                                {"lattice FAIL", "first: element 0 = token 0, row 0"});
  cached.device = [](DeviceKind kind, std::string& why_not) {
    return gates::make_tampering_device(kind, uploads_cached_by_size(), why_not);
  };
  return {cached,
          kept_by_shape(),
          generation_before(),
          freed_and_allocated_again(),
          declared_by_another_contract(),
          written_after_a_launch(),
          forgiving_arithmetic(),
          small_workspace()};
}

}  // namespace planegate::mutants
