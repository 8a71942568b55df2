#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <planegate/gguf/writer.h>

#include "catalog/catalog.h"

/// Runs the built `planegate` in a folder of its own.
namespace planegate::test {

namespace fs = std::filesystem;

struct CommandRun {
  int status = -1;
  std::string out, err;
};

/// Empty for all but a regular file; a device may be read for ever.
inline std::string content(const fs::path& path) {
  if (!fs::is_regular_file(path)) return {};
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Each test has a folder, which is the temporary folder of the commands that it runs as well.
class CommandTest : public testing::Test {
 protected:
  CommandTest() {
    std::string name = (fs::temp_directory_path() / "planegate-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw fs::filesystem_error("mkdtemp", name, {});
    folder_ = name;
    fs::create_directory(folder_ / "tmp");
    fs::create_directory(folder_ / "captured");
  }
  ~CommandTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  CommandRun run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), PLANEGATE_COMMAND);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string out = folder_ / "captured/out", err = folder_ / "captured/err";
    std::vector<std::string> settings = {"TMPDIR=" + (folder_ / "tmp").string()};
    for (char** setting = environ; *setting != nullptr; ++setting) {
      if (!std::string_view(*setting).starts_with("TMPDIR=")) settings.emplace_back(*setting);
    }
    std::vector<char*> envp;
    for (std::string& setting : settings) envp.push_back(setting.data());
    envp.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    constexpr int kMode = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), kMode, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), kMode, 0600);
    pid_t child = 0;
    const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (failed != 0 || waitpid(child, &status, 0) != child) return {};
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(out), content(err)};
  }

  std::string path(const std::string& name) const { return folder_ / name; }

  /// `a` (70, 512) and `b` (3, 256), q6_K, beside an f32 tensor.
  std::string model(const std::string& name = "model.gguf") const {
    GgufWriter writer;
    add_q6_k(writer, "blk.0.a.weight", Shape(70, 512));
    add_q6_k(writer, "blk.0.b.weight", Shape(3, 256));
    add_f32(writer);
    writer.write(folder_ / name);
    return folder_ / name;
  }

  std::string f32_model() const {
    GgufWriter writer;
    add_f32(writer);
    writer.write(folder_ / "f32.gguf");
    return folder_ / "f32.gguf";
  }

  /// `blk.0.a.weight` (3, 512) whose d of row 2, super-block 1 is infinite.
  std::string infinite_model() const {
    constexpr size_t kBlock = 2 * 2 + 1;
    GgufWriter writer;
    add_q6_k(writer, "blk.0.a.weight", Shape(3, 512), [](std::span<std::byte> bytes) {
      bytes[210 * kBlock + 208] = std::byte{0x00};
      bytes[210 * kBlock + 209] = std::byte{0x7C};
    });
    writer.write(folder_ / "infinite.gguf");
    return folder_ / "infinite.gguf";
  }

  /// Names of what lies in the test's folder, those of the harness left out.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      const std::string name = entry.path().lexically_relative(folder_).string();
      if (!name.starts_with("captured") && name != "tmp") names.push_back(name);
    }
    return names;
  }

 private:
  static void add_q6_k(
      GgufWriter& writer, const std::string& name, const Shape& shape,
      const GgufWriter::Fill& change = [](auto) {}) {
    const FormatOracle& format = *shipped_catalog().format("q6_K");
    std::vector<std::byte> bytes(static_cast<size_t>(format.size_bytes(shape)));
    format.sample(shape, 1, bytes);
    change(bytes);
    writer.add_tensor(name, "q6_K", {shape.id(), shape.od()}, std::move(bytes));
  }
  static void add_f32(GgufWriter& writer) {
    writer.add_tensor("output_norm.weight", "f32", {512}, std::vector<std::byte>(4 * 512));
  }

  fs::path folder_;
};

}  // namespace planegate::test
