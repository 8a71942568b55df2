#include <cstddef>
#include <cstdint>
#include <span>

#include <planegate/gguf/error.h>
#include <planegate/gguf/reader.h>

#include "tests/gguf_touch.h"

/// Opens `data` as a GGUF file and reads everything in it. Any end but a refusal in words or a
/// complete read is a finding: a crash, another exception, a broken promise (GgufTouch).
/// Built for libFuzzer with preset `fuzz`, and as a test over fuzz/corpus/gguf.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const auto model = planegate::GgufFile::of_bytes("fuzz", bytes);
    planegate::test::GgufTouch(model, static_cast<int64_t>(size)).everything();
  } catch (const planegate::GgufError&) {
  }
  return 0;
}
