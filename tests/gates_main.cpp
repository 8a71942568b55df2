#include <gtest/gtest.h>

#include "tests/gate_tests.h"
#include "tests/require_device.h"

/// One test per plane or consumer x gate x device, registered from the catalog:
/// `mirror.q6_K/w_exp/host`, `parity.w_exp/cp_async/cuda`.
namespace planegate {
namespace {

/// What a test verifies: one gate of one subject on one device, over all gate_shapes().
struct Row {
  std::string gate, subject, format;
  gates::Selection selection;
  DeviceKind device;
};

class GateTest : public testing::Test {
 public:
  explicit GateTest(Row row) : row_(std::move(row)) {}

  void TestBody() override {
    if (row_.device == DeviceKind::kCuda) {
      if (const auto device = test::require_cuda_device()) verify_all(*device);
    } else {
      verify_all(*make_host_device());
    }
  }

 private:
  void verify_all(Device& device) {
    const Catalog& catalog = shipped_catalog();
    gates::Context context{catalog, device, 1};
    int ran = 0;
    for (const Shape& shape : gate_shapes()) {
      if (const ConsumerSpec* consumer = catalog.consumer(row_.subject)) {
        if (consumer->refusal(shape)) continue;
      }
      const SampleTensor tensor(catalog, row_.format, shape);
      const auto reports = gates::verify_tensor(context, tensor.raw, row_.selection);
      const GateReport* report = find_report(reports, row_.gate, row_.subject);
      ASSERT_NE(report, nullptr) << row_.gate << " of " << row_.subject << " did not run";
      ASSERT_EQ(report->verdict, Verdict::kPass) << text(*report);
      ASSERT_GT(report->compared, 0);
      ++ran;
    }
    ASSERT_GE(ran, 6) << "too few shapes suit " << row_.subject;
  }

  Row row_;
};

std::vector<Row> rows() {
  const Catalog& catalog = shipped_catalog();
  std::vector<Row> all;
  for (const DeviceKind device : {DeviceKind::kHost, DeviceKind::kCuda}) {
    for (const ProducerSpec& producer : catalog.producers()) {
      const Contract& plane = *producer.plane;
      const std::string format = plane.role == Role::kWeights ? plane.format : "q6_K";
      for (const char* gate : {"mirror", "readback"}) {
        all.push_back({gate, plane.format + "/" + plane.name, format, {{plane.name}, {}}, device});
      }
    }
    for (const DeviceProducerSpec& maker : catalog.device_producers()) {
      const Contract& plane = *maker.plane;
      all.push_back(
          {"made", plane.format + "/" + plane.name, plane.format, {{plane.name}, {}}, device});
    }
    for (const ConsumerSpec& consumer : catalog.consumers()) {
      gates::Selection selection{{}, {consumer.name}};
      all.push_back({"parity", consumer.name, consumer.format, selection, device});
      selection.addresses = gates::Addresses::kNever;
      all.push_back({"chain", consumer.name, consumer.format, selection, device});
    }
  }
  return all;
}

void register_rows() {
  for (const Row& row : rows()) {
    const std::string name = row.subject + (row.device == DeviceKind::kHost ? "/host" : "/cuda");
    testing::RegisterTest(row.gate.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [row]() -> testing::Test* { return new GateTest(row); });
  }
}

}  // namespace
}  // namespace planegate

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  planegate::register_rows();
  return RUN_ALL_TESTS();
}
