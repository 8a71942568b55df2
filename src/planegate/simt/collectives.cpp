#include <array>
#include <cstring>

#include <planegate/simt/block_run.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// What the operations of a whole warp compute, lane by lane as the PTX ISA defines fragments.
namespace planegate::simt {
namespace {

/// mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32, not saturating.
///
/// Lane l, g = l/4, t = l%4. A (16x16): word 0 is row g, word 1 row g+8, elements 4t..4t+3.
/// B (16x8): word 2 is column g, elements 4t..4t+3. C (16x8): words 3, 4 are row g, columns 2t and
/// 2t+1, words 5, 6 the same of row g+8. Four lanes of one g thus hold 16 bytes of a row or column
/// in order, and word 3 (5) a row's even columns, word 4 (6) its odd ones.
#if defined(__SSE2__)

/// Four columns, interleaved: element i of pair[p] is (B[2p], B[2p+1]) of the i-th, as int16.
struct FourColumns {
  __m128i pair[8];
};

__m128i widen_low(__m128i bytes) {
  return _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
}
__m128i widen_high(__m128i bytes) {
  return _mm_srai_epi16(_mm_unpackhi_epi8(bytes, bytes), 8);
}

void transpose(__m128i r0, __m128i r1, __m128i r2, __m128i r3, __m128i* to) {
  const __m128i low01 = _mm_unpacklo_epi32(r0, r1);
  const __m128i low23 = _mm_unpacklo_epi32(r2, r3);
  const __m128i high01 = _mm_unpackhi_epi32(r0, r1);
  const __m128i high23 = _mm_unpackhi_epi32(r2, r3);
  to[0] = _mm_unpacklo_epi64(low01, low23);
  to[1] = _mm_unpackhi_epi64(low01, low23);
  to[2] = _mm_unpacklo_epi64(high01, high23);
  to[3] = _mm_unpackhi_epi64(high01, high23);
}

FourColumns four_columns(const __m128i* columns) {
  FourColumns four;
  transpose(widen_low(columns[0]), widen_low(columns[2]), widen_low(columns[4]),
            widen_low(columns[6]), four.pair);
  transpose(widen_high(columns[0]), widen_high(columns[2]), widen_high(columns[4]),
            widen_high(columns[6]), four.pair + 4);
  return four;
}

template <int kPair>
void add_pair(__m128i row, const __m128i* even, const __m128i* odd, __m128i (&sums)[2]) {
  const __m128i a = _mm_shuffle_epi32(row, kPair * 0x55);
  sums[0] = _mm_add_epi32(sums[0], _mm_madd_epi16(a, even[kPair]));
  sums[1] = _mm_add_epi32(sums[1], _mm_madd_epi16(a, odd[kPair]));
}

void add_four_pairs(__m128i row, const __m128i* even, const __m128i* odd, __m128i (&sums)[2]) {
  add_pair<0>(row, even, odd, sums);
  add_pair<1>(row, even, odd, sums);
  add_pair<2>(row, even, odd, sums);
  add_pair<3>(row, even, odd, sums);
}

bool all_zero(const __m128i* columns) {
  __m128i any = columns[0];
  for (int i = 1; i < 8; ++i) any = _mm_or_si128(any, columns[i]);
  return _mm_movemask_epi8(_mm_cmpeq_epi8(any, _mm_setzero_si128())) == 0xFFFF;
}

void mma_m16n8k16_s8(WarpOperands& operands) {
  const auto* columns = reinterpret_cast<const __m128i*>(operands.word[2]);
  if (all_zero(columns)) return;  // tail rows
  const FourColumns even = four_columns(columns);
  const FourColumns odd = four_columns(columns + 1);
  for (int row = 0; row < 16; ++row) {
    const auto* a = reinterpret_cast<const __m128i*>(operands.word[row / 8]) + row % 8;
    auto* c_even = reinterpret_cast<__m128i*>(operands.word[3 + row / 8 * 2]) + row % 8;
    auto* c_odd = reinterpret_cast<__m128i*>(operands.word[4 + row / 8 * 2]) + row % 8;
    __m128i sums[2] = {*c_even, *c_odd};
    add_four_pairs(widen_low(*a), even.pair, odd.pair, sums);
    add_four_pairs(widen_high(*a), even.pair + 4, odd.pair + 4, sums);
    *c_even = sums[0];
    *c_odd = sums[1];
  }
}

#else

void mma_m16n8k16_s8(WarpOperands& operands) {
  std::array<int8_t, 3 * 4 * kWarpLanes> bytes;
  std::memcpy(bytes.data(), operands.word, bytes.size());
  const int8_t* b = bytes.data() + 16 * 16;
  for (size_t row = 0; row < 16; ++row) {
    const int8_t* a = bytes.data() + 16 * row;
    for (size_t column = 0; column < 8; ++column) {
      int32_t sum = 0;
      for (size_t k = 0; k < 16; ++k) sum += a[k] * b[16 * column + k];
      operands.word[3 + row / 8 * 2 + column % 2][row % 8 * 4 + column / 2] +=
          static_cast<uint32_t>(sum);
    }
  }
}

#endif

/// ldmatrix.sync.aligned.m8n8.x4.shared.b16. In: words 0..3 are the 16 bytes of the row whose
/// address the lane gave. Out: word i of lane l is word l%4 of row 8*i + l/4.
void ldmatrix_x4(WarpOperands& operands) {
  std::array<std::array<uint32_t, kWarpLanes>, 4> rows;
  std::memcpy(rows.data(), operands.word, sizeof rows);
  for (size_t i = 0; i < 4; ++i) {
    for (size_t lane = 0; lane < kWarpLanes; ++lane) {
      operands.word[i][lane] = rows[lane % 4][8 * i + lane / 4];
    }
  }
}

/// In: word 0 the value, word 1 the source lane. Out: word 0 of the source lane.
void shuffle(WarpOperands& operands) {
  std::array<uint32_t, kWarpLanes> values;
  std::memcpy(values.data(), operands.word[0], sizeof values);
  for (size_t lane = 0; lane < kWarpLanes; ++lane) {
    operands.word[0][lane] = values[operands.word[1][lane] % kWarpLanes];
  }
}

}  // namespace

void BlockRun::perform(Collective kind, int warp) {
  WarpOperands& operands = operands_[static_cast<size_t>(warp)];
  switch (kind) {
    case Collective::kSyncWarp:
      shadow_.warp_barrier(warp);
      break;
    case Collective::kShuffle:
      shuffle(operands);
      break;
    case Collective::kLdmatrix:
      ldmatrix_x4(operands);
      break;
    case Collective::kMmaS8:
      mma_m16n8k16_s8(operands);
      break;
    case Collective::kWgmmaWait:
      perform_wgmma(warp);
      break;
  }
}

}  // namespace planegate::simt
