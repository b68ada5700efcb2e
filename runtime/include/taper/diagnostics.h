// Diagnostics: reports of problems by name, for which a Status (a code and constant text) is not
// enough.
//
// A Status says what kind of problem there is; a Diagnostic says with what. Calls that can find
// many problems at once (every missing kernel, every missing backend) report each of them before
// they return.

#pragma once

#include <cstdint>
#include <string_view>

#include "taper/status.h"

namespace taper {

struct Diagnostic {
  Status status;
  std::string_view method;   // Empty if the problem is not inside a method.
  std::string_view subject;  // The operator, backend, key or name in question; may be empty.
  int64_t value = -1;        // Index of the slot, or -1.
  int64_t instruction = -1;  // Index of the instruction within its chain, or -1.
};

// Receives diagnostics. The views in a Diagnostic are valid only during the call. If `report` is
// null, nothing is reported.
struct Diagnostics {
  void (*report)(void* context, const Diagnostic& diagnostic) = nullptr;
  void* context = nullptr;

  void operator()(const Diagnostic& diagnostic) const {
    if (report != nullptr) report(context, diagnostic);
  }
};

}  // namespace taper
