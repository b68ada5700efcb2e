#include "tools/profile/profile.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "tools/profile/row_times.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

std::string sizes_text(const InstructionInfo& instruction) {
  for (size_t i = instruction.args.size(); i-- > 0;) {
    const EValue& arg = *instruction.args[i];
    if (!arg.is_tensor()) continue;
    const Tensor& tensor = arg.to_tensor();
    return type_text(tensor.scalar_type(), tensor.sizes());
  }
  return "";
}

std::string full_name(const OperatorName& op) {
  std::string name(op.name);
  if (!op.overload.empty()) name += "." + std::string(op.overload);
  return name;
}

// Everything about one place of the program but its times.
class Describer {
 public:
  Describer(ProgramRunner& runner, const Recorder& recorder)
      : runner_(runner), recorder_(recorder), origins_(runner.origins()) {}

  bool has_origins() const { return !origins_.empty(); }

  ProfileRow describe(const RecordedEvent& event) const {
    ProfileRow row;
    const InstructionInfo info =
        runner_.method().instruction(event.chain, event.instruction).value();
    row.place = std::to_string(event.instruction);
    row.op = info.op.name.empty() ? "(move or jump)" : full_name(info.op);
    row.name = row.op;
    const auto origin = event.chain == 0 ? origins_.find(event.instruction) : origins_.end();
    if (origin != origins_.end()) {
      row.name = origin->second.node.name;
      row.module = origin->second.node.module;
      row.line = origin->second.node.line;
    }
    if (event.step != RecordedEvent::kWhole) return step(event, origin, std::move(row));
    row.runs_on = info.is_delegate ? std::string(info.op.name) : table_of(row.op);
    row.sizes = sizes_text(info);
    row.work = work_of(info);
    return row;
  }

 private:
  using Origins = exir::DebugInfo::const_iterator;

  ProfileRow step(const RecordedEvent& event, Origins origin, ProfileRow row) const {
    const StepName& step = recorder_.steps_of({event.chain, event.instruction})[event.step];
    row.place += "." + std::to_string(event.step);
    row.is_step = true;
    row.op = row.name = step.op;
    row.runs_on = step.kernel;
    row.sizes = step.sizes;
    row.work = step.work;
    row.module.clear();
    row.line.clear();
    if (step.node < 0 || origin == origins_.end()) return row;
    const auto node = static_cast<size_t>(step.node);
    if (node >= origin->second.parts.size()) return row;
    const exir::Origin& part = origin->second.parts[node];
    row.name = part.name;
    if (row.sizes.empty()) row.sizes = part.type;
    row.module = part.module;
    row.line = part.line;
    return row;
  }

  std::string table_of(const std::string& op) const {
    const Span<const KernelTable> tables = runner_.kernels();
    for (size_t i = 0; i + 1 < tables.size(); ++i) {
      if (find_kernel(tables[i], op) != nullptr) return "optimized";
    }
    return "portable";
  }

  ProgramRunner& runner_;
  const Recorder& recorder_;
  const exir::DebugInfo origins_;
};

using Key = std::tuple<uint32_t, uint32_t, uint32_t>;

Key key_of(const RecordedEvent& event) { return {event.chain, event.instruction, event.step}; }

}  // namespace

ProfileResult profile(ProgramRunner& runner, Recorder& recorder, size_t runs) {
  ProfileResult result;
  std::vector<double> seconds;
  {
    Progress progress("profiling", runs);
    for (size_t i = 0; i < runs; ++i) {
      recorder.start_run();
      seconds.push_back(runner.execute(&recorder));
      progress.step();
    }
  }
  result.runs = runs;
  result.seconds = value_at(seconds, 0.5);
  result.is_cut = recorder.is_cut();

  RowTimes<Key> times;
  std::map<Key, RecordedEvent> events;
  for (size_t run = 0; run < recorder.runs().size(); ++run) {
    for (const RecordedEvent& event : recorder.runs()[run]) {
      times.add(run, key_of(event), event.seconds());
      events.try_emplace(key_of(event), event);
    }
  }
  const Describer describer(runner, recorder);
  result.has_origins = describer.has_origins();
  for (const auto& each : times.rows()) {
    const RecordedEvent& event = events.at(each.key);
    ProfileRow row = describer.describe(event);
    row.temp_bytes = event.temp_bytes;
    RowTimes<Key>::fill(each, runs, &row);
    row.has_steps = !row.is_step && times.has({event.chain, event.instruction, 0});
    result.rows.push_back(std::move(row));
    result.places.emplace(each.key, result.rows.size() - 1);
  }
  return result;
}

std::string count(ProgramRunner& runner, size_t runs, ProfileResult* result) {
  EventCounters counters;
  Progress progress("counting", runs);
  for (size_t i = 0; i < runs; ++i) {
    runner.execute(&counters);
    progress.step();
  }
  for (const auto& [place, row] : result->places) {
    const auto& [chain, instruction, step] = place;
    if (step != RecordedEvent::kWhole) continue;
    result->rows[row].counters = counters.of(chain, instruction);
  }
  return counters.problem();
}

const ProfileRow& ProfileResult::row_of(const RecordedEvent& event) const {
  return rows[places.at(key_of(event))];
}

std::vector<ProfileGroup> group(const std::vector<ProfileRow>& rows, GroupBy by) {
  std::map<std::string, ProfileGroup> groups;
  double* rest = nullptr;  // What the steps of the last call do not account for.
  for (const ProfileRow& row : rows) {
    std::string key = by == GroupBy::kOperator ? row.op
                      : by == GroupBy::kModule ? row.module
                                               : row.line;
    if (key.empty()) key = "(not known)";
    if (row.has_steps) key = "(around the steps of " + row.runs_on + ")";
    ProfileGroup& found = groups[key];
    found.key = key;
    ++found.rows;
    found.calls += row.calls;
    found.seconds += row.seconds;
    if (row.is_step && rest != nullptr) *rest -= row.seconds;
    if (!row.is_step) rest = &found.seconds;
  }
  std::vector<ProfileGroup> sorted;
  for (auto& [key, each] : groups) {
    each.seconds = std::max(each.seconds, 0.0);
    sorted.push_back(each);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const ProfileGroup& a, const ProfileGroup& b) {
    return a.seconds > b.seconds;
  });
  return sorted;
}

}  // namespace taper::tools
