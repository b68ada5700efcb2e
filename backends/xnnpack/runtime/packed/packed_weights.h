// The packed weights of one graph: XNNPACK looks here before it packs a weight, and packs into
// memory from here if it is not found.
//
// Entries are found by their index, since XNNPACK requests weights in the same order whenever it
// builds the same graph. An entry is used only if it was packed in the same way, from the same
// weights, to as many bytes as XNNPACK is going to read, and if its bytes are unchanged. The
// weights are hashed unless they are in a program file that has not changed since they were packed,
// or in the same file as the packed weights; the packed bytes are hashed unless their file is
// recorded as correct. Filters of depthwise and transposed convolutions, which XNNPACK does not
// look up first, are packed each time.

#pragma once

#include <memory>

#include "backends/xnnpack/runtime/graph/subgraph.h"
#include "backends/xnnpack/runtime/packed/packed_file.h"

#include <xnnpack.h>

namespace taper::xnnpack {

class PackedWeights {
 public:
  PackedWeights();
  ~PackedWeights();
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;

  // The hash of a graph and of what its packed weights also depend on (Shared::packing()).
  static uint64_t graph_hash_of(const Subgraph& graph, uint64_t packing);
  // To be called before XNNPACK builds `graph`. `file`, which must outlive this, may be null.
  // `keep` means that entries() will be read. If `file` is null and `keep` is false, nothing is
  // hashed. `is_embedded` means that the file is part of the program.
  Status begin(const Subgraph& graph, uint64_t graph_hash, const BackendInitContext& context,
               const PackedFile* file, bool is_embedded, bool keep);
  // To be called after XNNPACK has built the graph. The graph and the context are no longer used.
  void end();
  // The provider, which must outlive XNNPACK's graph.
  xnn_weights_cache_t provider() { return &provider_; }

  uint64_t graph_hash() const { return graph_hash_; }
  uint64_t method_hash() const { return method_hash_; }
  // All entries, with their bytes; those of weights that were packed now lack the hash of the
  // bytes.
  Span<PackedEntry> entries() const { return {entries_.get(), count_}; }
  Span<const uint8_t* const> bytes() const { return {bytes_.get(), count_}; }
  // The version of the program file, if it contains all weights; else 0.
  uint64_t program_version() const { return program_version_; }
  uint32_t found() const { return found_; }
  // True if all entries of the section have been looked up and found.
  bool is_whole(const PackedSection& section) const {
    return section.graph == graph_hash_ && section.method == method_hash_ &&
           section.entry_count == found_;
  }
  uint32_t packed() const { return static_cast<uint32_t>(count_) - found_; }
  // The bytes of those that were found, and the memory of those that were packed.
  uint64_t found_bytes() const { return found_bytes_; }
  uint64_t packed_bytes() const { return packed_bytes_; }
  // Why an entry of the file was not used; empty if the file has no problem.
  const char* problem() const { return problem_; }

 private:
  struct Block;  // Memory into which XNNPACK packs weights.

  size_t look_up(const xnn_weights_cache_look_up_key& key);
  void* reserve(size_t size);
  size_t insert(const xnn_weights_cache_look_up_key& key, void* packed, size_t size);
  // The largest value whose data starts at an address; null if there is none.
  const XnnValue* value_of(const void* data) const;
  // The hash of the data: `known` if that is certain to be it; 0 if the data belongs to no value.
  // `known` may be 0.
  uint64_t hash_of_data(const void* data, uint64_t known) const;
  bool is_unchanged(const XnnValue& value) const;
  // The packed bytes of the next entry; null unless it matches `wanted`.
  const uint8_t* find(const PackedEntry& wanted);
  void release(const void* data) const;

  xnn_weights_cache_provider provider_;
  Block* blocks_ = nullptr;
  Span<const XnnValue> values_;
  const BackendInitContext* context_ = nullptr;

  const PackedFile* file_ = nullptr;
  Span<const PackedEntry> known_;
  bool is_embedded_ = false;
  uint64_t program_version_ = 0;
  bool is_keeping_ = false;
  uint64_t graph_hash_ = 0, method_hash_ = 0;
  std::unique_ptr<PackedEntry[]> entries_;
  std::unique_ptr<const uint8_t*[]> bytes_;
  size_t count_ = 0, capacity_ = 0;
  bool is_open_ = false;  // The last entry has no bytes yet.
  uint32_t found_ = 0;
  uint64_t found_bytes_ = 0, packed_bytes_ = 0;
  const char* problem_ = "";
};

}  // namespace taper::xnnpack
