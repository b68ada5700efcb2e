// What a fuzzer does with a file: everything that a user could, in memory. The functions return
// whether the file was accepted; defects are reported by sanitizers, not by the result.

#pragma once

#include <string_view>

namespace taper::fuzz {

// Opens a program, loads every method and runs each on ones.
bool exercise_pte(std::string_view file);
// Exports the archive and, if that succeeds, exercises the resulting program.
bool exercise_pt2(std::string_view file);

}  // namespace taper::fuzz
