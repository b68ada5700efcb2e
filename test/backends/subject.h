// The backends that the suite runs: each of which this program has both halves.

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
  Expectations expected;  // What the file conformance.txt in its folder says.
};

// By name. Compiler halves without a device half in this program are left out.
const std::vector<Subject>& subjects();

// A device of the backend as an application would make it. Fails the test if there is none.
std::unique_ptr<Device> make_device(const Subject& subject, uint32_t threads = 1);

}  // namespace taper::test
