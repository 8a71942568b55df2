#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <planegate/core/file_content.h>

namespace planegate {
namespace {

constexpr size_t kChunk = size_t{1} << 16;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw std::filesystem::filesystem_error("cannot be read", path,
                                          std::error_code(error, std::generic_category()));
}

}  // namespace

std::string file_content(const std::filesystem::path& path, size_t most) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (!file) fail(path, errno);
  std::string text;
  for (;;) {
    const size_t size = text.size();
    const size_t wanted = std::min(kChunk, most - size);
    text.resize(size + wanted);
    const size_t got = std::fread(text.data() + size, 1, wanted, file.get());
    text.resize(size + got);
    if (got < wanted && std::ferror(file.get()) != 0) fail(path, errno);
    if (got < wanted || wanted == 0) return text;
  }
}

}  // namespace planegate
