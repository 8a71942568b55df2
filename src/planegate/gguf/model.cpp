#include <optional>

#include <fmt/format.h>

#include <planegate/gguf/model.h>

namespace planegate {
namespace {

constexpr std::string_view kNo = "split.no";
constexpr std::string_view kCount = "split.count";
constexpr std::string_view kTensorsCount = "split.tensors.count";
constexpr int64_t kMetadataOffset = 24;

/// `PREFIX-00002-of-00003.gguf`: number 2, count 3.
struct PartName {
  std::string prefix;
  int number = 0;
  int count = 0;

  std::string of(int other) const {
    return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, other, count);
  }
};

std::optional<PartName> part_name(const std::string& name) {
  constexpr std::string_view kPattern = "-00000-of-00000.gguf";
  if (name.size() < kPattern.size()) return std::nullopt;
  const size_t start = name.size() - kPattern.size();
  for (size_t i = 0; i < kPattern.size(); ++i) {
    const char c = name[start + i];
    const bool fits = kPattern[i] == '0' ? c >= '0' && c <= '9' : c == kPattern[i];
    if (!fits) return std::nullopt;
  }
  return PartName{name.substr(0, start), std::stoi(name.substr(start + 1, 5)),
                  std::stoi(name.substr(start + 10, 5))};
}

/// Throws GgufError unless the file's `key` is `wanted`. `why` follows the value that is required.
template <class T>
void require_value(const GgufFile& file, std::string_view key, int64_t wanted,
                   const std::string& why) {
  const auto held = file.get<T>(key);
  if (held && int64_t{*held} == wanted) return;
  throw GgufError(file.path(), held ? file.find(key)->offset() : kMetadataOffset, key,
                  held ? std::to_string(*held) : "absent", fmt::format("{}, {}", wanted, why));
}

void check_part(const GgufFile& file, const PartName& name, int number) {
  const std::string why = "as the file's name says";
  require_value<uint16_t>(file, kCount, name.count, why);
  require_value<uint16_t>(file, kNo, number - 1, why);
}

GgufFile open_part(const std::filesystem::path& path, int number, int count) {
  try {
    return GgufFile::open(path);
  } catch (const GgufError& error) {
    if (error.field() != "file") throw;
    throw GgufError(error.path(), error.offset(), error.field(), error.value(), error.requirement(),
                    fmt::format("part {} of {}", number, count));
  }
}

/// The parts of the split that `given` belongs to, in order; `given` alone where there is none.
std::vector<GgufFile> with_its_parts(GgufFile given, const std::filesystem::path& path) {
  std::vector<GgufFile> files;
  const int held_count = given.get<uint16_t>(kCount).value_or(1);
  const auto name = part_name(path.filename().string());
  if (held_count <= 1 && (!name || name->count <= 1)) {
    files.push_back(std::move(given));
    return files;
  }
  if (!name || name->number < 1 || name->number > name->count) {
    const int count = held_count > 1 ? held_count : name->count;
    throw GgufError(given.path(), 0, "file name", quoted_text(path.filename().string()),
                    fmt::format("ends in -00001-of-{0:05}.gguf to -{0:05}-of-{0:05}.gguf, as a "
                                "part of {0}",
                                count));
  }
  check_part(given, *name, name->number);
  for (int number = 1; number <= name->count; ++number) {
    if (number == name->number) {
      files.push_back(std::move(given));
    } else {
      files.push_back(open_part(path.parent_path() / name->of(number), number, name->count));
      check_part(files.back(), *name, number);
    }
  }
  return files;
}

}  // namespace

GgufModel GgufModel::open(const std::filesystem::path& path) {
  GgufModel model;
  model.files_ = with_its_parts(GgufFile::open(path), path);
  model.collect_tensors();
  return model;
}

void GgufModel::collect_tensors() {
  for (const GgufFile& file : files_) {
    for (const GgufTensor& entry : file.tensors()) tensors_.push_back({&file, &entry});
  }
  if (files_.size() > 1) {
    const std::string why = fmt::format("the tensors of all {} parts", files_.size());
    for (const GgufFile& file : files_) {
      require_value<int32_t>(file, kTensorsCount, std::ssize(tensors_), why);
    }
  }
  const auto repeat =
      order_.sort(tensors_.size(), [&](size_t i) { return std::string_view(tensors_[i].name()); });
  if (!repeat) return;
  const ModelTensor& tensor = tensors_[repeat->later];
  throw GgufError(tensor.file->path(), tensor.entry->entry_offset, "name",
                  quoted_text(tensor.name()),
                  fmt::format("only once in a model, it stands in {} too",
                              tensors_[repeat->earlier].file->path()),
                  fmt::format("tensor {}", tensor.entry - tensor.file->tensors().data()));
}

const ModelTensor* GgufModel::tensor(std::string_view name) const {
  const auto found =
      order_.find(name, [&](size_t i) { return std::string_view(tensors_[i].name()); });
  return found ? &tensors_[*found] : nullptr;
}

}  // namespace planegate
