// A minimal zip reader and writer, to unpack a .pt2 and repack it after an edit.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taper::fuzz {

struct Member {
  std::string name, data;
};

// The stored (uncompressed) members of an archive, in order. Stops at an unsupported record.
std::vector<Member> unpack(std::string_view archive);
// Writes an archive of stored members.
std::string pack(const std::vector<Member>& members);

}  // namespace taper::fuzz
