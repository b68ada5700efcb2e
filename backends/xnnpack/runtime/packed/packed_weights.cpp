// XNNPACK refers to a packed weight by an offset that its provider chooses; here the offset is the
// address itself.

#include "backends/xnnpack/runtime/packed/packed_weights.h"

#include <new>

#include "backends/xnnpack/runtime/packed/packed_header.h"
#include "backends/xnnpack/runtime/payload/value_reader.h"
#include "backends/xnnpack/runtime/stages/pages.h"
#include "taper/content_hash.h"

namespace taper::xnnpack {
namespace {

constexpr size_t kNotFound = SIZE_MAX;
constexpr std::align_val_t kAlignment{kPackedAlignment};

Span<const uint8_t> bytes_of(const void* data, uint64_t size) {
  return {static_cast<const uint8_t*>(data), static_cast<size_t>(size)};
}

uint64_t hash_large(Span<const uint8_t> bytes, uint64_t seed = 0) {
  map_ahead(bytes.data(), bytes.size());
  return content_hash(bytes, seed);
}

// The hash of a constant's bytes and of everything that determines their meaning.
uint64_t hash_value(const XnnValue& value) {
  uint64_t hash = hash_of(value.type);
  hash = hash_of(value.declared, hash);
  hash = hash_of(value.scale, hash);
  hash = hash_of(value.zero_point, hash);
  hash = hash_of(value.channel_dim, hash);
  hash = hash_of(value.group_size, hash);
  if (value.scales != nullptr) {
    hash = content_hash(bytes_of(value.scales, value.scale_count * sizeof(float)), hash);
  }
  if (value.group_scales != nullptr) {
    const uint64_t count =
        uint64_t{value.declared.dims[0]} * (value.declared.dims[1] / value.group_size);
    hash = content_hash(bytes_of(value.group_scales, count * sizeof(uint16_t)), hash);
  }
  return hash_large(bytes_of(value.data, stored_bytes(value.type, value.declared)), hash);
}

}  // namespace

// The bytes of a block follow it.
struct alignas(kPackedAlignment) PackedWeights::Block {
  Block* next;
};

PackedWeights::PackedWeights() {
  provider_.context = this;
  provider_.look_up = [](void* self, const xnn_weights_cache_look_up_key* key) {
    return static_cast<PackedWeights*>(self)->look_up(*key);
  };
  provider_.reserve_space = [](void* self, size_t size) {
    return static_cast<PackedWeights*>(self)->reserve(size);
  };
  provider_.look_up_or_insert = [](void* self, const xnn_weights_cache_look_up_key* key,
                                   void* packed, size_t size) {
    return static_cast<PackedWeights*>(self)->insert(*key, packed, size);
  };
  provider_.is_finalized = [](void*) { return true; };
  provider_.offset_to_addr = [](void*, size_t place) { return reinterpret_cast<void*>(place); };
  provider_.delete_cache = [](void*) { return xnn_status_success; };
}

PackedWeights::~PackedWeights() {
  while (blocks_ != nullptr) {
    Block* next = blocks_->next;
    ::operator delete(blocks_, kAlignment);
    blocks_ = next;
  }
}

uint64_t PackedWeights::graph_hash_of(const Subgraph& graph, uint64_t packing) {
  return content_hash(graph.description(), packing);
}

Status PackedWeights::begin(const Subgraph& graph, uint64_t graph_hash,
                            const BackendInitContext& context, const PackedFile* file,
                            bool is_embedded, bool keep) {
  values_ = graph.values();
  context_ = &context;
  is_keeping_ = keep || file != nullptr;
  if (!is_keeping_) return {};
  const std::string_view method = context.method_name();
  method_hash_ = content_hash(bytes_of(method.data(), method.size()));
  graph_hash_ = graph_hash;
  program_version_ = context.version_of(graph.description());
  is_embedded_ = is_embedded;
  file_ = file;
  if (file != nullptr) {
    known_ = file->find(graph_hash_, method_hash_);
    if (known_.empty()) problem_ = "it was made for another model";
  }
  capacity_ = graph.nodes().size();
  entries_.reset(new (std::nothrow) PackedEntry[capacity_ + 1]);
  bytes_.reset(new (std::nothrow) const uint8_t*[capacity_ + 1]);
  TAPER_REQUIRE(entries_ != nullptr && bytes_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the packed weights of the XNNPACK graph");
  return {};
}

void PackedWeights::end() {
  values_ = {};
  context_ = nullptr;
  is_keeping_ = false;
  if (is_open_) --count_;
  is_open_ = false;
}

const XnnValue* PackedWeights::value_of(const void* data) const {
  const XnnValue* found = nullptr;
  for (const XnnValue& value : values_) {
    if (value.data != data) continue;
    if (found == nullptr ||
        stored_bytes(value.type, value.declared) > stored_bytes(found->type, found->declared)) {
      found = &value;
    }
  }
  return found;
}

bool PackedWeights::is_unchanged(const XnnValue& value) const {
  if (is_embedded_ && value.is_in_program) return true;
  const uint64_t version = context_->version_of(bytes_of(value.stored, value.stored_size));
  return version != 0 && version == file_->program_version();
}

uint64_t PackedWeights::hash_of_data(const void* data, uint64_t known) const {
  const XnnValue* value = value_of(data);
  if (value == nullptr) return 0;
  if (known != 0 && is_unchanged(*value)) return known;
  const uint64_t hash = hash_value(*value);
  return hash != 0 ? hash : 1;
}

void PackedWeights::release(const void* data) const {
  const XnnValue* value = context_ != nullptr && data != nullptr ? value_of(data) : nullptr;
  if (value == nullptr || value->owned != nullptr) return;
  context_->release(bytes_of(data, stored_bytes(value->type, value->declared)));
}

const uint8_t* PackedWeights::find(const PackedEntry& wanted) {
  if (known_.empty()) return nullptr;
  problem_ = "it was made for another model";
  if (count_ >= known_.size()) return nullptr;
  const PackedEntry& entry = known_[count_];
  if (entry.seed != wanted.seed || entry.size != wanted.size ||
      entry.kernel_hash != wanted.kernel_hash || entry.bias_hash != wanted.bias_hash) {
    return nullptr;
  }
  const Span<const uint8_t> bytes = file_->bytes(entry);
  problem_ = "it is damaged or cut short";
  map_ahead(bytes.data(), bytes.size());
  if (!file_->is_right() && content_hash(bytes) != entry.bytes_hash) return nullptr;
  return bytes.data();
}

size_t PackedWeights::look_up(const xnn_weights_cache_look_up_key& key) {
  if (is_open_) --count_;  // The previous request was never packed.
  is_open_ = false;
  // Without a size, an entry cannot be checked.
  if (!is_keeping_ || key.size == 0 || count_ >= capacity_) return kNotFound;
  PackedEntry& entry = entries_[count_];
  const PackedEntry known = count_ < known_.size() ? known_[count_] : PackedEntry();
  entry = {0, key.size, 0, hash_of_data(key.kernel, known.kernel_hash), 0, key.seed, 0};
  if (key.bias != nullptr) entry.bias_hash = hash_of_data(key.bias, known.bias_hash);
  if (entry.kernel_hash == 0 || (key.bias != nullptr && entry.bias_hash == 0)) return kNotFound;
  const XnnValue& kernel = *value_of(key.kernel);
  if (context_->version_of(bytes_of(kernel.stored, 1)) == 0) program_version_ = 0;
  const char* before = problem_;
  const uint8_t* bytes = find(entry);
  bytes_[count_] = bytes;
  is_open_ = bytes == nullptr;
  if (bytes != nullptr) {
    entry.bytes_hash = known_[count_].bytes_hash;
    problem_ = before;
    ++found_;
    found_bytes_ += key.size;
    release(key.kernel);
  }
  ++count_;
  return bytes != nullptr ? reinterpret_cast<size_t>(bytes) : kNotFound;
}

void* PackedWeights::reserve(size_t size) {
  if (size > SIZE_MAX - 2 * sizeof(Block)) return nullptr;
  const size_t whole = (size + 2 * sizeof(Block) - 1) / sizeof(Block) * sizeof(Block);
  auto* block = static_cast<Block*>(::operator new(whole, kAlignment, std::nothrow));
  if (block == nullptr) return nullptr;
  take_ahead(block, whole);
  packed_bytes_ += whole;
  block->next = blocks_;
  blocks_ = block;
  return block + 1;
}

size_t PackedWeights::insert(const xnn_weights_cache_look_up_key& key, void* packed, size_t size) {
  // XNNPACK also calls this for weights that it has found.
  if (packed == nullptr) {
    return count_ > 0 ? reinterpret_cast<size_t>(bytes_[count_ - 1]) : kNotFound;
  }
  if (is_open_ && entries_[count_ - 1].size == size && entries_[count_ - 1].seed == key.seed) {
    bytes_[count_ - 1] = static_cast<const uint8_t*>(packed);
    is_open_ = false;
  }
  release(key.kernel);
  return reinterpret_cast<size_t>(packed);
}

}  // namespace taper::xnnpack
