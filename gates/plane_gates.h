#pragma once

#include <vector>

#include "gates/dataset.h"

namespace planegate::gates {

/// A producer's plane beside its mirror, and what the mirror gate said of it.
struct PlaneUnderTest {
  const Contract* contract = nullptr;
  SealedBytes mirror;
  SealedBytes produced;
  GateReport report;

  /// What later stages use: the producer's bytes where they are right, else the mirror's.
  std::span<const std::byte> trusted() const {
    return report.verdict == Verdict::kPass ? produced.bytes() : mirror.bytes();
  }
};

/// Mirror gate: runs `producer` on `source` and compares every byte with `mirror`.
/// A producer that throws fails the gate; its plane counts as all zero.
/// @throws ContractError for a mirror that is not sealed: the producer could write there.
[[nodiscard]] PlaneUnderTest mirror_gate(const Context& context, const ProducerSpec& producer,
                                         const std::string& tensor, const RawTensor& source,
                                         SealedBytes mirror);

/// Readback gate: registers the plane's trusted bytes in `file`, reads the device buffer back
/// through pinned memory and compares it with the mirror. Where it differs the plane is replaced by
/// a fresh upload of the mirror, so that later gates run on trusted input.
[[nodiscard]] GateReport readback_gate(const Context& context, const PlaneUnderTest& plane,
                                       const std::string& tensor, Dataset& file);

/// Made gate: runs `producer` on the device, on the plane of `file` that it reads, and compares
/// every byte of what it made with `mirror`, read back through pinned memory. Guard zones, too.
/// @pre the device has the producer
[[nodiscard]] GateReport made_gate(const Context& context, const DeviceProducerSpec& producer,
                                   const std::string& tensor, std::span<const std::byte> mirror,
                                   Dataset& file);

}  // namespace planegate::gates
