// The files that mutants are made of: small models of test/models/data, and what export makes of
// them.

#pragma once

#include <string>
#include <vector>

namespace taper::fuzz {

std::vector<std::string> pt2_seeds();
std::vector<std::string> pte_seeds();

}  // namespace taper::fuzz
