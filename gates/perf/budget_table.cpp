#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "gates/perf/budget.h"

namespace planegate::perf {
namespace {

using Json = nlohmann::ordered_json;

/// Walks the members of a table; what is wrong is said with the path of the member.
class TableReader {
 public:
  explicit TableReader(std::string file) : file_(std::move(file)) {}

  BudgetTable read(const Json& json) {
    const Json& root = object(json, "table");
    only(root, "table", {"schema", "toolchain", "reasons", "budgets"});
    if (string(root, "schema", "") != kBudgetsSchema) {
      fail("schema", std::string("must be ") + kBudgetsSchema);
    }
    BudgetTable table;
    table.toolchain = string(root, "toolchain", "");
    for (const auto& [kernel, reasons] : object(member(root, "reasons", ""), "reasons").items()) {
      table.reasons[kernel] = reasons_of(reasons, "reasons." + kernel);
    }
    for (const auto& [architecture, entries] :
         object(member(root, "budgets", ""), "budgets").items()) {
      const std::string where = "budgets." + architecture;
      for (const auto& [instance, entry] : object(entries, where).items()) {
        table.entries[architecture][instance] = entry_of(entry, where + "." + instance);
      }
    }
    require_reasons(table);
    return table;
  }

 private:
  BudgetEntry entry_of(const Json& json, const std::string& where) {
    std::vector<std::string> names = {"code", "reasons"};
    for (const Quantity quantity : kQuantities) names.push_back(text_of(quantity));
    only(object(json, where), where, names);
    BudgetEntry entry;
    entry.code_hash = string(json, "code", where);
    for (const Quantity quantity : kQuantities) {
      const std::string name = text_of(quantity);
      const Json& number = member(json, name, where);
      if (!number.is_number_integer() || number.get<int64_t>() < 0) {
        fail(where + "." + name, "must be a whole number, not negative");
      }
      entry.allowed[quantity] = number.get<int64_t>();
    }
    if (json.contains("reasons")) {
      entry.reasons = reasons_of(json["reasons"], where + ".reasons");
    }
    return entry;
  }

  std::map<Quantity, std::string> reasons_of(const Json& json, const std::string& where) {
    std::vector<std::string> names;
    for (const Quantity quantity : kQuantities) names.push_back(text_of(quantity));
    only(object(json, where), where, names);
    std::map<Quantity, std::string> reasons;
    for (const Quantity quantity : kQuantities) {
      const std::string name = text_of(quantity);
      if (!json.contains(name)) continue;
      reasons[quantity] = string(json, name, where);
      if (reasons[quantity].empty()) fail(where + "." + name, "is empty: say why it is allowed");
    }
    return reasons;
  }

  void require_reasons(const BudgetTable& table) {
    for (const auto& [architecture, entries] : table.entries) {
      for (const auto& [instance, entry] : entries) {
        for (const Quantity quantity : kQuantities) {
          if (!table.reason(instance, entry, quantity).empty()) continue;
          fail("budgets." + architecture + "." + instance,
               "no reason for its " + text_of(quantity) + ", here or under reasons");
        }
      }
    }
  }

  const Json& object(const Json& json, const std::string& where) {
    if (!json.is_object()) fail(where, "must be an object");
    return json;
  }
  const Json& member(const Json& json, const std::string& name, const std::string& where) {
    if (!json.contains(name)) fail(path(where, name), "is missing");
    return json[name];
  }
  std::string string(const Json& json, const std::string& name, const std::string& where) {
    const Json& found = member(json, name, where);
    if (!found.is_string()) fail(path(where, name), "must be a string");
    return found.get<std::string>();
  }
  void only(const Json& json, const std::string& where, const std::vector<std::string>& names) {
    for (const auto& [name, value] : json.items()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        fail(path(where, name), "is no member of it");
      }
    }
  }
  static std::string path(const std::string& where, const std::string& name) {
    return where.empty() ? name : where + "." + name;
  }
  [[noreturn]] void fail(const std::string& where, const std::string& what) const {
    throw ReportError(file_ + ": " + where + ": " + what);
  }

  std::string file_;
};

Json reasons_json(const std::map<Quantity, std::string>& reasons) {
  Json json = Json::object();
  for (const auto& [quantity, reason] : reasons) json[text_of(quantity)] = reason;
  return json;
}

}  // namespace

std::string to_json(const BudgetTable& table) {
  Json json = {{"schema", kBudgetsSchema}, {"toolchain", table.toolchain}};
  json["reasons"] = Json::object();
  for (const auto& [kernel, reasons] : table.reasons) {
    json["reasons"][kernel] = reasons_json(reasons);
  }
  json["budgets"] = Json::object();
  for (const auto& [architecture, entries] : table.entries) {
    json["budgets"][architecture] = Json::object();
    for (const auto& [instance, entry] : entries) {
      Json& one = json["budgets"][architecture][instance];
      one["code"] = entry.code_hash;
      for (const auto& [quantity, allowed] : entry.allowed) one[text_of(quantity)] = allowed;
      if (!entry.reasons.empty()) one["reasons"] = reasons_json(entry.reasons);
    }
  }
  return json.dump(2) + "\n";
}

BudgetTable parsed_budgets(const std::string& file, std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw ReportError(file + ": is no JSON");
  return TableReader(file).read(json);
}

}  // namespace planegate::perf
