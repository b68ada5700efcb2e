// Makes folders in the system's folder for temporary files, with names that nobody else uses.

#include "test/support/scratch_folder.h"

#include <algorithm>
#include <filesystem>
#include <random>

namespace taper::test {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::random_device random;
  for (int i = 0; i < 16 && path_.empty(); ++i) {
    const fs::path path = fs::temp_directory_path() / ("taper_test_" + std::to_string(random()));
    std::error_code problem;
    if (fs::create_directory(path, problem)) path_ = path.generic_string();
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::vector<std::string> ScratchFolder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace taper::test
