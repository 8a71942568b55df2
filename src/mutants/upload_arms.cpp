#include <algorithm>
#include <memory>

#include <planegate/core/hash.h>
#include <planegate/devices/device.h>

#include "gates/faults.h"
#include "mutants/launches.h"
#include "mutants/mutants.h"
#include "mutants/plane_edits.h"

/// Copies between host and device that go wrong.
namespace planegate::mutants {
namespace {

using gates::Arm;
using gates::Tampering;
using gates::Transfer;
using Change = std::function<void(Bytes)>;

constexpr const char* kFileWExp = "sample.weight/w_exp";

/// Makes a fresh fault for each device, so that its state is the run's own.
using MakeTampering = std::function<Tampering()>;

struct UploadFault {
  const char* name;
  const char* bug_class;
  std::vector<std::string> must_name;
  MakeTampering make;
  const char* plane = "w_exp";
  const char* consumer = "w_exp/cp_async";
  Shape shape{16, 512};
  gates::Verdicts expected = gates::kReadbackRed;
};

Arm upload_arm(const UploadFault& fault) {
  Arm arm;
  arm.name = std::string("upload: ") + fault.name;
  arm.bug_class = fault.bug_class;
  arm.plane = fault.plane;
  arm.consumer = fault.consumer;
  arm.shape = fault.shape;
  arm.expected = fault.expected;
  arm.must_name = fault.must_name;
  arm.device = [make = fault.make](DeviceKind kind, std::string& why_not) {
    return gates::make_tampering_device(kind, make(), why_not);
  };
  return arm;
}

/// The nth upload to `buffer` changed.
MakeTampering nth_upload(const char* buffer, Change change, int nth = 1) {
  return [=] {
    Tampering fault{buffer};
    fault.upload = [=](const Transfer& copy) {
      if (copy.nth == nth) change(copy.bytes);
    };
    return fault;
  };
}

MakeTampering first_read_back(const char* buffer, Change change) {
  return [=] {
    Tampering fault{buffer};
    fault.read_back = [=](const Transfer& copy) {
      if (copy.nth == 1) change(copy.bytes);
    };
    return fault;
  };
}

/// One bit of the byte `at`, counted from the end where negative; none in a shorter buffer.
Change flipped(int64_t at, int bit) {
  return [=](Bytes bytes) {
    const int64_t byte = at < 0 ? std::ssize(bytes) + at : at;
    if (byte < 0 || byte >= std::ssize(bytes)) return;
    bytes[static_cast<size_t>(byte)] ^= std::byte{1} << bit;
  };
}

/// [begin, end) holds `value`, both counted from the end where negative; end 0 is the end. What
/// lies behind a shorter buffer is left alone.
Change filled(int64_t begin, int64_t end, std::byte value) {
  return [=](Bytes bytes) {
    const int64_t size = std::ssize(bytes);
    const int64_t from = std::clamp(begin < 0 ? size + begin : begin, int64_t{0}, size);
    const int64_t to = std::clamp(end <= 0 ? size + end : end, from, size);
    std::fill(bytes.begin() + from, bytes.begin() + to, value);
  };
}

void late_by_16(Bytes bytes) {
  std::copy_backward(bytes.begin(), bytes.end() - 16, bytes.end());
  std::fill(bytes.begin(), bytes.begin() + 16, kPoison);
}

void cut_to_pages(Bytes bytes) {
  const int64_t whole = std::ssize(bytes) / 4096 * 4096;
  std::fill(bytes.begin() + whole, bytes.end(), kPoison);
}

void swap_words(Bytes bytes) {
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) std::swap(bytes[i], bytes[i + 1]);
}

/// A two-dimensional copy whose source rows are 16 bytes shorter than they are.
void copied_by_short_pitch(Bytes bytes) {
  const std::vector<std::byte> good(bytes.begin(), bytes.end());
  for (int64_t row = 0; row < std::ssize(bytes) / 512; ++row) {
    std::copy_n(good.begin() + row * 496, 512, bytes.begin() + row * 512);
  }
}

/// Both halves were filled from the first, as two threads do that share a counter.
void repeat_first_half(Bytes bytes) {
  const auto half = bytes.begin() + std::ssize(bytes) / 2;
  std::copy(bytes.begin(), half, half);
}

/// What an earlier model of this shape left: codes that depend on its own seed.
void hold_earlier_model(Bytes bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto code = static_cast<int>(payload(2, i) % 64) - 32;
    bytes[i] = static_cast<std::byte>(code);
  }
}

/// The staging chunk of the plane before is sent again.
Tampering staging_not_refilled() {
  const auto before = std::make_shared<std::vector<std::byte>>();
  Tampering fault{"sample.weight/"};
  fault.upload = [before](const Transfer& copy) {
    const std::vector<std::byte> now(copy.bytes.begin(), copy.bytes.end());
    if (copy.nth == 1 && copy.buffer.ends_with("/qa8")) {
      const size_t bytes = std::min(before->size(), copy.bytes.size());
      std::copy_n(before->begin(), bytes, copy.bytes.begin());
    }
    *before = now;
  };
  return fault;
}

/// The upload loses its second half; read-backs are served from what the host handed over.
Tampering served_from_host() {
  const auto host = std::make_shared<std::vector<std::byte>>();
  Tampering fault{kFileWExp};
  fault.upload = [host](const Transfer& copy) {
    if (copy.nth != 1) return;
    host->assign(copy.bytes.begin(), copy.bytes.end());
    repeat_first_half(copy.bytes);
  };
  fault.read_back = [host](const Transfer& copy) {
    std::copy(host->begin(), host->end(), copy.bytes.begin());
  };
  return fault;
}

Tampering qa8_into_w_exp() {
  Tampering fault{"sample.weight/qa8"};
  fault.upload_into = kFileWExp;
  return fault;
}

Tampering qa8_read_from_w_exp() {
  Tampering fault{"sample.weight/qa8"};
  fault.read_back_from = kFileWExp;
  return fault;
}

std::vector<UploadFault> single_byte_faults() {
  const char* const decode = "padded/decode";
  return {
      {"a bit of the first byte of w_exp",
       "race/missing-sync",
       {"byte 0 = row 0, super-block 0, element 0 (codes)", "1 of 8192 bytes differ"},
       nth_upload(kFileWExp, flipped(0, 0))},
      {"a bit of the last byte of w_exp",
       "race/missing-sync",
       {"byte 8191 = row 15, super-block 1, element 255 (codes)", "1 of 8192 bytes differ"},
       nth_upload(kFileWExp, flipped(-1, 7))},
      {"a bit of the last sum of pad40",
       "race/missing-sync",
       {"token 2, k 480 (sum)", "1 of 1920 bytes differ"},
       nth_upload("sample.weight/pad40", flipped(-1, 3)),
       "pad40",
       decode,
       Shape{16, 512, 3}},
      {"a pad byte of padded",
       "uninitialised-padding",
       {"byte 7167 = padding", "1 of 7168 bytes differ"},
       nth_upload("sample.weight/padded", flipped(-1, 0)),
       "padded",
       decode},
      {"a tail token of sda",
       "uninitialised-padding",
       {"byte 4095 = padding", "1 of 4096 bytes differ"},
       nth_upload("sample.weight/sda", flipped(-1, 5)),
       "sda"},
  };
}

std::vector<UploadFault> partial_faults() {
  const char* const decode_w_dsc = "padded/decode+w_dsc";
  return {
      {"last chunk of w_exp missing",
       "partial-update",
       {"byte 4096 = row 8, super-block 0, element 0 (codes)"},
       nth_upload(kFileWExp, filled(4096, 0, kPoison))},
      {"first 16 bytes of w_exp missing",
       "partial-update",
       {"byte 0 = row 0, super-block 0, element 0 (codes)", "16 of 8192 bytes differ"},
       nth_upload(kFileWExp, filled(0, 16, kPoison))},
      {"w_exp cut to whole pages",
       "partial-update",
       {"byte 8192 = row 16, super-block 0, element 0 (codes)"},
       nth_upload(kFileWExp, cut_to_pages),
       "w_exp",
       "w_exp/cp_async",
       Shape{17, 512}},
      {"tail of w_dsc zero",
       "tail-K",
       {"row 0, super-block 1, element 224 (dsc)"},
       nth_upload("sample.weight/w_dsc", filled(-128, 0, std::byte{0})),
       "w_dsc",
       decode_w_dsc},
      {"last row of raw zero",
       "tail-rows-unmasked",
       {"row 15, super-block 0, element"},
       nth_upload("sample.weight/raw", filled(-420, 0, std::byte{0})),
       "raw",
       "raw/expand"},
      {"second half of w_exp is the first",
       "race/missing-sync",
       {"byte 4096 = row 8, super-block 0, element 0 (codes)"},
       nth_upload(kFileWExp, repeat_first_half)},
      {"w_exp read back before it has landed",
       "async-copy-not-waited",
       {"byte 4096 = row 8, super-block 0, element 0 (codes)"},
       first_read_back(kFileWExp, filled(4096, 0, kPoison))},
  };
}

std::vector<UploadFault> misplaced_faults() {
  const Shape equal_sizes{64, 512, 3};
  return {
      {"w_exp shifted by 16",
       "alignment",
       {"byte 0 = row 0, super-block 0, element 0 (codes)"},
       nth_upload(kFileWExp, late_by_16)},
      {"w_exp copied with a short pitch",
       "wrong-row-stride",
       {"byte 512 = row 1, super-block 0, element 0 (codes)"},
       nth_upload(kFileWExp, copied_by_short_pitch)},
      {"bytes of 2-byte words of padded swapped",
       "endianness",
       {"byte 0 = row 0, super-block 0, element 0 (ql)"},
       nth_upload("sample.weight/padded", swap_words),
       "padded",
       "padded/decode"},
      {"an earlier model's w_exp stays",
       "stale-plane",
       {"row 0, super-block 0, element", "the device buffer differs from the mirror"},
       nth_upload(kFileWExp, hold_earlier_model)},
      {"staging chunk of qa8 sent before it was filled",
       "async-copy-not-waited",
       {"byte 0 = token 0, k 0 (codes)"},
       staging_not_refilled,
       "qa8"},
      {"qa8 goes into the buffer of w_exp",
       "stale-plane",
       {"byte 0 = token 0, k 0 (codes)"},
       qa8_into_w_exp,
       "qa8",
       "w_exp/cp_async",
       equal_sizes,
       {Verdict::kPass, Verdict::kFail, Verdict::kFail, Verdict::kSkipped}},
      {"w_exp read back where qa8 was asked for",
       "harness-defect",
       {"byte 0 = token 0, k 0 (codes)", "the copy back"},
       qa8_read_from_w_exp,
       "qa8",
       "w_exp/cp_async",
       equal_sizes},
  };
}

/// Faults that readback cannot see: of later uploads, or behind a read-back that lies.
std::vector<UploadFault> later_faults() {
  return {
      {"read-back served from the host's copy of a torn w_exp",
       "harness-defect",
       {"every address is the contract's", "further from y* than"},
       served_from_host,
       "w_exp",
       "w_exp/cp_async",
       Shape{16, 512},
       gates::kParityRed},
      {"a bit of the twin under other guard bytes",
       "partial-update",
       {"the output changes with", "other pad and guard bytes"},
       nth_upload(kFileWExp, flipped(4000, 6), 2),
       "w_exp",
       "w_exp/cp_async",
       Shape{16, 512},
       gates::kParityRed},
      {"a bit of the producer's own bytes",
       "partial-update",
       {"the producers' own bytes end to end give another output"},
       nth_upload(kFileWExp, flipped(4000, 6), 3),
       "w_exp",
       "w_exp/cp_async",
       Shape{16, 512},
       gates::kChainRed},
  };
}

}  // namespace

std::vector<gates::Arm> upload_arms() {
  std::vector<Arm> arms;
  for (const auto& faults :
       {single_byte_faults(), partial_faults(), misplaced_faults(), later_faults()}) {
    for (const UploadFault& fault : faults) arms.push_back(upload_arm(fault));
  }
  for (Arm& arm : registration_arms()) arms.push_back(std::move(arm));
  return arms;
}

}  // namespace planegate::mutants
