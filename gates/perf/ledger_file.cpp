#include "gates/perf/ledger_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
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

/// Of a file's last line.
enum class End { kWhole, kNoNewline, kDamaged };

std::string_view without_newline(std::string_view line) {
  return line.ends_with('\n') ? line.substr(0, line.size() - 1) : line;
}

/// @throws LedgerError where the file never was a ledger: its first line is no entry.
End end_of(const fs::path& path, const std::string& text) {
  if (text.empty()) return End::kWhole;
  const bool newline = text.back() == '\n';
  const int64_t lines = std::count(text.begin(), text.end(), '\n') + !newline;
  if (!parsed(path, 1, std::string_view(text).substr(0, text.find('\n')))) {
    throw at_line(path, 1, fmt::format("is no line of a ledger ({})", kLedgerSchema));
  }
  const std::string_view last = std::string_view(text).substr(last_line_at(text));
  if (!parsed(path, lines, without_newline(last))) return End::kDamaged;
  return newline ? End::kWhole : End::kNoNewline;
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

std::vector<LedgerEntry> entries_of(const fs::path& path, std::string_view text) {
  std::vector<LedgerEntry> entries;
  for (int64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const auto entry = parsed(path, number, line);
    if (!entry) throw at_line(path, number, "no JSON, and not the last line: mend it by hand");
    entries.push_back(*entry);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return entries;
}

/// Moves a damaged last line of `text`, the content of `file`, to a file of its own. Nothing is
/// moved where another line is damaged as well.
std::optional<DamagedLine> mend(const fs::path& path, LockedFile& file, std::string& text) {
  if (end_of(path, text) != End::kDamaged) return std::nullopt;
  const size_t at = last_line_at(text);
  DamagedLine damaged;
  damaged.line = 1 + std::ssize(entries_of(path, std::string_view(text).substr(0, at)));
  damaged.kept_as = kept_aside(path, text.substr(at));
  file.truncate(at);
  text.resize(at);
  return damaged;
}

bool lacks_newline(const std::string& text) {
  return !text.empty() && text.back() != '\n';
}

LedgerContent read_and_mend(const fs::path& path) {
  LockedFile file(path, O_RDWR | O_APPEND, LOCK_EX);
  std::string text = file.content();
  LedgerContent content;
  content.damaged = mend(path, file, text);
  content.entries = entries_of(path, text);
  if (lacks_newline(text)) file.append("\n", text.size());
  return content;
}

/// access() would promise root what a file system refuses: another file is made there, and removed.
void require_new_file(const fs::path& path) {
  std::string probe = path.string() + ".XXXXXX";
  const int fd = ::mkstemp(probe.data());
  if (fd < 0) fail("cannot make", path, errno);
  ::unlink(probe.c_str());
  ::close(fd);
}

}  // namespace

LedgerContent read_ledger(const fs::path& path) {
  std::string text;
  {
    const LockedFile file(path, O_RDONLY, LOCK_SH);
    text = file.content();
  }
  const End end = end_of(path, text);
  if (end == End::kWhole) return {entries_of(path, text), std::nullopt};
  try {
    return read_and_mend(path);
  } catch (const fs::filesystem_error&) {
    if (end == End::kNoNewline) return {entries_of(path, text), std::nullopt};
    LedgerContent content;
    text.resize(last_line_at(text));
    content.entries = entries_of(path, text);
    content.damaged = DamagedLine{static_cast<int64_t>(content.entries.size()) + 1, {}};
    return content;
  }
}

void require_appendable(const fs::path& path) {
  std::error_code none;
  if (!fs::exists(path, none)) return require_new_file(path);
  const LockedFile file(path, O_RDWR | O_APPEND, LOCK_SH);
  const std::string text = file.content();
  if (end_of(path, text) == End::kDamaged) {
    static_cast<void>(entries_of(path, std::string_view(text).substr(0, last_line_at(text))));
  }
}

std::optional<DamagedLine> append_to_ledger(const fs::path& path, const LedgerEntry& entry) {
  std::string line = ledger_line(entry);
  LockedFile file(path, O_RDWR | O_APPEND | O_CREAT, LOCK_EX);
  std::string text = file.content();
  auto damaged = mend(path, file, text);
  if (lacks_newline(text)) line.insert(0, 1, '\n');
  file.append(line, text.size());
  if (text.empty()) sync_folder_of(path);
  return damaged;
}

}  // namespace planegate::perf
