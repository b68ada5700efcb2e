// Ways to damage a file, from blind to knowing.
//
//   bytes  flips bits, sets bytes, writes awkward integers, cuts, copies and removes blocks
//   pte    edits the fields of a program's tables: vtables, offsets, vector lengths, scalars
//   pt2    edits the JSON inside the archive token by token, or the archive's own records

#pragma once

#include <string>

#include "test/fuzz/random.h"

namespace taper::fuzz {

// Integers that find the edges: 0, -1, powers of two and their neighbours, huge ones.
uint64_t awkward_integer(Random& random);

std::string mutate_bytes(std::string file, Random& random);
std::string mutate_pte(std::string file, Random& random);
std::string mutate_pt2(const std::string& file, Random& random);

}  // namespace taper::fuzz
