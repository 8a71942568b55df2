#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <planegate/gguf/replacing_file.h>

namespace planegate {

ReplacingFile::ReplacingFile(std::filesystem::path target) : target_(std::move(target)) {
  for (int serial = 0; fd_ < 0; ++serial) {
    temporary_ = target_;
    temporary_ += fmt::format(".tmp-{}-{}", ::getpid(), serial);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) fail("cannot create");
  }
}

ReplacingFile::~ReplacingFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void ReplacingFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void ReplacingFile::commit() {
  if (::fsync(fd_) != 0) fail("cannot write");
  const int closed = ::close(fd_);
  fd_ = -1;
  if (closed != 0) fail("cannot write");
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot replace");
  temporary_.clear();
}

void ReplacingFile::fail(const char* what) const {
  throw std::filesystem::filesystem_error(what, target_,
                                          std::error_code(errno, std::generic_category()));
}

}  // namespace planegate
