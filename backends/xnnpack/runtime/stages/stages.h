// A graph as stages that run one after another, and the memory for values between them.

#pragma once

#include <memory>

#include "backends/xnnpack/runtime/stages/own_stage.h"
#include "backends/xnnpack/runtime/stages/stage.h"

namespace taper::xnnpack {

// How often each value of the graph is read; arguments count as read many more times. Null without
// memory.
std::unique_ptr<uint32_t[]> count_uses(const Subgraph& graph);

class Stages {
 public:
  Stages() = default;
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  // Cuts and builds the graph, which must live as long as this. What its stages need in addition to
  // Subgraph::total_bytes(), and the values between and within them, stay within `max_bytes`.
  Status build(const Subgraph& graph, uint64_t max_bytes, const Shared& shared);
  // Prepares the stages for the current shapes of the graph's values. Nothing has been allocated if
  // they need too much memory.
  Status reshape();
  // Sets the address of the argument with an index in the graph's list, for the next bind().
  void place(size_t argument, void* data);
  Status bind();
  // False if the memory has moved since the last bind().
  bool is_placed() const { return memory_->begin() == bound_memory_; }
  // Runs all stages in order.
  Status run();
  size_t size() const { return part_count_; }
  // Tells of the memory for values between stages, and of what lies where in it.
  void tell_memory(MemoryListener& listener, MemoryBlock::Kind kind) const;

 private:
  // Nodes [first, last), which become a stage.
  struct Part {
    size_t first = 0, last = 0;
    OwnPart own;           // Describes the stage if it is one of ours.
    bool in_half = false;  // Only without one.
  };
  // Memory for a value, or the scratch memory of a stage.
  struct Buffer {
    uint32_t value = kNone;
    size_t first = 0, last = 0;  // The stages that use it.
    uint64_t bytes = 0, offset = 0;
    uint32_t successor = kNone;  // The value that overwrites this one, and whose memory it has.
    uint32_t base = kNone;       // The value of which this one is a part.
  };

  // How finely a graph is cut: also before and after reshapes that cost nothing as stages, only at
  // our stages, or only at nodes that have to be stages.
  enum class Cut : uint8_t { kAtMoves, kAtOwnStages, kWhole };
  // Memory that stages of ours need by themselves is subtracted from `spare_bytes`.
  Status cut(Cut how, uint64_t& spare_bytes);
  // The part that begins with node `n`.
  Part next_part(Cut how, size_t n, Span<const uint32_t> uses, uint64_t& spare_bytes) const;
  // Whether two parts that follow each other are one.
  static bool are_one(const Part& part, const Part& next) {
    return part.own.nodes == 0 && next.own.nodes == 0 && part.in_half == next.in_half;
  }
  // Parts in float16 without a product become float32; those of XNNPACK that then follow each other
  // become one.
  void settle_halves();
  bool is_free_slice(const XnnNode& node) const;
  // Makes parts of the reshapes with which XNNPACK's parts begin and end.
  Status split_moves(Span<const uint32_t> uses);
  bool is_free_move(const XnnNode& node, Span<const uint32_t> uses) const;
  Status find_buffers();
  void write_over(Span<Buffer> uses);
  bool has_buffer(uint32_t value) const;
  bool become_part(Span<Buffer> uses, const Part& part) const;
  const Buffer* buffer_of(uint32_t value) const;
  bool is_cut_badly(size_t most_buffers) const;
  void measure_buffers();
  uint64_t place_buffers();
  static const char* kernel_of(const Part& part);
  Status run_and_tell() const;
  uint64_t place_buffer(Buffer& buffer, Span<Buffer* const> placed) const;
  void place_values();

  const Subgraph* graph_ = nullptr;
  Profiler* profiler_ = nullptr;
  bool in_half_ = false, in_bfloat_ = false;
  std::unique_ptr<Part[]> parts_;
  std::unique_ptr<Fusion[]> epilogues_;  // For each node: what XNNPACK computes with it.
  std::unique_ptr<std::unique_ptr<Stage>[]> stages_;
  size_t part_count_ = 0;
  // One for each shared value, in the order of the values; then one for each stage.
  std::unique_ptr<Buffer[]> buffers_;
  size_t buffer_count_ = 0;              // Without those of the stages.
  std::unique_ptr<Buffer*[]> in_order_;  // The buffers while they are being placed.
  std::unique_ptr<void*[]> places_;      // Addresses of the values that several stages use.
  WorkMemory own_memory_;
  WorkMemory* memory_ = &own_memory_;
  uint64_t memory_bytes_ = 0;  // The bytes that are needed, and the most that may be.
  uint64_t max_memory_bytes_ = 0;
  const uint8_t* bound_memory_ = nullptr;
};

}  // namespace taper::xnnpack
