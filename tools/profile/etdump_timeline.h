// The timeline of an ETDump, whose events state when they began.

#pragma once

#include "taper/etdump.h"
#include "tools/profile/timeline.h"

namespace taper::tools {

// Times count from the first event. `dump` must outlive the result.
Timeline timeline_of(const EtDump& dump);

}  // namespace taper::tools
