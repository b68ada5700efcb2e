// The files that are mutated: small models of test/models/data, and their exports.

#pragma once

#include <string>
#include <vector>

namespace taper::fuzz {

std::vector<std::string> pt2_seeds();
std::vector<std::string> pte_seeds();
// Programs with their .ptd, and programs with their packed weights, as pairs (pair.h).
std::vector<std::string> ptd_seeds();
std::vector<std::string> packed_seeds();
// Archives with layers to quantise.
std::vector<std::string> quantize_seeds();
std::vector<std::string> npy_seeds();
std::vector<std::string> npz_seeds();
// Signed files with a key, as pairs.
std::vector<std::string> signed_seeds();
// Files of ExecuTorch's tools.
std::vector<std::string> bpte_seeds();
std::vector<std::string> etdp_seeds();

}  // namespace taper::fuzz
