// Reads the indices of the test models, models.txt.

#include "test/e2e/model_cases.h"

#include <fstream>
#include <sstream>

namespace taper::test {
namespace {

const std::string kTests = std::string(TAPER_SOURCE_DIR) + "/test/";
const std::string kModels = kTests + "models/data/";

std::vector<std::string> array_paths(const ModelCase& c, size_t step, const char* what,
                                     size_t count) {
  const std::string prefix =
      kModels + c.name + (c.steps > 1 ? ".step" + std::to_string(step) : "") + "." + what;
  std::vector<std::string> paths;
  for (size_t k = 0; k < count; ++k) paths.push_back(prefix + std::to_string(k) + ".npy");
  return paths;
}

std::vector<ModelCase> read_index(const std::string& folder) {
  std::vector<ModelCase> cases;
  std::ifstream in(folder + "models.txt");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    ModelCase c;
    c.folder = folder;
    if (!(words >> c.name >> c.file >> c.inputs >> c.outputs >> c.steps)) continue;
    if (!(words >> c.factor)) c.factor = 1;
    cases.push_back(c);
  }
  return cases;
}

}  // namespace

std::string ModelCase::path() const { return folder + file; }

std::vector<std::string> ModelCase::input_paths(size_t step) const {
  return array_paths(*this, step, "in", inputs);
}

std::vector<std::string> ModelCase::output_paths(size_t step) const {
  return array_paths(*this, step, "out", outputs);
}

std::string ModelCase::test_name() const {
  const std::string stem = file.substr(0, file.rfind('.'));
  return stem == name ? name : name + "_from_" + stem;
}

const std::vector<ModelCase>& model_cases() {
  static const std::vector<ModelCase> cases = read_index(kModels);
  return cases;
}

const std::vector<ModelCase>& version_cases() {
  static const std::vector<ModelCase> cases = read_index(kTests + "versions/data/");
  return cases;
}

}  // namespace taper::test
