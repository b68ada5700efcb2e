// The models in test/models/data and the outputs that PyTorch computed for them; and what other
// versions of PyTorch wrote of them, in test/versions/data.

#pragma once

#include <string>
#include <vector>

namespace taper::test {

struct ModelCase {
  std::string name;    // The prefix of its arrays in test/models/data: "llama".
  std::string file;    // "llama_slice.pt2".
  std::string folder;  // Where this lies.
  size_t inputs = 0, outputs = 0, steps = 1;
  double factor = 1;  // A factor on the tolerance.

  std::string path() const;  // The path of the .pt2.
  std::vector<std::string> input_paths(size_t step) const;
  std::vector<std::string> output_paths(size_t step) const;
  // 1e-4 times the factor.
  double tolerance() const { return 1e-4 * factor; }
  // Unique among the cases, letters and digits only: "llama_from_llama_slice".
  std::string test_name() const;
};

// All cases in test/models/data/models.txt.
const std::vector<ModelCase>& model_cases();

// All cases in test/versions/data/models.txt.
const std::vector<ModelCase>& version_cases();

}  // namespace taper::test
