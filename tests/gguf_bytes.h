#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <planegate/gguf/reader.h>
#include <planegate/gguf/writer.h>

namespace planegate::test {

/// A directory of one test, removed with everything in it.
class TempDir {
 public:
  TempDir() {
    // In memory where that can be: the writer waits for the disk otherwise.
    const bool memory = ::access("/dev/shm", W_OK | X_OK) == 0;
    std::string name = (memory ? "/dev/shm/" : ::testing::TempDir()) + "planegate-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_file(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

template <class T>
std::string bytes_of(T value) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}

/// `image` with the bytes of `value` at `offset`.
template <class T>
std::string patched(std::string image, size_t offset, T value) {
  return image.replace(offset, sizeof(T), bytes_of(value));
}

inline std::vector<std::byte> counting_bytes(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i + 1);
  return bytes;
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string image_of(const GgufWriter& writer) {
  const TempDir dir;
  writer.write(dir / "model.gguf");
  return read_file(dir / "model.gguf");
}

/// The fields of small_image(), in bytes from its start.
namespace at {
inline constexpr size_t kVersion = 4, kTensors = 8, kKv = 16;
inline constexpr size_t kFirstKey = 24, kSecondKey = 41, kSecondString = 54;
inline constexpr size_t kThirdKey = 64, kArrayType = 77, kArrayCount = 81;
inline constexpr size_t kX = 101, kXDims = 110, kXNe0 = 114, kXType = 122, kXOffset = 126;
inline constexpr size_t kY = 134, kYNe0 = 147, kYNe1 = 155, kYType = 163, kYOffset = 167;
inline constexpr size_t kDirectoryEnd = 175, kData = 192, kYData = 224, kYEnd = 292, kEnd = 320;
}  // namespace at

/// a = u32 7, s = "hi", v = [1, 2, 3]; tensors x (f32, 8) and y (q8_0, 32 x 2).
inline std::string small_image() {
  static const std::string image = [] {
    GgufWriter writer;
    writer.add_u32("a", 7);
    writer.add_string("s", "hi");
    writer.add_array("v", std::vector<uint32_t>{1, 2, 3});
    writer.add_tensor("x", "f32", {8}, counting_bytes(32));
    writer.add_tensor("y", "q8_0", {32, 2}, counting_bytes(68));
    return image_of(writer);
  }();
  return image;
}

/// A file of no tensors and one entry `k`, whose encoded value is `value`.
inline std::string one_entry_image(GgufType type, const std::string& value) {
  return "GGUF" + bytes_of(uint32_t{3}) + bytes_of(uint64_t{0}) + bytes_of(uint64_t{1}) +
         bytes_of(uint64_t{1}) + "k" + bytes_of(type) + value;
}
inline constexpr int64_t kOneEntryValue = 24 + 8 + 1 + 4;

inline std::string array_head(GgufType element_type, uint64_t count) {
  return bytes_of(element_type) + bytes_of(count);
}

/// Opens a file with this content.
inline GgufFile open_image(const TempDir& dir, const std::string& image) {
  write_file(dir / "model.gguf", image);
  return GgufFile::open(dir / "model.gguf");
}

}  // namespace planegate::test
