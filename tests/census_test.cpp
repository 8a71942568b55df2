#include "gates/perf/census.h"

#include <gmock/gmock.h>

#include <planegate/core/errors.h>
#include <planegate/formats/q6_k/contracts.h>
#include <planegate/formats/q8_act/contracts.h>
#include <planegate/store/plane_store.h>

#include "catalog/catalog.h"
#include "cli/byte_size.h"

/// What a census finds in a catalog.
namespace planegate::perf {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

void launch_nothing(Device&, const LaunchRequest&) {}

const Contract& w_exp() {
  return describe<q6_k::WExp>();
}
const Contract& sda() {
  return describe<q8_act::Sda>();
}

ConsumerSpec reader(const std::string& name, std::vector<FieldUse> reads) {
  ConsumerSpec consumer;
  consumer.name = name;
  consumer.format = "q6_K";
  consumer.reads = std::move(reads);
  consumer.launches = {{DeviceKind::kHost, launch_nothing}};
  return consumer;
}

/// w_exp and sda with mirrors, and the oracle of q6_K.
Catalog catalog() {
  Catalog made;
  made.add(ProducerSpec{"w_exp", "q6_K", &w_exp(), {}});
  made.add(ProducerSpec{"sda", "f32", &sda(), {}});
  made.add(MirrorSpec{"q6_K", &w_exp(), {}});
  made.add(MirrorSpec{"q8_0", &sda(), {}});
  FormatOracle oracle;
  oracle.format = "q6_K";
  made.add(std::move(oracle));
  return made;
}

std::vector<std::string> reasons(const Catalog& of) {
  std::vector<std::string> all;
  for (const UngatedReader& found : ungated_readers(of)) {
    all.push_back(found.consumer + ": " + found.reason);
  }
  return all;
}

TEST(Census, ListsEveryPlaneOfATensorWithBytesAndReaders) {
  const CensusTensor tensor{"t", "q6_K", Shape(70, 512, 70), 70 * 2 * 210};
  const auto planes = planes_of(shipped_catalog(), tensor);
  ASSERT_EQ(planes.size(), 4u);
  EXPECT_EQ(planes[2].contract, &w_exp());
  EXPECT_EQ(planes[2].bytes, 70 * 512);
  EXPECT_THAT(planes[2].consumers, Contains("w_exp/cp_async"));
  EXPECT_THAT(planes[2].consumers, Not(Contains("raw/expand")));
  EXPECT_THAT(planes[1].consumers, Not(Contains("padded/decode"))) << "takes at most 8 tokens";
}

TEST(Census, CountsGenerationsAsPlaneStoreDoes) {
  const CensusTensor tensor{"t", "q6_K", Shape(3, 256), 3 * 210};
  const CensusPlane plane = planes_of(shipped_catalog(), tensor)[2];
  const auto device = make_host_device();
  PlaneStore store(*device);
  const std::vector<std::byte> bytes(static_cast<size_t>(plane.bytes));
  EXPECT_EQ(store.add("t", *plane.contract, tensor.shape, bytes).generation, plane.generation);
}

TEST(Census, RefusesAShapeThatDoesNotFitItsPlanes) {
  EXPECT_THROW(planes_of(shipped_catalog(), {"t", "q6_K", Shape(3, 100), 1}), ContractError);
}

TEST(Census, NamesPlanesWithoutAReader) {
  Catalog of = catalog();
  of.add(reader("a", {{&sda(), {"d", "sum"}}}));
  EXPECT_THAT(planes_without_reader(of), ElementsAre("q6_K/w_exp"));
  EXPECT_THAT(unread_fields(of), IsEmpty()) << "a plane without a reader is named once";
  of.add(reader("b", {{&w_exp(), {"codes"}}}));
  EXPECT_THAT(planes_without_reader(of), IsEmpty());
}

TEST(Census, NamesFieldsThatNobodyReads) {
  Catalog of = catalog();
  of.add(reader("a", {{&w_exp(), {"codes"}}, {&sda(), {"d"}}}));
  EXPECT_THAT(unread_fields(of), ElementsAre("q8_0/sda.sum"));
}

TEST(Census, NamesReadersWithoutAGate) {
  Catalog of = catalog();
  of.add(reader("gated", {{&w_exp(), {"codes"}}}));
  EXPECT_THAT(reasons(of), IsEmpty());
  of.add(reader("plane", {{&describe<q6_k::Raw>(), {"ql"}}}));
  EXPECT_THAT(reasons(of), ElementsAre("plane: plane raw has no producer"));
  of.add(ProducerSpec{"raw", "q6_K", &describe<q6_k::Raw>(), {}});
  EXPECT_THAT(reasons(of), ElementsAre("plane: plane raw has no mirror"));
  ConsumerSpec nowhere = reader("nowhere", {{&w_exp(), {"codes"}}});
  nowhere.launches.clear();
  of.add(std::move(nowhere));
  ConsumerSpec foreign = reader("foreign", {{&w_exp(), {"codes"}}});
  foreign.format = "q5_K";
  of.add(std::move(foreign));
  EXPECT_THAT(reasons(of), ElementsAre("plane: plane raw has no mirror",
                                       "nowhere: it runs on no device of this build",
                                       "foreign: format q5_K has no oracle"));
}

TEST(Census, OfTheShippedCatalogFindsEveryReaderGated) {
  EXPECT_THAT(reasons(shipped_catalog()), IsEmpty());
  EXPECT_THAT(planes_without_reader(shipped_catalog()), IsEmpty());
}

TEST(ByteSize, TakesWholeBytesAndBinaryUnits) {
  EXPECT_EQ(cli::byte_size("1"), 1);
  EXPECT_EQ(cli::byte_size("3KiB"), 3 * 1024);
  EXPECT_EQ(cli::byte_size("512 MiB"), int64_t{512} << 20);
  EXPECT_EQ(cli::byte_size("2GiB"), int64_t{2} << 30);
  EXPECT_EQ(cli::byte_size("8388607TiB"), int64_t{8388607} << 40);
}

TEST(ByteSize, RefusesEverythingElse) {
  for (const char* wrong : {"", "0", "-1", "+1", "GiB", "2GB", "2gib", "1.5GiB", "2  GiB", "2GiB ",
                            "0x10", "8388608TiB", "9223372036854775808"}) {
    EXPECT_EQ(cli::byte_size(wrong), std::nullopt) << wrong;
  }
}

TEST(ByteSize, IsWrittenInTheLargestUnitThatFits) {
  EXPECT_EQ(cli::byte_text(1023), "1023 bytes");
  EXPECT_EQ(cli::byte_text(1536), "1.50 KiB (1536 bytes)");
  EXPECT_EQ(cli::byte_text(int64_t{5} << 29), "2.50 GiB (2684354560 bytes)");
}

}  // namespace
}  // namespace planegate::perf
