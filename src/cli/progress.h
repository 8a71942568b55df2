#pragma once

#include <string>

namespace planegate::cli {

/// One line on stderr that says what is being done; nothing where stderr is no terminal.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& what);
  /// Clears the line, so that something else can be printed.
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
};

}  // namespace planegate::cli
