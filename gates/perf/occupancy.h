#pragma once

#include <cstdint>
#include <string>

namespace planegate::perf {

/// What one SM of an architecture has, and in which units it is given out.
struct SmLimits {
  int64_t registers = 65536;
  int64_t warps = 0;
  int64_t blocks = 0;
  int64_t shared_bytes = 0;
  int64_t reserved_shared_bytes = 1024;  ///< of each block, for the system
  int64_t register_unit = 256;           ///< registers of a warp are rounded up to it
  int64_t warp_unit = 4;                 ///< warps that share a scheduler's part of the registers
  int64_t shared_unit = 128;             ///< bytes
};

/// `sm_90` of `sm_90a`: the letter adds instructions, not resources.
std::string without_letter(std::string architecture);

/// `architecture` is spelt `sm_90` or `sm_90a`.
/// @throws ContractError for one that is not in the table.
/// Source: CUDA C++ Programming Guide, technical specifications per compute capability.
SmLimits limits_of(const std::string& architecture);

/// Blocks of `threads` threads that fit on one SM at a time; 0: not even one.
/// @pre threads >= 1; registers (of a thread) >= 0; shared_bytes (static, of a block) >= 0
int64_t blocks_per_sm(const SmLimits& sm, int64_t threads, int64_t registers, int64_t shared_bytes);

}  // namespace planegate::perf
