#include <cerrno>
#include <fstream>
#include <memory>
#include <new>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "gates/perf/token.h"

namespace planegate::perf {
namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) {
      throw std::bad_alloc();
    }
  }
  void add(std::string_view bytes) {
    if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) throw std::bad_alloc();
  }
  std::string hex() {
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_DigestFinal_ex(context_.get(), bytes, &size) != 1) throw std::bad_alloc();
    std::string out;
    for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", bytes[i]);
    return out;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.hex();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Digest digest;
  std::vector<char> chunk(size_t{1} << 20);
  while (file.read(chunk.data(), std::ssize(chunk)) || file.gcount() > 0) {
    digest.add({chunk.data(), static_cast<size_t>(file.gcount())});
  }
  if (!file.eof()) {
    throw std::filesystem::filesystem_error(
        "cannot be read", path, std::error_code(errno != 0 ? errno : EIO, std::generic_category()));
  }
  return digest.hex();
}

std::string sha256_of_self() {
  static const std::string hash = sha256_of_file("/proc/self/exe");
  return hash;
}

}  // namespace planegate::perf
