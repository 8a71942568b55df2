#include "gates/perf/token.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "gates/perf/ledger.h"
#include "gates/perf/utc.h"

namespace planegate::perf {
namespace {

using Json = nlohmann::ordered_json;

Json members_json(const std::vector<Member>& members) {
  Json json = Json::array();
  for (const Member& member : members) {
    json.push_back(
        {{"gate", member.gate}, {"subject", member.subject}, {"compared", member.compared}});
  }
  return json;
}

Json hashes_json(const std::map<std::string, std::string>& hashes) {
  Json json = Json::array();
  for (const auto& [name, hash] : hashes) json.push_back({{"name", name}, {"hash", hash}});
  return json;
}

Json body(const Token& token) {
  return {{"schema", kTokenSchema},
          {"minted", token.minted},
          {"binary", token.provenance.binary},
          {"device", token.provenance.device},
          {"driver", token.provenance.driver},
          {"shapes", token.shapes},
          {"contracts", hashes_json(token.contracts)},
          {"consumers", hashes_json(token.consumers)},
          {"members", members_json(token.members)},
          {"sweep",
           {{"cases", token.sweep.cases},
            {"seed", token.sweep.seed},
            {"consumers", token.sweep.consumers}}}};
}

[[noreturn]] void refuse(const std::string& why) {
  throw Refused("no token: " + why);
}

const Json& member(const Json& object, const char* name) {
  if (!object.is_object() || !object.contains(name)) {
    refuse(fmt::format("the file is none: it lacks {}", name));
  }
  return object[name];
}

const Json& array(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_array()) refuse(fmt::format("the file is none: {} must be an array", name));
  return value;
}

std::string text(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_string()) refuse(fmt::format("the file is none: {} must be a string", name));
  return value;
}

std::vector<std::string> texts(const Json& object, const char* name) {
  std::vector<std::string> found;
  for (const Json& value : array(object, name)) {
    if (!value.is_string()) refuse(fmt::format("the file is none: {} must hold strings", name));
    found.push_back(value);
  }
  return found;
}

template <class T>
T whole(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_number_integer()) {
    refuse(fmt::format("the file is none: {} must be a whole number", name));
  }
  return value.get<T>();
}

std::map<std::string, std::string> hashes_of(const Json& object, const char* name) {
  std::map<std::string, std::string> hashes;
  for (const Json& one : array(object, name)) hashes[text(one, "name")] = text(one, "hash");
  return hashes;
}

const ConsumerSpec& consumer_named(const Catalog& catalog, const std::string& name) {
  const ConsumerSpec* consumer = catalog.consumer(name);
  if (consumer == nullptr) refuse(fmt::format("consumer {} is not registered", name));
  return *consumer;
}

template <class Range>
bool holds(const Range& range, const std::string& text) {
  return std::find(range.begin(), range.end(), text) != range.end();
}

void require_member(const std::vector<Member>& members, const std::string& gate,
                    const std::string& subject) {
  const bool there = std::any_of(members.begin(), members.end(), [&](const Member& member) {
    return member.gate == gate && member.subject == subject && member.compared > 0;
  });
  if (!there) refuse(fmt::format("gate {} of {} is no member", gate, subject));
}

/// Parity and chain of each consumer, mirror and readback of each plane that it reads.
void require_members(const Catalog& catalog, const std::vector<std::string>& consumers,
                     const std::vector<Member>& members) {
  for (const std::string& name : consumers) {
    const ConsumerSpec& consumer = consumer_named(catalog, name);
    for (const FieldUse& use : consumer.reads) {
      const std::string plane = use.plane->format + "/" + use.plane->name;
      require_member(members, "mirror", plane);
      require_member(members, "readback", plane);
    }
    require_member(members, "parity", name);
    require_member(members, "chain", name);
  }
}

void require_same(const char* what, const std::string& of_token, const std::string& here) {
  if (of_token == here) return;
  refuse(fmt::format("it is for another {}: {}, here {}", what, of_token, here));
}

void require_fresh(const std::string& minted, const std::string& now) {
  const auto then = seconds_of_utc(minted), at = seconds_of_utc(now);
  if (!then || !at) refuse(fmt::format("minted {} is no UTC time", minted));
  if (*then > *at) refuse(fmt::format("it was minted in the future, {}", minted));
  if (*at - *then > kTokenHours * 3600) {
    refuse(fmt::format("it has expired: minted {}, at most {} hours old", minted, kTokenHours));
  }
}

/// All hashes that are needed here stand in the token.
void require_hashes(const char* what, const std::map<std::string, std::string>& of_token,
                    const std::map<std::string, std::string>& here) {
  for (const auto& [name, hash] : here) {
    const auto found = of_token.find(name);
    if (found == of_token.end()) refuse(fmt::format("{} {} was not verified", what, name));
    if (found->second != hash) refuse(fmt::format("{} {} has changed since", what, name));
  }
}

}  // namespace

Provenance provenance_of(const Device& device) {
  return {sha256_of_self(), device.name() + ": " + device.description(), device.driver()};
}

std::string Token::digest() const {
  return sha256(body(*this).dump());
}

std::map<std::string, std::string> contract_hashes(const Catalog& catalog,
                                                   const std::vector<std::string>& consumers) {
  std::map<std::string, std::string> hashes;
  for (const std::string& name : consumers) {
    for (const FieldUse& use : consumer_named(catalog, name).reads) {
      hashes[use.plane->name] = fmt::format("{:016x}", use.plane->hash());
    }
  }
  return hashes;
}

std::map<std::string, std::string> consumer_hashes(const Catalog& catalog,
                                                   const std::vector<std::string>& consumers) {
  std::map<std::string, std::string> hashes;
  for (const std::string& name : consumers) {
    const ConsumerSpec& consumer = consumer_named(catalog, name);
    hashes[name] = fmt::format("{:08x} {}", consumer.instance(), consumer.arithmetic.text);
  }
  return hashes;
}

std::vector<Member> members_of(const Catalog& catalog, const std::vector<std::string>& needed,
                               const std::vector<GateReport>& reports) {
  std::vector<Member> members;
  for (const GateReport& report : reports) {
    if (report.verdict != Verdict::kPass) {
      refuse(fmt::format("{}{}", report.headline(),
                         report.reason.empty() ? "" : ": " + report.reason));
    }
    if (report.compared <= 0) refuse(report.headline() + " compared nothing");
    members.push_back({report.gate, report.subject, report.compared});
  }
  require_members(catalog, needed, members);
  return members;
}

void require_good(const Token& token, const Catalog& catalog, const Use& use) {
  require_fresh(token.minted, use.now);
  require_same("binary", token.provenance.binary, use.provenance.binary);
  require_same("device", token.provenance.device, use.provenance.device);
  require_same("driver", token.provenance.driver, use.provenance.driver);
  for (const std::string& shape : use.shapes) {
    if (!holds(token.shapes, shape)) refuse(fmt::format("shape {} was not verified", shape));
  }
  require_hashes("consumer", token.consumers, consumer_hashes(catalog, use.consumers));
  require_hashes("contract", token.contracts, contract_hashes(catalog, use.consumers));
  require_members(catalog, use.consumers, token.members);
  for (const std::string& consumer : use.consumers) {
    if (!holds(token.sweep.consumers, consumer) || token.sweep.cases <= 0) {
      refuse(fmt::format("no sweep of {}", consumer));
    }
  }
}

std::string to_json(const Token& token) {
  Json json = body(token);
  json["digest"] = token.digest();
  return json.dump(2) + "\n";
}

Token token_from_json(std::string_view text_of_token) {
  const Json json = Json::parse(text_of_token, nullptr, false);
  if (json.is_discarded()) refuse("the file is none: it is no JSON");
  if (text(json, "schema") != kTokenSchema) {
    refuse(fmt::format("schema is not \"{}\"", kTokenSchema));
  }
  Token token;
  token.minted = text(json, "minted");
  token.provenance = {text(json, "binary"), text(json, "device"), text(json, "driver")};
  token.shapes = texts(json, "shapes");
  token.contracts = hashes_of(json, "contracts");
  token.consumers = hashes_of(json, "consumers");
  for (const Json& one : array(json, "members")) {
    token.members.push_back(
        {text(one, "gate"), text(one, "subject"), whole<int64_t>(one, "compared")});
  }
  const Json& sweep = member(json, "sweep");
  token.sweep = {whole<int64_t>(sweep, "cases"), whole<uint64_t>(sweep, "seed"),
                 texts(sweep, "consumers")};
  if (text(json, "digest") != token.digest()) refuse("it was edited: its digest does not fit");
  return token;
}

}  // namespace planegate::perf
