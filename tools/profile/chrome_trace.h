// Recorded runs in Chrome's trace format (a JSON object with "traceEvents"), which Perfetto and
// chrome://tracing open: instructions are one track, the steps of backends another below them.

#pragma once

#include <string>

#include "tools/profile/profile.h"

namespace taper::tools {

// `profile` is of the same recorder.
std::string chrome_trace(const Recorder& recorder, const ProfileResult& profile);

}  // namespace taper::tools
