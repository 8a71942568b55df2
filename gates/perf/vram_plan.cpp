#include "gates/perf/vram_plan.h"

#include <algorithm>
#include <queue>

#include <planegate/core/errors.h>

namespace planegate::perf {
namespace {

__extension__ using Wide = __int128;

int64_t buffer_bytes(int64_t bytes) {
  return (bytes + kBufferAlignmentBytes - 1) / kBufferAlignmentBytes * kBufferAlignmentBytes;
}

PlaneChoice choice_of(const ConsumerSpec& consumer, const Shape& shape) {
  PlaneChoice choice;
  choice.consumer = &consumer;
  for (const FieldUse& use : consumer.reads) {
    if (use.plane->role != Role::kWeights) continue;
    choice.planes.push_back(use.plane);
    choice.bytes += buffer_bytes(use.plane->size_bytes(shape));
  }
  return choice;
}

/// One replacement of a tensor's choice; place 0 is no choice at all.
struct Move {
  size_t tensor = 0;
  size_t from = 0, to = 0;
  int64_t benefit = 0, bytes = 0;
};

/// Whether `b` comes before `a`.
struct Later {
  bool operator()(const Move& a, const Move& b) const {
    const bool a_first = a.from == 0, b_first = b.from == 0;
    if (a_first != b_first) return b_first;
    const Wide of_a = static_cast<Wide>(a.benefit) * b.bytes;
    const Wide of_b = static_cast<Wide>(b.benefit) * a.bytes;
    if (of_a != of_b) return of_a < of_b;
    if (a.tensor != b.tensor) return a.tensor > b.tensor;
    return a.bytes > b.bytes;
  }
};

class Planner {
 public:
  Planner(const Catalog& catalog, const Device& device, const std::vector<CensusTensor>& tensors)
      : tensors_(tensors), places_(tensors.size(), 0) {
    for (const CensusTensor& tensor : tensors) {
      choices_.push_back(choices_of(catalog, device, tensor));
    }
  }

  VramPlan plan(int64_t vram_bytes) {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (!choices_[i].empty()) push(i, 1);
    }
    int64_t used = 0;
    while (!moves_.empty()) {
      const Move move = moves_.top();
      moves_.pop();
      // What does not fit now never will: every move takes more.
      if (places_[move.tensor] != move.from || move.bytes > vram_bytes - used) continue;
      used += move.bytes;
      places_[move.tensor] = move.to;
      for (size_t to = move.to + 1; to <= choices_[move.tensor].size(); ++to) push(move.tensor, to);
    }
    VramPlan plan;
    plan.used_bytes = used;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      plan.choices.push_back(places_[i] == 0 ? PlaneChoice() : choices_[i][places_[i] - 1]);
    }
    return plan;
  }

 private:
  int64_t bytes_at(size_t tensor, size_t place) const {
    return place == 0 ? 0 : choices_[tensor][place - 1].bytes;
  }
  void push(size_t tensor, size_t to) {
    const size_t from = places_[tensor];
    const auto gained = static_cast<int64_t>(to - from);
    moves_.push({tensor, from, to, gained * tensors_[tensor].encoded_bytes,
                 bytes_at(tensor, to) - bytes_at(tensor, from)});
  }

  const std::vector<CensusTensor>& tensors_;
  std::vector<std::vector<PlaneChoice>> choices_;
  std::vector<size_t> places_;
  std::priority_queue<Move, std::vector<Move>, Later> moves_;
};

}  // namespace

std::vector<PlaneChoice> choices_of(const Catalog& catalog, const Device& device,
                                    const CensusTensor& tensor) {
  std::vector<PlaneChoice> all;
  for (const ConsumerSpec* consumer : catalog.preference(tensor.format, tensor.shape)) {
    if (device.refusal(*consumer) || consumer->refusal(tensor.shape)) continue;
    all.push_back(choice_of(*consumer, tensor.shape));
  }
  std::vector<PlaneChoice> better;  // dearest, most preferred first
  for (PlaneChoice& choice : all) {
    if (better.empty() || choice.bytes < better.back().bytes) better.push_back(std::move(choice));
  }
  std::reverse(better.begin(), better.end());
  return better;
}

VramPlan planned(const Catalog& catalog, const Device& device,
                 const std::vector<CensusTensor>& tensors, int64_t vram_bytes) {
  require(vram_bytes >= 0, "vram_bytes", vram_bytes, "not negative");
  return Planner(catalog, device, tensors).plan(vram_bytes);
}

}  // namespace planegate::perf
