// A loaded payload: its graph, and the stages in which it runs.

#pragma once

#include <memory>

#include "backends/xnnpack/runtime/graph/subgraph.h"
#include "backends/xnnpack/runtime/packed/packed_cache.h"
#include "backends/xnnpack/runtime/stages/stages.h"

namespace taper::xnnpack {

class SubgraphExecutor {
 public:
  SubgraphExecutor() = default;
  ~SubgraphExecutor();
  SubgraphExecutor(const SubgraphExecutor&) = delete;
  SubgraphExecutor& operator=(const SubgraphExecutor&) = delete;

  // Reads and builds everything. `cache` outlives this.
  Status load(Span<const uint8_t> payload, const BackendInitContext& context, uint64_t max_bytes,
              const Shared& shared, PackedCache& cache);
  Status execute(Span<EValue* const> args);
  void tell_memory(MemoryListener& listener) const;
  // Whether it shares memory with others, so that only one of them may be called at a time.
  bool shares_memory() const { return shares_memory_; }

 private:
  struct Argument {
    void* bound = nullptr;              // The address that was last passed to the stages.
    std::unique_ptr<uint8_t[]> padded;  // Holds inputs that must not be read past their end.
    uint64_t capacity = 0;
  };
  struct Range {
    const uint8_t* begin;
    const uint8_t* end;
    bool is_output;
  };

  Status make_arguments();
  // Refuses results that overlap other arguments.
  Status check_apart(Span<EValue* const> args);
  // Takes over the sizes of the inputs.
  Status read_sizes(Span<EValue* const> args, bool* is_empty);
  // Whether no result has elements at the current sizes.
  bool has_no_results() const;
  Status check_empty_values() const;
  Status resize_outputs(Span<EValue* const> args);
  Status bind(Span<EValue* const> args);

  Subgraph graph_;
  PackedCache::User packed_;      // Outlives the stages, which use its memory.
  PackedCache* cache_ = nullptr;  // Set once it contains packed_.
  Stages stages_;
  std::unique_ptr<Argument[]> arguments_;
  std::unique_ptr<Range[]> ranges_;  // Scratch memory of check_apart().
  bool shares_memory_ = false;
  bool is_shaped_ = false;  // The stages know the shapes that graph_ has.
  bool is_bound_ = false;
};

}  // namespace taper::xnnpack
