#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/catalog.h>
#include <planegate/core/errors.h>
#include <planegate/formats/q6_k/contracts.h>

namespace planegate {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

const Contract& w_exp() {
  return describe<q6_k::WExp>();
}
const Contract& raw() {
  return describe<q6_k::Raw>();
}

Catalog two_planes() {
  Catalog catalog;
  catalog.add(ProducerSpec{"a", "q6_K", &w_exp(), {}});
  catalog.add(ProducerSpec{"b", "q6_K", &raw(), {}});
  return catalog;
}

ConsumerSpec consumer_named(const std::string& name) {
  ConsumerSpec consumer;
  consumer.name = name;
  return consumer;
}

TEST(Catalog, ListsPlanesInOrderOfRegistration) {
  EXPECT_THAT(two_planes().planes(), ElementsAre(&w_exp(), &raw()));
}

TEST(Catalog, RefusesASecondProducerOfAPlane) {
  Catalog catalog = two_planes();
  EXPECT_THAT(
      [&] {
        catalog.add(ProducerSpec{"other", "q6_K", &raw(), {}});
      },
      ThrowsMessage<ContractError>("producer of plane=raw: already registered"));
  EXPECT_EQ(catalog.producers().size(), 2u);
  EXPECT_EQ(catalog.producer("raw")->name, "b");
}

TEST(Catalog, RefusesASecondMirrorOfAPlane) {
  Catalog catalog;
  catalog.add(MirrorSpec{"q6_K", &raw(), {}});
  EXPECT_THAT(
      [&] {
        catalog.add(MirrorSpec{"q8_0", &raw(), {}});
      },
      ThrowsMessage<ContractError>("mirror of plane=raw: already registered"));
  EXPECT_EQ(catalog.mirror(raw()).from, "q6_K");
}

TEST(Catalog, ReplacesByNameAndRefusesAnUnknownOne) {
  Catalog catalog = two_planes();
  catalog.replace(ProducerSpec{"other", "q6_K", &raw(), {}});
  EXPECT_EQ(catalog.producer("raw")->name, "other");
  EXPECT_EQ(catalog.producers().size(), 2u);
  EXPECT_THAT([&] { catalog.replace(consumer_named("nosuch")); },
              ThrowsMessage<ContractError>("consumer=nosuch: not registered"));
}

TEST(Catalog, ReplacesMirrorsByPlaneAndFormatsByName) {
  Catalog catalog;
  catalog.add(MirrorSpec{"q6_K", &raw(), {}});
  catalog.replace(MirrorSpec{"q8_0", &raw(), {}});
  EXPECT_EQ(catalog.mirror(raw()).from, "q8_0");
  EXPECT_THAT(
      [&] {
        catalog.replace(MirrorSpec{"q6_K", &w_exp(), {}});
      },
      ThrowsMessage<ContractError>("mirror of plane=w_exp: not registered"));
  FormatOracle format;
  format.format = "q6_K";
  catalog.add(format);
  format.scale_elems = 16;
  catalog.replace(format);
  EXPECT_EQ(catalog.format("q6_K")->scale_elems, 16);
  format.format = "q4_K";
  EXPECT_THAT([&] { catalog.replace(format); },
              ThrowsMessage<ContractError>("format=q4_K: not registered"));
}

TEST(Catalog, PrefersMeantConsumersOfTheFormatByRank) {
  Catalog catalog;
  const auto add = [&](const char* name, const char* format, int rank) {
    ConsumerSpec consumer = consumer_named(name);
    consumer.format = format;
    consumer.rank = rank;
    if (rank == 1) consumer.meant_for = [](const Shape& s) { return s.nt() <= 8; };
    catalog.add(consumer);
  };
  add("last", "q6_K", 9);
  add("small", "q6_K", 1);
  add("other", "q4_K", 0);
  add("first", "q6_K", 2);
  const auto names = [&](int64_t nt) {
    std::vector<std::string> all;
    for (const ConsumerSpec* c : catalog.preference("q6_K", Shape(1, 256, nt))) {
      all.push_back(c->name);
    }
    return all;
  };
  EXPECT_THAT(names(9), ElementsAre("first", "last"));
  EXPECT_THAT(names(8), ElementsAre("small", "first", "last"));
}

TEST(Catalog, RefusesASecondFormatAndConsumerOfOneName) {
  Catalog catalog;
  FormatOracle format;
  format.format = "q6_K";
  catalog.add(format);
  catalog.add(consumer_named("w_exp/bytewise"));
  EXPECT_THAT([&] { catalog.add(format); },
              ThrowsMessage<ContractError>("format=q6_K: already registered"));
  EXPECT_THAT([&] { catalog.add(consumer_named("w_exp/bytewise")); },
              ThrowsMessage<ContractError>("consumer=w_exp/bytewise: already registered"));
}

TEST(Catalog, FindsByNameOrNotAtAll) {
  Catalog catalog = two_planes();
  catalog.add(consumer_named("w_exp/bytewise"));
  EXPECT_EQ(catalog.producer("w_exp")->name, "a");
  EXPECT_EQ(catalog.consumer("w_exp/bytewise")->name, "w_exp/bytewise");
  EXPECT_EQ(catalog.producer("w_ex"), nullptr);
  EXPECT_EQ(catalog.consumer(""), nullptr);
  EXPECT_EQ(catalog.format("q6_K"), nullptr);
}

TEST(Catalog, ReportsAPlaneWithoutAMirror) {
  EXPECT_THAT([] { two_planes().mirror(raw()); },
              ThrowsMessage<ContractError>("plane=raw: has no mirror in the oracle"));
}

TEST(Nearest, OrdersByEditDistanceAndReturnsThree) {
  EXPECT_THAT(nearest("w_exq", {"padded", "raw", "w_dsc", "w_exp"}),
              ElementsAre("w_exp", "w_dsc", "raw"));
}

TEST(Nearest, ReturnsWhatThereIs) {
  EXPECT_THAT(nearest("x", {"raw"}), ElementsAre("raw"));
}

TEST(ConsumerSpec, NamesTheFirstBrokenPrecondition) {
  ConsumerSpec consumer;
  consumer.preconditions = {
      {"nt at most 8", [](const Shape& s) { return s.nt() <= 8; }},
      {"id a multiple of 512", [](const Shape& s) { return s.id() % 512 == 0; }}};
  EXPECT_EQ(consumer.refusal(Shape(1, 512, 8)), std::nullopt);
  EXPECT_EQ(consumer.refusal(Shape(1, 256, 8)), "id a multiple of 512");
  EXPECT_EQ(consumer.refusal(Shape(1, 256, 9)), "nt at most 8");
}

}  // namespace
}  // namespace planegate
