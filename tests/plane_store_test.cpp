#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/devices/host_device.h>
#include <planegate/formats/q6_k/contracts.h>
#include <planegate/store/plane_store.h>

namespace planegate {
namespace {

using ::testing::Each;
using ::testing::ThrowsMessage;

const Contract& w_exp() {
  return describe<q6_k::WExp>();
}
const Contract& padded() {
  return describe<q6_k::Padded>();
}

std::vector<std::byte> filled(int64_t size_bytes, int value) {
  return std::vector<std::byte>(static_cast<size_t>(size_bytes), static_cast<std::byte>(value));
}

class PlaneStoreTest : public ::testing::Test {
 protected:
  const StoredPlane& add(const std::string& tensor, int value) {
    return store_.add(tensor, w_exp(), shape_, filled(512, value));
  }

  std::vector<std::byte> content(const StoredPlane& plane) {
    std::vector<std::byte> bytes(static_cast<size_t>(plane.buffer.size_bytes()));
    device_.read_back(plane.buffer, bytes);
    device_.synchronise();
    return bytes;
  }

  const Shape shape_{2, 256};
  HostDevice device_;
  PlaneStore store_{device_};
};

TEST_F(PlaneStoreTest, FindsWhatWasAdded) {
  const StoredPlane& added = add("w", 1);
  EXPECT_EQ(store_.find("w", w_exp()), &added);
  EXPECT_EQ(added.generation, 1u);
  EXPECT_EQ(added.contract, &w_exp());
  EXPECT_EQ(added.shape, shape_);
  EXPECT_EQ(added.buffer.name(), "w/w_exp");
  EXPECT_THAT(content(added), Each(std::byte{1}));
}

TEST_F(PlaneStoreTest, FindsNothingUnderAnotherTensorOrContract) {
  add("w", 1);
  EXPECT_EQ(store_.find("v", w_exp()), nullptr);
  EXPECT_EQ(store_.find("w", padded()), nullptr);
}

TEST_F(PlaneStoreTest, BindsThePlaneWithItsGeneration) {
  const StoredPlane& added = add("w", 1);
  const BoundPlane bound = added.bound();
  EXPECT_EQ(bound.contract, &w_exp());
  EXPECT_EQ(bound.buffer, &added.buffer);
  EXPECT_EQ(bound.generation, 1u);
}

TEST_F(PlaneStoreTest, GivesTheBufferTheGuardFillThatWasAskedFor) {
  const auto& plane = store_.add("w", w_exp(), shape_, filled(512, 1), std::byte{0x5A});
  EXPECT_EQ(plane.buffer.guard_fill(), std::byte{0x5A});
}

TEST_F(PlaneStoreTest, RefusesATakenNameAndKeepsTheOldPlane) {
  const StoredPlane& old = add("w", 1);
  EXPECT_THAT([&] { add("w", 2); },
              ThrowsMessage<ContractError>("plane=w/w_exp: already registered"));
  EXPECT_EQ(store_.find("w", w_exp()), &old);
  EXPECT_EQ(old.generation, 1u);
  EXPECT_THAT(content(old), Each(std::byte{1}));
}

TEST_F(PlaneStoreTest, ReplaceGivesTheNextGenerationAndTheNewBytes) {
  add("w", 1);
  const StoredPlane& replaced = store_.replace("w", w_exp(), shape_, filled(512, 2));
  EXPECT_EQ(replaced.generation, 2u);
  EXPECT_EQ(store_.find("w", w_exp()), &replaced);
  EXPECT_THAT(content(replaced), Each(std::byte{2}));
  EXPECT_EQ(store_.replace("w", w_exp(), shape_, filled(512, 3)).generation, 3u);
}

TEST_F(PlaneStoreTest, ReplaceTakesAnotherShapeAndAnotherAddress) {
  const DeviceAddress old = add("w", 1).buffer.address();
  const Shape wider(2, 512);
  const StoredPlane& replaced = store_.replace("w", w_exp(), wider, filled(1024, 2));
  EXPECT_EQ(replaced.shape, wider);
  EXPECT_EQ(replaced.buffer.size_bytes(), 1024);
  EXPECT_THROW(device_.resolve(old), ContractError);
}

TEST_F(PlaneStoreTest, RefusesToReplaceOrRemoveWhatIsNotRegistered) {
  EXPECT_THAT([&] { store_.replace("w", w_exp(), shape_, filled(512, 2)); },
              ThrowsMessage<ContractError>("plane=w/w_exp: not registered"));
  EXPECT_THAT([&] { store_.remove("w", w_exp()); },
              ThrowsMessage<ContractError>("plane=w/w_exp: not registered"));
  EXPECT_EQ(store_.find("w", w_exp()), nullptr);
}

TEST_F(PlaneStoreTest, RemoveFreesTheBuffer) {
  const DeviceAddress address = add("w", 1).buffer.address();
  store_.remove("w", w_exp());
  EXPECT_EQ(store_.find("w", w_exp()), nullptr);
  EXPECT_THROW(device_.resolve(address), ContractError);
}

TEST_F(PlaneStoreTest, AReusedNameNeverLooksLikeTheOldPlane) {
  add("w", 1);
  store_.replace("w", w_exp(), shape_, filled(512, 2));
  store_.remove("w", w_exp());
  const StoredPlane& again = add("w", 3);
  EXPECT_EQ(again.generation, 3u);
  EXPECT_THAT(content(again), Each(std::byte{3}));
}

TEST_F(PlaneStoreTest, CountsGenerationsByName) {
  add("w", 1);
  store_.replace("w", w_exp(), shape_, filled(512, 2));
  EXPECT_EQ(add("v", 1).generation, 1u);
  EXPECT_EQ(store_.add("w", padded(), shape_, filled(448, 1)).generation, 1u);
}

TEST_F(PlaneStoreTest, RefusesAWrongSizeAndChangesNothing) {
  EXPECT_THAT([&] { store_.add("w", w_exp(), shape_, filled(511, 1)); },
              ThrowsMessage<ContractError>(
                  "bytes.size()=511: 512 bytes of w/w_exp at od=2 id=256 nsb=1 nt=1"));
  EXPECT_EQ(store_.find("w", w_exp()), nullptr);
  const StoredPlane& old = add("w", 1);
  EXPECT_THROW(store_.replace("w", w_exp(), shape_, filled(513, 2)), ContractError);
  EXPECT_EQ(old.generation, 1u);
  EXPECT_THAT(content(old), Each(std::byte{1}));
}

/// A host device that has no memory left once told so.
class FullDevice final : public Device {
 public:
  DeviceKind kind() const override { return DeviceKind::kHost; }
  std::string name() const override { return "host"; }
  std::string driver() const override { return "none"; }
  double timed_s(const std::function<void()>&) override { return 0; }
  std::string description() const override { return "full"; }
  DeviceBuffer allocate(std::string name, int64_t size_bytes, std::byte guard_fill) override {
    if (full) throw DeviceOutOfMemory("no memory for " + name);
    return inner.allocate(std::move(name), size_bytes, guard_fill);
  }
  void fill(const DeviceBuffer& to, std::byte value) override { inner.fill(to, value); }
  void upload(const DeviceBuffer& to, std::span<const std::byte> from) override {
    inner.upload(to, from);
  }
  void read_back(const DeviceBuffer& from, std::span<std::byte> to) override {
    inner.read_back(from, to);
  }
  void synchronise() override { inner.synchronise(); }
  std::optional<GuardBreach> breached_guard(const DeviceBuffer& buffer) override {
    return inner.breached_guard(buffer);
  }

  bool full = false;
  HostDevice inner;

 protected:
  // Buffers are freed by the device that made them, `inner`.
  void free(DeviceAddress) noexcept override {}
};

TEST(PlaneStore, AFailedAllocationLeavesTheStoreAsItWas) {
  FullDevice device;
  PlaneStore store(device);
  const Shape shape(2, 256);
  const StoredPlane& old = store.add("w", w_exp(), shape, filled(512, 1));
  const DeviceAddress address = old.buffer.address();
  device.full = true;
  EXPECT_THROW(store.add("v", w_exp(), shape, filled(512, 2)), DeviceOutOfMemory);
  EXPECT_THROW(store.replace("w", w_exp(), shape, filled(512, 2)), DeviceOutOfMemory);
  ASSERT_NE(store.why_missing("v", w_exp()), nullptr);
  EXPECT_EQ(*store.why_missing("v", w_exp()), "no memory for v/w_exp");
  EXPECT_EQ(store.why_missing("w", w_exp()), nullptr);
  EXPECT_EQ(store.find("v", w_exp()), nullptr);
  EXPECT_EQ(store.find("w", w_exp())->generation, 1u);
  EXPECT_EQ(store.find("w", w_exp())->buffer.address(), address);
  device.full = false;
  EXPECT_EQ(store.add("v", w_exp(), shape, filled(512, 2)).generation, 1u);
  EXPECT_EQ(store.why_missing("v", w_exp()), nullptr);
  EXPECT_EQ(store.replace("w", w_exp(), shape, filled(512, 2)).generation, 2u);
}

}  // namespace
}  // namespace planegate
