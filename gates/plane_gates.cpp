#include "gates/plane_gates.h"

#include <fmt/format.h>

#include <planegate/core/errors.h>

#include "gates/compare.h"
#include "gates/consumer_run.h"

namespace planegate::gates {
namespace {

GateReport started_plane(const Context& context, const char* gate, const Contract& contract,
                         const std::string& tensor, const Shape& shape) {
  GateReport report = started(context, gate, contract.format + "/" + contract.name, tensor, shape);
  report.unit = "bytes";
  report.data = "file";
  report.repeat = context.repeat(tensor, "--plane " + contract.name);
  return report;
}

/// Of what the buffer holds, read back, from the mirror.
Difference difference(Device& device, const DeviceBuffer& buffer, const Contract& contract,
                      const Shape& shape, std::span<const std::byte> mirror) {
  ByteComparison comparison(contract, shape, mirror);
  device.scan(buffer, [&](std::span<const std::byte> piece) { comparison.add(piece); });
  return comparison.finish();
}

}  // namespace

PlaneUnderTest mirror_gate(const Context& context, const ProducerSpec& producer,
                           const std::string& tensor, const RawTensor& source, SealedBytes mirror) {
  const Contract& contract = *producer.plane;
  if (!mirror.sealed()) throw ContractError("mirror", contract.name, "not sealed");
  PlaneUnderTest plane{&contract, std::move(mirror), SealedBytes(0), {}};
  GateReport report = started_plane(context, "mirror", contract, tensor, source.shape);
  // What a producer leaves unwritten must not look right by chance.
  plane.produced = SealedBytes(std::ssize(plane.mirror.bytes()));
  plane.produced.fill(kPoison);
  const std::span<std::byte> produced = plane.produced.writable();
  try {
    producer.write(source, produced);
  } catch (const DeviceLost&) {
    throw;
  } catch (const std::exception& error) {
    report.verdict = Verdict::kFail;
    report.diagnosis = fmt::format("producer {} threw: {}", producer.name, error.what());
    plane.report = std::move(report);
    return plane;
  }
  plane.produced.seal();
  report.compared = std::ssize(produced);
  report.difference = compare_bytes(contract, source.shape, plane.mirror.bytes(), produced);
  if (report.difference.count > 0) {
    report.diagnosis = fmt::format("producer {} wrote other bytes than the definition of {} gives",
                                   producer.name, contract.name);
    report.notes.push_back("the gates after this one go on with the mirror's bytes");
  }
  plane.report = judged(std::move(report));
  return plane;
}

GateReport readback_gate(const Context& context, const PlaneUnderTest& plane,
                         const std::string& tensor, Dataset& file) {
  const Contract& contract = *plane.contract;
  const Shape& shape = file.shape();
  GateReport report = started_plane(context, "readback", contract, tensor, shape);
  if (context.device.kind() == DeviceKind::kHost) report.device = "host (model)";
  const StoredPlane& stored =
      file.store().add(file.tensor_of(contract), contract, shape, plane.trusted());
  report.compared = stored.buffer.size_bytes();
  report.difference =
      difference(context.device, stored.buffer, contract, shape, plane.mirror.bytes());
  if (report.difference.count > 0) {
    report.diagnosis =
        "the device buffer differs from the mirror: the upload, the copy back or "
        "somebody's write changed it";
    file.store().replace(file.tensor_of(contract), contract, shape, plane.mirror.bytes());
    report.notes.push_back("parity goes on with a fresh upload of the mirror");
  }
  if (plane.report.verdict != Verdict::kPass) {
    report.notes.push_back("mirror failed: the mirror's bytes were uploaded instead");
  }
  return judged(std::move(report));
}

GateReport made_gate(const Context& context, const DeviceProducerSpec& producer,
                     const std::string& tensor, std::span<const std::byte> mirror, Dataset& file) {
  const Contract& contract = *producer.plane;
  const Shape& shape = file.shape();
  GateReport report = started_plane(context, "made", contract, tensor, shape);
  report.data = "made on the device: " + producer.name;
  const StoredPlane& source = file.ensure_plane(*producer.source);
  const DeviceBuffer made = context.device.allocate(
      fmt::format("{}/{} made", tensor, contract.name), contract.size_bytes(shape));
  report.compared = made.size_bytes();
  try {
    (*producer.on(context.device.kind()))(
        context.device, {shape, source.bound(), {&contract, &made, kFirstGeneration}});
    report.difference = difference(context.device, made, contract, shape, mirror);
    for (const DeviceBuffer* buffer : {&made, &source.buffer}) {
      if (const auto breach = context.device.breached_guard(*buffer)) {
        report.diagnosis = breach_text(*buffer, *breach);
      }
    }
  } catch (const DeviceLost&) {
    throw;
  } catch (const DeviceOutOfMemory&) {
    throw;
  } catch (const std::exception& error) {
    report.diagnosis = error.what();
  }
  if (!report.diagnosis.empty()) {
    report.verdict = Verdict::kFail;
    return report;
  }
  if (report.difference.count > 0) {
    report.diagnosis = fmt::format(
        "{} made other bytes than the definition of {} gives, or the mirror is wrong itself",
        producer.name, contract.name);
  }
  return judged(std::move(report));
}

}  // namespace planegate::gates
