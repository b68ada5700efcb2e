// A timeline as Perfetto's own trace (.pftrace), which https://ui.perfetto.dev opens: a protobuf
// message, of which only the few fields that are needed are written here.

#pragma once

#include <string>

#include "tools/profile/timeline.h"

namespace taper::tools {

std::string perfetto_trace(const Timeline& timeline);

}  // namespace taper::tools
