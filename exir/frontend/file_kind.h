// Refuses files that are not exported programs: says what they are, and how to get a .pt2.

#pragma once

#include "exir/frontend/zip_archive.h"

namespace taper::exir {

// For a file that is not a zip archive: ONNX, TFLite, safetensors, .pte and so on. Throws Failure.
[[noreturn]] void refuse_by_content(Bytes file);

// For a zip archive without an exported program: TorchScript, torch.save. Throws Failure.
[[noreturn]] void refuse_by_members(const ZipArchive& archive);

}  // namespace taper::exir
