#include "fuzz/case_file.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace planegate::fuzz {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

/// A member of an object, and where it stands, for messages.
class Reader {
 public:
  Reader(const Json& object, std::string prefix, const Names& known)
      : object_(object), prefix_(std::move(prefix)) {
    if (!object.is_object()) fail("", "must be an object");
    for (const auto& [name, value] : object.items()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      throw CaseFileError(prefix_ + name,
                          fmt::format("unknown member; known are {}", fmt::join(known, ", ")));
    }
  }

  std::string text(const char* name) const {
    const Json& value = member(name);
    if (!value.is_string()) fail(name, "must be a string");
    return value.get<std::string>();
  }
  template <class T>
  T number(const char* name, T min, T max) const {
    const Json& value = member(name);
    const std::string requirement = fmt::format("must be a whole number from {} to {}", min, max);
    if (!value.is_number_integer()) fail(name, requirement);
    const bool negative = !value.is_number_unsigned() && value.get<int64_t>() < 0;
    if (negative || value.get<uint64_t>() < static_cast<uint64_t>(min) ||
        value.get<uint64_t>() > static_cast<uint64_t>(max)) {
      fail(name, requirement);
    }
    return value.get<T>();
  }
  std::byte byte(const char* name) const { return static_cast<std::byte>(number(name, 0, 255)); }
  const Json& member(const char* name) const {
    const auto found = object_.find(name);
    if (found == object_.end()) fail(name, "is absent");
    return *found;
  }

 private:
  [[noreturn]] void fail(const std::string& name, const std::string& requirement) const {
    const std::string field = prefix_ + name;
    throw CaseFileError(field.empty() ? "file" : field, requirement);
  }

  const Json& object_;
  std::string prefix_;
};

Schedule::Order order_of(const std::string& name) {
  using Order = Schedule::Order;
  for (const Order order : {Order::kAscending, Order::kDescending, Order::kRandom}) {
    if (text(order) == name) return order;
  }
  throw CaseFileError("knobs.order",
                      fmt::format("\"{}\" is not ascending, descending or random", name));
}

/// Throws for a member that an object has twice: the parser would keep the last.
class NoMemberTwice {
 public:
  bool operator()(int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) names_.emplace_back();
    if (event == Json::parse_event_t::object_end) names_.pop_back();
    if (event == Json::parse_event_t::key &&
        !names_.back().insert(value.get<std::string>()).second) {
      throw CaseFileError(value.get<std::string>(), "is given twice");
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> names_;  ///< by depth
};

Json parsed(std::string_view text) {
  try {
    NoMemberTwice no_member_twice;
    return Json::parse(text, std::ref(no_member_twice));
  } catch (const Json::parse_error& error) {
    throw CaseFileError("file", fmt::format("must be JSON; it breaks at byte {}", error.byte));
  } catch (const Json::out_of_range&) {
    throw CaseFileError("file", "holds a number that no double can hold");
  }
}

Shape shape_of(const Json& json) {
  constexpr int64_t kMost = int64_t{1} << 31;
  const Reader shape(json, "shape.", {"od", "id", "nt"});
  const int64_t id = shape.number<int64_t>("id", kSuperBlockElems, kMost);
  if (id % kSuperBlockElems != 0) {
    throw CaseFileError("shape.id", fmt::format("{} is not a multiple of 256", id));
  }
  const int64_t od = shape.number<int64_t>("od", 1, kMost);
  const auto nt = shape.number<int64_t>("nt", 1, kMost);
  constexpr int64_t kMostElems = int64_t{1} << 28, kMostTerms = int64_t{1} << 36;
  for (const auto& [what, elems] :
       {std::pair{"od*id", od * id}, {"nt*id", nt * id}, {"nt*od", nt * od}}) {
    if (elems <= kMostElems) continue;
    throw CaseFileError("shape", fmt::format("{} is {}; must be at most 2^28", what, elems));
  }
  if (od * id > kMostTerms / nt) {
    throw CaseFileError("shape", "od*id*nt must be at most 2^36");
  }
  return Shape(od, id, nt);
}

/// `value` of member `name`. @throws CaseFileError where it is none of `known`.
std::string one_of(const char* name, std::string value, const Names& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return value;
  throw CaseFileError(name, fmt::format("\"{}\" is not {}", value, fmt::join(known, " or ")));
}

Knobs knobs_of(const Json& json) {
  const Reader reader(json, "knobs.",
                      {"weights", "activations", "lattice", "guard", "pad", "order"});
  Knobs knobs;
  knobs.weights = reader.text("weights");
  knobs.activations = reader.text("activations");
  knobs.lattice = reader.number("lattice", 0, 255);
  knobs.guard = reader.byte("guard");
  knobs.pad = reader.byte("pad");
  knobs.order = order_of(reader.text("order"));
  return knobs;
}

}  // namespace

CaseFile case_file(const Case& c, const GateReport& report) {
  CaseFile file{c, report.subject, report.device, report.gate, "", report.diagnosis};
  for (const GateReport& part : report.parts) {
    if (part.verdict == Verdict::kFail && file.part.empty()) file.part = part.gate;
  }
  return file;
}

std::string to_json(const CaseFile& file, std::string_view version) {
  const Knobs& knobs = file.c.knobs;
  const Shape& shape = file.c.shape;
  const Json json = {{"schema", kCaseSchema},
                     {"planegate", version},
                     {"format", file.c.format},
                     {"shape", {{"od", shape.od()}, {"id", shape.id()}, {"nt", shape.nt()}}},
                     {"seed", file.c.seed},
                     {"knobs",
                      {{"weights", knobs.weights},
                       {"activations", knobs.activations},
                       {"lattice", knobs.lattice},
                       {"guard", static_cast<unsigned>(knobs.guard)},
                       {"pad", static_cast<unsigned>(knobs.pad)},
                       {"order", text(knobs.order)}}},
                     {"consumer", file.consumer},
                     {"device", file.device},
                     {"gate", file.gate},
                     {"part", file.part},
                     {"diagnosis", file.diagnosis}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

CaseFile from_json(std::string_view text) {
  const Json json = parsed(text);
  if (json.is_object() && json.contains("schema") && json["schema"] != kCaseSchema) {
    throw CaseFileError("schema", fmt::format("must be \"{}\"", kCaseSchema));
  }
  const Reader reader(json, "",
                      {"schema", "planegate", "format", "shape", "seed", "knobs", "consumer",
                       "device", "gate", "part", "diagnosis"});
  reader.text("schema");
  reader.text("planegate");
  CaseFile file;
  file.c.format = reader.text("format");
  file.c.shape = shape_of(reader.member("shape"));
  file.c.seed = reader.number<uint64_t>("seed", 0, std::numeric_limits<uint64_t>::max());
  file.c.knobs = knobs_of(reader.member("knobs"));
  file.consumer = reader.text("consumer");
  file.device = one_of("device", reader.text("device"), {"host", "cuda"});
  file.gate = one_of("gate", reader.text("gate"), {"parity"});
  file.part = one_of("part", reader.text("part"), {"lattice", "bound", "independence"});
  file.diagnosis = reader.text("diagnosis");
  return file;
}

}  // namespace planegate::fuzz
