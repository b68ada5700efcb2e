// Ways to corrupt a file, unaware or aware of its format.
//
//   bytes  flips bits, sets bytes, writes edge-case integers, truncates, copies and removes blocks
//   pte    edits the fields of a program's tables: vtables, offsets, vector lengths, scalars
//   etdp   bytes, with a length that fits most of the time
//   pt2    edits tokens of the JSON inside the archive, or the archive's own records
//   pair   bytes of the file that belongs to a program (pair.h); of packed weights with right hashes
//   npy    edits the shape, dtype and order in the header, or the elements; npz: of its members
//   signed bytes of the signature or of the file, letters of the key (a pair)

#pragma once

#include <string>

#include "test/fuzz/random.h"

namespace taper::fuzz {

// Edge-case integers: 0, -1, powers of two and their neighbours, huge ones.
uint64_t awkward_integer(Random& random);

std::string mutate_bytes(std::string file, Random& random);
std::string mutate_pte(std::string file, Random& random);
std::string mutate_etdp(std::string file, Random& random);
std::string mutate_pt2(const std::string& file, Random& random);
std::string mutate_pair(const std::string& file, Random& random);
std::string mutate_packed_pair(const std::string& file, Random& random);
std::string mutate_npy(std::string file, Random& random);
std::string mutate_npz(const std::string& file, Random& random);
std::string mutate_signed(const std::string& file, Random& random);

}  // namespace taper::fuzz
