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

const std::string& GgufFile::path() const {
  return file_->path();
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto found = key_index_.find(key);
  return found == key_index_.end() ? nullptr : &metadata_[found->second];
}

const GgufTensor* GgufFile::tensor(std::string_view name) const {
  const auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
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
