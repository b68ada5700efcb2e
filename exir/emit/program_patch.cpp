// The new root table and the two lists that change are written by hand in front of the old bytes:
// FlatBuffers' offsets only point forward.

#include "exir/emit/program_patch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "exir/ir/failure.h"
#include "schema/extended_header.h"
#include "schema/program_generated.h"

namespace taper::exir {
namespace {

constexpr uint64_t kAlignment = 128;  // The alignment of segments, sufficient for any table.
constexpr size_t kSlots = 8;          // Number of fields of the table Program.
constexpr size_t kSegmentsSlot = 4, kNamedSlot = 7;
constexpr uint64_t kMostHeadBytes = uint64_t{1} << 31;

uint64_t align(uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

// A growing buffer; positions are offsets from its start.
class Head {
 public:
  size_t size() const { return bytes_.size(); }
  void pad(size_t alignment) { bytes_.resize((size() + alignment - 1) / alignment * alignment); }
  size_t add_u16(std::initializer_list<uint16_t> values) {
    const size_t at = size();
    for (const uint16_t value : values) {
      bytes_.push_back(static_cast<uint8_t>(value));
      bytes_.push_back(static_cast<uint8_t>(value >> 8));
    }
    return at;
  }
  size_t add_u32(uint32_t value = 0) {
    bytes_.resize(size() + 4);
    wire::write_u32(bytes_.data() + size() - 4, value);
    return size() - 4;
  }
  void add_u64(uint64_t value) {
    bytes_.resize(size() + 8);
    wire::write_u64(bytes_.data() + size() - 8, value);
  }
  void add_bytes(std::string_view text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }
  // Sets the offset field at `place` to refer to `target`, which lies behind it.
  void point(size_t place, uint64_t target) {
    wire::write_u32(bytes_.data() + place, static_cast<uint32_t>(target - place));
  }
  std::vector<uint8_t> take() { return std::move(bytes_); }
  uint8_t* data() { return bytes_.data(); }

 private:
  std::vector<uint8_t> bytes_;
};

// The old program, and the positions of its parts in its bytes.
struct OldProgram {
  wire::ExtendedHeader header;
  const uint8_t* bytes;
  const wire::Program* root;

  size_t place(const void* part) const {
    return static_cast<size_t>(static_cast<const uint8_t*>(part) - bytes);
  }
  // The position of what field `slot` refers to; nullopt if the field is absent.
  std::optional<size_t> target(size_t slot) const {
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(root);
    const auto field =
        table->GetOptionalFieldOffset(static_cast<flatbuffers::voffset_t>(4 + 2 * slot));
    if (field == 0) return {};
    const uint8_t* at = reinterpret_cast<const uint8_t*>(root) + field;
    return place(at) + wire::read_u32(at);
  }
};

// The items of the new lists.
struct Contents {
  std::vector<const wire::DataSegment*> segments;
  std::vector<const wire::NamedData*> named;
  uint64_t segment_bytes = 0;
};

Contents without(const OldProgram& old, const std::string& key, uint64_t segment_bytes) {
  Contents out;
  out.segment_bytes = segment_bytes;
  if (old.root->segments() != nullptr) {
    out.segments.assign(old.root->segments()->begin(), old.root->segments()->end());
  }
  if (old.root->named_data() == nullptr) return out;
  for (const wire::NamedData* named : *old.root->named_data()) {
    if (named->key() == nullptr || named->key()->string_view() != key) {
      out.named.push_back(named);
      continue;
    }
    // Segments keep their numbers, so only the last one can be removed.
    if (named->segment_index() + size_t{1} != out.segments.size()) continue;
    out.segment_bytes = std::min(out.segment_bytes, out.segments.back()->offset());
    out.segments.pop_back();
  }
  return out;
}

// Adds the list to which the field at `place` refers: old items, and a new one that is added later
// if `has_new`. Returns the position of the new item's offset.
template <typename Item>
size_t add_list(Head& head, size_t place, const OldProgram& old, uint64_t base,
                const std::vector<const Item*>& items, bool has_new) {
  head.pad(4);
  head.point(place, head.size());
  head.add_u32(static_cast<uint32_t>(items.size() + has_new));
  for (const Item* item : items) head.point(head.add_u32(), base + old.place(item));
  return has_new ? head.add_u32() : 0;
}

// Begins a table whose vtable is at `layout`; returns its position.
size_t begin_table(Head& head, size_t layout) {
  const size_t at = head.add_u32();
  wire::write_u32(head.data() + at, static_cast<uint32_t>(at - layout));
  return at;
}

// Builds the root table and the lists that change. The old bytes follow at `base`.
Head make_head(const OldProgram& old, const Contents& contents, const std::string& key,
               uint64_t base, uint64_t data_offset, uint64_t data_bytes) {
  const bool has_new = data_bytes != 0;
  Head head;
  head.add_u32();
  head.add_bytes(wire::ProgramIdentifier());
  head.add_bytes(std::string(wire::kHeaderBytes, '\0'));
  const size_t layout =
      head.add_u16({4 + 2 * kSlots, 4 + 4 * kSlots, 4, 8, 12, 16, 20, 24, 28, 32});
  head.pad(4);
  const size_t root = begin_table(head, layout);
  head.point(0, root);
  std::array<size_t, kSlots> places{};
  for (size_t slot = 0; slot < kSlots; ++slot) places[slot] = head.add_u32();
  wire::write_u32(head.data() + places[0], old.root->version());
  for (size_t slot = 1; slot < kSlots; ++slot) {
    if (slot == kSegmentsSlot || slot == kNamedSlot) continue;
    if (const auto target = old.target(slot)) {
      head.point(places[slot], base + *target);
    } else {  // Absent from the new table, too.
      std::memset(head.data() + layout + 4 + 2 * slot, 0, 2);
    }
  }
  const size_t segment =
      add_list(head, places[kSegmentsSlot], old, base, contents.segments, has_new);
  const size_t named = add_list(head, places[kNamedSlot], old, base, contents.named, has_new);
  if (!has_new) return head;
  head.pad(8);
  const size_t segment_layout = head.add_u16({8, 24, 8, 16});
  head.pad(8);
  head.point(segment, begin_table(head, segment_layout));
  head.add_u32();
  head.add_u64(data_offset);
  head.add_u64(data_bytes);
  const size_t named_layout = head.add_u16({8, 12, 4, 8});
  head.pad(4);
  head.point(named, begin_table(head, named_layout));
  const size_t text = head.add_u32();
  head.add_u32(static_cast<uint32_t>(contents.segments.size()));
  head.point(text, head.size());
  head.add_u32(static_cast<uint32_t>(key.size()));
  head.add_bytes(key + '\0');
  return head;
}

// Where the old bytes begin that the new root refers to: behind the head of an earlier patch, if
// nothing of that is needed any more. What follows such a head has a header of its own.
size_t needed_from(const OldProgram& old, const Contents& contents) {
  size_t first = old.header.program_size;
  const auto refer = [&](size_t place) { first = std::min(first, place); };
  for (size_t slot = 1; slot < kSlots; ++slot) {
    if (slot == kSegmentsSlot || slot == kNamedSlot) continue;
    if (const auto target = old.target(slot)) refer(*target);
  }
  for (const wire::DataSegment* segment : contents.segments) refer(old.place(segment));
  for (const wire::NamedData* named : contents.named) refer(old.place(named));
  size_t start = 0;
  for (size_t at = kAlignment; at + wire::kHeadBytes <= first; at += kAlignment) {
    wire::ExtendedHeader inner;
    const bool is_program =
        wire::ProgramBufferHasIdentifier(old.bytes + at) &&
        wire::read_header(old.bytes + at, &inner) == wire::HeaderState::kPresent;
    if (is_program && at + inner.program_size == old.header.program_size) start = at;
  }
  return start;
}

OldProgram open_old(std::span<const uint8_t> pte) {
  OldProgram old;
  old.bytes = pte.data();
  old.root = wire::GetProgram(pte.data());
  if (wire::read_header(pte.data(), &old.header) != wire::HeaderState::kPresent ||
      old.header.segment_base_offset == 0) {
    throw Failure("the program has no segments to which data could be added");
  }
  return old;
}

}  // namespace

FilePieces with_named_data(std::span<const uint8_t> pte, const std::string& key,
                           std::span<const uint8_t> data) {
  const OldProgram old = open_old(pte);
  const uint64_t base = old.header.segment_base_offset;
  const uint64_t held = old.header.segment_data_size;
  const Contents contents = without(old, key, held != 0 ? held : pte.size() - base);
  const uint64_t offset = align(contents.segment_bytes);
  // The size of the head does not depend on the position of the old bytes.
  const uint64_t start = align(make_head(old, contents, key, 0, offset, data.size()).size());
  const size_t left_out = needed_from(old, contents);
  Head head = make_head(old, contents, key, start - left_out, offset, data.size());
  const uint64_t kept = old.header.program_size - left_out;
  wire::ExtendedHeader header;
  header.program_size = start + kept;
  header.segment_base_offset = align(header.program_size);
  header.segment_data_size = data.empty() ? contents.segment_bytes : offset + data.size();
  if (header.program_size > kMostHeadBytes) throw Failure("the program is too large to add data");
  wire::write_header(head.data() + wire::kHeaderOffset, header);
  FilePieces file;
  file.add_owned(head.take());
  file.pad(kAlignment);
  file.add(pte.subspan(left_out, kept));
  file.pad(kAlignment);
  file.add(pte.subspan(base, contents.segment_bytes));
  file.pad(kAlignment);
  file.add(data);
  return file;
}

}  // namespace taper::exir
