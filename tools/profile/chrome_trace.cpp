#include "tools/profile/chrome_trace.h"

#include "tools/text/json_writer.h"

namespace taper::tools {
namespace {

constexpr int64_t kProcess = 1;

int64_t thread_of(size_t track) { return static_cast<int64_t>(track) + 1; }

// Opens an event, with its times in microseconds.
JsonWriter& begin(JsonWriter& json, const char* kind, std::string_view name) {
  json.open('{').key("ph").text(kind).key("name").text(name);
  return json.key("pid").number(kProcess);
}

void add_name(JsonWriter& json, const char* what, int64_t thread, std::string_view name) {
  begin(json, "M", what).key("tid").number(thread);
  json.key("args").open('{').key("name").text(name).close('}').close('}');
}

void add_slice(JsonWriter& json, const Slice& slice) {
  begin(json, "X", slice.name).key("tid").number(thread_of(slice.track));
  json.key("ts").number(slice.begin * 1e6).key("dur").number((slice.end - slice.begin) * 1e6);
  json.key("args").open('{');
  for (const auto& [name, value] : slice.details) json.key(name).text(value);
  json.close('}').close('}');
}

void add_value(JsonWriter& json, std::string_view counter, double time, double value) {
  begin(json, "C", counter).key("ts").number(time * 1e6);
  json.key("args").open('{').key("bytes").number(value).close('}').close('}');
}

}  // namespace

std::string chrome_trace(const Timeline& timeline) {
  JsonWriter json;
  json.open('{').key("displayTimeUnit").text("ns").key("traceEvents").open('[');
  add_name(json, "process_name", thread_of(0), "taper");
  for (size_t i = 0; i < timeline.tracks.size(); ++i) {
    add_name(json, "thread_name", thread_of(i), timeline.tracks[i]);
  }
  for (const Slice& slice : timeline.slices) add_slice(json, slice);
  for (const CounterTrack& counter : timeline.counters) {
    for (const auto& [time, value] : counter.values) add_value(json, counter.name, time, value);
  }
  return json.close(']').close('}').str();
}

}  // namespace taper::tools
