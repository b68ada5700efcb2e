// Protobuf is a sequence of fields: a key, which is the field's number and how it is stored, and a
// value: a varint (7 bits a byte, the lowest first), 8 bytes, or a length and that many bytes.

#include "tools/profile/perfetto_trace.h"

#include <algorithm>
#include <cstring>

namespace taper::tools {
namespace {

class Message {
 public:
  Message& number(uint32_t field, uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& real(uint32_t field, double value) {
    varint(field << 3 | 1);
    char bytes[8];
    std::memcpy(bytes, &value, sizeof(bytes));
    out_.append(bytes, sizeof(bytes));
    return *this;
  }
  Message& text(uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    out_ += value;
    return *this;
  }
  Message& message(uint32_t field, const Message& value) { return text(field, value.out_); }
  const std::string& bytes() const { return out_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }

  std::string out_;
};

// Numbers of fields, by message.
namespace trace {
constexpr uint32_t kPacket = 1;
}
namespace packet {
constexpr uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kTrackDescriptor = 60;
}
namespace event {
constexpr uint32_t kDetail = 4, kType = 9, kTrack = 11, kName = 23, kRealValue = 44;
constexpr uint64_t kBegin = 1, kEnd = 2, kValue = 4;
}  // namespace event
namespace detail {
constexpr uint32_t kText = 6, kName = 10;
}
namespace track {
constexpr uint32_t kId = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
}
namespace process {
constexpr uint32_t kId = 1, kName = 6;
}
namespace thread {
constexpr uint32_t kProcess = 1, kId = 2, kName = 5;
}
namespace counter {
constexpr uint32_t kUnit = 3;
constexpr uint64_t kBytes = 3;
}  // namespace counter

constexpr uint64_t kProcessTrack = 1, kFirstTrack = 100, kFirstCounter = 100000;
constexpr uint64_t kProcessId = 1, kSequenceId = 1;
constexpr double kLatest = 9e18;  // What an ETDump states may be any number.

class TraceWriter {
 public:
  explicit TraceWriter(const Timeline& timeline) : timeline_(timeline) {}

  std::string write() {
    describe_tracks();
    for (size_t i = 0; i < timeline_.tracks.size(); ++i) add_slices(i);
    for (size_t i = 0; i < timeline_.counters.size(); ++i) {
      for (const auto& [time, value] : timeline_.counters[i].values) {
        Message out;
        out.number(event::kType, event::kValue).number(event::kTrack, kFirstCounter + i);
        add(time, out.real(event::kRealValue, value));
      }
    }
    return std::move(out_);
  }

 private:
  void add_packet(const Message& content) {
    Message one;
    one.message(trace::kPacket, content);
    out_ += one.bytes();
  }
  void add(double time, const Message& content) {
    Message out;
    const double nanoseconds = std::min(time * 1e9 + 0.5, kLatest);
    out.number(packet::kTimestamp, static_cast<uint64_t>(nanoseconds));
    out.number(packet::kSequence, kSequenceId);
    add_packet(out.message(packet::kTrackEvent, content));
  }
  void describe(const Message& track) {
    Message out;
    out.number(packet::kSequence, kSequenceId);
    add_packet(out.message(packet::kTrackDescriptor, track));
  }

  void describe_tracks() {
    Message whole, named;
    named.number(process::kId, kProcessId).text(process::kName, "taper");
    describe(whole.number(track::kId, kProcessTrack).message(track::kProcess, named));
    for (size_t i = 0; i < timeline_.tracks.size(); ++i) {
      Message out, details;
      details.number(thread::kProcess, kProcessId).number(thread::kId, i + 1);
      details.text(thread::kName, timeline_.tracks[i]);
      out.number(track::kId, kFirstTrack + i).number(track::kParent, kProcessTrack);
      describe(out.message(track::kThread, details));
    }
    for (size_t i = 0; i < timeline_.counters.size(); ++i) {
      Message out, details;
      details.number(counter::kUnit, counter::kBytes);
      out.number(track::kId, kFirstCounter + i).text(track::kName, timeline_.counters[i].name);
      out.number(track::kParent, kProcessTrack);
      describe(out.message(track::kCounter, details));
    }
  }

  void begin(const Slice& slice) {
    Message out;
    out.number(event::kType, event::kBegin).number(event::kTrack, kFirstTrack + slice.track);
    out.text(event::kName, slice.name);
    for (const auto& [name, value] : slice.details) {
      if (value.empty()) continue;
      Message one;
      out.message(event::kDetail, one.text(detail::kName, name).text(detail::kText, value));
    }
    add(slice.begin, out);
  }
  void end(const Slice& slice, double time) {
    Message out;
    out.number(event::kType, event::kEnd).number(event::kTrack, kFirstTrack + slice.track);
    add(time, out);
  }

  // An end closes the slice of its track that began last, so those that contain others begin first,
  // and what does not contain the next one is closed before that begins. (Backends count some times
  // in microseconds, so a step may seem to reach into the next.)
  void add_slices(size_t track) {
    std::vector<const Slice*> slices, open;
    for (const Slice& slice : timeline_.slices) {
      if (slice.track == track) slices.push_back(&slice);
    }
    std::stable_sort(slices.begin(), slices.end(), [](const Slice* a, const Slice* b) {
      return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
    });
    for (const Slice* slice : slices) {
      for (; !open.empty(); open.pop_back()) {
        const double last = open.back()->end;
        if (last > slice->begin && last >= slice->end) break;
        end(*open.back(), std::min(last, slice->begin));
      }
      begin(*slice);
      open.push_back(slice);
    }
    for (; !open.empty(); open.pop_back()) end(*open.back(), open.back()->end);
  }

  const Timeline& timeline_;
  std::string out_;
};

}  // namespace

std::string perfetto_trace(const Timeline& timeline) { return TraceWriter(timeline).write(); }

}  // namespace taper::tools
