#include <fmt/format.h>

#include <planegate/devices/device.h>

#include "catalog/catalog.h"
#include "cli/commands.h"
#include "cli/table.h"

namespace planegate::cli {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string plane_rows(const Catalog& catalog) {
  std::vector<std::vector<std::string>> rows = {{"plane", "bytes", "aligned", "from", "field",
                                                 "bits", "layout (bytes from the plane's start)"}};
  for (const ProducerSpec& producer : catalog.producers()) {
    const Contract& plane = *producer.plane;
    std::string from = producer.from;
    for (const DeviceProducerSpec& maker : catalog.device_producers()) {
      if (maker.plane == &plane) from += "; there " + maker.source->name;
    }
    bool first = true;
    for (const Field& field : plane.fields) {
      rows.push_back({first ? plane.format + "/" + plane.name : "", first ? text(plane.bytes) : "",
                      first ? std::to_string(plane.alignment_bytes) : "", first ? from : "",
                      field.name, std::to_string(field.bits), text(field.layout)});
      first = false;
    }
  }
  return table(rows);
}

std::string consumer_rows(const Catalog& catalog) {
  std::vector<std::vector<std::string>> rows = {
      {"consumer", "of", "reads", "devices", "arithmetic", "policies"}};
  for (const ConsumerSpec& consumer : catalog.consumers()) {
    std::vector<std::string> reads, devices;
    for (const FieldUse& use : consumer.reads) {
      reads.push_back(fmt::format("{}({})", use.plane->name, fmt::join(use.fields, " ")));
    }
    if (consumer.launch_on(DeviceKind::kHost) != nullptr) devices.emplace_back("host");
    if (const DeviceLaunch* cuda = consumer.on(DeviceKind::kCuda)) {
      devices.push_back(cuda->architecture.empty() ? "cuda" : "cuda " + cuda->architecture);
    }
    bool first = true;
    for (const Policy& policy : consumer.policies) {
      rows.push_back({first ? consumer.name : "", first ? consumer.format : "",
                      first ? joined(reads) : "", first ? joined(devices) : "",
                      first ? consumer.arithmetic.text : "", policy.kind + " = " + policy.name});
      first = false;
    }
  }
  return table(rows);
}

std::string device_rows() {
  std::string why_not;
  const auto cuda = make_cuda_device(why_not);
  return table({{"device", "state"},
                {"host", make_host_device()->description()},
                {"cuda", cuda ? cuda->description() : "absent: " + why_not}});
}

}  // namespace

ExitCode list() {
  const Catalog& catalog = shipped_catalog();
  fmt::print("{}\n{}\n{}", plane_rows(catalog), consumer_rows(catalog), device_rows());
  return kVerified;
}

}  // namespace planegate::cli
