// Where the time of a method goes: a row for each instruction and each step of a backend, with what
// the program says of its origin; and sums of rows by operator, module or line of the source.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tools/profile/recorder.h"
#include "tools/profile/work.h"
#include "tools/program_runner.h"

namespace taper::tools {

struct ProfileRow {
  std::string place;    // "12", or "12.3" for step 3 of instruction 12.
  std::string name;     // The exporter's name of the node, else of the operator.
  std::string op;       // "aten::linear"
  std::string runs_on;  // A kernel table, a delegate, or what computes a step.
  std::string module;   // "encoder.layers.0"; may be empty.
  std::string line;     // "model.py:12 in forward: y = self.fc(x)"; may be empty.
  std::string sizes;    // Of the result.
  bool is_step = false;
  bool has_steps = false;
  double calls = 0;         // In one run.
  double seconds = 0;       // The median of its times in a run.
  double slow_seconds = 0;  // The 90th percentile.
  Work work;                // Of one call.
  uint64_t temp_bytes = 0;  // Scratch memory of its kernel.
};

struct ProfileResult {
  // The row of an event of the recorder that the profile is of.
  const ProfileRow& row_of(const RecordedEvent& event) const;

  std::vector<ProfileRow> rows;  // In the order in which they run first.
  // Their numbers, by chain, instruction and step.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, size_t> places;
  double seconds = 0;  // The median time of a run.
  size_t runs = 0;
  bool has_origins = false;  // Whether the program says where instructions come from.
  bool is_cut = false;       // Too much ran to keep all.
};

// Runs the method of `runner`, whose inputs are set, `runs` times. `recorder` is the profiler of
// the runner.
ProfileResult profile(ProgramRunner& runner, Recorder& recorder, size_t runs);

// What rows have in common.
enum class GroupBy { kOperator, kModule, kLine };

struct ProfileGroup {
  std::string key;
  size_t rows = 0;
  double calls = 0, seconds = 0;
};

// The largest first. Steps count in place of the instruction that they are part of, as far as they
// account for its time.
std::vector<ProfileGroup> group(const std::vector<ProfileRow>& rows, GroupBy by);

}  // namespace taper::tools
