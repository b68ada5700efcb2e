#include "backends/vulkan/planner/limits_profiles.h"

namespace taper::vulkan {
namespace {

constexpr uint32_t kMany = 65535, kAll = 2147483647;
constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;

constexpr Limits limits_of(uint32_t groups_x, uint32_t groups_yz, uint64_t range, uint64_t bytes,
                           uint32_t alignment) {
  Limits limits;
  limits.groups[0] = groups_x;
  limits.groups[1] = limits.groups[2] = groups_yz;
  limits.range = range;
  limits.bytes = bytes;
  limits.alignment = alignment;
  return limits;
}

// With products of bytes, and matrix units for them.
constexpr Limits with_bytes(Limits limits, uint32_t m, uint32_t n, uint32_t k, uint32_t subgroup) {
  limits.byte_products = true;
  limits.byte_fragment[0] = m;
  limits.byte_fragment[1] = n;
  limits.byte_fragment[2] = k;
  limits.subgroup = subgroup;
  return limits;
}

constexpr LimitsProfile kProfiles[] = {
    {"minimum", limits_of(kMany, kMany, 128 * kMiB, 512 * kMiB, 256)},
    {"adreno", limits_of(kMany, kMany, 128 * kMiB, 2 * kGiB, 64)},
    {"mali", limits_of(kMany, kMany, 256 * kMiB, 2 * kGiB, 64)},
    {"powervr", limits_of(kMany, kMany, 128 * kMiB, kGiB, 256)},
    {"swiftshader", limits_of(kMany, kMany, kGiB, 4 * kGiB, 256)},
    {"lavapipe", limits_of(kMany, kMany, 128 * kMiB, 2 * kGiB, 256)},
    {"nvidia", with_bytes(limits_of(kAll, kMany, 4 * kGiB - 1, 64 * kGiB, 256), 16, 16, 32, 32)},
    {"amd", with_bytes(limits_of(kAll, kMany, 4 * kGiB - 1, 16 * kGiB, 256), 16, 16, 16, 64)},
    {"intel", with_bytes(limits_of(kMany, kMany, 4 * kGiB - 1, 4 * kGiB, 256), 8, 16, 32, 16)},
};

}  // namespace

Span<const LimitsProfile> limits_profiles() { return kProfiles; }

}  // namespace taper::vulkan
