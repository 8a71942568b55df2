#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/devices/architecture.h>
#include <planegate/devices/host_device.h>
#include <planegate/formats/q6_k/contracts.h>
#include <planegate/formats/q8_act/contracts.h>
#include <planegate/store/dispatch.h>

namespace planegate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

void launch_nothing(Device&, const LaunchRequest&) {}
bool few_tokens(const Shape& shape) {
  return shape.nt() <= 8;
}

template <class Weights>
ConsumerSpec consumer_of(const std::string& name) {
  ConsumerSpec consumer;
  consumer.name = name;
  consumer.reads = {{&describe<Weights>(), {}}, {&describe<q8_act::Qa8>(), {"codes"}}};
  consumer.launches = {{DeviceKind::kHost, launch_nothing}};
  return consumer;
}

/// A device of an older architecture than some code wants.
class OlderDevice : public HostDevice {
 protected:
  std::optional<std::string> lacks(const std::string&) const override { return "host is sm_80"; }
};

class DispatchTest : public ::testing::Test {
 protected:
  void put(const std::string& tensor, const Contract& plane, const Shape& shape) {
    const std::vector<std::byte> bytes(static_cast<size_t>(plane.size_bytes(shape)));
    store_.add(tensor, plane, shape, bytes);
  }
  void put_activations() { put("x", describe<q8_act::Qa8>(), shape_); }
  void put_raw() { put("w", describe<q6_k::Raw>(), shape_); }
  void put_w_exp() { put("w", describe<q6_k::WExp>(), shape_); }

  Choice choose() { return dispatch({&preferred_, &expand_}, store_, "w", "x", shape_); }
  std::optional<std::string> refused() { return refusal(preferred_, store_, "w", "x", shape_); }

  const Shape shape_{2, 512, 9};
  HostDevice device_;
  PlaneStore store_{device_};
  ConsumerSpec preferred_ = consumer_of<q6_k::WExp>("w_exp/cp_async");
  ConsumerSpec expand_ = consumer_of<q6_k::Raw>("raw/expand");
};

TEST_F(DispatchTest, TakesThePreferredConsumerWhereItCanRun) {
  put_activations();
  put_raw();
  put_w_exp();
  const Choice choice = choose();
  EXPECT_EQ(choice.consumer, &preferred_);
  EXPECT_EQ(choice.path, Path::kOn);
  EXPECT_THAT(choice.reasons, IsEmpty());
  EXPECT_EQ(choice.text(), "on: w_exp/cp_async");
}

TEST_F(DispatchTest, FallsBackFromAPlaneThatIsNotRegisteredAndSaysSo) {
  put_activations();
  put_raw();
  const Choice choice = choose();
  EXPECT_EQ(choice.consumer, &expand_);
  EXPECT_EQ(choice.path, Path::kFallback);
  EXPECT_EQ(choice.text(), "fallback: raw/expand (w_exp/cp_async: plane w_exp is not registered)");
}

TEST_F(DispatchTest, FallsBackFromABrokenPreconditionAndSaysSo) {
  put_activations();
  put_raw();
  put_w_exp();
  preferred_.preconditions = {{"nt at most 8", few_tokens}};
  EXPECT_EQ(choose().text(), "fallback: raw/expand (w_exp/cp_async: needs nt at most 8)");
}

TEST_F(DispatchTest, FallsBackFromAConsumerOfAnotherDeviceAndSaysSo) {
  put_activations();
  put_raw();
  put_w_exp();
  preferred_.launches = {{DeviceKind::kCuda, launch_nothing}};
  EXPECT_EQ(choose().text(), "fallback: raw/expand (w_exp/cp_async: does not run on host)");
}

TEST(Dispatch, FallsBackFromAnotherArchitectureAndSaysSo) {
  OlderDevice device;
  PlaneStore store(device);
  const Shape shape(2, 512, 9);
  const auto put = [&](const std::string& tensor, const Contract& plane) {
    store.add(tensor, plane, shape,
              std::vector<std::byte>(static_cast<size_t>(plane.size_bytes(shape))));
  };
  put("w", describe<q6_k::WExp>());
  put("x", describe<q8_act::Qa8>());
  ConsumerSpec newest = consumer_of<q6_k::WExp>("w_exp/f16");
  newest.launches.front().architecture = "sm_90a";
  const ConsumerSpec any = consumer_of<q6_k::WExp>("w_exp/cp_async");
  EXPECT_EQ(dispatch({&newest, &any}, store, "w", "x", shape).text(),
            "fallback: w_exp/cp_async (w_exp/f16: needs sm_90a, and host is sm_80)");
  EXPECT_EQ(device.refusal(any), std::nullopt);
  EXPECT_EQ(HostDevice().refusal(newest), std::nullopt) << "the host runs any code";
}

TEST(Architecture, NeedsTheDeviceAndTheBuild) {
  constexpr const char* kBoth = "80-real,90a-real";
  EXPECT_EQ(architecture_lacking("sm_90a", "sm_90", kBoth), std::nullopt);
  EXPECT_EQ(architecture_lacking("sm_90a", "sm_90", "90a"), std::nullopt);
  EXPECT_EQ(architecture_lacking("sm_90a", "sm_80", kBoth), "cuda is sm_80");
  EXPECT_EQ(architecture_lacking("sm_90a", "sm_100", kBoth), "cuda is sm_100");
  EXPECT_EQ(architecture_lacking("sm_90a", "sm_90", "80-real,90-real"),
            "this build has no code for it (CMAKE_CUDA_ARCHITECTURES=80-real,90-real)");
}

TEST_F(DispatchTest, ChoosesNoneWithAllReasons) {
  put_activations();
  preferred_.launches = {};
  const Choice choice = choose();
  EXPECT_EQ(choice.consumer, nullptr);
  EXPECT_THAT(choice.reasons, ElementsAre("w_exp/cp_async: does not run on host",
                                          "raw/expand: plane raw is not registered"));
  EXPECT_EQ(choice.text(),
            "none (w_exp/cp_async: does not run on host; raw/expand: plane raw is not registered)");
}

TEST_F(DispatchTest, ChoosesNoneWhereNoneWasOffered) {
  EXPECT_EQ(dispatch({}, store_, "w", "x", shape_).text(), "none (no consumer was offered)");
}

TEST_F(DispatchTest, RefusesWithoutTheActivationPlane) {
  put_w_exp();
  EXPECT_EQ(refused(), "plane qa8 is not registered");
}

TEST_F(DispatchTest, RefusesActivationsOfAnotherNumberOfTokens) {
  put_w_exp();
  put("x", describe<q8_act::Qa8>(), Shape(2, 512, 65));
  EXPECT_EQ(refused(), "plane qa8 is registered for od=2 id=512 nsb=2 nt=65");
}

TEST_F(DispatchTest, TakesActivationsWhateverTheRowsTheyWereRegisteredWith) {
  put_w_exp();
  put("x", describe<q8_act::Qa8>(), Shape(1, 512, 9));
  EXPECT_EQ(refused(), std::nullopt);
}

TEST_F(DispatchTest, RefusesWeightsOfAnotherShape) {
  put_activations();
  put("w", describe<q6_k::WExp>(), Shape(3, 512));
  EXPECT_EQ(refused(), "plane w_exp is registered for od=3 id=512 nsb=2 nt=1");
}

TEST_F(DispatchTest, RefusesWeightsOfAnotherShard) {
  put_activations();
  put("w", describe<q6_k::WExp>(), Shape(4, 512, 9).shard(Axis::kRow, 2, 2));
  EXPECT_EQ(refused(), "plane w_exp is registered for another shard");
}

TEST_F(DispatchTest, TakesWeightsWhateverTheTokensTheyWereRegisteredWith) {
  put_activations();
  put("w", describe<q6_k::WExp>(), Shape(2, 512, 1));
  EXPECT_EQ(refused(), std::nullopt);
}

TEST_F(DispatchTest, RefusesAPlaneOfTheSameNameWithAnotherContract) {
  put_activations();
  Contract twin = describe<q6_k::WExp>();
  twin.fields[0].layout.modes[1].stride_bits = {8 * 224};
  put("w", twin, shape_);
  EXPECT_EQ(refused(), "plane w_exp is registered with another contract");
}

TEST_F(DispatchTest, RequestBindsPlanesInTheOrderOfReads) {
  put_activations();
  put_w_exp();
  store_.replace("w", describe<q6_k::WExp>(), shape_, std::vector<std::byte>(1024));
  const LaunchRequest launch = request(preferred_, store_, "w", "x", shape_);
  ASSERT_EQ(launch.planes.size(), 2u);
  EXPECT_EQ(launch.planes[0].buffer->name(), "w/w_exp");
  EXPECT_EQ(launch.planes[0].generation, 2u);
  EXPECT_EQ(launch.planes[1].buffer->name(), "x/qa8");
  EXPECT_EQ(launch.planes[1].generation, 1u);
  EXPECT_EQ(launch.shape, shape_);
}

TEST_F(DispatchTest, RequestThrowsTheReasonOfTheRefusal) {
  put_activations();
  EXPECT_THAT(
      [&] { request(preferred_, store_, "w", "x", shape_); },
      ThrowsMessage<ContractError>("consumer=w_exp/cp_async: plane w_exp is not registered"));
}

}  // namespace
}  // namespace planegate
