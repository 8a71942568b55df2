#include <cstdlib>
#include <memory>

#include <cxxabi.h>

#include <planegate/core/demangle.h>

std::string planegate::demangled(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : mangled;
}
