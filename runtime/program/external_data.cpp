// ExternalData: a .ptd file, verified like a program, and searched by key.

#include "taper/external_data.h"

#include "runtime/program/tensor_rules.h"
#include "runtime/program/wire_access.h"
#include "schema/extended_header.h"
#include "schema/flat_tensor_generated.h"

namespace taper {
namespace {

using internal::count;
using internal::fits;
using internal::items;
using internal::text;

constexpr Error kBadData = Error::kInvalidExternalData;
constexpr uint64_t kDataAlignment = 16;
constexpr uint64_t kPtdHeadBytes = wire::kHeaderOffset + wire::kPtdHeaderBytes;

Status read_head(DataLoader& loader, wire::PtdHeader* header) {
  TAPER_REQUIRE(loader.size() >= kPtdHeadBytes, kBadData,
                "the weight file is shorter than its header");
  Result<Span<const uint8_t>> head = loader.load(0, kPtdHeadBytes);
  if (!head.ok()) return head.status();
  TAPER_REQUIRE(head->size() == kPtdHeadBytes, Error::kAccessFailed,
                "the loader returned fewer bytes than requested");
  TAPER_REQUIRE(
      wire::has_magic(head->data(), wire::kIdentifierOffset, wire::ptd::FlatTensorIdentifier()),
      kBadData, "this is not a weight file: the identifier FT01 is missing");
  TAPER_REQUIRE(wire::read_ptd_header(head->data(), header) == wire::HeaderState::kPresent,
                kBadData, "the weight file has no header");
  return {};
}

// Checks the header. Sets `end` to the end of the flatbuffer and `room` to the space for segments.
Status check_header_numbers(const wire::PtdHeader& header, uint64_t file_size, uint64_t* end,
                            uint64_t* room) {
  TAPER_REQUIRE(fits(header.flatbuffer_offset, header.flatbuffer_size, file_size), kBadData,
                "the weight file is truncated: its flatbuffer ends past the end");
  *end = header.flatbuffer_offset + header.flatbuffer_size;
  TAPER_REQUIRE(*end >= kPtdHeadBytes && *end < FLATBUFFERS_MAX_BUFFER_SIZE, kBadData,
                "the weight file's flatbuffer has an impossible size");
  TAPER_REQUIRE(fits(header.segment_base_offset, header.segment_data_size, file_size), kBadData,
                "the weight file is truncated: its segments end past the end");
  *room = header.segment_data_size;
  return {};
}

Status check_entry(const wire::ptd::FlatTensor& root, const wire::ptd::NamedData& entry,
                   uint64_t segment_base) {
  TAPER_REQUIRE(!text(entry.key()).empty(), kBadData, "an entry of the weight file has no key");
  TAPER_REQUIRE(entry.segment_index() < count(root.segments()), kBadData,
                "an entry of the weight file lies in a segment that does not exist");
  const wire::ptd::TensorLayout* layout = entry.tensor_layout();
  if (layout == nullptr) return {};
  uint64_t bytes = 0;
  TAPER_REQUIRE(layout->sizes() != nullptr, kBadData, "a tensor of the weight file has no sizes");
  TAPER_TRY(internal::check_shape(kBadData, static_cast<int8_t>(layout->scalar_type()),
                                  items(layout->sizes()), items(layout->dim_order()), &bytes));
  const wire::ptd::DataSegment& segment = *root.segments()->Get(entry.segment_index());
  TAPER_REQUIRE(bytes <= segment.size(), kBadData, "a tensor is larger than its segment");
  const size_t alignment = element_size(static_cast<ScalarType>(layout->scalar_type()));
  TAPER_REQUIRE((segment_base + segment.offset()) % alignment == 0, kBadData,
                "a tensor of the weight file is not aligned to its elements");
  return {};
}

Status check_tables(const wire::ptd::FlatTensor& root, uint64_t segment_base, uint64_t room,
                    const Diagnostics& diagnostics) {
  TAPER_REQUIRE(root.version() == 0, Error::kNotSupported,
                "the weight file is of a newer schema version");
  if (root.segments() != nullptr) {
    for (const wire::ptd::DataSegment* segment : *root.segments()) {
      TAPER_REQUIRE(fits(segment->offset(), segment->size(), room), kBadData,
                    "a segment lies outside the weight file");
    }
  }
  if (root.named_data() == nullptr) return {};
  for (const wire::ptd::NamedData* entry : *root.named_data()) {
    const Status status = check_entry(root, *entry, segment_base);
    if (!status.ok()) diagnostics({status, {}, text(entry->key()), -1, -1});
    TAPER_TRY(status);
  }
  return {};
}

// Heapsort of entry numbers by key: it needs no memory, and no input makes it slow.
template <typename Less>
void sort(Span<uint32_t> entries, Less less) {
  const auto sift = [&](size_t parent, size_t size) {
    for (size_t child = 2 * parent + 1; child < size; child = 2 * parent + 1) {
      if (child + 1 < size && less(entries[child], entries[child + 1])) ++child;
      if (!less(entries[parent], entries[child])) return;
      std::swap(entries[parent], entries[child]);
      parent = child;
    }
  };
  for (size_t i = entries.size() / 2; i-- > 0;) sift(i, entries.size());
  for (size_t size = entries.size(); size > 1; --size) {
    std::swap(entries[0], entries[size - 1]);
    sift(0, size - 1);
  }
}

}  // namespace

Result<ExternalData> ExternalData::open(DataLoader& loader, Diagnostics diagnostics) {
  wire::PtdHeader header;
  TAPER_TRY(read_head(loader, &header));
  uint64_t end = 0;
  uint64_t room = 0;
  TAPER_TRY(check_header_numbers(header, loader.size(), &end, &room));
  Result<Span<const uint8_t>> bytes = loader.load(0, end);
  if (!bytes.ok()) return bytes.status();
  Result<Span<const uint8_t>> segments =
      loader.load(header.segment_base_offset, header.segment_data_size);
  if (!segments.ok()) return segments.status();
  TAPER_REQUIRE(bytes->size() == end && segments->size() == room, Error::kAccessFailed,
                "the loader returned fewer bytes than requested");
  const uintptr_t base = reinterpret_cast<uintptr_t>(segments->data()) -
                         static_cast<uintptr_t>(header.segment_base_offset);
  TAPER_REQUIRE(reinterpret_cast<uintptr_t>(bytes->data()) % kDataAlignment == 0 &&
                    (room == 0 || base % kDataAlignment == 0),
                Error::kInvalidArgument, "the weight file's memory is not aligned to 16 bytes");

  flatbuffers::Verifier::Options options;
  options.max_depth = 16;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(end / 4 + 16);
  flatbuffers::Verifier verifier(bytes->data(), bytes->size(), options);
  TAPER_REQUIRE(wire::ptd::VerifyFlatTensorBuffer(verifier), kBadData,
                "the weight file's flatbuffer is malformed");
  ExternalData data;
  data.root_ = wire::ptd::GetFlatTensor(bytes->data());
  data.segments_ = *segments;
  TAPER_TRY(check_tables(*data.root_, header.segment_base_offset, room, diagnostics));
  data.sorted_ = true;
  for (size_t i = 1; i < data.num_keys(); ++i) {
    data.sorted_ = data.sorted_ && data.key(i - 1) < data.key(i);
  }
  return data;
}

size_t ExternalData::num_keys() const { return count(root_->named_data()); }

std::string_view ExternalData::key(size_t i) const {
  return text(root_->named_data()->Get(static_cast<uint32_t>(i))->key());
}

Status ExternalData::build_index(Span<uint32_t> index) {
  if (sorted_) return {};
  const size_t keys = num_keys();
  TAPER_REQUIRE(index.size() >= keys, Error::kInvalidArgument,
                "the index needs one entry for each key");
  const Span<uint32_t> entries = index.subspan(0, keys);
  for (uint32_t i = 0; i < keys; ++i) entries[i] = i;
  sort(entries, [this](uint32_t a, uint32_t b) { return key(a) < key(b); });
  for (size_t i = 1; i < keys; ++i) {
    TAPER_REQUIRE(key(entries[i - 1]) != key(entries[i]), kBadData,
                  "a key occurs twice in the weight file");
  }
  index_ = entries;
  return {};
}

std::string_view ExternalData::sorted_key(size_t i) const { return key(sorted_ ? i : index_[i]); }

// The index of the entry with that key, or num_keys() if there is none.
size_t ExternalData::position(std::string_view wanted) const {
  const size_t keys = num_keys();
  if (!sorted_ && index_.empty()) {
    size_t i = 0;
    while (i < keys && key(i) != wanted) ++i;
    return i;
  }
  size_t first = 0;
  for (size_t size = keys; size > 0;) {
    const size_t half = size / 2;
    const bool right = sorted_key(first + half) < wanted;
    first += right ? half + 1 : 0;
    size = right ? size - half - 1 : half;
  }
  if (first == keys || sorted_key(first) != wanted) return keys;
  return sorted_ ? first : index_[first];
}

Result<NamedData> ExternalData::find(std::string_view key) const {
  const size_t at = position(key);
  TAPER_REQUIRE(at < num_keys(), Error::kNotFound, "the weight file has no such key");
  const wire::ptd::NamedData& entry = *root_->named_data()->Get(static_cast<uint32_t>(at));
  const wire::ptd::DataSegment& segment = *root_->segments()->Get(entry.segment_index());
  NamedData data;
  data.bytes =
      segments_.subspan(static_cast<size_t>(segment.offset()), static_cast<size_t>(segment.size()));
  if (const wire::ptd::TensorLayout* layout = entry.tensor_layout()) {
    data.is_tensor = true;
    data.scalar_type = static_cast<ScalarType>(layout->scalar_type());
    data.sizes = items(layout->sizes());
    data.dim_order = items(layout->dim_order());
  }
  return data;
}

}  // namespace taper
