// What a fuzzer does with a file: everything that a user could, in memory. Returns whether the file
// was accepted; a defect shows as a sanitizer's report, not as a result.

#pragma once

#include <string_view>

namespace taper::fuzz {

// Opens a program, loads every method and runs each on ones.
bool exercise_pte(std::string_view file);
// Exports the archive and, when that works, exercises the program that came out.
bool exercise_pt2(std::string_view file);

}  // namespace taper::fuzz
