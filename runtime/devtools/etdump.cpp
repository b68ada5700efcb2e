// Reads and writes ETDump. On reading nothing is trusted: FlatBuffers' verifier checks the
// structure, and what may be absent is asked for.

#include "taper/etdump.h"

#include <cstring>

#include "schema/flatbuffers.h"
// After its limits have been set:
#include "schema/etdump_generated.h"

namespace taper {
namespace {

namespace et = wire::etdump;

constexpr char kTooLong[] = "the names in the trace are too long for its size";
constexpr size_t kPrefix = 4;            // The length, before the flatbuffer.
constexpr size_t kMostTextPerByte = 16;  // Of a file.

flatbuffers::Offset<et::Event> write_event(flatbuffers::FlatBufferBuilder& to,
                                           const EtEvent& event) {
  const auto name = to.CreateSharedString(event.name);
  flatbuffers::Offset<flatbuffers::String> delegate;
  if (!event.delegate_name.empty()) delegate = to.CreateSharedString(event.delegate_name);
  const auto profile = et::CreateProfileEvent(to, name, event.chain, event.instruction,
                                              static_cast<int32_t>(event.delegate_number), delegate,
                                              0, event.begin, event.end);
  return et::CreateEvent(to, profile);
}

std::string copy_of(const flatbuffers::String* string) {
  return string == nullptr ? std::string() : string->str();
}

EtEvent read_event(const et::ProfileEvent& event) {
  return {copy_of(event.name()),
          event.chain_index(),
          event.instruction_id(),
          event.delegate_debug_id_int(),
          copy_of(event.delegate_debug_id_str()),
          event.start_time(),
          event.end_time()};
}

// `room` is for how many bytes of text there is still room: many events may share one long name.
Status read_block(const et::RunData& run, EtBlock* block, size_t* room) {
  const auto take = [&](const flatbuffers::String* string) {
    const size_t size = string == nullptr ? 0 : string->size();
    const bool fits = size <= *room;
    *room -= fits ? size : 0;
    return fits;
  };
  TAPER_REQUIRE(take(run.name()), Error::kInvalidProgram, kTooLong);
  block->name = copy_of(run.name());
  block->bundled_input = run.bundled_input_index();
  if (run.events() == nullptr) return {};
  for (const et::Event* event : *run.events()) {
    if (event->debug_event() != nullptr) ++block->values;
    const et::ProfileEvent* const profile = event->profile_event();
    if (profile == nullptr) continue;
    TAPER_REQUIRE(take(profile->name()) && take(profile->delegate_debug_id_str()),
                  Error::kInvalidProgram, kTooLong);
    TAPER_REQUIRE(profile->start_time() <= profile->end_time(), Error::kInvalidProgram,
                  "the trace has an event that ends before it begins");
    block->events.push_back(read_event(*profile));
  }
  return {};
}

}  // namespace

std::vector<uint8_t> write_etdump(const EtDump& dump) {
  flatbuffers::FlatBufferBuilder to;
  std::vector<flatbuffers::Offset<et::RunData>> runs;
  for (const EtBlock& block : dump.blocks) {
    std::vector<flatbuffers::Offset<et::Event>> events;
    for (const EtEvent& event : block.events) events.push_back(write_event(to, event));
    const auto name = to.CreateString(block.name);
    const auto allocators = to.CreateVector(std::vector<flatbuffers::Offset<et::Allocator>>());
    runs.push_back(
        et::CreateRunData(to, name, block.bundled_input, allocators, to.CreateVector(events)));
  }
  et::FinishSizePrefixedETDumpBuffer(to, et::CreateETDump(to, 0, to.CreateVector(runs)));
  return {to.GetBufferPointer(), to.GetBufferPointer() + to.GetSize()};
}

Result<EtDump> read_etdump(Span<const uint8_t> file) {
  TAPER_REQUIRE(file.size() >= kPrefix + 8 && std::memcmp(&file[kPrefix + 4], "ED00", 4) == 0,
                Error::kInvalidProgram, "this is not a trace (ETDump ED00)");
  uint32_t length;
  std::memcpy(&length, file.data(), sizeof(length));
  TAPER_REQUIRE(length == file.size() - kPrefix, Error::kInvalidProgram,
                "the trace is cut: its length is not that which it states");
  TAPER_REQUIRE(file.size() < FLATBUFFERS_MAX_BUFFER_SIZE, Error::kInvalidProgram,
                "the trace is larger than 2 GiB");
  flatbuffers::Verifier::Options options;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(file.size() / 4 + 16);
  flatbuffers::Verifier verifier(file.data(), file.size(), options);
  TAPER_REQUIRE(et::VerifySizePrefixedETDumpBuffer(verifier), Error::kInvalidProgram,
                "the trace is damaged");
  const et::ETDump& root = *et::GetSizePrefixedETDump(file.data());
  TAPER_REQUIRE(root.version() == 0, Error::kInvalidProgram, "the trace is of another version");
  EtDump dump;
  if (root.run_data() == nullptr) return dump;
  size_t room = kMostTextPerByte * file.size();
  for (const et::RunData* run : *root.run_data()) {
    dump.blocks.emplace_back();
    TAPER_TRY(read_block(*run, &dump.blocks.back(), &room));
  }
  return dump;
}

}  // namespace taper
