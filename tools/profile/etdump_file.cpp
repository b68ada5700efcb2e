#include "tools/profile/etdump_file.h"

#include <set>
#include <string_view>

#include "tools/atomic_file.h"
#include "tools/error.h"
#include "tools/profile/row_times.h"

namespace taper::tools {
namespace {

uint64_t nanoseconds(double seconds) { return static_cast<uint64_t>(seconds * 1e9 + 0.5); }

EtEvent timed(std::string name, double begin, double end) {
  EtEvent event;
  event.name = std::move(name);
  event.instruction = 0;
  event.begin = nanoseconds(begin);
  event.end = nanoseconds(end);
  return event;
}

class RunWriter {
 public:
  explicit RunWriter(const ProfileResult& profile) : profile_(profile) {}

  void add(const RecordedEvent& event) {
    const ProfileRow& row = profile_.row_of(event);
    EtEvent out = timed(row.name, event.begin, event.end);
    out.chain = static_cast<int32_t>(event.chain);
    out.instruction = static_cast<int32_t>(event.instruction);
    if (event.step == RecordedEvent::kWhole) {
      taken_.clear();
      if (row.has_steps) out.name = kEtDelegate;
      if (!row.has_steps && row.name == row.op) out.name = kernel_name(row);
    } else {
      out.name = row.op;
      out.delegate_name = unique_name(taken_, row.name);
    }
    block_.events.push_back(std::move(out));
  }

  EtBlock finish(double begin, double end) {
    block_.name = kEtRun;
    block_.events.push_back(timed(kEtExecute, begin, end));
    return std::move(block_);
  }

 private:
  // ExecuTorch leaves the namespace out.
  static std::string kernel_name(const ProfileRow& row) {
    const size_t colon = row.op.rfind(':');
    return colon == row.op.npos ? row.op : kEtKernel + row.op.substr(colon + 1);
  }

  const ProfileResult& profile_;
  EtBlock block_;
  std::set<std::string> taken_;  // Names of steps of the last call.
};

// What a row of an ETDump stands for.
using Key = std::tuple<int32_t, int32_t, int64_t, std::string>;

bool is_delegate_step(const EtEvent& event) {
  return event.delegate_number >= 0 || !event.delegate_name.empty();
}

// The names of kernels' calls, where a trace has both them and the calls around them.
bool is_inner(const EtEvent& event) { return event.name.rfind(kEtKernel, 0) == 0; }

class DumpReader {
 public:
  void add_run(const EtBlock& block) {
    const size_t run = whole_.size();
    double span = 0;
    std::set<std::pair<int32_t, int32_t>> inner;
    for (const EtEvent& event : block.events) {
      if (event.chain >= 0 && is_inner(event)) inner.insert({event.chain, event.instruction});
    }
    for (const EtEvent& event : block.events) {
      const double seconds = static_cast<double>(event.end - event.begin) * 1e-9;
      if (event.name == kEtExecute) span = seconds;
      if (event.chain < 0) continue;
      if (event.name == kEtOperator && inner.count({event.chain, event.instruction}) != 0) continue;
      const Key key = {event.chain, event.instruction, event.delegate_number, event.delegate_name};
      times_.add(run, key, seconds);
      events_.try_emplace(key, event);
    }
    whole_.push_back(span);
  }

  ProfileResult finish() {
    ProfileResult result;
    result.runs = whole_.size();
    result.seconds = value_at(whole_, 0.5);
    result.has_origins = true;  // There is nothing to ask for more.
    std::map<std::pair<int32_t, int32_t>, std::vector<ProfileRow>> steps;
    for (const auto& each : times_.rows()) {
      const EtEvent& event = events_.at(each.key);
      if (is_delegate_step(event)) {
        steps[{event.chain, event.instruction}].push_back(row_of(each, event));
      }
    }
    // Steps follow their call, whatever the order in the file.
    for (const auto& each : times_.rows()) {
      const EtEvent& event = events_.at(each.key);
      if (is_delegate_step(event)) continue;
      result.rows.push_back(row_of(each, event));
      const auto found = steps.find({event.chain, event.instruction});
      if (found == steps.end()) continue;
      result.rows.back().has_steps = true;
      append(found->second, &result.rows);
      steps.erase(found);
    }
    for (auto& [place, rows] : steps) append(rows, &result.rows);
    return result;
  }

 private:
  static void append(std::vector<ProfileRow>& steps, std::vector<ProfileRow>* rows) {
    for (size_t i = 0; i < steps.size(); ++i) {
      steps[i].place += "." + std::to_string(i);
      rows->push_back(std::move(steps[i]));
    }
  }

  ProfileRow row_of(const RowTimes<Key>::Row& times, const EtEvent& event) const {
    ProfileRow row;
    row.place = std::to_string(event.instruction);
    row.is_step = is_delegate_step(event);
    row.op = is_inner(event) ? event.name.substr(std::string_view(kEtKernel).size()) : event.name;
    if (event.name == kEtDelegate) row.runs_on = "a delegate";
    row.name = row.op;
    if (row.is_step) {
      row.name =
          event.delegate_name.empty() ? std::to_string(event.delegate_number) : event.delegate_name;
      if (row.op.empty()) row.op = row.name.substr(0, row.name.rfind(" #"));
    }
    RowTimes<Key>::fill(times, whole_.size(), &row);
    return row;
  }

  RowTimes<Key> times_;
  std::map<Key, EtEvent> events_;  // The first of each.
  std::vector<double> whole_;
};

}  // namespace

EtDump etdump_of(const Recorder& recorder, const ProfileResult& profile) {
  EtDump dump;
  EtBlock loading;
  loading.name = kEtLoading;
  for (const RecordedPhase& phase : recorder.phases()) {
    if (phase.name != kLoadPhase) continue;
    loading.events.push_back(timed(kEtInit, phase.begin, phase.end));
    loading.events.push_back(timed(kEtLoad, phase.begin, phase.end));
  }
  if (!loading.events.empty()) dump.blocks.push_back(std::move(loading));
  for (const std::vector<RecordedEvent>& run : recorder.runs()) {
    if (run.empty()) continue;
    RunWriter writer(profile);
    double end = 0;
    for (const RecordedEvent& event : run) {
      writer.add(event);
      if (event.step == RecordedEvent::kWhole) end = std::max(end, event.end);
    }
    dump.blocks.push_back(writer.finish(run.front().begin, end));
  }
  return dump;
}

bool is_etdump(const std::string& path) {
  const std::string head = read_head(path);
  if (head.size() < 12 || head.compare(8, 2, "ED") != 0) return false;
  const std::string version = head.substr(10, 2);
  if (version.find_first_not_of("0123456789") != version.npos) return false;
  if (version == "00") return true;
  throw InputError("'" + path + "' is an ETDump of version " + version +
                   "; this taper reads version 00");
}

ProfileResult profile_of(const EtDump& dump) {
  DumpReader reader;
  bool any = false;
  for (const EtBlock& block : dump.blocks) {
    if (block.name != kEtRun) continue;
    reader.add_run(block);
    any = true;
  }
  if (!any) throw InputError("the trace has no execution");
  return reader.finish();
}

EtDump read_etdump_file(const std::string& path) {
  const std::string file = read_file(path);
  Result<EtDump> dump = read_etdump({reinterpret_cast<const uint8_t*>(file.data()), file.size()});
  if (!dump.ok()) throw InputError("'" + path + "': " + dump.status().message());
  return std::move(*dump);
}

ProfileResult read_profile(const std::string& path) {
  const EtDump dump = read_etdump_file(path);
  try {
    return profile_of(dump);
  } catch (const InputError& error) {
    throw InputError("'" + path + "': " + error.what());
  }
}

}  // namespace taper::tools
