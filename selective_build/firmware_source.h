// model.cpp: the code in the sources of a firmware, for all methods of its program.

#pragma once

#include <string>
#include <vector>

#include "selective_build/firmware_method.h"

namespace taper::select {

// The text of model.cpp. With `own_kernels` it uses a second table, which the application defines.
std::string firmware_source(const std::vector<FirmwareMethod>& methods, bool own_kernels);

// The bytes of planned memory in model.cpp: buffers that hold no state are shared by all methods,
// buffers with state belong to one.
uint64_t firmware_arena_bytes(const std::vector<FirmwareMethod>& methods);

// The parameters of METHOD_run() as C declares them.
std::string firmware_parameters(const FirmwareMethod& method);

}  // namespace taper::select
