// Named data put into a finished .pte, or taken out of it, without compiling anything again.
//
//   before   | header, flatbuffer           | segments |
//   after    | header, new root table | the old flatbuffer, as it is | segments | the new one |
//
// The new root names what the old one named, which is where it was but further back, so that every
// reader of the format reads it.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "exir/emit/program_file.h"

namespace taper::exir {

// The program `pte`, which was verified, without the named data `key` and, if `data` is not empty,
// with that under it, at a multiple of 128 in the file. Views both. Throws Failure if the file has
// no segments or would be larger than the format allows.
FilePieces with_named_data(std::span<const uint8_t> pte, const std::string& key,
                           std::span<const uint8_t> data);

}  // namespace taper::exir
