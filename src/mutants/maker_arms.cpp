#include "kernels/q6_k/makers.h"
#include "mutants/mutants.h"

/// Producers that run on the device.
namespace planegate::mutants {
namespace {

using gates::Arm;

struct BadMaker {
  const char* name;  ///< of known_bad_makers(): `w_exp from raw+uncentred`
  const char* what;
  const char* bug_class;
  Shape shape;
  std::vector<std::string> must_name;
  std::vector<std::string> must_name_on_cuda = {};
  const char* may_survive_on_cuda = "";
};

/// Puts the bad producer in the place of the one that it is named after.
void plant(Catalog& catalog, const std::string& name) {
  for (DeviceProducerSpec& maker : kernels::q6_k::known_bad_makers()) {
    if (maker.name != name) continue;
    maker.name = name.substr(0, name.find('+'));
    catalog.replace(std::move(maker));
  }
}

Arm maker_arm(const BadMaker& bad) {
  Arm arm;
  arm.name = std::string("device producer: ") + bad.name + ", " + bad.what;
  arm.bug_class = bad.bug_class;
  arm.plane = arm.name.find(": w_exp") != std::string::npos ? "w_exp" : "w_dsc";
  arm.consumer = "w_exp/cp_async+w_dsc";
  arm.shape = bad.shape;
  arm.expected = gates::kReadbackRed;
  arm.must_name = bad.must_name;
  arm.must_name_on_cuda = bad.must_name_on_cuda;
  arm.may_survive_on_cuda = bad.may_survive_on_cuda;
  arm.plant = [name = std::string(bad.name)](Catalog& catalog) { plant(catalog, name); };
  return arm;
}

}  // namespace

std::vector<Arm> maker_arms() {
  const Shape small(3, 512, 2);
  const Shape even(34, 512, 2);
  const char* const race = "a race need not show";
  const std::string w_exp = "w_exp from raw made other bytes than the definition of w_exp gives";
  const std::string w_dsc = "w_dsc from raw made other bytes than the definition of w_dsc gives";
  const std::vector<BadMaker> bad = {
      {"w_exp from raw+blocks_of_padded",
       "blocks 224 bytes apart",
       "padded-vs-dense",
       small,
       {"access out of bounds", "/raw (1260 bytes)"},
       {w_exp}},
      {"w_exp from raw+uncentred",
       "codes 0..63",
       "sign/centering",
       small,
       {w_exp, "row 0, super-block 0, element 0"}},
      {"w_exp from raw+tail_unmasked",
       "super-blocks beyond the last",
       "tail-rows-unmasked",
       small,
       {"uninitialised shared memory"},
       {"guard zone of", "w_exp made overwritten"}},
      {"w_exp from raw+no_wait",
       "copies not waited for",
       "async-copy-not-waited",
       small,
       {"copy not waited for: block (0, 0)"},
       {w_exp},
       race},
      {"w_dsc from raw+blocks_of_padded",
       "blocks 224 bytes apart",
       "padded-vs-dense",
       small,
       {"access out of bounds", "/raw (1260 bytes)"},
       {w_dsc}},
      {"w_dsc from raw+rows_unmasked",
       "rows beyond the last",
       "tail-rows-unmasked",
       even,
       {"access out of bounds", "w_dsc made"},
       {"guard zone of", "w_dsc made overwritten"}},
      {"w_dsc from raw+no_pad_row",
       "the row that makes od even",
       "uninitialised-padding",
       small,
       {w_dsc, "padding"}},
      {"w_dsc from raw+no_barrier",
       "no barrier between products and stores",
       "race/missing-sync",
       even,
       {"shared memory: block (0, 0)"},
       {w_dsc},
       race},
  };
  std::vector<Arm> arms;
  for (const BadMaker& one : bad) arms.push_back(maker_arm(one));
  return arms;
}

}  // namespace planegate::mutants
