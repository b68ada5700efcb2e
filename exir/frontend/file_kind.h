// Names a file that is no exported program for what it is, and says how to get one.

#pragma once

#include "exir/frontend/zip_archive.h"

namespace taper::exir {

// A file that is no zip archive: ONNX, TFLite, safetensors, .pte and so on. Always throws Failure.
[[noreturn]] void refuse_by_content(Bytes file);

// A zip archive without an exported program: TorchScript, torch.save. Always throws Failure.
[[noreturn]] void refuse_by_members(const ZipArchive& archive);

}  // namespace taper::exir
