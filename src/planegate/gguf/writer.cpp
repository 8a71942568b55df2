#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/gguf/error.h>
#include <planegate/gguf/replacing_file.h>
#include <planegate/gguf/writer.h>

namespace planegate {
namespace {

static_assert(std::endian::native == std::endian::little, "little-endian hosts only");

constexpr std::string_view kAlignmentKey = "general.alignment";
constexpr uint32_t kVersion = 3;
constexpr int64_t kMostDataBytes = int64_t{1} << 62;

template <class T>
void put(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  out.append(bytes.data(), bytes.size());
}

void put_text(std::string& out, std::string_view text) {
  put<uint64_t>(out, text.size());
  out += text;
}

void require_length(const char* argument, std::string_view text, int64_t most) {
  if (text.empty() || static_cast<int64_t>(text.size()) > most) {
    throw ContractError(argument, quoted_text(text), fmt::format("1 to {} bytes", most));
  }
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

GgufWriter::GgufWriter(int64_t alignment) : alignment_(alignment) {
  const bool power = alignment > 0 && std::has_single_bit(static_cast<uint64_t>(alignment));
  require(power && alignment <= int64_t{1} << 31, "alignment", alignment,
          "a power of two, at most 2^31");
  if (alignment == kGgufDefaultAlignment) return;
  put_text(metadata_, kAlignmentKey);
  put(metadata_, GgufType::kU32);
  put(metadata_, static_cast<uint32_t>(alignment));
  keys_.emplace(kAlignmentKey);
}

void GgufWriter::begin_entry(std::string_view key, GgufType type) {
  require_length("key", key, kGgufMaxKeyBytes);
  if (key == kAlignmentKey) {
    throw ContractError("key", quoted_text(key), "given to the constructor, not added");
  }
  if (!keys_.emplace(key).second)
    throw ContractError("key", quoted_text(key), "only once in a file");
  put_text(metadata_, key);
  put(metadata_, type);
}

void GgufWriter::add_u32(std::string_view key, uint32_t value) {
  begin_entry(key, GgufType::kU32);
  put(metadata_, value);
}

void GgufWriter::add_u64(std::string_view key, uint64_t value) {
  begin_entry(key, GgufType::kU64);
  put(metadata_, value);
}

void GgufWriter::add_f32(std::string_view key, float value) {
  begin_entry(key, GgufType::kF32);
  put(metadata_, value);
}

void GgufWriter::add_string(std::string_view key, std::string_view value) {
  begin_entry(key, GgufType::kString);
  put_text(metadata_, value);
}

void GgufWriter::add_array(std::string_view key, std::span<const uint32_t> values) {
  begin_entry(key, GgufType::kArray);
  put(metadata_, GgufType::kU32);
  put<uint64_t>(metadata_, values.size());
  for (const uint32_t value : values) put(metadata_, value);
}

void GgufWriter::add_array(std::string_view key, std::span<const std::string> values) {
  begin_entry(key, GgufType::kArray);
  put(metadata_, GgufType::kString);
  put<uint64_t>(metadata_, values.size());
  for (const std::string& value : values) put_text(metadata_, value);
}

int64_t GgufWriter::padded(int64_t size_bytes) const {
  return (size_bytes + alignment_ - 1) / alignment_ * alignment_;
}

GgufWriter::Tensor& GgufWriter::append_tensor(std::string name, std::string_view type_name,
                                              std::vector<int64_t> ne) {
  require_length("name", name, kGgufMaxNameBytes);
  if (names_.contains(name)) throw ContractError("name", quoted_text(name), "only once in a file");
  const GgmlType* type = ggml_type(type_name);
  if (type == nullptr) throw ContractError("type", quoted_text(type_name), "a current ggml type");
  const auto size = tensor_bytes(*type, ne);
  if (const auto* fault = std::get_if<TensorFault>(&size)) {
    throw ContractError(fault->field, fault->value,
                        fmt::format("{} (tensor {})", fault->requirement, quoted_text(name)));
  }
  const auto size_bytes = std::get<int64_t>(size);
  require(size_bytes <= kMostDataBytes - alignment_ - data_bytes_, "size of all tensors",
          size_bytes, fmt::format("below 2^62 with the {} bytes before it", data_bytes_));
  names_.insert(name);
  tensors_.push_back({std::move(name), type, std::move(ne), data_bytes_, size_bytes, {}, {}});
  data_bytes_ += padded(size_bytes);
  return tensors_.back();
}

void GgufWriter::add_tensor(std::string name, std::string_view type, std::vector<int64_t> ne,
                            std::vector<std::byte> bytes) {
  const GgmlType* known = ggml_type(type);
  if (known != nullptr) {
    const auto size = tensor_bytes(*known, ne);
    const auto* wanted = std::get_if<int64_t>(&size);
    require(wanted == nullptr || *wanted == std::ssize(bytes), "bytes", std::ssize(bytes),
            wanted == nullptr ? "" : fmt::format("{} for tensor {}", *wanted, quoted_text(name)));
  }
  append_tensor(std::move(name), type, std::move(ne)).bytes = std::move(bytes);
}

void GgufWriter::add_tensor(std::string name, std::string_view type, std::vector<int64_t> ne,
                            Fill fill) {
  if (!fill) throw ContractError("fill", "null", "a callable");
  append_tensor(std::move(name), type, std::move(ne)).fill = std::move(fill);
}

std::string GgufWriter::head() const {
  std::string out = "GGUF";
  put(out, kVersion);
  put<uint64_t>(out, tensors_.size());
  put<uint64_t>(out, keys_.size());
  out += metadata_;
  for (const Tensor& tensor : tensors_) {
    put_text(out, tensor.name);
    put(out, static_cast<uint32_t>(tensor.ne.size()));
    for (const int64_t extent : tensor.ne) put(out, extent);
    put(out, tensor.type->number);
    put(out, tensor.offset);
  }
  out.resize(static_cast<size_t>(padded(std::ssize(out))));
  return out;
}

void GgufWriter::write(const std::filesystem::path& path) const {
  ReplacingFile file(path);
  file.append(bytes_of(head()));
  std::vector<std::byte> made;
  for (const Tensor& tensor : tensors_) {
    if (tensor.fill) {
      made.assign(static_cast<size_t>(tensor.size_bytes), std::byte{0});
      tensor.fill(made);
      file.append(made);
    } else {
      file.append(tensor.bytes);
    }
    const int64_t padding = padded(tensor.size_bytes) - tensor.size_bytes;
    file.append(bytes_of(std::string(static_cast<size_t>(padding), '\0')));
  }
  file.commit();
}

}  // namespace planegate
