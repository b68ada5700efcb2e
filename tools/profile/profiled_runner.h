// A program that is run with a recorder, as the commands that show time do it.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/options.h"
#include "tools/profile/recorder.h"
#include "tools/program_runner.h"

namespace taper::tools {

// The options that profiled_runner() reads.
std::vector<Option> profiled_run_options();

// Loads a program, sets its inputs, and runs it twice to warm up. `recorder` must outlive it.
std::unique_ptr<ProgramRunner> profiled_runner(const std::string& path, const CommandLine& line,
                                               Recorder& recorder);

}  // namespace taper::tools
