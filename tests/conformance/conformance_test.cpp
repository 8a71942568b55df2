#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <planegate/core/hash.h>

#include "tests/conformance/operations.h"
#include "tests/require_device.h"

/// The host executor against the GPU, operation by operation, bit for bit. The GPU's answers lie in
/// tests/data/conformance; with PLANEGATE_WRITE_FIXTURES=DIR the cuda tests write them to DIR.
namespace planegate::conformance {
namespace {

namespace fs = std::filesystem;

/// Words that count up, then extremes of int8, int32, f16 and f32, then random ones.
std::vector<uint32_t> operands(const Operation& operation) {
  if (operation.name == "half_to_float") {
    std::vector<uint32_t> words(static_cast<size_t>(operation.in_words));
    for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint32_t>(i);
    return words;
  }
  constexpr uint32_t kExtremes[] = {0x00000000, 0x80808080, 0x7F7F7F7F, 0xFFFFFFFF, 0x807F807F,
                                    0x7FFFFFFF, 0x80000000, 0x00000001, 0x3F800000, 0xBF800000,
                                    0x7F800000, 0xFF800000, 0x00800000, 0x007FFFFF, 0x7F7FFFFF,
                                    0x4B800001, 0x33800000, 0x7FC00000};
  std::vector<uint32_t> words(static_cast<size_t>(operation.in_words));
  for (size_t i = 0; i < words.size(); ++i) {
    const uint64_t random = payload(1, fnv1a(operation.name), i);
    const bool extreme = i < words.size() / 2;
    words[i] = extreme ? kExtremes[random % std::size(kExtremes)] : static_cast<uint32_t>(random);
  }
  return words;
}

std::vector<uint32_t> answer(Device& device, const Operation& operation) {
  const std::vector<uint32_t> in = operands(operation);
  std::vector<uint32_t> out(static_cast<size_t>(operation.out_words));
  const DeviceBuffer in_buffer = device.allocate("in", operation.in_words * 4);
  const DeviceBuffer out_buffer = device.allocate("out", operation.out_words * 4);
  device.upload(in_buffer, std::as_bytes(std::span(in)));
  operation.launch(device, in_buffer, out_buffer);
  device.read_back(out_buffer, std::as_writable_bytes(std::span(out)));
  device.synchronise();
  return out;
}

fs::path fixture_file(const fs::path& folder, const Operation& operation) {
  return folder / (operation.name + ".bin");
}

std::vector<uint32_t> fixture(const Operation& operation) {
  std::vector<uint32_t> words(static_cast<size_t>(operation.out_words));
  const char* moved = std::getenv("PLANEGATE_TEST_DATA");  // where binaries run elsewhere
  const fs::path data = moved != nullptr ? moved : PLANEGATE_TEST_DATA;
  const fs::path file = fixture_file(data / "conformance", operation);
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(words.data()),
          static_cast<std::streamsize>(words.size() * sizeof(uint32_t)));
  if (!in || fs::file_size(file) != words.size() * sizeof(uint32_t)) words.clear();
  return words;
}

void expect_same(const Operation& operation, const std::vector<uint32_t>& want,
                 const std::vector<uint32_t>& have) {
  ASSERT_EQ(want.size(), have.size())
      << "the GPU's answers to " << operation.name << " are missing";
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(want[i], have[i]) << operation.name << ": word " << i << " of " << want.size();
  }
}

class Conformance : public testing::TestWithParam<size_t> {};

std::string operation_name(const testing::TestParamInfo<size_t>& info) {
  return host_operations()[info.param].name;
}

TEST_P(Conformance, HostGivesTheGpusAnswer) {
  const Operation operation = host_operations()[GetParam()];
  const auto device = make_host_device();
  expect_same(operation, fixture(operation), answer(*device, operation));
}

TEST_P(Conformance, CudaGivesTheRecordedAnswer) {
  const auto device = test::require_cuda_device();
  if (device == nullptr) return;
#if PLANEGATE_HAVE_CUDA
  const Operation operation = cuda_operations()[GetParam()];
  const std::vector<uint32_t> out = answer(*device, operation);
  if (const char* folder = std::getenv("PLANEGATE_WRITE_FIXTURES")) {
    std::ofstream file(fixture_file(folder, operation), std::ios::binary);
    file.write(reinterpret_cast<const char*>(out.data()),
               static_cast<std::streamsize>(out.size() * sizeof(uint32_t)));
    ASSERT_TRUE(file.good()) << "cannot write to " << folder;
  }
  expect_same(operation, fixture(operation), out);
#endif
}

INSTANTIATE_TEST_SUITE_P(Dialect, Conformance, testing::Range<size_t>(0, host_operations().size()),
                         operation_name);

}  // namespace
}  // namespace planegate::conformance
