#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace planegate::test {

/// A file that must be refused, and the error's text without the path.
struct MalformedCase {
  std::string name;    ///< as in test names
  const char* kind;    ///< in the words of a reader
  const char* offset;  ///< what the error's byte offset points at
  std::string image;
  const char* message;
};

/// An unusual file that must be read.
struct ValidCase {
  std::string name;
  const char* kind;
  std::string image;
};

inline void PrintTo(const MalformedCase& some, std::ostream* out) {
  *out << some.kind;
}
inline void PrintTo(const ValidCase& some, std::ostream* out) {
  *out << some.kind;
}

/// Every malformed kind: pinned to its message in GgufMalformed, through the command in
/// GgufCommand, in words in docs/gguf-malformed.md, seeds of the fuzzer in fuzz/corpus/gguf.
std::vector<MalformedCase> malformed_cases();

/// The same for files that are odd and valid.
std::vector<ValidCase> valid_cases();

}  // namespace planegate::test
