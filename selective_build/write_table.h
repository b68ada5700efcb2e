// The files of a selective build: the table as C++, and the list of sources as CMake.

#pragma once

#include <string>
#include <vector>

#include "selective_build/selection.h"

namespace taper::select {

// A source file that defines what taper/selected_kernels.h declares. `own` are the operators whose
// kernels the application provides. The same selection gives the same bytes.
std::string table_source(const Selection& selection, const std::vector<std::string>& own);

// A CMake file for include(), which sets TAPER_SELECTED_FILES and TAPER_SELECTED_DTYPES.
std::string cmake_fragment(const Selection& selection);

// The set as a literal for TAPER_DTYPES: "0x40u".
std::string dtype_mask(DtypeSet set);

}  // namespace taper::select
