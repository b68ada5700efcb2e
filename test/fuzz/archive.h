// Just enough zip to take a .pt2 apart and put it together again after an edit.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taper::fuzz {

struct Member {
  std::string name, data;
};

// The stored (uncompressed) members of an archive, in order. Stops at what it does not understand.
std::vector<Member> unpack(std::string_view archive);
// An archive of stored members.
std::string pack(const std::vector<Member>& members);

}  // namespace taper::fuzz
