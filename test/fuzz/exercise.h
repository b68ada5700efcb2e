// What a fuzzer does with a file: everything that a user could, in memory. The functions return
// whether the file was accepted; defects are reported by sanitizers, not by the result.

#pragma once

#include <string_view>

namespace taper::fuzz {

// Opens a program, loads every method, runs each with zeros and with inputs that it does not
// expect, and makes a page of it.
bool exercise_pte(std::string_view file);
// The same with a program whose weights are in a .ptd, and with one that has a file of packed
// weights: both are a pair (pair.h).
bool exercise_ptd(std::string_view pair);
bool exercise_packed(std::string_view pair);
// Exports the archive, with options that are drawn from its bytes, and, if that succeeds, exercises
// the resulting program.
bool exercise_pt2(std::string_view file);
// Quantises the archive on a small sample; what is written can be read.
bool exercise_quantize(std::string_view file);
// Reads arrays, uses them as samples, and writes them again.
bool exercise_npy(std::string_view file);
bool exercise_npz(std::string_view file);
// Checks the signature of a file with the key beside it (pair.h), and signs it anew.
bool exercise_signed(std::string_view pair);
// Opens a program with test cases, and uses each of their values.
bool exercise_bpte(std::string_view file);
// Reads a trace, writes it again, and makes a profile of it.
bool exercise_etdp(std::string_view file);

}  // namespace taper::fuzz
