#pragma once

#include <string>
#include <typeinfo>

namespace planegate {

/// A mangled name as C++ spells it; `mangled` itself where it is none.
std::string demangled(const std::string& mangled);

inline std::string type_name(const std::type_info& type) {
  return demangled(type.name());
}

}  // namespace planegate
