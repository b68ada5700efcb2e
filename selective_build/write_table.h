// The files of a selective build: the table as C++, and the list of sources as CMake.

#pragma once

#include <string>
#include <vector>

#include "selective_build/selection.h"

namespace taper::select {

// A source file that defines what taper/selected_kernels.h declares. `own` are the operators whose
// kernels the application brings. Same selection, same bytes.
std::string table_source(const Selection& selection, const std::vector<std::string>& own);

// TAPER_SELECTED_FILES and TAPER_SELECTED_DTYPES, for include().
std::string cmake_fragment(const Selection& selection);

// "0x40u", as TAPER_DTYPES takes it.
std::string dtype_mask(DtypeSet set);

}  // namespace taper::select
