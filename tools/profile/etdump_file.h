// Recorded runs as ExecuTorch's ETDump, and profiles from the ETDumps of others.

#pragma once

#include <string>

#include "taper/etdump.h"
#include "tools/profile/profile.h"

namespace taper::tools {

// A block for loading, and one for each run. Events are named after nodes of the exported graph
// where the program tells them, otherwise as ExecuTorch names them. `profile` is of the recorder.
EtDump etdump_of(const Recorder& recorder, const ProfileResult& profile);

// Whether a file starts like an ETDump. Throws InputError for one of another version.
bool is_etdump(const std::string& path);

// Throws InputError if there is no execution.
ProfileResult profile_of(const EtDump& dump);

// Throws InputError if the file is damaged.
EtDump read_etdump_file(const std::string& path);

// Throws InputError if the file is damaged, or has no execution.
ProfileResult read_profile(const std::string& path);

}  // namespace taper::tools
