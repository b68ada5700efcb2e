// The map that the GNU linker and its kin write with -Map and --cref: which object brought which
// bytes into the binary, and which objects name which.

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
  std::vector<Piece> pieces;  // Of what is loaded; zeroed memory is not counted.
  uint64_t zeroed = 0;        // .bss
  // An object, and those that define what it names. Empty without --cref.
  std::map<std::string, std::set<std::string>> references;
};

// False if `text` is no such map.
bool read_link_map(std::string_view text, LinkMap* map);

}  // namespace taper::select
