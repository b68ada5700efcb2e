// A graph uses packed weights in the program if there are any for it, and else those in the file.

#include "backends/xnnpack/runtime/packed/packed_cache.h"

#include <new>

#include "backends/xnnpack/runtime/packed/kernel_set.h"
#include "taper/content_hash.h"

namespace taper::xnnpack {
namespace {

// Collects sections and entries for a file.
struct Collected {
  std::unique_ptr<PackedSection[]> sections;
  std::unique_ptr<PackedEntry[]> entries;
  std::unique_ptr<const uint8_t*[]> bytes;
  uint32_t section_count = 0, entry_count = 0;

  bool make(size_t most_sections, size_t most_entries) {
    sections.reset(new (std::nothrow) PackedSection[most_sections + 1]);
    entries.reset(new (std::nothrow) PackedEntry[most_entries + 1]);
    bytes.reset(new (std::nothrow) const uint8_t*[most_entries + 1]);
    return sections != nullptr && entries != nullptr && bytes != nullptr;
  }
  void begin(uint64_t graph, uint64_t method) {
    sections[section_count++] = {graph, method, entry_count, 0};
  }
  void add(const PackedEntry& entry, const uint8_t* data) {
    entries[entry_count] = entry;
    bytes[entry_count++] = data;
    ++sections[section_count - 1].entry_count;
  }
};

void collect(const PackedWeights& weights, Collected& all) {
  all.begin(weights.graph_hash(), weights.method_hash());
  for (size_t i = 0; i < weights.entries().size(); ++i) {
    PackedEntry entry = weights.entries()[i];
    const uint8_t* data = weights.bytes()[i];
    if (entry.bytes_hash == 0) entry.bytes_hash = content_hash({data, size_t(entry.size)});
    all.add(entry, data);
  }
}

void collect(const PackedFile& file, const PackedSection& section, Collected& all) {
  all.begin(section.graph, section.method);
  for (const PackedEntry& entry : file.entries(section)) all.add(entry, file.bytes(entry).data());
}

}  // namespace

PackedFile PackedCache::open_embedded(const BackendInitContext& context) {
  const Result<NamedData> data = context.find_data(kXnnpackPackedKey);
  if (!data.ok()) return {};
  Result<PackedFile> file = PackedFile::open(data->bytes, kernel_set());
  if (file.ok()) return *file;
  report_.program_problem = file.status().message();
  return {};
}

void PackedCache::open_file() {
  if (is_opened_ || path_ == nullptr) return;
  is_opened_ = true;
  const uint64_t stamp = stamp_of(path_);
  Result<MmapDataLoader> loader = MmapDataLoader::open(path_);
  if (!loader.ok()) {
    if (loader.status().error() != Error::kNotFound) report_.problem = "it cannot be read";
    return;
  }
  loader_.emplace(std::move(*loader));
  const Result<Span<const uint8_t>> bytes = loader_->load(0, loader_->size());
  Result<PackedFile> file =
      PackedFile::open(bytes.ok() ? *bytes : Span<const uint8_t>(), kernel_set(), stamp);
  if (file.ok()) {
    file_ = *file;
  } else {
    report_.problem = file.status().message();
  }
}

Status PackedCache::begin(User& user, const Subgraph& graph, const BackendInitContext& context,
                          uint64_t packing) {
  const uint64_t hash = PackedWeights::graph_hash_of(graph, packing);
  const PackedFile* file = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    user.embedded = open_embedded(context);
    open_file();
    if (!file_.sections().empty()) file = &file_;
    const bool is_known = !user.embedded.find(hash, 0).empty();
    // Without a file, those of another model are used, too: their hashes will not match.
    const bool is_alone = file == nullptr && !user.embedded.sections().empty();
    if (is_known || is_alone) file = &user.embedded;
  }
  return user.weights.begin(graph, hash, context, file, file == &user.embedded, path_ != nullptr);
}

void PackedCache::add(User& user) {
  const std::lock_guard<std::mutex> lock(mutex_);
  user.next = users_;
  users_ = &user;
  const PackedWeights& weights = user.weights;
  report_.found += weights.found();
  report_.packed += weights.packed();
  const bool is_of_file = !file_.sections().empty() && user.embedded.sections().empty();
  const char*& problem = is_of_file ? report_.problem : report_.program_problem;
  if (weights.problem()[0] != 0 && problem[0] == 0) problem = weights.problem();
  is_complete_ &= weights.packed() == 0;
}

void PackedCache::remove(User& user) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (User** at = &users_; *at != nullptr; at = &(*at)->next) {
    if (*at != &user) continue;
    *at = user.next;
    return;
  }
}

// Sections of loaded methods are replaced. If nothing in the file could be used, it belongs to
// another model, and none of it is kept.
bool PackedCache::is_kept(const PackedSection& section) const {
  if (report_.found == 0) return false;
  for (const User* user = users_; user != nullptr; user = user->next) {
    if (user->weights.method_hash() == section.method) return false;
  }
  return true;
}

// The version of the program file that contains all graphs; 0 if there is none.
uint64_t PackedCache::program_version() const {
  uint64_t version = users_ != nullptr ? users_->weights.program_version() : 0;
  for (const User* user = users_; user != nullptr; user = user->next) {
    if (user->weights.program_version() != version) version = 0;
  }
  return version;
}

// True if every byte of the file has been hashed by this process and is correct.
bool PackedCache::is_all_found() const {
  for (const PackedSection& section : file_.sections()) {
    bool is_found = false;
    for (const User* user = users_; user != nullptr; user = user->next) {
      is_found |= user->embedded.sections().empty() && user->weights.is_whole(section);
    }
    if (!is_found) return false;
  }
  return !file_.sections().empty();
}

Status PackedCache::save() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (path_ == nullptr) return {};
  const uint64_t version = program_version();
  if (is_complete_) {
    const bool is_news = !file_.is_right() || (version != 0 && version != file_.program_version());
    if (is_news && is_all_found()) note_right(path_, file_, version);
    return {};
  }
  size_t sections = file_.sections().size(), entries = 0;
  for (const PackedSection& section : file_.sections()) entries += section.entry_count;
  for (const User* user = users_; user != nullptr; user = user->next) {
    ++sections;
    entries += user->weights.entries().size();
  }
  Collected all;
  TAPER_REQUIRE(all.make(sections, entries), Error::kMemoryAllocationFailed,
                "there is no memory for it");
  for (const User* user = users_; user != nullptr; user = user->next) {
    if (!user->weights.entries().empty()) collect(user->weights, all);
  }
  for (const PackedSection& section : file_.sections()) {
    if (is_kept(section)) collect(file_, section, all);
  }
  const Status status = write_packed_file(path_, {kernel_set(),
                                                  version,
                                                  {all.sections.get(), all.section_count},
                                                  {all.entries.get(), all.entry_count},
                                                  {all.bytes.get(), all.entry_count}});
  is_complete_ = status.ok();
  return status;
}

PackedReport PackedCache::report() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return report_;
}

}  // namespace taper::xnnpack
