// Timelines, and what is written of them: Perfetto's trace is read by a decoder of its own.

#include "tools/profile/timeline.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "tools/profile/chrome_trace.h"
#include "tools/profile/perfetto_trace.h"

namespace taper::tools {
namespace {

// Any protobuf message: its fields in order. Numbers and 8 bytes are stored as their bits.
struct Field {
  uint64_t number = 0;
  uint64_t bits = 0;
  std::string text;
};

uint64_t take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.at(0));
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
}

std::vector<Field> decode(std::string_view bytes) {
  std::vector<Field> fields;
  while (!bytes.empty()) {
    const uint64_t key = take_varint(bytes);
    Field& field = fields.emplace_back();
    field.number = key >> 3;
    if ((key & 7) == 0) {
      field.bits = take_varint(bytes);
    } else if ((key & 7) == 1) {
      std::memcpy(&field.bits, bytes.substr(0, 8).data(), 8);
      bytes.remove_prefix(8);
    } else {
      EXPECT_EQ(key & 7, 2u);
      const uint64_t length = take_varint(bytes);
      field.text = bytes.substr(0, length);
      EXPECT_EQ(field.text.size(), length);
      bytes.remove_prefix(length);
    }
  }
  return fields;
}

const Field* find(const std::vector<Field>& fields, uint64_t number) {
  for (const Field& field : fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

// "begin conv 1000", "end 3000" and "value 64.0 1000" by track, times in nanoseconds. The numbers
// of fields are those of Perfetto's documentation.
std::map<uint64_t, std::vector<std::string>> events_of(const std::string& trace) {
  std::map<uint64_t, std::vector<std::string>> tracks;
  for (const Field& packet : decode(trace)) {
    EXPECT_EQ(packet.number, 1u);
    const std::vector<Field> fields = decode(packet.text);
    const Field* const content = find(fields, 11);
    if (content == nullptr) continue;
    const std::vector<Field> event = decode(content->text);
    std::string text;
    switch (find(event, 9)->bits) {
      case 1:
        text = "begin " + find(event, 23)->text;
        break;
      case 2:
        text = "end";
        break;
      default: {
        double value;
        std::memcpy(&value, &find(event, 44)->bits, 8);
        text = "value " + std::to_string(static_cast<int64_t>(value));
      }
    }
    tracks[find(event, 11)->bits].push_back(text + " " + std::to_string(find(fields, 8)->bits));
  }
  return tracks;
}

Timeline sample() {
  Timeline timeline;
  timeline.tracks = {"a", "b"};
  timeline.slices = {{0, "run", 1e-6, 9e-6, {}},
                     {0, "first", 1e-6, 3e-6, {{"op", "add"}, {"line", ""}}},
                     {0, "second", 3e-6, 9e-6, {}},
                     {1, "long", 2e-6, 5e-6, {}},
                     {1, "reaches into the next", 4e-6, 8e-6, {}}};
  timeline.counters = {{"bytes", {{1e-6, 64}, {3e-6, 0}}}};
  return timeline;
}

TEST(Timeline, PerfettosTraceNests) {
  const auto tracks = events_of(perfetto_trace(sample()));
  ASSERT_EQ(tracks.size(), 3u);
  auto track = tracks.begin();
  EXPECT_EQ(track++->second,
            (std::vector<std::string>{"begin run 1000", "begin first 1000", "end 3000",
                                      "begin second 3000", "end 9000", "end 9000"}));
  EXPECT_EQ(track++->second,
            (std::vector<std::string>{"begin long 2000", "end 4000",
                                      "begin reaches into the next 4000", "end 8000"}));
  EXPECT_EQ(track++->second, (std::vector<std::string>{"value 64 1000", "value 0 3000"}));
}

TEST(Timeline, PerfettosTraceDescribesItsTracks) {
  std::vector<std::string> names;
  for (const Field& packet : decode(perfetto_trace(sample()))) {
    const std::vector<Field> fields = decode(packet.text);
    const Field* const content = find(fields, 60);
    if (content == nullptr) continue;
    const std::vector<Field> track = decode(content->text);
    if (find(track, 3) != nullptr) names.push_back(find(decode(find(track, 3)->text), 6)->text);
    if (find(track, 4) != nullptr) names.push_back(find(decode(find(track, 4)->text), 5)->text);
    if (find(track, 8) != nullptr) names.push_back(find(track, 2)->text);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"taper", "a", "b", "bytes"}));
}

TEST(Timeline, ChromesTraceHasSlicesAndCounters) {
  const std::string json = chrome_trace(sample());
  EXPECT_NE(json.find(R"({"ph":"X","name":"first","pid":1,"tid":1,"ts":1)"), json.npos);
  EXPECT_NE(json.find(R"({"ph":"C","name":"bytes","pid":1,"ts":1,"args":{"bytes":64}})"),
            json.npos);
}

TaskTime task(uint32_t thread, uint64_t begin, uint64_t end) {
  TaskTime time;
  time.thread = thread;
  time.begin = begin;
  time.end = end;
  return time;
}

TEST(Timeline, HasThreadsMemoryAndPhases) {
  Recorder recorder;
  recorder.enter("open the program");
  recorder.enter("");
  recorder.start_run();
  recorder.begin(0, 0);
  recorder.used_temp(128);
  recorder.begin(0, 1);
  const uint64_t now = recorder.now();
  const TaskTime tasks[] = {task(number_of_this_thread(), now, now + 10),
                            task(number_of_this_thread() + 5, now, now + 20)};
  recorder.add(Span<const TaskTime>(tasks, 2));
  recorder.end();
  ProfileResult profile;
  profile.rows.resize(2);
  profile.rows[0].name = "first";
  profile.rows[1].name = "second";
  profile.places = {{{0, 0, RecordedEvent::kWhole}, 0}, {{0, 1, RecordedEvent::kWhole}, 1}};
  MethodMemory memory;
  memory.instructions = 2;
  memory.rows.resize(2);
  memory.rows[0].bytes = 100;  // Alive in both instructions.
  memory.rows[0].last = 1;
  memory.rows[1].bytes = 20;
  memory.rows[1].first = memory.rows[1].last = 1;
  const Timeline timeline = timeline_of(recorder, profile, memory);
  EXPECT_EQ(timeline.tracks,
            (std::vector<std::string>{"instructions", "steps of backends", "thread 1"}));
  std::vector<std::pair<size_t, std::string>> slices;
  for (const Slice& slice : timeline.slices) slices.emplace_back(slice.track, slice.name);
  EXPECT_EQ(slices, (std::vector<std::pair<size_t, std::string>>{{0, "open the program"},
                                                                 {0, "run"},
                                                                 {0, "first"},
                                                                 {0, "second"},
                                                                 {0, "second"},
                                                                 {2, "second"}}));
  std::vector<double> planned, temp;
  for (const auto& each : timeline.counters.at(0).values) planned.push_back(each.second);
  for (const auto& each : timeline.counters.at(1).values) temp.push_back(each.second);
  EXPECT_EQ(planned, (std::vector<double>{100, 120, 0}));
  EXPECT_EQ(temp, (std::vector<double>{128, 0}));
}

TEST(TracedThreads, TellWhichThreadComputedWhat) {
  Recorder recorder;
  ThreadPool serial;
  serial.run = [](void*, size_t count, ThreadPool::Task task, void* data) {
    for (size_t i = 0; i < count; ++i) task(data, i);
  };
  serial.threads = 2;
  const ThreadPool traced = recorder.traced(serial);
  EXPECT_EQ(traced.threads, 2u);
  std::vector<int> seen(3, 0);
  parallel_for(traced, 3, [&](size_t i) { ++seen[i]; });  // Nothing is recorded yet.
  recorder.start_run();
  recorder.begin(0, 7);
  parallel_for(traced, 3, [&](size_t i) { ++seen[i]; });
  recorder.end();
  EXPECT_EQ(seen, (std::vector<int>{2, 2, 2}));
  ASSERT_EQ(recorder.tasks().size(), 3u);
  for (const RecordedTask& each : recorder.tasks()) {
    EXPECT_EQ(each.thread, 0u);
    EXPECT_EQ(each.instruction, 7u);
    EXPECT_LE(each.begin, each.end);
  }
  EXPECT_EQ(recorder.traced({}).run, nullptr);  // No threads, nothing to tell.
}

}  // namespace
}  // namespace taper::tools
