#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <planegate/gguf/types.h>

namespace planegate {
namespace {

struct ValueType {
  const char* name;
  int64_t bytes;
};

constexpr std::array<ValueType, kGgufTypes> kValueTypes = {{
    {"u8", 1},
    {"i8", 1},
    {"u16", 2},
    {"i16", 2},
    {"u32", 4},
    {"i32", 4},
    {"f32", 4},
    {"bool", 1},
    {"string", 0},
    {"array", 0},
    {"u64", 8},
    {"i64", 8},
    {"f64", 8},
}};

constexpr std::array kTypes = std::to_array<GgmlType>({
    {0, "f32", 1, 4},         {1, "f16", 1, 2},         {2, "q4_0", 32, 18},
    {3, "q4_1", 32, 20},      {6, "q5_0", 32, 22},      {7, "q5_1", 32, 24},
    {8, "q8_0", 32, 34},      {9, "q8_1", 32, 36},      {10, "q2_K", 256, 84},
    {11, "q3_K", 256, 110},   {12, "q4_K", 256, 144},   {13, "q5_K", 256, 176},
    {14, "q6_K", 256, 210},   {15, "q8_K", 256, 292},   {16, "iq2_xxs", 256, 66},
    {17, "iq2_xs", 256, 74},  {18, "iq3_xxs", 256, 98}, {19, "iq1_s", 256, 50},
    {20, "iq4_nl", 32, 18},   {21, "iq3_s", 256, 110},  {22, "iq2_s", 256, 82},
    {23, "iq4_xs", 256, 136}, {24, "i8", 1, 1},         {25, "i16", 1, 2},
    {26, "i32", 1, 4},        {27, "i64", 1, 8},        {28, "f64", 1, 8},
    {29, "iq1_m", 256, 56},   {30, "bf16", 1, 2},       {34, "tq1_0", 256, 54},
    {35, "tq2_0", 256, 66},   {39, "mxfp4", 32, 17},    {40, "nvfp4", 64, 36},
    {41, "q1_0", 128, 18},
});

struct Removed {
  uint32_t number;
  const char* name;
};

constexpr std::array kRemoved = std::to_array<Removed>({
    {4, "q4_2"},
    {5, "q4_3"},
    {31, "q4_0_4_4"},
    {32, "q4_0_4_8"},
    {33, "q4_0_8_8"},
    {36, "iq4_nl_4_4"},
    {37, "iq4_nl_4_8"},
    {38, "iq4_nl_8_8"},
});

TensorFault dim_fault(int dim, int64_t value, std::string requirement) {
  return {fmt::format("ne[{}]", dim), std::to_string(value), std::move(requirement), dim};
}

}  // namespace

const char* gguf_type_name(GgufType type) {
  return kValueTypes[static_cast<size_t>(type)].name;
}

int64_t gguf_type_bytes(GgufType type) {
  return kValueTypes[static_cast<size_t>(type)].bytes;
}

std::span<const GgmlType> ggml_types() {
  return kTypes;
}

const GgmlType* ggml_type(uint32_t number) {
  const auto* found = std::ranges::find(kTypes, number, &GgmlType::number);
  return found == kTypes.end() ? nullptr : found;
}

const GgmlType* ggml_type(std::string_view name) {
  const auto* found = std::ranges::find(kTypes, name, &GgmlType::name);
  return found == kTypes.end() ? nullptr : found;
}

const char* removed_ggml_type(uint32_t number) {
  const auto* found = std::ranges::find(kRemoved, number, &Removed::number);
  return found == kRemoved.end() ? nullptr : found->name;
}

std::variant<int64_t, TensorFault> tensor_bytes(const GgmlType& type, std::span<const int64_t> ne) {
  if (ne.empty() || ne.size() > kGgufMaxDims) {
    return TensorFault{"n_dims", std::to_string(ne.size()), "1 to 4"};
  }
  for (size_t i = 0; i < ne.size(); ++i) {
    if (ne[i] < 1) return dim_fault(static_cast<int>(i), ne[i], "at least 1");
  }
  if (ne[0] % type.block_elems != 0) {
    return dim_fault(0, ne[0], fmt::format("a multiple of {} for {}", type.block_elems, type.name));
  }
  int64_t elems = 1;
  int64_t bytes = ne[0] / type.block_elems;
  bool elems_wrap = false;
  bool bytes_wrap = __builtin_mul_overflow(bytes, type.block_bytes, &bytes);
  for (size_t i = 0; i < ne.size(); ++i) {
    elems_wrap |= __builtin_mul_overflow(elems, ne[i], &elems);
    if (i > 0) bytes_wrap |= __builtin_mul_overflow(bytes, ne[i], &bytes);
  }
  const std::string product = fmt::format("{}", fmt::join(ne, "x"));
  if (elems_wrap) return TensorFault{"ne", product, "a product below 2^63"};
  if (bytes_wrap) {
    return TensorFault{"ne", product, fmt::format("a size in bytes below 2^63 as {}", type.name)};
  }
  return bytes;
}

}  // namespace planegate
