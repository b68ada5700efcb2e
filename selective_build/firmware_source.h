// model.cpp: the code of a firmware's sources, for all methods of its program.

#pragma once

#include <string>
#include <vector>

#include "selective_build/firmware_method.h"

namespace taper::select {

// With `own_kernels` the sources take a second table, which the application defines.
std::string firmware_source(const std::vector<FirmwareMethod>& methods, bool own_kernels);

// Bytes of planned memory that the source holds: methods take turns in what none of them keeps
// anything in, and have of their own what holds their state.
uint64_t firmware_arena_bytes(const std::vector<FirmwareMethod>& methods);

// Arguments of METHOD_run() as C declares them.
std::string firmware_parameters(const FirmwareMethod& method);

}  // namespace taper::select
