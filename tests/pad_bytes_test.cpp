#include "gates/pad_bytes.h"

#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/devices/host_device.h>

#include "gates/parity.h"
#include "tests/gate_tests.h"

namespace planegate {
namespace {

constexpr std::byte kPad{0xA5};
constexpr std::byte kValue{0x3C};

TEST(FillPads, ChangesTheBytesThatNoFieldCoversAndNoOther) {
  int64_t pads = 0;
  for (const Contract* plane : shipped_catalog().planes()) {
    for (const Shape& shape : {Shape(1, 256, 1), Shape(3, 512, 2), Shape(7, 256, 65)}) {
      std::vector<std::byte> bytes(static_cast<size_t>(plane->size_bytes(shape)), kValue);
      gates::fill_pads(*plane, shape, kPad, bytes);
      for (size_t i = 0; i < bytes.size(); ++i) {
        const bool pad = !locate(*plane, shape, static_cast<int64_t>(i));
        ASSERT_EQ(bytes[i], pad ? kPad : kValue) << plane->name << " byte " << i << shape.text();
        pads += pad;
      }
    }
  }
  EXPECT_GT(pads, 1000);
}

TEST(FillPads, RefusesAPlaneOfAnotherSize) {
  std::vector<std::byte> bytes(223);
  EXPECT_THROW(
      gates::fill_pads(*shipped_catalog().producer("padded")->plane, Shape(1, 256, 1), kPad, bytes),
      ContractError);
}

/// `launch` of padded/bytewise behind a look at the first pad byte of the plane.
void pad_reading_launch(Device& device, const LaunchRequest& request) {
  constexpr size_t kFirstPad = 210;
  auto& host = dynamic_cast<HostDevice&>(device);
  shipped_catalog().consumer("padded/bytewise")->launch_on(DeviceKind::kHost)(device, request);
  const auto y = host.resolve(request.y->address());
  const auto plane = host.resolve(request.planes.front().buffer->address());
  host.enqueue([y, plane] { y[0] ^= plane[kFirstPad]; });
}

TEST(Independence, IsRedForAConsumerThatAPadByteReaches) {
  ConsumerSpec consumer = *shipped_catalog().consumer("padded/bytewise");
  consumer.launches = {{DeviceKind::kHost, pad_reading_launch}};
  const SampleTensor tensor(shipped_catalog(), "q6_K", Shape(3, 512, 2));
  Catalog catalog = shipped_catalog();
  catalog.replace(consumer);
  const auto device = make_host_device();
  gates::Context context{catalog, *device, 1};
  const auto reports = gates::verify_tensor(context, tensor.raw, {{}, {consumer.name}});
  const GateReport& parity = *find_report(reports, "parity", consumer.name);
  for (const GateReport& part : parity.parts) {
    EXPECT_EQ(part.verdict, part.gate == "independence" ? Verdict::kFail : Verdict::kPass)
        << text(part);
  }
  EXPECT_EQ(parity.diagnosis,
            "every address is the contract's: the output changes with other pad and guard bytes: "
            "the consumer depends on what its contracts do not promise");
}

}  // namespace
}  // namespace planegate
