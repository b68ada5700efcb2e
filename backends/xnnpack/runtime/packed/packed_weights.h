// The packed weights of one graph: XNNPACK asks here before it packs a weight, and packs into
// memory of this if there is none.
//
// Entries are found by their place: XNNPACK asks in one order whenever it makes the same graph.
// What lies there is taken only if it was packed in the same way, from the same numbers, to as many
// bytes as XNNPACK is going to read, and if its bytes are what they were. The numbers are hashed,
// unless they lie in a program file that has not changed since they were, or in one file with what
// was packed from them; the bytes, unless their file is noted to be right. Depthwise filters and
// those of transposed convolutions, for which XNNPACK does not ask first, are packed each time.

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

  // Before XNNPACK makes `graph`. Entries and bytes of `file` are used as long as this lives;
  // `keep` says that records() are wanted. Without either nothing is hashed.
  // `is_embedded`: the file is in the program.
  Status begin(const Subgraph& graph, const BackendInitContext& context, const PackedFile* file,
               bool is_embedded, bool keep);
  // XNNPACK has made the graph, which may go, as may the context.
  void end();
  // Lives as long as this, which XNNPACK must not outlive.
  xnn_weights_cache_t provider() { return &provider_; }

  uint64_t graph_hash() const { return graph_hash_; }
  uint64_t method_hash() const { return method_hash_; }
  // Everything that can be found again, with its bytes; those of weights packed here lack their
  // hash.
  Span<PackedEntry> entries() const { return {entries_.get(), count_}; }
  Span<const uint8_t* const> bytes() const { return {bytes_.get(), count_}; }
  // The version of the program file, if all kernels lie in it; else 0.
  uint64_t program_version() const { return program_version_; }
  uint32_t found() const { return found_; }
  // All entries of that section were looked for and found.
  bool is_whole(const PackedSection& section) const {
    return section.graph == graph_hash_ && section.method == method_hash_ &&
           section.entry_count == found_;
  }
  uint32_t packed() const { return static_cast<uint32_t>(count_) - found_; }
  // Why something that the file has was not taken; empty if nothing speaks against the file.
  const char* problem() const { return problem_; }

 private:
  struct Block;  // Memory that XNNPACK packs into.

  size_t look_up(const xnn_weights_cache_look_up_key& key);
  void* reserve(size_t size);
  size_t insert(const xnn_weights_cache_look_up_key& key, void* packed, size_t size);
  // The largest of the values whose numbers lie there.
  const XnnValue* value_of(const void* data) const;
  // `known`, which may be 0, if that is sure to be the hash; 0 if the numbers are not those of a
  // value.
  uint64_t hash_of_data(const void* data, uint64_t known) const;
  bool is_unchanged(const XnnValue& value) const;
  // Null unless the entry at the place of `wanted` is the same.
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
  bool is_open_ = false;  // The last entry waits for its bytes.
  uint32_t found_ = 0;
  const char* problem_ = "";
};

}  // namespace taper::xnnpack
