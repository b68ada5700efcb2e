// A profile as tables for people, and as JSON and CSV for programs.

#pragma once

#include <string>
#include <vector>

#include "tools/profile/profile.h"

namespace taper::tools {

enum class ProfileView { kNode, kOperator, kModule, kLine };

// "node", "op", "module", "line". Throws UsageError for other names.
std::vector<ProfileView> profile_views(const std::vector<std::string>& names);

// What the user should know of how the profile came about.
std::vector<std::string> notes_on(const ProfileResult& result);

// The `top` rows that take longest; 0: all rows, in the order in which they run. `peaks` are left
// out if they are not known.
void print_profile(const ProfileResult& result, const Peaks& peaks,
                   const std::vector<ProfileView>& views, size_t top);

// What takes longer or less long than `before`, the largest difference first. Rows belong together
// if their names, or else their operators, are the same. Returns false if none do.
bool print_difference(const ProfileResult& before, const ProfileResult& after, size_t top);

std::string profile_json(const ProfileResult& result);
std::string profile_csv(const ProfileResult& result);

}  // namespace taper::tools
