#include <cstring>

#include <elf.h>
#include <fmt/format.h>

#include "gates/perf/kernel_report.h"

namespace planegate::perf {
namespace {

constexpr Elf64_Half kMachineCuda = 190;  ///< EM_CUDA; older elf.h lack it

class Elf {
 public:
  Elf(const std::string& file, std::string_view bytes) : file_(file), bytes_(bytes) {
    header_ = at<Elf64_Ehdr>(0);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_machine != kMachineCuda) {
      throw ReportError(file_ + ": is no 64-bit cubin");
    }
    names_ = bytes_of(section(header_.e_shstrndx));
  }

  size_t sections() const { return header_.e_shnum; }
  Elf64_Shdr section(size_t index) const {
    return at<Elf64_Shdr>(header_.e_shoff + index * sizeof(Elf64_Shdr));
  }
  std::string_view bytes_of(const Elf64_Shdr& section) const {
    return part(section.sh_offset, section.sh_size);
  }
  std::string name_of(const Elf64_Shdr& section) const {
    const size_t end = section.sh_name < names_.size() ? names_.find('\0', section.sh_name)
                                                       : std::string_view::npos;
    if (end == std::string_view::npos) throw ReportError(file_ + ": a section without a name");
    return std::string(names_.substr(section.sh_name, end - section.sh_name));
  }

 private:
  std::string_view part(uint64_t from, uint64_t size) const {
    if (from > bytes_.size() || size > bytes_.size() - from) {
      throw ReportError(
          fmt::format("{}: is cut short: {} bytes at {} of {}", file_, size, from, bytes_.size()));
    }
    return bytes_.substr(from, size);
  }
  template <class T>
  T at(uint64_t from) const {
    T value;
    std::memcpy(&value, part(from, sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::string file_;
  std::string_view bytes_;
  Elf64_Ehdr header_{};
  std::string_view names_;
};

}  // namespace

std::map<std::string, std::string_view> code_sections(const std::string& file,
                                                      std::string_view cubin) {
  static const std::string kText = ".text.";
  const Elf elf(file, cubin);
  std::map<std::string, std::string_view> found;
  for (size_t i = 0; i < elf.sections(); ++i) {
    const Elf64_Shdr section = elf.section(i);
    if (section.sh_type != SHT_PROGBITS) continue;
    const std::string name = elf.name_of(section);
    if (name.starts_with(kText)) found.emplace(name.substr(kText.size()), elf.bytes_of(section));
  }
  if (found.empty()) throw ReportError(file + ": holds no kernel");
  return found;
}

}  // namespace planegate::perf
