#include "gates/perf/ledger_file.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace planegate::perf {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const fs::path& path, int error) {
  throw fs::filesystem_error(what, path, std::error_code(error, std::generic_category()));
}

/// An open, locked file; both end with it.
class LockedFile {
 public:
  LockedFile(fs::path path, int flags, int lock) : path_(std::move(path)) {
    fd_ = ::open(path_.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd_ < 0) fail("cannot open", path_, errno);
    struct stat status = {};
    if (::fstat(fd_, &status) != 0) close_and_fail("cannot open", errno);
    if (!S_ISREG(status.st_mode)) {
      close_and_fail("is no regular file", S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
    }
    while (::flock(fd_, lock) != 0) {
      if (errno != EINTR) close_and_fail("cannot lock", errno);
    }
  }
  ~LockedFile() { ::close(fd_); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  std::string content() const {
    std::string text;
    char chunk[1 << 16];
    for (ssize_t got = 1; got != 0;) {
      got = ::pread(fd_, chunk, sizeof(chunk), static_cast<off_t>(text.size()));
      if (got < 0 && errno != EINTR) fail("cannot read", path_, errno);
      if (got > 0) text.append(chunk, static_cast<size_t>(got));
    }
    return text;
  }

  void truncate(size_t size_bytes) {
    if (::ftruncate(fd_, static_cast<off_t>(size_bytes)) != 0) fail("cannot cut", path_, errno);
    sync();
  }

  /// All of `line` behind the `size_bytes` bytes that are there, or none of it.
  void append(const std::string& line, size_t size_bytes) {
    ssize_t written = 0;
    do {
      written = ::write(fd_, line.data(), line.size());
    } while (written < 0 && errno == EINTR);
    if (written == static_cast<ssize_t>(line.size())) return sync();
    const int error = written < 0 ? errno : ENOSPC;
    if (written > 0) truncate(size_bytes);
    fail("cannot write", path_, error);
  }

  void sync() {
    if (::fsync(fd_) != 0) fail("cannot write", path_, errno);
  }

 private:
  [[noreturn]] void close_and_fail(const char* what, int error) {
    ::close(fd_);
    fail(what, path_, error);
  }

  fs::path path_;
  int fd_ = -1;
};

void sync_folder_of(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

/// Where the last line starts.
size_t last_line_at(const std::string& text) {
  if (text.size() < 2) return 0;
  const size_t newline = text.rfind('\n', text.size() - 2);
  return newline == std::string::npos ? 0 : newline + 1;
}

LedgerError at_line(const fs::path& path, int64_t line, const std::string& what) {
  return LedgerError(fmt::format("{}:{}: {}", path.string(), line, what));
}

std::optional<LedgerEntry> parsed(const fs::path& path, int64_t number, std::string_view line) {
  try {
    return parsed_ledger_line(line);
  } catch (const LedgerError& error) {
    throw at_line(path, number, error.what());
  }
}

/// Whether a writer may have left `line`: it starts as every line of a ledger does.
bool starts_as_entry(std::string_view line) {
  const std::string start = fmt::format("{{\"schema\":\"{}\"", kLedgerSchema);
  return !line.empty() &&
         line.substr(0, start.size()) == std::string_view(start).substr(0, line.size());
}

/// Whether the last line is damaged. @throws LedgerError where the file never was a ledger.
bool ends_damaged(const fs::path& path, const std::string& text) {
  if (text.empty()) return false;
  const int64_t lines = std::count(text.begin(), text.end(), '\n') + (text.back() != '\n');
  const std::string_view first = std::string_view(text).substr(0, text.find('\n'));
  if (!starts_as_entry(first) && !parsed(path, 1, first)) {
    throw at_line(path, 1, fmt::format("is no line of a ledger ({})", kLedgerSchema));
  }
  if (text.back() != '\n') return true;
  const std::string_view last = std::string_view(text).substr(last_line_at(text));
  return !parsed(path, lines, last.substr(0, last.size() - 1));
}

/// A new file beside `path` that holds `bytes`, on the disk.
fs::path kept_aside(const fs::path& path, const std::string& bytes) {
  for (int64_t n = 1;; ++n) {
    const fs::path name = fmt::format("{}.damaged-{}", path.string(), n);
    if (fs::exists(fs::symlink_status(name))) continue;
    try {
      LockedFile file(name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, LOCK_EX);
      file.append(bytes, 0);
    } catch (const fs::filesystem_error& error) {
      if (error.code().value() == EEXIST) continue;
      ::unlink(name.c_str());
      throw;
    }
    sync_folder_of(name);
    return name;
  }
}

/// Moves a damaged last line of `text`, the content of `file`, to a file of its own.
std::optional<DamagedLine> mend(const fs::path& path, LockedFile& file, std::string& text) {
  if (!ends_damaged(path, text)) return std::nullopt;
  const size_t at = last_line_at(text);
  DamagedLine damaged;
  damaged.line = 1 + std::count(text.begin(), text.begin() + static_cast<int64_t>(at), '\n');
  damaged.kept_as = kept_aside(path, text.substr(at));
  file.truncate(at);
  text.resize(at);
  return damaged;
}

std::vector<LedgerEntry> entries_of(const fs::path& path, const std::string& text) {
  std::vector<LedgerEntry> entries;
  int64_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const auto entry = parsed(path, ++number, std::string_view(text).substr(at, end - at));
    if (!entry) throw at_line(path, number, "no JSON, and not the last line: mend it by hand");
    entries.push_back(*entry);
    at = end + 1;
  }
  return entries;
}

LedgerContent read_and_mend(const fs::path& path) {
  LockedFile file(path, O_RDWR | O_APPEND, LOCK_EX);
  std::string text = file.content();
  LedgerContent content;
  content.damaged = mend(path, file, text);
  content.entries = entries_of(path, text);
  return content;
}

}  // namespace

LedgerContent read_ledger(const fs::path& path) {
  std::string text;
  {
    const LockedFile file(path, O_RDONLY, LOCK_SH);
    text = file.content();
  }
  if (!ends_damaged(path, text)) return {entries_of(path, text), std::nullopt};
  try {
    return read_and_mend(path);
  } catch (const fs::filesystem_error&) {
    LedgerContent content;
    text.resize(last_line_at(text));
    content.entries = entries_of(path, text);
    content.damaged = DamagedLine{static_cast<int64_t>(content.entries.size()) + 1, {}};
    return content;
  }
}

std::optional<DamagedLine> append_to_ledger(const fs::path& path, const LedgerEntry& entry) {
  const std::string line = ledger_line(entry);
  LockedFile file(path, O_RDWR | O_APPEND | O_CREAT, LOCK_EX);
  std::string text = file.content();
  auto damaged = mend(path, file, text);
  file.append(line, text.size());
  if (text.empty()) sync_folder_of(path);
  return damaged;
}

}  // namespace planegate::perf
