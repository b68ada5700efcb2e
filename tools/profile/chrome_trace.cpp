#include "tools/profile/chrome_trace.h"

#include <map>

#include "tools/json_writer.h"

namespace taper::tools {
namespace {

constexpr int64_t kProcess = 1, kInstructions = 1, kSteps = 2;

void add_name(JsonWriter& json, const char* what, int64_t thread, const char* name) {
  json.open('{').key("ph").text("M").key("name").text(what).key("pid").number(kProcess);
  json.key("tid").number(thread).key("args").open('{').key("name").text(name).close('}').close('}');
}

// Times are in microseconds.
void begin_event(JsonWriter& json, std::string_view name, double begin, double end,
                 int64_t thread) {
  json.open('{').key("ph").text("X").key("name").text(name).key("pid").number(kProcess);
  json.key("tid")
      .number(thread)
      .key("ts")
      .number(begin * 1e6)
      .key("dur")
      .number((end - begin) * 1e6);
  json.key("args").open('{');
}

std::string place_of(const RecordedEvent& event) {
  std::string place = std::to_string(event.instruction);
  if (event.step != RecordedEvent::kWhole) place += "." + std::to_string(event.step);
  return place;
}

}  // namespace

std::string chrome_trace(const Recorder& recorder, const ProfileResult& profile) {
  std::map<std::string, const ProfileRow*> rows;
  for (const ProfileRow& row : profile.rows) rows[row.place] = &row;
  JsonWriter json;
  json.open('{').key("displayTimeUnit").text("ns").key("traceEvents").open('[');
  add_name(json, "process_name", kInstructions, "taper");
  add_name(json, "thread_name", kInstructions, "instructions");
  add_name(json, "thread_name", kSteps, "steps of backends");
  for (size_t run = 0; run < recorder.runs().size(); ++run) {
    const std::vector<RecordedEvent>& events = recorder.runs()[run];
    if (events.empty()) continue;
    double end = 0;
    for (const RecordedEvent& event : events) end = std::max(end, event.end);
    begin_event(json, "run " + std::to_string(run), events[0].begin, end, kInstructions);
    json.close('}').close('}');
    for (const RecordedEvent& event : events) {
      const ProfileRow& row = *rows.at(place_of(event));
      begin_event(json, row.name, event.begin, event.end, row.is_step ? kSteps : kInstructions);
      json.key("place").text(row.place).key("op").text(row.op).key("runs on").text(row.runs_on);
      json.key("result").text(row.sizes).key("module").text(row.module).key("line").text(row.line);
      json.close('}').close('}');
    }
  }
  return json.close(']').close('}').str();
}

}  // namespace taper::tools
