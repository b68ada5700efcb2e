// The map that the GNU linker and compatible ones write with -Map and --cref: which object
// contributes which bytes to the binary, and which objects refer to which.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace taper::select {

struct Piece {
  std::string object;   // "libx.a(op_add.cpp.o)" or a path.
  std::string section;  // ".text._ZN5taper...", as the compiler named it.
  uint64_t bytes = 0;
};

struct LinkMap {
  std::vector<Piece> pieces;  // The pieces of what is loaded, without zeroed memory.
  uint64_t zeroed = 0;        // The size of .bss in bytes.
  // For each object those that define a symbol that it refers to. Empty without --cref.
  std::map<std::string, std::set<std::string>> references;
};

// Reads the map. False if `text` is not such a map.
bool read_link_map(std::string_view text, LinkMap* map);

}  // namespace taper::select
