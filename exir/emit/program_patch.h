// Adds named data to a finished .pte, or removes it, without compiling anything again.
//
//   before   | header, flatbuffer           | segments |
//   after    | header, new root table | the old flatbuffer, as it is | segments | the new one |
//
// The new root refers to what the old one referred to, which only moved back, so that every reader
// of the format can read the file.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "exir/emit/program_file.h"

namespace taper::exir {

// Returns the program `pte`, which must have been verified, without the named data `key`; if `data`
// is not empty, with it under that key, at a multiple of 128 in the file. The result points into
// both. Throws Failure if the file has no segments or would exceed the limits of the format.
FilePieces with_named_data(std::span<const uint8_t> pte, const std::string& key,
                           std::span<const uint8_t> data);

}  // namespace taper::exir
