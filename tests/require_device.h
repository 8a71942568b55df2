#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <planegate/devices/device.h>

namespace planegate::test {

/// Whether a machine without a GPU is a failure: PLANEGATE_REQUIRE_DEVICE set, to anything but 0.
inline bool device_required() {
  const char* const value = std::getenv("PLANEGATE_REQUIRE_DEVICE");
  return value != nullptr && *value != '\0' && std::string(value) != "0";
}

/// Skips the running test with the reason, or fails it where a device is required.
inline void report_missing_device(const std::string& why_not, bool required) {
  if (required) FAIL() << "PLANEGATE_REQUIRE_DEVICE is set, but " << why_not;
  GTEST_SKIP() << why_not;
}

/// The cuda device; null after the test was skipped or failed. In a fixture's SetUp() that keeps
/// the body from running; elsewhere: `if (device == nullptr) return;`.
inline std::unique_ptr<Device> require_cuda_device() {
  std::string why_not;
  std::unique_ptr<Device> device = make_cuda_device(why_not);
  if (device == nullptr) report_missing_device(why_not, device_required());
  return device;
}

}  // namespace planegate::test
