// A timeline in Chrome's trace format (a JSON object with "traceEvents"), which Perfetto and
// chrome://tracing open.

#pragma once

#include <string>

#include "tools/profile/timeline.h"

namespace taper::tools {

std::string chrome_trace(const Timeline& timeline);

}  // namespace taper::tools
