// Damages the payload of a delegate: changes numbers in its tables, whatever they mean. And makes
// packed weights that were damaged look whole.

#include <algorithm>
#include <cstring>

#include "backends/xnnpack/descriptor.h"
#include "backends/xnnpack/runtime/packed/packed_header.h"
#include "test/fuzz/backend_hooks.h"
#include "test/fuzz/mutate.h"

namespace taper::xnnpack {
namespace {

using fuzz::Random;

constexpr size_t kMagicAt = 4;
constexpr size_t kGraphSizeAt = 14;
constexpr size_t kHeaderBytes = 32;

uint32_t number_at(const std::string& file, size_t at) {
  uint32_t value;
  std::memcpy(&value, &file[at], sizeof(value));
  return value;
}

void edit(std::string& file, size_t first, size_t bytes, Random& random) {
  const size_t width = size_t{1} << random.below(3);
  const size_t at = first + random.below(bytes / width) * width;
  uint64_t value = fuzz::awkward_integer(random);
  if (random.one_in(3)) value = number_at(file, at / 4 * 4) + (random.one_in(2) ? 1 : -1);
  // A small number may be the index of a value, a size or a flag.
  if (random.one_in(3)) value = random.below(64);
  std::memcpy(&file[at], &value, width);
}

bool mutate_payload(std::string& file, Random& random) {
  const size_t magic = file.find("XH00");
  if (magic == file.npos || magic < kMagicAt) return false;
  const size_t start = magic - kMagicAt;
  if (file.size() - start < kHeaderBytes + 16) return false;
  const size_t whole = std::min<size_t>(kHeaderBytes + number_at(file, start + kGraphSizeAt),
                                        file.size() - start - 8);
  const size_t edits = 1 + random.below(random.one_in(4) ? 8 : 2);
  for (size_t i = 0; i < edits; ++i) edit(file, start, whole, random);
  return true;
}

Span<const uint8_t> bytes_of(const std::string& file, uint64_t offset, uint64_t size) {
  if (offset > file.size() || size > file.size() - offset) return {};
  return {reinterpret_cast<const uint8_t*>(file.data()) + offset, static_cast<size_t>(size)};
}

void seal_packed(std::string& file) {
  PackedHeader header;
  if (file.size() < sizeof(header)) return;
  std::memcpy(&header, file.data(), sizeof(header));
  const uint64_t tables = tables_size(header.section_count, header.entry_count);
  if (tables > file.size()) return;
  for (uint32_t i = 0; i < header.entry_count; ++i) {
    char* at = file.data() + tables_size(header.section_count, i);
    PackedEntry entry;
    std::memcpy(&entry, at, sizeof(entry));
    entry.bytes_hash = content_hash(bytes_of(file, entry.offset, entry.size));
    std::memcpy(at, &entry, sizeof(entry));
  }
  header.file_size = file.size();
  header.tables_hash = hash_tables(header, reinterpret_cast<const uint8_t*>(file.data()));
  header.note_hash = hash_note(header.tables_hash, header.program_version);
  std::memcpy(file.data(), &header, sizeof(header));
}

constexpr const char* kModels[] = {
    "vit_tiny",        "inception",      "dynamic_encoder", "encoders",          "volumes",
    "groups",          "recurrence",     "images",          "int8_convnet",      "int8_layers",
    "int8_rows",       "int8_filters",   "int8_stems",      "int8_volumes",      "int8_joins",
    "int8_functions",  "int8_recurrent", "int8_softmaxes",  "int8_pools",        "int8_chains",
    "int8_borders",    "int4_groups",    "byte_table",      "int8_small_ranges", "int8_zero_points",
    "int8_at_run_time"};
constexpr const char* kPrograms[] = {"xnnpack_dynamic_batch", "xnnpack_int8_static",
                                     "xnnpack_int8_dynamic", "xnnpack_int4_groups"};

}  // namespace

extern const fuzz::BackendHooks kFuzz;
const fuzz::BackendHooks kFuzz = {kIdentity.name, kModels, kPrograms, mutate_payload, seal_packed};

}  // namespace taper::xnnpack
