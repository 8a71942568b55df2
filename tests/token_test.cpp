#include "gates/perf/token.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "gates/perf/utc.h"

namespace planegate::perf {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kA = "w_exp/copy16";
constexpr const char* kB = "w_exp/cp_async";
const std::vector<std::string> kBoth = {kA, kB};

GateReport green(const std::string& gate, const std::string& subject) {
  GateReport report;
  report.gate = gate;
  report.subject = subject;
  report.shape = Shape(70, 512, 5);
  report.verdict = Verdict::kPass;
  report.compared = 10;
  return report;
}

/// Mirror and readback of all planes of both, parity and chain of both.
std::vector<GateReport> all_green() {
  std::vector<GateReport> reports;
  for (const char* plane : {"q6_K/w_exp", "q6_K/raw", "q8_0/qa8", "q8_0/sda"}) {
    reports.push_back(green("mirror", plane));
    reports.push_back(green("readback", plane));
  }
  for (const std::string& consumer : kBoth) {
    reports.push_back(green("parity", consumer));
    reports.push_back(green("chain", consumer));
  }
  reports.push_back(green("dispatch", kB));
  return reports;
}

Token token() {
  return {"2026-12-01T12:00:00Z",
          {"f00d", "host: executor", "none"},
          {Shape(70, 512, 5).text()},
          contract_hashes(shipped_catalog(), kBoth),
          consumer_hashes(shipped_catalog(), kBoth),
          members_of(shipped_catalog(), kBoth, all_green()),
          {200, 1, kBoth}};
}

Use use() {
  return {token().provenance, token().shapes, kBoth, "2026-12-01T13:00:00Z"};
}

void expect_refused(const Token& token, const Use& use, const std::string& why) {
  EXPECT_THAT([&] { require_good(token, shipped_catalog(), use); },
              ThrowsMessage<Refused>(HasSubstr(why)));
}

TEST(Sha256, IsTheStandardsAnswer) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string path = testing::TempDir() + "/sha256_test";
  std::ofstream(path) << "abc";
  EXPECT_EQ(sha256_of_file(path), sha256("abc"));
  EXPECT_THROW(sha256_of_file(path + ".absent"), std::filesystem::filesystem_error);
  EXPECT_EQ(sha256_of_self().size(), 64u);
}

TEST(Utc, IsReadAsItIsWritten) {
  EXPECT_EQ(seconds_of_utc("1970-01-02T00:00:01Z"), 86401);
  EXPECT_FALSE(seconds_of_utc("2026-02-30T00:00:00Z"));
  EXPECT_FALSE(seconds_of_utc("yesterday"));
  EXPECT_TRUE(seconds_of_utc(utc_now()));
}

TEST(Token, IsGoodForWhatItWasMintedFor) {
  EXPECT_NO_THROW(require_good(token(), shipped_catalog(), use()));
}

TEST(Token, ComesBackAsItWasWritten) {
  EXPECT_EQ(token_from_json(to_json(token())), token());
}

TEST(Token, IsRefusedForAnotherBinaryDeviceDriverShapeOrConsumer) {
  Use other = use();
  other.provenance.binary = "beef";
  expect_refused(token(), other, "no token: it is for another binary: f00d, here beef");
  other = use();
  other.provenance.device = "cuda: H200";
  expect_refused(token(), other, "another device: host: executor, here cuda: H200");
  other = use();
  other.provenance.driver = "580";
  expect_refused(token(), other, "another driver: none, here 580");
  other = use();
  other.shapes = {"od=1 id=256 nsb=1 nt=1"};
  expect_refused(token(), other, "shape od=1 id=256 nsb=1 nt=1 was not verified");
  other = use();
  other.consumers = {"raw/expand"};
  expect_refused(token(), other, "consumer raw/expand was not verified");
  other.consumers = {"w_exp/nope"};
  expect_refused(token(), other, "consumer w_exp/nope is not registered");
}

TEST(Token, IsRefusedWhereCodeOrContractsChanged) {
  Token changed = token();
  changed.contracts["w_exp"] = "0";
  expect_refused(changed, use(), "contract w_exp has changed since");
  changed = token();
  changed.consumers[kA] = "0";
  expect_refused(changed, use(), std::string("consumer ") + kA + " has changed since");
}

TEST(Token, ExpiresAndDoesNotComeFromTheFuture) {
  Use late = use();
  late.now = "2026-12-02T12:00:01Z";
  expect_refused(token(), late, "it has expired: minted 2026-12-01T12:00:00Z, at most 24 hours");
  late.now = "2026-12-02T12:00:00Z";
  EXPECT_NO_THROW(require_good(token(), shipped_catalog(), late));
  late.now = "2026-12-01T11:59:59Z";
  expect_refused(token(), late, "minted in the future");
  Token timeless = token();
  timeless.minted = "soon";
  expect_refused(timeless, use(), "minted soon is no UTC time");
}

TEST(Token, IsRefusedWithoutAMemberOrASweep) {
  for (size_t i = 0; i + 1 < token().members.size(); ++i) {
    Token without = token();
    without.members.erase(without.members.begin() + static_cast<std::ptrdiff_t>(i));
    expect_refused(without, use(), "is no member");
  }
  Token unswept = token();
  unswept.sweep.cases = 0;
  expect_refused(unswept, use(), "no sweep of");
  unswept = token();
  unswept.sweep.consumers = {kA};
  expect_refused(unswept, use(), std::string("no sweep of ") + kB);
}

TEST(Token, IsNotMintedOfRedSkippedEmptyOrMissingMembers) {
  for (size_t i = 0; i < all_green().size(); ++i) {
    const auto refused = [&](auto change, const std::string& why) {
      auto reports = all_green();
      change(reports[i]);
      EXPECT_THAT([&] { members_of(shipped_catalog(), kBoth, reports); },
                  ThrowsMessage<Refused>(HasSubstr(why)));
    };
    refused([](GateReport& report) { report.verdict = Verdict::kFail; }, "FAIL");
    refused(
        [](GateReport& report) {
          report.verdict = Verdict::kSkipped;
          report.reason = "no GPU";
        },
        ": no GPU");
    refused([](GateReport& report) { report.compared = 0; }, "compared nothing");
  }
  auto reports = all_green();
  reports.erase(reports.begin());
  EXPECT_THAT([&] { members_of(shipped_catalog(), kBoth, reports); },
              ThrowsMessage<Refused>(HasSubstr("gate mirror of q6_K/w_exp is no member")));
}

TEST(Token, IsRefusedWhereItsFileWasEditedOrIsNone) {
  const std::string good = to_json(token());
  for (const auto& [from, to] : {std::pair{"\"compared\": 10", "\"compared\": 11"},
                                 {"2026-12-01T12", "2026-12-01T13"},
                                 {"f00d", "beef"},
                                 {"\"cases\": 200", "\"cases\": 900"}}) {
    std::string text = good;
    text.replace(text.find(from), std::string(from).size(), to);
    EXPECT_THAT([&] { token_from_json(text); }, ThrowsMessage<Refused>(HasSubstr("it was edited")))
        << from;
  }
  const auto none = [&](const std::string& from, const std::string& to, const std::string& why) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    EXPECT_THAT([&] { token_from_json(text); },
                ThrowsMessage<Refused>("no token: the file is none: " + why));
  };
  none("\"cases\": 200", "\"cases\": 1e300", "cases must be a whole number");
  none("\"cases\": 200", "\"cases\": 1e400", "it is no JSON");
  none("\"cases\": 200", "\"case\": 200", "it lacks cases");
  none("\"digest\": ", "\"digest\": 1, \"x\": ", "digest must be a string");
  none("\"members\": [", "\"members\": 1, \"x\": [", "members must be an array");
  EXPECT_THAT([&] { token_from_json("[]"); }, ThrowsMessage<Refused>(HasSubstr("it lacks schema")));
  EXPECT_THAT([&] { token_from_json("{"); }, ThrowsMessage<Refused>(HasSubstr("the file is none")));
  EXPECT_THAT([&] { token_from_json("{\"schema\": \"x\"}"); },
              ThrowsMessage<Refused>(HasSubstr("schema is not")));
}

}  // namespace
}  // namespace planegate::perf
