// The backends that the conformance suite runs: those of which this program has both halves.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exir/delegate/compiler_descriptor.h"
#include "taper/backend_device.h"
#include "test/backends/expectations.h"

namespace taper::test {

struct Subject {
  std::string name;
  const exir::CompilerDescriptor* compiler = nullptr;
  const DeviceDescriptor* device = nullptr;
  Expectations expected;  // From conformance.txt in its folder.
};

// Sorted by name. Compilers without a device half in this program are left out.
const std::vector<Subject>& subjects();

// Makes a device of the backend as an application would. Fails the test if there is none.
std::unique_ptr<Device> make_device(const Subject& subject, uint32_t threads = 1,
                                    Numbers numbers = Numbers::kOwn);

}  // namespace taper::test
