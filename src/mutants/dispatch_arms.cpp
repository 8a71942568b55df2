#include <algorithm>
#include <map>
#include <memory>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>
#include <planegate/formats/q6_k/contracts.h>
#include <planegate/formats/q8_act/contracts.h>

#include "catalog/catalog.h"
#include "mutants/launches.h"
#include "mutants/mutants.h"

/// Dispatch that chooses, binds or labels wrongly. What is dispatched is the sibling of the
/// consumer whose parity counts, so that parity stays green.
namespace planegate::mutants {
namespace {

using gates::Arm;

constexpr const char* kVerified = "w_exp/copy16";
constexpr const char* kDispatched = "w_exp/cp_async";
constexpr const char* kControl = "raw/expand";

/// An arm on the shipped consumers alone: known-bad ones would stand last in the order of
/// preference, where the control arm is looked for.
Arm dispatch_arm(const char* name, const char* bug_class, std::vector<std::string> must_name,
                 std::function<void(Catalog&)> plant) {
  Arm arm;
  arm.name = std::string("dispatch: ") + name;
  arm.bug_class = bug_class;
  arm.plane = "w_exp";
  arm.consumer = kVerified;
  arm.shape = Shape{16, 512, 3};
  arm.expected = gates::kDispatchRed;
  arm.must_name = std::move(must_name);
  arm.plant = [plant = std::move(plant)](Catalog& catalog) {
    catalog = shipped_catalog();
    plant(catalog);
  };
  return arm;
}

/// The launch of a shipped consumer.
void launch_shipped(const char* consumer, Device& device, const LaunchRequest& request) {
  shipped_catalog().consumer(consumer)->launch_on(device.kind())(device, request);
}

std::vector<std::byte> content(Device& device, const DeviceBuffer& buffer) {
  std::vector<std::byte> bytes(static_cast<size_t>(buffer.size_bytes()));
  device.read_back(buffer, bytes);
  device.synchronise();
  return bytes;
}

/// The planes that were re-written for the kernel, by the address of what they were made from: they
/// are entered under the contract's and looked for under the buffer's.
Arm map_keyed_by_the_wrong_pointer() {
  return dispatch_arm(
      "map keyed by the wrong pointer, the fast path never runs", "wrong-dispatch",
      {"liveness: block 0 stamped instance", "w_exp/cp_async on w_exp is"}, [](Catalog& catalog) {
        const auto made = std::make_shared<std::map<const void*, bool>>();
        (*made)[catalog.consumer(kDispatched)->reads.front().plane] = true;
        wrap_launch(catalog, kDispatched,
                    [made](Device& device, const LaunchRequest& request, const LaunchFn& good) {
                      const bool known = made->count(request.planes.front().buffer) != 0;
                      if (known) return good(device, request);
                      launch_shipped(kControl, device, request);
                    });
      });
}

Arm label_that_lies() {
  return dispatch_arm(
      "label says cp_async, the bytewise kernel runs", "wrong-dispatch",
      {"liveness: block 0 stamped instance", "w_exp/cp_async on w_exp is"}, [](Catalog& catalog) {
        wrap_launch(catalog, kDispatched,
                    [](Device& device, const LaunchRequest& request, const LaunchFn&) {
                      launch_shipped("w_exp/bytewise", device, request);
                    });
      });
}

Arm nothing_launched() {
  return dispatch_arm("nothing is launched", "wrong-dispatch",
                      {"liveness: block 0 of", "left no stamp"}, [](Catalog& catalog) {
                        wrap_launch(catalog, kDispatched,
                                    [](Device&, const LaunchRequest&, const LaunchFn&) {});
                      });
}

Arm planes_of_another_tensor() {
  return dispatch_arm(
      "launched on the plane of another tensor", "wrong-dispatch",
      {"the plane changes the result: fallback: w_exp/cp_async", "element 0 = token 0, row 0"},
      [](Catalog& catalog) {
        wrap_launch(catalog, kDispatched,
                    [](Device& device, const LaunchRequest& request, const LaunchFn& good) {
                      const DeviceBuffer& plane = *request.planes.front().buffer;
                      std::vector<std::byte> other(static_cast<size_t>(plane.size_bytes()));
                      for (size_t i = 0; i < other.size(); ++i) {
                        other[i] =
                            static_cast<std::byte>(static_cast<int>(payload(3, i) % 64) - 32);
                      }
                      launch_on_bytes(device, request, good, other);
                    });
      });
}

/// The fast path re-orders raw in place for itself; the control arm has no reader for that order.
Arm reordered_for_one_path() {
  return dispatch_arm(
      "raw re-ordered in place by one path and met by another", "wrong-dispatch",
      {"the plane changes the result: fallback: w_exp/cp_async"}, [](Catalog& catalog) {
        wrap_launch(catalog, kDispatched,
                    [](Device& device, const LaunchRequest& request, const LaunchFn& good) {
                      good(device, request);
                      const DeviceBuffer& raw = *request.planes[1].buffer;
                      std::vector<std::byte> bytes = content(device, raw);
                      std::rotate(bytes.begin(), bytes.begin() + q6_k::kBlockBytes, bytes.end());
                      device.upload(raw, bytes);
                    });
      });
}

/// w_exp is switched off; the launcher of the control arm uses the plane that it has seen.
Arm used_although_off() {
  Arm arm = dispatch_arm(
      "w_exp is off by choice and used", "wrong-dispatch",
      {"liveness: block 0 stamped instance", "raw/expand on raw is",
       "plane w_exp is off by choice (--use w_exp=off)"},
      [](Catalog& catalog) {
        const auto seen = std::make_shared<BoundPlane>();
        wrap_launch(
            catalog, kVerified,
            [seen](Device& device, const LaunchRequest& request, const LaunchFn& good) {
              const BoundPlane& plane = request.planes.front();
              // The first of this name is the dataset's that Dispatch runs on.
              if (seen->buffer == nullptr && plane.buffer->name().starts_with("sample.weight")) {
                *seen = plane;
              }
              good(device, request);
            });
        wrap_launch(catalog, kControl,
                    [seen](Device& device, const LaunchRequest& request, const LaunchFn&) {
                      LaunchRequest changed = request;
                      changed.planes.insert(changed.planes.begin(), *seen);
                      launch_shipped(kVerified, device, changed);
                    });
      });
  arm.switches.set("w_exp=off", "--use");
  return arm;
}

/// The kernel for up to 8 tokens with its limits forgotten.
Arm small_batch_kernel_for_nine() {
  Arm arm =
      dispatch_arm("the kernel for up to 8 tokens taken for 9", "small-batch-path",
                   {"on: padded/decode", "token 8, row 0", "[unwritten]"}, [](Catalog& catalog) {
                     ConsumerSpec decode = *catalog.consumer("padded/decode");
                     decode.preconditions.clear();
                     decode.meant_for = nullptr;
                     catalog.replace(std::move(decode));
                     // The verified consumer brings the planes along that Dispatch may choose
                     // from.
                     ConsumerSpec verified = *catalog.consumer(kVerified);
                     verified.reads.push_back({&describe<q6_k::Padded>(), {}});
                     verified.reads.push_back({&describe<q8_act::Pad40>(), {}});
                     catalog.replace(std::move(verified));
                   });
  arm.shape = Shape{16, 512, 9};
  return arm;
}

}  // namespace

std::vector<gates::Arm> dispatch_arms() {
  std::vector<Arm> all = mirror_arms();
  for (auto* arm :
       {map_keyed_by_the_wrong_pointer, label_that_lies, nothing_launched, planes_of_another_tensor,
        reordered_for_one_path, used_although_off, small_batch_kernel_for_nine}) {
    all.push_back(arm());
  }
  return all;
}

}  // namespace planegate::mutants
