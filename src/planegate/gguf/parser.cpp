#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <planegate/gguf/error.h>
#include <planegate/gguf/parser.h>

namespace planegate {
namespace {

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr uint32_t kOldestVersion = 2;
constexpr uint32_t kNewestVersion = 3;
// Lengths, one byte of name or key, and the fixed fields.
constexpr int64_t kLeastEntryBytes = 8 + 1 + 4 + 1;
constexpr int64_t kLeastTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;
constexpr std::string_view kAlignmentKey = "general.alignment";

constexpr std::array<const char*, kGgufMaxDims> kExtentFields = {"ne[0]", "ne[1]", "ne[2]",
                                                                 "ne[3]"};

/// Where the offset stands in the file.
int64_t offset_field(const GgufTensor& tensor) {
  return tensor.entry_offset + 8 + std::ssize(tensor.name) + 4 + 8 * tensor.n_dims + 4;
}

}  // namespace

GgufParser::GgufParser(GgufFile& model) : model_(model), cursor_(*model.file_) {}

void GgufParser::parse() {
  read_header();
  for (int64_t i = 0; i < n_kv_; ++i) read_metadata_entry(i);
  index_keys();
  read_alignment();
  for (int64_t i = 0; i < n_tensors_; ++i) read_tensor(i);
  index_tensors();
  place_data();
  check_extents();
  check_overlaps();
}

void GgufParser::read_header() {
  const auto magic = cursor_.read<uint32_t>("magic");
  if (magic != kMagic) cursor_.fail(0, "magic", fmt::format("0x{:08x}", magic), "\"GGUF\"");
  model_.version_ = cursor_.read<uint32_t>("version");
  if (__builtin_bswap32(model_.version_) <= kNewestVersion && model_.version_ != 0) {
    cursor_.fail(4, "version", fmt::format("0x{:08x}", model_.version_),
                 "little-endian, this file is big-endian");
  }
  if (model_.version_ < kOldestVersion || model_.version_ > kNewestVersion) {
    cursor_.fail(4, "version", std::to_string(model_.version_), "2 or 3");
  }
  const auto n_tensors = cursor_.read<uint64_t>("n_tensors");
  const auto n_kv = cursor_.read<uint64_t>("n_kv");
  n_tensors_ = checked_count(8, "n_tensors", n_tensors, kLeastTensorBytes);
  n_kv_ = checked_count(16, "n_kv", n_kv, kLeastEntryBytes);
}

int64_t GgufParser::checked_count(int64_t offset, std::string_view field, uint64_t count,
                                  int64_t least_bytes) const {
  const int64_t most = cursor_.left() / least_bytes;
  if (count > static_cast<uint64_t>(most)) {
    cursor_.fail(offset, field, std::to_string(count),
                 fmt::format("at most {} in the {} bytes left", most, cursor_.left()));
  }
  return static_cast<int64_t>(count);
}

void GgufParser::read_metadata_entry(int64_t index) {
  cursor_.set_subject("entry", index);
  const int64_t start = cursor_.offset();
  const std::string_view key = cursor_.read_string("key");
  if (key.empty() || static_cast<int64_t>(key.size()) > kGgufMaxKeyBytes) {
    cursor_.fail(start, "key length", std::to_string(key.size()),
                 fmt::format("1 to {}", kGgufMaxKeyBytes));
  }
  cursor_.set_subject("key", key);
  const GgufType type = cursor_.read_type("value type");
  model_.metadata_.push_back(GgufValue(model_.file_.get(), key, type, cursor_.offset()));
  cursor_.skip_value(type);
}

void GgufParser::index_keys() {
  const auto& entries = model_.metadata_;
  const auto repeat =
      model_.key_order_.sort(entries.size(), [&](size_t i) { return entries[i].key(); });
  if (!repeat) return;
  const GgufValue& entry = entries[repeat->later];
  cursor_.set_subject("entry", static_cast<int64_t>(repeat->later));
  // Before the value: its type, the key, the key's length.
  cursor_.fail(entry.offset() - 4 - std::ssize(entry.key()) - 8, "key", quoted_text(entry.key()),
               "only once in a file");
}

void GgufParser::read_alignment() {
  const GgufValue* entry = model_.find(kAlignmentKey);
  if (entry == nullptr) return;
  const auto alignment = entry->as<uint32_t>();
  cursor_.clear_subject();
  if (!std::has_single_bit(alignment)) {
    cursor_.fail(entry->offset(), kAlignmentKey, std::to_string(alignment), "a power of two");
  }
  if (n_tensors_ > 0 && alignment > file_bytes()) {
    cursor_.fail(entry->offset(), kAlignmentKey, std::to_string(alignment),
                 fmt::format("at most the {} bytes of the file", file_bytes()));
  }
  model_.alignment_ = alignment;
}

void GgufParser::read_tensor(int64_t index) {
  GgufTensor tensor;
  tensor.entry_offset = cursor_.offset();
  const std::string_view name = read_tensor_name(index);
  tensor.name = name;
  cursor_.set_subject("tensor", name);
  read_dims(tensor);
  const int64_t dims_end = cursor_.offset();
  tensor.type = read_tensor_type();
  const int extents = std::max(1, tensor.n_dims);
  const auto size =
      tensor_bytes(*tensor.type, std::span(tensor.ne).first(static_cast<size_t>(extents)));
  if (const auto* fault = std::get_if<TensorFault>(&size)) {
    cursor_.fail(dims_end - 8 * (tensor.n_dims - fault->dim), fault->field, fault->value,
                 fault->requirement);
  }
  tensor.size_bytes = std::get<int64_t>(size);
  read_offset(tensor);
  model_.tensors_.push_back(std::move(tensor));
}

void GgufParser::read_offset(GgufTensor& tensor) {
  const int64_t start = cursor_.offset();
  const auto offset = cursor_.read<uint64_t>("offset");
  if (offset % static_cast<uint64_t>(model_.alignment_) != 0) {
    cursor_.fail(start, "offset", std::to_string(offset),
                 fmt::format("a multiple of {}", model_.alignment_));
  }
  if (offset > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    cursor_.fail(start, "offset", std::to_string(offset), "below 2^63");
  }
  tensor.offset = static_cast<int64_t>(offset);
}

void GgufParser::index_tensors() {
  const auto& tensors = model_.tensors_;
  const auto repeat = model_.tensor_order_.sort(
      tensors.size(), [&](size_t i) { return std::string_view(tensors[i].name); });
  if (!repeat) return;
  const GgufTensor& tensor = tensors[repeat->later];
  cursor_.set_subject("tensor", static_cast<int64_t>(repeat->later));
  cursor_.fail(tensor.entry_offset, "name", quoted_text(tensor.name), "only once in a file");
}

std::string_view GgufParser::read_tensor_name(int64_t index) {
  cursor_.set_subject("tensor", index);
  const int64_t start = cursor_.offset();
  const std::string_view name = cursor_.read_string("name");
  if (name.empty() || static_cast<int64_t>(name.size()) > kGgufMaxNameBytes) {
    cursor_.fail(start, "name length", std::to_string(name.size()),
                 fmt::format("1 to {}", kGgufMaxNameBytes));
  }
  return name;
}

void GgufParser::read_dims(GgufTensor& tensor) {
  const auto n_dims = cursor_.read<uint32_t>("n_dims");
  if (n_dims > kGgufMaxDims) {
    cursor_.fail(cursor_.offset() - 4, "n_dims", std::to_string(n_dims), "0 to 4");
  }
  tensor.n_dims = static_cast<int>(n_dims);
  for (size_t i = 0; i < n_dims; ++i) {
    const char* field = kExtentFields[i];
    const auto extent = cursor_.read<uint64_t>(field);
    if (extent > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      cursor_.fail(cursor_.offset() - 8, field, std::to_string(extent), "below 2^63");
    }
    tensor.ne[i] = static_cast<int64_t>(extent);
  }
}

const GgmlType* GgufParser::read_tensor_type() {
  const auto number = cursor_.read<uint32_t>("type");
  const GgmlType* type = ggml_type(number);
  if (type == nullptr) {
    const char* removed = removed_ggml_type(number);
    cursor_.fail(cursor_.offset() - 4, "type", std::to_string(number),
                 removed == nullptr ? "a known ggml type"
                                    : fmt::format("a current ggml type, {} was removed", removed));
  }
  return type;
}

void GgufParser::place_data() {
  const int64_t end = cursor_.offset();
  const int64_t past = end % model_.alignment_;
  model_.data_offset_ = past == 0 ? end : end + (model_.alignment_ - past);
}

void GgufParser::check_extents() {
  const int64_t data_bytes = std::max<int64_t>(0, file_bytes() - model_.data_offset_);
  for (size_t i = 0; i < model_.tensors_.size(); ++i) {
    const GgufTensor& tensor = model_.tensors_[i];
    if (tensor.size_bytes > data_bytes - tensor.offset) {
      fail_placement(i, fmt::format("{} bytes from there, inside the {} bytes from byte {} on",
                                    tensor.size_bytes, data_bytes, model_.data_offset_));
    }
  }
}

void GgufParser::check_overlaps() {
  const auto& tensors = model_.tensors_;
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return tensors[i].offset; });
  for (size_t i = 1; i < order.size(); ++i) {
    const GgufTensor& below = tensors[order[i - 1]];
    const int64_t end = below.offset + below.size_bytes;
    if (tensors[order[i]].offset < end) {
      fail_placement(order[i], fmt::format("outside tensor {}, bytes {} to {} of the tensor data",
                                           quoted_text(below.name), below.offset, end));
    }
  }
}

void GgufParser::fail_placement(size_t index, std::string_view requirement) {
  const GgufTensor& tensor = model_.tensors_[index];
  cursor_.set_subject("tensor", tensor.name);
  cursor_.fail(offset_field(tensor), "offset", std::to_string(tensor.offset), requirement);
}

}  // namespace planegate
