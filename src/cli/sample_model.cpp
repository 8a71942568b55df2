#include "cli/sample_model.h"

#include <algorithm>

#include <fmt/format.h>

#include <planegate/core/hash.h>
#include <planegate/gguf/writer.h>

#include "cli/exit_code.h"

namespace planegate::cli {
namespace {

/// The quantised tensors of a model and one that is not, by proportion.
struct Sample {
  const char* name;
  const char* text;
  int64_t blocks;             ///< transformer blocks with quantised attn_v and ffn_down
  int64_t attn_v_od, hidden;  ///< attn_v (attn_v_od, hidden)
  int64_t ffn;                ///< ffn_down (hidden, ffn)
  int64_t vocabulary;         ///< output (vocabulary, hidden)
};

constexpr Sample kSamples[] = {
    {"mini", "tensor names of Qwen2.5-7B Q4_K_M, extents about 1/7, one block, a short vocabulary",
     1, 73, 512, 2816, 1031},
    {"qwen2.5-7b", "the q6_K tensors of Qwen2.5-7B Q4_K_M at full size (1.25 GB)", 14, 512, 3584,
     18944, 152064},
};

const Sample& find(const std::string& like) {
  std::vector<std::string> names;
  for (const Sample& sample : kSamples) {
    if (sample.name == like) return sample;
    names.emplace_back(sample.name);
  }
  throw CommandError(kWrongUse, fmt::format("--like {}: no such sample; nearest: {}", like,
                                            fmt::join(nearest(like, names), ", ")));
}

}  // namespace

std::string sample_names() {
  std::string names;
  for (const Sample& sample : kSamples)
    names += (names.empty() ? "" : ", ") + std::string(sample.name);
  return names;
}

std::string sample_text(const std::string& like) {
  return find(like).text;
}

void write_sample(const Catalog& catalog, const std::filesystem::path& path,
                  const std::string& like, uint64_t seed) {
  const Sample& sample = find(like);
  const FormatOracle& format = *catalog.format("q6_K");
  GgufWriter writer;
  writer.add_string("general.architecture", "qwen2");
  writer.add_string("general.name", fmt::format("planegate sample {}", sample.name));
  writer.add_u64("planegate.seed", seed);
  const auto add = [&](const std::string& name, int64_t od, int64_t id) {
    writer.add_tensor(name, format.format, {id, od}, [&format, name, od, id, seed](auto bytes) {
      format.sample(Shape(od, id), payload(seed, fnv1a(name)), bytes);
    });
  };
  for (int64_t block = 0; block < sample.blocks; ++block) {
    add(fmt::format("blk.{}.attn_v.weight", block), sample.attn_v_od, sample.hidden);
    add(fmt::format("blk.{}.ffn_down.weight", block), sample.hidden, sample.ffn);
  }
  writer.add_tensor("output_norm.weight", "f32", {sample.hidden},
                    [](auto bytes) { std::fill(bytes.begin(), bytes.end(), std::byte{0}); });
  add("output.weight", sample.vocabulary, sample.hidden);
  writer.write(path);
}

}  // namespace planegate::cli
