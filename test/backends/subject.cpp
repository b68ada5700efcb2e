// Finds the backends of this program that have both halves.

#include "test/backends/subject.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "backends/compilers.h"
#include "backends/devices.h"

namespace taper::test {
namespace {

std::string folder_of(const std::string& name) {
  const std::string root = TAPER_SOURCE_DIR;
  const std::string shipped = root + "/backends/" + name;
  return std::filesystem::exists(shipped) ? shipped : root + "/test/support/backends/" + name;
}

std::vector<Subject> find_subjects() {
  std::vector<Subject> found;
  for (const exir::CompilerDescriptor* compiler : backend_compilers()) {
    const std::string name = compiler->identity.name;
    const DeviceDescriptor* device = find_device(name);
    if (device == nullptr) continue;
    found.push_back(
        {name, compiler, device, read_expectations(folder_of(name) + "/conformance.txt")});
  }
  std::sort(found.begin(), found.end(),
            [](const Subject& a, const Subject& b) { return a.name < b.name; });
  return found;
}

}  // namespace

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = find_subjects();
  return all;
}

std::unique_ptr<Device> make_device(const Subject& subject, uint32_t threads, Numbers numbers) {
  DeviceOptions options;
  options.threads = threads;
  options.numbers = numbers;
  std::unique_ptr<Device> device = subject.device->make(options);
  EXPECT_TRUE(device != nullptr && device->interface().is_available())
      << subject.name << " has no device";
  return device;
}

}  // namespace taper::test
