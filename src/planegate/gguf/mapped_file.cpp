#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <planegate/gguf/error.h>
#include <planegate/gguf/mapped_file.h>

namespace planegate {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

[[noreturn]] void refuse(const std::string& path, const std::string& value) {
  throw GgufError(path, 0, "file", value, "a readable regular file with content");
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path.string()) {
  // O_NONBLOCK: opening a pipe must be an error, not a wait for its writer.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) refuse(path_, reason(errno));
  struct stat status {};
  if (::fstat(file.fd, &status) != 0) refuse(path_, reason(errno));
  if (S_ISDIR(status.st_mode)) refuse(path_, "a directory");
  if (!S_ISREG(status.st_mode)) refuse(path_, "not a regular file");
  if (status.st_size == 0) refuse(path_, "empty");
  const auto size = static_cast<size_t>(status.st_size);
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED) refuse(path_, reason(errno));
  bytes_ = {static_cast<const std::byte*>(data), size};
  mapped_ = true;
}

MappedFile::MappedFile(std::string path, std::span<const std::byte> bytes)
    : path_(std::move(path)), bytes_(bytes) {}

MappedFile::~MappedFile() {
  if (mapped_) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace planegate
