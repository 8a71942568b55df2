#include <cstring>
#include <deque>

#include <gtest/gtest.h>

#include <planegate/devices/host_device.h>

#include "catalog/catalog.h"
#include "gates/dataset.h"

/// Offsets beyond 2^31: every consumer over a tensor of 152,064 x 18,944, of which only the last
/// row tile exists. The planes are sparse; the executor runs the blocks of that tile alone.
namespace planegate {
namespace {

constexpr int64_t kOd = 152064;
constexpr int64_t kId = 18944;
constexpr int64_t kNt = 3;
constexpr int64_t kLimit = int64_t{1} << 31;

/// The last row tile of a consumer as a tensor of its own, and its place in the whole one.
class LastTile {
 public:
  explicit LastTile(const ConsumerSpec& consumer)
      : consumer_(consumer),
        row0_((kOd - 1) / consumer.tile_rows * consumer.tile_rows),
        rows_(kOd - row0_),
        tile_(gates::make_dataset(
            context_, Shape(rows_, kId, kNt), gates::lattices(Shape(rows_, kId, kNt)).front(),
            *shipped_catalog().format(consumer.format), *shipped_catalog().format("q8_0"))) {
    Schedule window;
    window.x_begin = row0_ / consumer.tile_rows;
    window.x_of_columns = window.x_begin + 1;
    device_.set_schedule(window);
  }

  /// Y (nt, od) of the whole tensor after a launch.
  std::vector<float> run() {
    LaunchRequest request{whole_, {}, nullptr, nullptr, nullptr};
    for (const FieldUse& use : consumer_.reads) {
      request.planes.push_back({use.plane, &plane(*use.plane), 1});
    }
    std::vector<float> y(static_cast<size_t>(kNt * kOd));
    const DeviceBuffer y_buffer = device_.allocate("y", kNt * kOd * 4);
    device_.fill(y_buffer, std::byte{0xFF});
    request.y = &y_buffer;
    const int64_t scratch =
        consumer_.workspace_bytes == nullptr ? 0 : consumer_.workspace_bytes(whole_);
    if (scratch > 0) request.workspace = &buffers_.emplace_back(device_.allocate("ws", scratch));
    consumer_.launch_on(DeviceKind::kHost)(device_, request);
    device_.read_back(y_buffer, std::as_writable_bytes(std::span(y)));
    device_.synchronise();
    return y;
  }

  int64_t row0() const { return row0_; }
  int64_t rows() const { return rows_; }
  int64_t highest_offset() const { return highest_offset_; }
  gates::Expected reference() { return tile_.reference(consumer_.arithmetic); }
  bool exact() { return tile_.exact(); }

 private:
  /// The plane of the whole tensor, sparse but for the tile's rows.
  DeviceBuffer& plane(const Contract& contract) {
    const SealedBytes sealed = tile_.mirror(contract);
    const std::span<const std::byte> small = sealed.bytes();
    const int64_t whole_bytes = contract.size_bytes(whole_);
    DeviceBuffer& buffer = buffers_.emplace_back(device_.allocate(contract.name, whole_bytes));
    std::byte* to = device_.resolve(buffer.address()).data();
    if (contract.role == Role::kActivations) {
      std::memcpy(to, small.data(), small.size());
    } else if (contract.name == "w_dsc") {
      // Chunk-major: a strip of 8-byte pairs in each of the id/32 chunks.
      for (int64_t c = 0; c < kId / 32; ++c) {
        std::memcpy(to + (c * kOd + row0_) * 8, small.data() + c * rows_ * 8,
                    static_cast<size_t>(rows_ * 8));
      }
    } else {
      const int64_t row_bytes = static_cast<int64_t>(small.size()) / rows_;
      highest_offset_ = std::max(highest_offset_, row0_ * row_bytes);
      std::memcpy(to + row0_ * row_bytes, small.data(), small.size());
    }
    return buffer;
  }

  const ConsumerSpec& consumer_;
  HostDevice device_;
  gates::Context context_{shipped_catalog(), device_};
  Shape whole_{kOd, kId, kNt};
  int64_t row0_, rows_;
  gates::Dataset tile_;
  std::deque<DeviceBuffer> buffers_;
  int64_t highest_offset_ = 0;
};

class LargeOffsets : public testing::TestWithParam<size_t> {};

TEST_P(LargeOffsets, LastRowTileIsRight) {
  const ConsumerSpec& consumer = shipped_catalog().consumers()[GetParam()];
  LastTile last(consumer);
  ASSERT_TRUE(last.exact());
  const std::vector<float> y = last.run();
  EXPECT_GT(last.highest_offset(), kLimit) << "nothing lies beyond 2^31";
  for (int64_t token = 0; token < kNt; ++token) {
    for (int64_t row = 0; row < kOd; ++row) {
      const float have = y[static_cast<size_t>(token * kOd + row)];
      if (row < last.row0()) {
        ASSERT_NE(have, have) << "row " << row << " was written";
      } else {
        const auto want = static_cast<size_t>(token * last.rows() + row - last.row0());
        ASSERT_EQ(have, last.reference().y[want]) << "token " << token << ", row " << row;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Consumers, LargeOffsets,
                         testing::Range<size_t>(0, shipped_catalog().consumers().size()),
                         [](const auto& test) {
                           std::string name = shipped_catalog().consumers()[test.param].name;
                           for (char& c : name) c = std::isalnum(c) ? c : '_';
                           return name;
                         });

TEST(LargeOffsetsKnownBad, Int32OffsetLeavesThePlane) {
  const Catalog catalog = catalog_with_known_bad();
  LastTile last(*catalog.consumer("w_exp/copy16+int32_offset"));
  try {
    (void)last.run();
    FAIL() << "not found";
  } catch (const std::exception& fault) {
    EXPECT_NE(std::string(fault.what()).find("access out of bounds"), std::string::npos)
        << fault.what();
  }
}

}  // namespace
}  // namespace planegate
