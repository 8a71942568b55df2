#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <planegate/gguf/reader.h>

namespace planegate::test {

/// Reads everything that a file hands out, and ends the process where a promise of the reader does
/// not hold: for fuzzers, which see a crash. The sum keeps the reads alive.
class GgufTouch {
 public:
  explicit GgufTouch(const GgufFile& model, int64_t file_bytes)
      : model_(model), file_bytes_(file_bytes) {}

  uint64_t everything() {
    require(model_.alignment() > 0 && model_.data_offset() % model_.alignment() == 0,
            "aligned tensor data");
    for (const GgufValue& entry : model_.metadata()) touch(entry);
    for (const GgufTensor& tensor : model_.tensors()) touch(tensor);
    require(sizes_ <= file_bytes_, "tensors that do not overlap");
    require(model_.find("\x01 no such key") == nullptr, "no key that is not there");
    return sum_;
  }

 private:
  static void require(bool holds, const char* promise) {
    if (holds) return;
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
  }

  template <class T>
  void add(T value) {
    if constexpr (std::is_same_v<T, GgufArray>) {
      touch(value);
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      for (const char c : value) sum_ += static_cast<uint8_t>(c);
    } else {
      sum_ += std::hash<T>()(value);
    }
  }

  /// Calls `visit` with a null pointer to the C++ type that `type` stands for.
  template <class Visit>
  static void with_type(GgufType type, const Visit& visit) {
    switch (type) {
      case GgufType::kU8:
        return visit(static_cast<uint8_t*>(nullptr));
      case GgufType::kI8:
        return visit(static_cast<int8_t*>(nullptr));
      case GgufType::kU16:
        return visit(static_cast<uint16_t*>(nullptr));
      case GgufType::kI16:
        return visit(static_cast<int16_t*>(nullptr));
      case GgufType::kU32:
        return visit(static_cast<uint32_t*>(nullptr));
      case GgufType::kI32:
        return visit(static_cast<int32_t*>(nullptr));
      case GgufType::kF32:
        return visit(static_cast<float*>(nullptr));
      case GgufType::kBool:
        return visit(static_cast<bool*>(nullptr));
      case GgufType::kString:
        return visit(static_cast<std::string_view*>(nullptr));
      case GgufType::kArray:
        return visit(static_cast<GgufArray*>(nullptr));
      case GgufType::kU64:
        return visit(static_cast<uint64_t*>(nullptr));
      case GgufType::kI64:
        return visit(static_cast<int64_t*>(nullptr));
      case GgufType::kF64:
        return visit(static_cast<double*>(nullptr));
    }
    require(false, "a known type");
  }

  void touch(const GgufArray& array) {
    with_type(array.element_type(), [&]<class T>(T*) {
      const std::vector<T> values = array.values<T>();
      require(std::ssize(values) == array.size(), "as many values as the array's size");
      for (const T& value : values) add<T>(value);
    });
  }

  void touch(const GgufValue& entry) {
    require(!entry.key().empty(), "a key");
    add(entry.key());
    require(model_.find(entry.key()) == &entry, "a key that finds its entry");
    with_type(entry.type(), [&]<class T>(T*) { add<T>(entry.as<T>()); });
  }

  void touch(const GgufTensor& tensor) {
    require(model_.tensor(tensor.name) == &tensor, "a name that finds its tensor");
    __extension__ using Wide = unsigned __int128;
    Wide blocks = static_cast<Wide>(tensor.ne[0] / tensor.type->block_elems);
    for (size_t i = 1; i < tensor.ne.size(); ++i) blocks *= static_cast<uint64_t>(tensor.ne[i]);
    require(blocks * static_cast<uint64_t>(tensor.type->block_bytes) ==
                static_cast<uint64_t>(tensor.size_bytes),
            "a size that is the extents' product");
    require(tensor.offset % model_.alignment() == 0, "an aligned offset");
    require(tensor.size_bytes <= file_bytes_ - model_.data_offset() - tensor.offset,
            "a tensor inside the file");
    sizes_ += tensor.size_bytes;
    const RawTensor raw = model_.raw(tensor);
    require(raw.shape.id() == tensor.ne[0], "rows of ne[0] weights");
    for (const std::byte byte : raw.bytes) sum_ += static_cast<uint8_t>(byte);
  }

  const GgufFile& model_;
  int64_t file_bytes_;
  int64_t sizes_ = 0;
  uint64_t sum_ = 0;
};

}  // namespace planegate::test
