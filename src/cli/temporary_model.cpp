#include "cli/temporary_model.h"

#include <cerrno>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace planegate::cli {

namespace fs = std::filesystem;

TemporaryModel::TemporaryModel() {
  std::string name = fs::temp_directory_path() / "planegate-XXXXXX.gguf";
  const int fd = mkstemps(name.data(), 5);
  if (fd < 0) {
    throw fs::filesystem_error("cannot make a sample model", name,
                               {errno, std::generic_category()});
  }
  close(fd);
  path_ = name;
}

TemporaryModel::~TemporaryModel() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

}  // namespace planegate::cli
