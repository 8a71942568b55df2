#include <planegate/gguf/mapped_file.h>
#include <planegate/gguf/parser.h>
#include <planegate/gguf/reader.h>

namespace planegate {

GgufFile::GgufFile(std::unique_ptr<const MappedFile> file) : file_(std::move(file)) {}
GgufFile::GgufFile(GgufFile&&) noexcept = default;
GgufFile& GgufFile::operator=(GgufFile&&) noexcept = default;
GgufFile::~GgufFile() = default;

GgufFile GgufFile::open(const std::filesystem::path& path) {
  GgufFile model(std::make_unique<const MappedFile>(path));
  GgufParser(model).parse();
  return model;
}

GgufFile GgufFile::of_bytes(std::string path, std::span<const std::byte> bytes) {
  GgufFile model(std::make_unique<const MappedFile>(std::move(path), bytes));
  GgufParser(model).parse();
  return model;
}

const std::string& GgufFile::path() const {
  return file_->path();
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto found = key_order_.find(key, [&](size_t i) { return metadata_[i].key(); });
  return found ? &metadata_[*found] : nullptr;
}

const GgufTensor* GgufFile::tensor(std::string_view name) const {
  const auto found =
      tensor_order_.find(name, [&](size_t i) { return std::string_view(tensors_[i].name); });
  return found ? &tensors_[*found] : nullptr;
}

std::span<const std::byte> GgufFile::bytes(const GgufTensor& tensor) const {
  return file_->bytes().subspan(static_cast<size_t>(data_offset_ + tensor.offset),
                                static_cast<size_t>(tensor.size_bytes));
}

RawTensor GgufFile::raw(const GgufTensor& tensor) const {
  const int64_t od = tensor.ne[1] * tensor.ne[2] * tensor.ne[3];
  return {tensor.name, tensor.type->name, Shape(od, tensor.ne[0]), bytes(tensor)};
}

}  // namespace planegate
