#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <planegate/core/catalog.h>
#include <planegate/core/gate_report.h>
#include <planegate/devices/device.h>

/// The lock in front of every number: what was verified, with which code, on which device
/// (docs/token-schema.md). It guards against accidents, not against forgery.
namespace planegate::perf {

inline constexpr const char* kTokenSchema = "planegate.token/1";
inline constexpr int64_t kTokenHours = 24;

/// SHA-256 of a text or a file, hex. @throws std::filesystem::filesystem_error for an unreadable
/// file.
std::string sha256(std::string_view bytes);
std::string sha256_of_file(const std::filesystem::path& path);
/// Of the running program.
std::string sha256_of_self();

/// What code runs where; each is compared when a token is used.
struct Provenance {
  std::string binary;  ///< SHA-256
  std::string device;  ///< name and description
  std::string driver;

  friend bool operator==(const Provenance&, const Provenance&) = default;
};
Provenance provenance_of(const Device& device);

/// One gate that was green.
struct Member {
  std::string gate, subject;
  int64_t compared = 0;

  friend bool operator==(const Member&, const Member&) = default;
};

/// The sweep that was green.
struct Sweep {
  int64_t cases = 0;
  uint64_t seed = 0;
  std::vector<std::string> consumers;

  friend bool operator==(const Sweep&, const Sweep&) = default;
};

struct Token {
  std::string minted;  ///< UTC, ISO 8601
  Provenance provenance;
  std::vector<std::string> shapes;               ///< Shape::text()
  std::map<std::string, std::string> contracts;  ///< hash by plane
  std::map<std::string, std::string> consumers;  ///< instance and arithmetic by name
  std::vector<Member> members;
  Sweep sweep;

  /// SHA-256 over all of it: what a ledger keeps.
  std::string digest() const;
  friend bool operator==(const Token&, const Token&) = default;
};

/// Hashes of the planes that `consumers` read, and of the consumers.
std::map<std::string, std::string> contract_hashes(const Catalog& catalog,
                                                   const std::vector<std::string>& consumers);
std::map<std::string, std::string> consumer_hashes(const Catalog& catalog,
                                                   const std::vector<std::string>& consumers);

/// Why there is no token, or why one is refused.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The members of `reports`. @throws Refused: a gate that is red or skipped, or that compared
/// nothing, or one of `needed` consumers without parity and chain, or a plane of theirs without
/// mirror and readback.
std::vector<Member> members_of(const Catalog& catalog, const std::vector<std::string>& needed,
                               const std::vector<GateReport>& reports);

/// What is about to be timed.
struct Use {
  Provenance provenance;
  std::vector<std::string> shapes;
  std::vector<std::string> consumers;
  std::string now;  ///< UTC, ISO 8601
};

/// @throws Refused naming what does not fit: age, binary, device, driver, shape, consumer,
/// contract,
///         member or sweep.
void require_good(const Token& token, const Catalog& catalog, const Use& use);

/// One JSON object, its digest included.
std::string to_json(const Token& token);
/// @throws Refused where the text is no token, or where its digest says that it was edited.
Token token_from_json(std::string_view text);

}  // namespace planegate::perf
