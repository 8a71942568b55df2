#include "cli/run_program.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace planegate::cli {
namespace {

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

File temporary_file() {
  File file(std::tmpfile(), &std::fclose);
  if (file) return file;
  throw std::filesystem::filesystem_error("cannot capture output",
                                          std::filesystem::temp_directory_path(),
                                          std::error_code(errno, std::generic_category()));
}

std::string content_of(FILE* file) {
  std::string text;
  char chunk[4096];
  std::rewind(file);
  while (const size_t got = std::fread(chunk, 1, sizeof(chunk), file)) text.append(chunk, got);
  return text;
}

}  // namespace

ProgramRun run_program(std::vector<std::string> arguments) {
  const File out = temporary_file(), err = temporary_file();
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(out.get()), 1);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(err.get()), 2);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return {-1, false, "", std::strerror(failed)};
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string ended = WIFSIGNALED(status) ? "ended by a signal\n" : "";
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status), content_of(out.get()),
          ended + content_of(err.get())};
}

}  // namespace planegate::cli
