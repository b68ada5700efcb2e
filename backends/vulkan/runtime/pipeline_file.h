// The file beside a model in which compiled shaders are kept: model.vkcache. The format is
//
//   header | a hash for each pipeline | what the driver gives of its cache
//
// in little-endian. The header names the GPU and its driver, and has a hash of everything else. So
// a file that is damaged, cut short, or of another GPU or driver is found out before the driver
// sees it. The hash of a pipeline is that of its shader and constants. The hashes do not detect
// malice: drivers trust what they are given, and SECURITY.md says whom to trust with the file.

#pragma once

#include <cstdint>

#include "taper/replace_file.h"

namespace taper::vulkan {

// What compiled shaders depend on besides their code.
struct PipelineOrigin {
  uint8_t cache_uuid[16];  // Of the driver's cache.
  uint32_t vendor, device, driver;
  uint32_t pointer_bytes;
};

// Views of a file.
struct PipelineFile {
  Span<const uint64_t> pipelines;  // Hashes of those that it has.
  Span<const uint8_t> data;        // For the driver.

  bool has(uint64_t pipeline) const;
};

// Returns kDelegateInvalidCompatibility with the reason if the file cannot be used. REQUIRES:
// `bytes` is aligned to 8.
Result<PipelineFile> read_pipeline_file(Span<const uint8_t> bytes, const PipelineOrigin& origin);

// Readers see either the old or the new file. Returns kAccessFailed with the reason.
Status write_pipeline_file(const char* path, const PipelineFile& content,
                           const PipelineOrigin& origin);

}  // namespace taper::vulkan
