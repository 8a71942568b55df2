#include "kernels/q6_k/known_bad/by_layout.h"

#include <algorithm>

#include <planegate/formats/q8_act/contracts.h>

#include "kernels/q6_k/known_bad/by_layout_kernel.h"

namespace planegate::kernels::q6_k {
namespace {

namespace formats = planegate::q6_k;
namespace act = planegate::q8_act;

constexpr int64_t kMostTokens = 127;

struct Sources {
  const char* name;
  const Contract* codes;
  const Contract* scales;
  const Contract* act_codes;
  const Contract* act_scales;
};

SourceField source(const Contract& plane, const std::string& field) {
  for (const Field& candidate : plane.fields) {
    if (candidate.name == field) return {&plane, &candidate};
  }
  return {};
}

SourceFields source_fields(const Sources& from) {
  SourceFields fields{};
  fields[kLow] = source(*from.codes, "ql");
  fields[kHigh] = source(*from.codes, "qh");
  if (fields[kLow].plane == nullptr) fields[kLow] = source(*from.codes, "codes");
  fields[kSubScale] = source(*from.scales, "sc");
  fields[kScale] = source(*from.scales, fields[kSubScale].plane == nullptr ? "dsc" : "d");
  fields[kActCodes] = source(*from.act_codes, "codes");
  fields[kActScale] = source(*from.act_scales, "d");
  return fields;
}

std::vector<FieldUse> reads_of(const SourceFields& fields) {
  std::vector<FieldUse> reads;
  for (const SourceField& from : fields) {
    if (from.plane == nullptr) continue;
    const auto known = std::find_if(reads.begin(), reads.end(),
                                    [&](const FieldUse& use) { return use.plane == from.plane; });
    if (known == reads.end()) {
      reads.push_back({from.plane, {from.field->name}});
    } else {
      known->fields.push_back(from.field->name);
    }
  }
  return reads;
}

ConsumerSpec consumer(const Sources& from, const Relayout& relayout) {
  const SourceFields fields = source_fields(from);
  ConsumerSpec spec;
  spec.name = from.name;
  spec.format = formats::kFormat;
  spec.rank = 99;
  spec.reads = reads_of(fields);
  spec.preconditions = {
      {"id a multiple of 256", [](const Shape& s) { return s.id() % kSuperBlockElems == 0; }},
      {"at most 127 tokens", [](const Shape& s) { return s.nt() <= kMostTokens; }}};
  spec.arithmetic = {1, 2, "f32 sequential over k"};
  spec.determinism_reason = "every element is summed by one lane in order of k";
  spec.policies = {{"code address", "layouts as data"}, {"code staging", "bytewise"}};
  spec.blocks = [](const Shape& s) { return ByLayout::grid(s).blocks(); };
  const uint32_t instance = spec.instance();
  spec.launches = {{DeviceKind::kHost, [=](Device& device, const LaunchRequest& request) {
                      launch_by_layout(device, request, fields, relayout, instance);
                    }}};
#if PLANEGATE_HAVE_CUDA
  spec.launches.push_back({DeviceKind::kCuda, [=](Device& device, const LaunchRequest& request) {
                             launch_by_layout_cuda(device, request, fields, relayout, instance);
                           }});
#endif
  return spec;
}

}  // namespace

std::vector<ConsumerSpec> by_layout_consumers(const Relayout& relayout) {
  const Contract& raw = describe<formats::Raw>();
  const Contract& padded = describe<formats::Padded>();
  const Contract& w_exp = describe<formats::WExp>();
  const Contract& w_dsc = describe<formats::WDsc>();
  const Contract& pad40 = describe<act::Pad40>();
  const Contract& qa8 = describe<act::Qa8>();
  const Contract& sda = describe<act::Sda>();
  return {consumer({"by_layout/raw", &raw, &raw, &pad40, &pad40}, relayout),
          consumer({"by_layout/padded", &padded, &padded, &pad40, &pad40}, relayout),
          consumer({"by_layout/w_exp", &w_exp, &raw, &pad40, &pad40}, relayout),
          consumer({"by_layout/w_dsc", &raw, &w_dsc, &pad40, &pad40}, relayout),
          consumer({"by_layout/qa8", &raw, &raw, &qa8, &sda}, relayout)};
}

}  // namespace planegate::kernels::q6_k
