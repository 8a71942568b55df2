#include <planegate/core/contract.h>

namespace {

using namespace planegate;  // NOLINT

#if defined(PLANEGATE_BAD)
constexpr int64_t kSuperBlockBytes = 255;
#else
constexpr int64_t kSuperBlockBytes = 256;
#endif

struct Plane {
  static constexpr const char* kFormat = "test";
  static constexpr const char* kName = "plane";
  static constexpr Role kRole = Role::kWeights;
  static constexpr int64_t kAlignmentBytes = 1;
  static constexpr int kPadValue = 0;
  static constexpr Size kBytes = product(sizes::kOd, sizes::kId);

  struct Codes {
    static constexpr Field kField = {"codes",
                                     8,
                                     Encoding::kSigned,
                                     -128,
                                     127,
                                     {0,
                                      3,
                                      {{"k", Axis::kK, 1, {256}, {8}},
                                       {"sb", Axis::kK, 256, sizes::kNsb, {8 * kSuperBlockBytes}},
                                       {"row", Axis::kRow, 1, sizes::kOd, 8 * sizes::kId}}}};
  };
  using Fields = FieldList<Codes>;
};

}  // namespace

const planegate::Contract& contract() {
  return planegate::describe<Plane>();
}
