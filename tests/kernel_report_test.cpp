#include "gates/perf/kernel_report.h"

#include <cstring>

#include <elf.h>
#include <gmock/gmock.h>

#include <planegate/core/errors.h>

#include "gates/perf/occupancy.h"
#include "tests/command_run.h"

/// Readers of what the compiler reports, on recorded texts.
namespace planegate::perf {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

template <class Call>
void expect_refusal(Call call, const std::string& words) {
  EXPECT_THAT(call, ThrowsMessage<ReportError>(HasSubstr(words)));
}

// ptxas of CUDA 13.0.
constexpr const char* kPtxas = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'gemm' for 'sm_80'
ptxas info    : Function properties for gemm
    88 bytes stack frame, 84 bytes spill stores, 92 bytes spill loads
ptxas info    : Used 80 registers, used 1 barriers, 88 bytes cumulative stack size, 33792 bytes smem, 624 bytes cmem[0]
ptxas info    : Compile time = 47.646 ms
ptxas info    : Compiling entry function 'decode' for 'sm_80'
ptxas info    : Function properties for decode
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 45 registers, used 0 barriers, 640 bytes cmem[0]
)";

TEST(Ptxas, ReadsWhatEachKernelTakes) {
  const auto use = parsed_ptxas("r.txt", kPtxas);
  ASSERT_EQ(use.size(), 2u);
  EXPECT_EQ(use.at("gemm"), (KernelUse{80, 88, 84 + 92, 33792}));
  EXPECT_EQ(use.at("decode"), (KernelUse{45, 0, 0, 0}));
}

TEST(Ptxas, RefusesWhatIsNoReportOfKernels) {
  expect_refusal([] { parsed_ptxas("r.txt", "nvcc fatal: no such file\n"); },
                 "r.txt: holds no kernel");
  const std::string text = kPtxas;
  expect_refusal([&] { parsed_ptxas("r.txt", text.substr(0, text.find("ptxas info    : Used"))); },
                 "r.txt:4: kernel gemm has no line of registers");
  expect_refusal([&] { parsed_ptxas("r.txt", text + text); }, "kernel gemm is there twice");
}

// nvdisasm -c, abridged: a loop with one reload, and the branch to itself that ends a kernel.
constexpr const char* kSass = R"(	.target	sm_90
	.section	.text.gemm,"ax",@progbits
.text.gemm:
        /*0000*/                   STL [R1+0x8], R12 ;
        /*0010*/              @!P0 BRA `(.L_x_2) ;
.L_x_1:
        /*0020*/                   LDL R4, [R1+0x8] ;
        /*0030*/                   LDGSTS.E.BYPASS.128 [R8], desc[UR4][R2.64] ;
        /*0040*/                   LDGSTS.E [R8], desc[UR4][R2.64] ;
        /*0050*/                   IMMA.16816.S8.S8 R4, R8.ROW, R2.COL, R4 ;
        /*0060*/               @P0 BRA `(.L_x_1) ;
.L_x_2:
        /*0070*/                   LDL R4, [R1+0x8] ;
        /*0080*/                   EXIT ;
.L_x_3:
        /*0090*/                   BRA `(.L_x_3);
	.section	.text.decode,"ax",@progbits
.text.decode:
        /*0000*/                   EXIT ;
)";

TEST(SassCounts, CountLocalMemoryInLoopsAlone) {
  const auto counts = parsed_sass_counts("s.txt", kSass);
  EXPECT_EQ(counts.at("gemm"), (InstructionCounts{1, 1, 1}));
  EXPECT_EQ(counts.at("decode"), (InstructionCounts{0, 0, 0}));
}

TEST(SassCounts, RefuseWhatIsNoDisassembly) {
  expect_refusal([] { parsed_sass_counts("s.txt", ""); }, "s.txt: holds no kernel");
  expect_refusal([] { parsed_sass_counts("s.txt", "        /*0000*/   EXIT ;\n"); },
                 "s.txt:1: an instruction outside .text");
  expect_refusal([] { parsed_sass_counts("s.txt", "\t.section\t.text.k,\"ax\"\n"); },
                 "no instruction of kernel k");
  expect_refusal(
      [] {
        parsed_sass_counts("s.txt",
                           "\t.section\t.text.k,\"ax\"\n        /*0000*/   BRA `(.L_x_7) ;\n");
      },
      "s.txt:2: branch to .L_x_7, no such label");
}

/// A cubin with one kernel `gemm`, whose code is `code`.
std::string cubin_of(const std::string& code, Elf64_Half machine = 190) {
  const std::string names = std::string("\0.shstrtab\0.text.gemm\0", 22);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = machine;
  header.e_shoff = sizeof(header) + names.size() + code.size();
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  Elf64_Shdr sections[3]{};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sizeof(header);
  sections[1].sh_size = names.size();
  sections[2].sh_name = 11;
  sections[2].sh_type = SHT_PROGBITS;
  sections[2].sh_offset = sizeof(header) + names.size();
  sections[2].sh_size = code.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + names + code +
         std::string(reinterpret_cast<const char*>(sections), sizeof(sections));
}

TEST(Cubin, HoldsTheCodeOfEachKernel) {
  const std::string cubin = cubin_of("instructions");
  EXPECT_EQ(code_sections("k.cubin", cubin).at("gemm"), "instructions");
}

TEST(Cubin, CutShortAnywhereIsRefused) {
  const std::string cubin = cubin_of("instructions");
  for (size_t size = 0; size < cubin.size(); ++size) {
    EXPECT_THROW(code_sections("k.cubin", std::string_view(cubin).substr(0, size)), ReportError)
        << size;
  }
  expect_refusal([] { code_sections("k.cubin", cubin_of("x", EM_X86_64)); },
                 "k.cubin: is no 64-bit cubin");
}

class ReportFolder : public test::CommandTest {
 protected:
  void fill(const std::string& ptxas, const std::string& sass) const {
    test::write_text(path("toolchain.txt"), "nvcc 13.0.88\n");
    test::write_text(path("v.sm_90.cubin"), cubin_of("code"));
    test::write_text(path("v.sm_90.ptxas.txt"), ptxas);
    if (!sass.empty()) test::write_text(path("v.sm_90.sass.txt"), sass);
  }
};

TEST_F(ReportFolder, IsReadAsOne) {
  fill(kPtxas, kSass);
  const KernelReports reports = read_kernel_reports(path(""));
  EXPECT_EQ(reports.toolchain, "nvcc 13.0.88");
  const ReportedKernel& kernel = reports.kernels.at("sm_90").at("gemm");
  EXPECT_EQ(kernel.use.registers, 80);
  EXPECT_EQ(kernel.code, "code");
  EXPECT_EQ(kernel.instructions->mma, 1);
}

TEST_F(ReportFolder, WithoutDisassemblyCountsNoInstructions) {
  fill(kPtxas, "");
  EXPECT_FALSE(read_kernel_reports(path("")).kernels.at("sm_90").at("gemm").instructions);
}

TEST_F(ReportFolder, ThatMissesAKernelOrAFileIsRefused) {
  expect_refusal([&] { read_kernel_reports(path("")); }, "toolchain.txt: No such file or directory");
  test::write_text(path("toolchain.txt"), "nvcc 13.0.88\n");
  expect_refusal([&] { read_kernel_reports(path("")); }, "holds no cubin");
  const std::string text = kPtxas;
  fill(text.substr(text.find("ptxas info    : Compiling entry function 'decode'")), "");
  expect_refusal([&] { read_kernel_reports(path("")); },
                 "v.sm_90.ptxas.txt: nothing of kernel gemm");
}

TEST(Occupancy, IsWhatTheScarcestResourceAllows) {
  const SmLimits a100 = limits_of("sm_80"), h100 = limits_of("sm_90");
  // 65536 registers hold 25 warps of 80 * 32, 24 in units of four: three blocks of eight.
  EXPECT_EQ(blocks_per_sm(a100, 256, 80, 33792), 3);
  EXPECT_EQ(blocks_per_sm(a100, 256, 81, 33792), 2) << "88 in units of eight: 23 warps, 20";
  EXPECT_EQ(blocks_per_sm(a100, 256, 48, 0), 5);
  // 164 KiB over 33792 + 1024 bytes; 228 KiB hold six.
  EXPECT_EQ(blocks_per_sm(a100, 128, 32, 33792), 4);
  EXPECT_EQ(blocks_per_sm(h100, 128, 32, 33792), 6);
  EXPECT_EQ(blocks_per_sm(a100, 32, 16, 0), 32) << "blocks";
  EXPECT_EQ(blocks_per_sm(a100, 1024, 32, 0), 2) << "warps";
  EXPECT_EQ(blocks_per_sm(a100, 1024, 65, 0), 0);
  EXPECT_EQ(limits_of("sm_90a").shared_bytes, h100.shared_bytes);
  EXPECT_THROW(limits_of("sm_10"), ContractError);
}

}  // namespace
}  // namespace planegate::perf
