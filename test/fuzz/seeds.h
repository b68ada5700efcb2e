// The files that are mutated: small models of test/models/data, and their exports.

#pragma once

#include <string>
#include <vector>

namespace taper::fuzz {

std::vector<std::string> pt2_seeds();
std::vector<std::string> pte_seeds();
// Files of ExecuTorch's tools.
std::vector<std::string> bpte_seeds();
std::vector<std::string> etdp_seeds();

}  // namespace taper::fuzz
