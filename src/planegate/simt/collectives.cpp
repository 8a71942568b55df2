#include <array>
#include <cstring>

#include <planegate/simt/block_run.h>

/// What the operations of a whole warp compute, lane by lane as the PTX ISA defines fragments.
namespace planegate::simt {
namespace {

/// mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32, not saturating.
///
/// Lane l, g = l/4, t = l%4. A (16x16): word 0 is row g, word 1 row g+8, elements 4t..4t+3.
/// B (16x8): word 2 is column g, elements 4t..4t+3. C (16x8): words 3, 4 are row g, columns 2t and
/// 2t+1, words 5, 6 the same of row g+8.
void mma_m16n8k16_s8(Operands* lanes) {
  std::array<std::array<uint32_t, kWarpLanes>, 3> words;
  for (size_t lane = 0; lane < kWarpLanes; ++lane) {
    for (size_t w = 0; w < 3; ++w) words[w][lane] = lanes[lane].word[w];
  }
  // Four lanes of one g hold the 16 bytes of a row (or column): widened, they lie in order.
  std::array<int8_t, 3 * 4 * kWarpLanes> bytes;
  std::memcpy(bytes.data(), words.data(), bytes.size());
  alignas(16) std::array<int16_t, bytes.size()> wide;
  for (size_t i = 0; i < bytes.size(); ++i) wide[i] = bytes[i];
  const int16_t* a = wide.data();
  const int16_t* b = wide.data() + 16 * 16;
  std::array<std::array<int32_t, 8>, 16> dots;
  for (size_t row = 0; row < 16; ++row) {
    for (size_t column = 0; column < 8; ++column) {
      int32_t sum = 0;
      for (size_t k = 0; k < 16; ++k) sum += a[16 * row + k] * b[16 * column + k];
      dots[row][column] = sum;
    }
  }
  for (size_t lane = 0; lane < kWarpLanes; ++lane) {
    const size_t g = lane / 4;
    const size_t column = lane % 4 * 2;
    lanes[lane].word[3] += static_cast<uint32_t>(dots[g][column]);
    lanes[lane].word[4] += static_cast<uint32_t>(dots[g][column + 1]);
    lanes[lane].word[5] += static_cast<uint32_t>(dots[g + 8][column]);
    lanes[lane].word[6] += static_cast<uint32_t>(dots[g + 8][column + 1]);
  }
}

/// ldmatrix.sync.aligned.m8n8.x4.shared.b16. In: words 0..3 are the 16 bytes of the row whose
/// address the lane gave. Out: word i of lane l is word l%4 of row 8*i + l/4.
void ldmatrix_x4(Operands* lanes) {
  std::array<std::array<uint32_t, 4>, kWarpLanes> rows;
  for (size_t lane = 0; lane < kWarpLanes; ++lane) {
    for (size_t w = 0; w < 4; ++w) rows[lane][w] = lanes[lane].word[w];
  }
  for (size_t lane = 0; lane < kWarpLanes; ++lane) {
    for (size_t i = 0; i < 4; ++i) lanes[lane].word[i] = rows[8 * i + lane / 4][lane % 4];
  }
}

/// In: word 0 the value, word 1 the source lane. Out: word 0 of the source lane.
void shuffle(Operands* lanes) {
  std::array<uint32_t, kWarpLanes> values;
  for (size_t lane = 0; lane < kWarpLanes; ++lane) values[lane] = lanes[lane].word[0];
  for (size_t lane = 0; lane < kWarpLanes; ++lane) {
    lanes[lane].word[0] = values[lanes[lane].word[1] % kWarpLanes];
  }
}

}  // namespace

void BlockRun::perform(Collective kind, int warp) {
  Operands* lanes = operands_.data() + warp * kWarpLanes;
  switch (kind) {
    case Collective::kSyncWarp:
      warp_tick_[static_cast<size_t>(warp)] = ++tick_;
      break;
    case Collective::kShuffle:
      shuffle(lanes);
      break;
    case Collective::kLdmatrix:
      ldmatrix_x4(lanes);
      break;
    case Collective::kMmaS8:
      mma_m16n8k16_s8(lanes);
      break;
  }
}

}  // namespace planegate::simt
