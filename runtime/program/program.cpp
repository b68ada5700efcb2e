// Program: opens and verifies a file. First the header, then the flatbuffer's structure, the
// segments, and every method. Nothing is read before it is known to lie inside the file.

#include "taper/program.h"

#include "runtime/program/tensor_rules.h"
#include "runtime/program/verify_plan.h"
#include "runtime/program/wire_access.h"
#include "schema/extended_header.h"

namespace taper {
namespace {

using internal::count;
using internal::fits;
using internal::text;

constexpr Error kBad = Error::kInvalidProgram;
constexpr uint64_t kRequiredAlignment = 16;

Status read_head(DataLoader& loader, wire::ExtendedHeader* header) {
  const uint64_t file_size = loader.size();
  TAPER_REQUIRE(file_size >= Program::kMinHeadBytes, kBad, "the file is shorter than 64 bytes");
  Result<Span<const uint8_t>> head = loader.load(0, Program::kMinHeadBytes);
  if (!head.ok()) return head.status();
  switch (Program::check_header(head->data(), head->size())) {
    case HeaderStatus::kCompatible:
      break;
    case HeaderStatus::kIncompatible:
      return Status(Error::kNotSupported, "the program is of another version of the format");
    default:
      return Status(kBad, "this is not a program: the identifier ET12 is missing");
  }
  const wire::HeaderState state = wire::read_header(head->data(), header);
  TAPER_REQUIRE(state != wire::HeaderState::kBad, kBad, "the extended header is too short");
  if (state == wire::HeaderState::kAbsent) header->program_size = file_size;
  return {};
}

// Checks the header. Segments may lie within `room` bytes from the segment base.
Status check_header_numbers(const wire::ExtendedHeader& header, uint64_t file_size,
                            uint64_t* room) {
  TAPER_REQUIRE(header.program_size >= Program::kMinHeadBytes, kBad,
                "the header's program size is too small");
  TAPER_REQUIRE(header.program_size <= file_size, kBad,
                "the file is truncated: the program is longer than the file");
  TAPER_REQUIRE(header.program_size < FLATBUFFERS_MAX_BUFFER_SIZE, kBad,
                "the program exceeds 2 GiB, segments not counted");
  *room = 0;
  if (header.segment_base_offset == 0) return {};
  TAPER_REQUIRE(header.segment_base_offset >= header.program_size, kBad,
                "the segments overlap the program");
  TAPER_REQUIRE(header.segment_base_offset <= file_size, kBad,
                "the file is truncated: segments start past its end");
  *room = file_size - header.segment_base_offset;
  TAPER_REQUIRE(header.segment_data_size <= *room, kBad,
                "the file is truncated: segments end past its end");
  if (header.segment_data_size != 0) *room = header.segment_data_size;
  return {};
}

// Lets FlatBuffers verify the structure. Shared tables may be visited more than once, but not more
// often than the file has references, which also bounds the time.
Status check_structure(Span<const uint8_t> bytes) {
  flatbuffers::Verifier::Options options;
  options.max_depth = 16;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(bytes.size() / 4 + 16);
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), options);
  // read_head() has checked the identifier.
  TAPER_REQUIRE(verifier.VerifyBuffer<wire::Program>(nullptr), kBad,
                "the flatbuffer is malformed: an offset, a size or an alignment is wrong");
  return {};
}

Status check_offsets(const wire::SubsegmentOffsets* table) {
  TAPER_REQUIRE(table == nullptr || internal::is_aligned(table->offsets()), kBad,
                "a list's items are not aligned");
  return {};
}

Status check_segments(const wire::Program& program, uint64_t room) {
  if (program.segments() != nullptr) {
    for (const wire::DataSegment* segment : *program.segments()) {
      TAPER_REQUIRE(fits(segment->offset(), segment->size(), room), kBad,
                    "a segment lies outside the file");
    }
  }
  TAPER_TRY(check_offsets(program.constant_segment()));
  if (program.mutable_data_segments() != nullptr) {
    for (const wire::SubsegmentOffsets* table : *program.mutable_data_segments()) {
      TAPER_TRY(check_offsets(table));
    }
  }
  if (program.named_data() != nullptr) {
    for (const wire::NamedData* entry : *program.named_data()) {
      TAPER_REQUIRE(!text(entry->key()).empty(), kBad, "named data has no key");
      TAPER_REQUIRE(entry->segment_index() < count(program.segments()), kBad,
                    "named data lies in a segment that does not exist");
    }
  }
  return {};
}

Status check_methods(const wire::Program& program, const wire::ExtendedHeader& header,
                     const Diagnostics& diagnostics) {
  TAPER_REQUIRE(count(program.execution_plan()) > 0, kBad, "the program has no methods");
  internal::FileContext file{&program, header.segment_base_offset, header.program_size};
  for (const wire::ExecutionPlan* plan : *program.execution_plan()) {
    TAPER_TRY(internal::verify_plan(file, *plan, diagnostics));
  }
  return {};
}

}  // namespace

HeaderStatus Program::check_header(const void* data, size_t size) {
  if (data == nullptr || size < kMinHeadBytes) return HeaderStatus::kShortData;
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  if (wire::has_magic(bytes, wire::kIdentifierOffset, wire::ProgramIdentifier())) {
    return HeaderStatus::kCompatible;
  }
  const bool family = bytes[4] == 'E' && bytes[5] == 'T';
  return family ? HeaderStatus::kIncompatible : HeaderStatus::kNotPresent;
}

Result<Program> Program::open(DataLoader& loader, Diagnostics diagnostics) {
  wire::ExtendedHeader header;
  TAPER_TRY(read_head(loader, &header));
  uint64_t room = 0;
  TAPER_TRY(check_header_numbers(header, loader.size(), &room));
  Result<Span<const uint8_t>> bytes = loader.load(0, header.program_size);
  if (!bytes.ok()) return bytes.status();
  TAPER_REQUIRE(bytes->size() == header.program_size, Error::kAccessFailed,
                "the loader returned fewer bytes than requested");
  TAPER_REQUIRE(reinterpret_cast<uintptr_t>(bytes->data()) % kRequiredAlignment == 0,
                Error::kInvalidArgument, "the program's memory is not aligned to 16 bytes");
  TAPER_TRY(check_structure(*bytes));

  Program program;
  program.loader_ = &loader;
  program.root_ = wire::GetProgram(bytes->data());
  program.segment_base_ = header.segment_base_offset;
  TAPER_REQUIRE(program.root_->version() == 0, Error::kNotSupported,
                "the program is of a newer schema version");
  TAPER_TRY(check_segments(*program.root_, room));
  TAPER_TRY(check_methods(*program.root_, header, diagnostics));
  TAPER_TRY(program.load_constants());
  return program;
}

// If the table has a single offset, it is only the placeholder, and there are no constants.
Status Program::load_constants() {
  const wire::SubsegmentOffsets* table = root_->constant_segment();
  if (table == nullptr || count(table->offsets()) <= 1) return {};
  TAPER_REQUIRE(table->segment_index() < count(root_->segments()), kBad,
                "constants lie in a segment that does not exist");
  Result<Span<const uint8_t>> bytes = segment(table->segment_index());
  if (!bytes.ok()) return bytes.status();
  const uintptr_t file_start =
      reinterpret_cast<uintptr_t>(bytes->data()) -
      static_cast<uintptr_t>(segment_base_ +
                             root_->segments()->Get(table->segment_index())->offset());
  TAPER_REQUIRE(file_start % kRequiredAlignment == 0, Error::kInvalidArgument,
                "the memory of the constants is not aligned to 16 bytes");
  constants_ = *bytes;
  return {};
}

size_t Program::num_methods() const { return count(root_->execution_plan()); }

std::string_view Program::method_name(size_t i) const {
  return text(root_->execution_plan()->Get(static_cast<uint32_t>(i))->name());
}

Result<MethodMeta> Program::method_meta(std::string_view name) const {
  for (const wire::ExecutionPlan* plan : *root_->execution_plan()) {
    if (text(plan->name()) == name) return MethodMeta(plan);
  }
  return Status(Error::kNotFound, "the program has no method of that name");
}

Result<Span<const uint8_t>> Program::named_data(std::string_view key) const {
  for (size_t i = 0; i < num_named_data(); ++i) {
    const wire::NamedData* entry = root_->named_data()->Get(static_cast<uint32_t>(i));
    if (text(entry->key()) == key) return segment(entry->segment_index());
  }
  return Status(Error::kNotFound, "the program has no data of that name");
}

size_t Program::num_named_data() const { return count(root_->named_data()); }

std::string_view Program::named_data_key(size_t i) const {
  return text(root_->named_data()->Get(static_cast<uint32_t>(i))->key());
}

Result<Span<const uint8_t>> Program::segment(size_t i) const {
  TAPER_REQUIRE(i < count(root_->segments()), Error::kInvalidArgument,
                "the program has no such segment");
  const wire::DataSegment* entry = root_->segments()->Get(static_cast<uint32_t>(i));
  Result<Span<const uint8_t>> bytes = loader_->load(segment_base_ + entry->offset(), entry->size());
  if (bytes.ok() && bytes->size() != entry->size()) {
    return Status(Error::kAccessFailed, "the loader returned fewer bytes than requested");
  }
  return bytes;
}

Span<const uint8_t> Program::constant(size_t i) const {
  const size_t offset =
      static_cast<size_t>(root_->constant_segment()->offsets()->Get(static_cast<uint32_t>(i)));
  return constants_.subspan(offset, constants_.size() - offset);
}

}  // namespace taper
