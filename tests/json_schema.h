#pragma once

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

/// JSON against the document that describes it.
namespace planegate::test {

using nlohmann::json;

struct Member {
  std::string type;
  bool always = false;
  std::string meaning;
  bool seen_present = false, seen_absent = false;
};
/// Object -> member -> what the document says of it.
using Schema = std::map<std::string, std::map<std::string, Member>>;

/// The tables below the headings `## object`.
inline Schema parsed_schema(const std::string& document) {
  const std::regex heading("## (\\w+)");
  const std::regex row("\\| `(\\w+)` \\| ([^|]*) \\| ([^|]*)\\| ([^|]*) \\| ([^|]*) \\|");
  Schema schema;
  std::string object;
  std::istringstream in(document);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_match(line, match, heading)) {
      object = match[1];
    } else if (std::regex_match(line, match, row)) {
      schema[object][match[1]] = {match[2], match[4] == "never", match[5]};
    } else if (line.starts_with("| `")) {
      ADD_FAILURE() << "a row of five cells: " << line;
    }
  }
  return schema;
}

/// Compares JSON with a schema; what is wrong, one line each.
class Checker {
 public:
  explicit Checker(Schema& schema) : schema_(schema) {}

  void check(const json& value, const std::string& type, const std::string& where) {
    static const std::string kArray = "array of ";
    if (type.starts_with(kArray)) {
      if (!value.is_array() || value.empty()) return wrong(where, "is no filled array");
      for (const json& element : value) check(element, type.substr(kArray.size()), where + "[]");
    } else if (schema_.count(type) != 0) {
      check_object(value, schema_[type], where);
    } else {
      const bool right = (type == "string" && value.is_string()) ||
                         (type == "boolean" && value.is_boolean()) ||
                         (type == "integer" && value.is_number_integer()) ||
                         (type == "number" && value.is_number());
      if (!right) wrong(where, "is no " + type);
    }
  }
  const std::set<std::string>& errors() const { return errors_; }

 private:
  void check_object(const json& value, std::map<std::string, Member>& members,
                    const std::string& where) {
    if (!value.is_object()) return wrong(where, "is no object");
    for (const auto& [name, inner] : value.items()) {
      const auto found = members.find(name);
      if (found == members.end()) {
        wrong(where + "." + name, "is not documented");
      } else {
        check(inner, found->second.type, where + "." + name);
      }
    }
    for (auto& [name, member] : members) {
      const bool present = value.contains(name);
      (present ? member.seen_present : member.seen_absent) = true;
      if (member.always && !present) wrong(where + "." + name, "is missing");
    }
  }
  void wrong(const std::string& where, const std::string& what) {
    errors_.insert(where + " " + what);
  }

  Schema& schema_;
  std::set<std::string> errors_;
};

/// What is wrong with `value` as an object `root`, one line each; empty: nothing.
inline std::string errors_of(const json& value, const std::string& root, Schema& schema) {
  Checker checker(schema);
  checker.check(value, root, root);
  return fmt::format("{}", fmt::join(checker.errors(), "\n"));
}

}  // namespace planegate::test
