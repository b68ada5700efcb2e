// Cuts a graph into stages. Consecutive nodes that XNNPACK computes are one stage; own_stage.h
// describes the others. A value that several stages use has a buffer for as long as it is needed; a
// function overwrites an argument that is not read after it.

#include "backends/xnnpack/runtime/stages/stages.h"

#include <algorithm>
#include <new>
#include <utility>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/payload/value_reader.h"
#include "backends/xnnpack/runtime/stages/half_parts.h"
#include "backends/xnnpack/runtime/stages/make_array.h"
#include "backends/xnnpack/runtime/stages/moves/move_stage.h"
#include "backends/xnnpack/runtime/stages/segment.h"
#include "backends/xnnpack/runtime/stages/table_stage.h"

namespace taper::xnnpack {
namespace {

constexpr uint64_t kAlignment = WorkMemory::kAlignment;
// Limits the time for placing the buffers.
constexpr size_t kMostParts = 512;
constexpr size_t kMostBuffers = 512;
// The same for graphs with reshapes that XNNPACK does not support, which have to be parts.
constexpr size_t kMostPartsAtAll = 2048;
// A slice of fewer elements is copied in less time than another stage takes.
constexpr uint64_t kLeastSlice = 8192;

Status no_memory() {
  return Status(Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the stages of the XNNPACK graph");
}

// Whether the node has to be a part, since XNNPACK has no such node.
bool is_always_part(const XnnNode& node) {
  return is_open_reshape(node) || node.content_type == wire::NodeContent::ByteTable;
}

// The part of such a node, or of another reshape or slice.
OwnPart part_of(const XnnNode& node) {
  OwnPart part;
  const bool is_table = node.content_type == wire::NodeContent::ByteTable;
  part.kind = is_table ? OwnPart::Kind::kTable : OwnPart::Kind::kMove;
  part.nodes = 1;
  part.fusion.inputs[0] = node.inputs[0];
  part.fusion.output = node.output;
  return part;
}

Status make_own_or_move(const Subgraph& graph, size_t first, const OwnPart& own,
                        const Shared& shared, std::unique_ptr<Stage>& stage) {
  const XnnNode& node = graph.nodes()[first];
  if (own.kind == OwnPart::Kind::kTable) {
    stage.reset(new (std::nothrow) TableStage(node, graph.values(), shared.pool));
  } else if (own.kind == OwnPart::Kind::kMove) {
    stage.reset(new (std::nothrow) MoveStage(node));
  } else {
    return make_own_stage(graph, first, own, shared, stage);
  }
  return stage != nullptr ? Status() : no_memory();
}

}  // namespace

#if !defined(TAPER_OPTIMIZED)
bool has_own_stages() { return false; }
bool computes_in_bfloat(Numbers) { return false; }
OwnPart find_own_part(const Subgraph&, Span<const uint32_t>, size_t, bool, bool, uint64_t&) {
  return {};
}
Status make_own_stage(const Subgraph&, size_t, const OwnPart&, const Shared&,
                      std::unique_ptr<Stage>&) {
  return {};
}
void finish_tile(const void*, void*, const void*, size_t, size_t, size_t) {}
#endif

Status Stages::build(const Subgraph& graph, uint64_t max_bytes, const Shared& shared) {
  graph_ = &graph;
  profiler_ = shared.profiler;
  in_half_ = shared.in_half;
  in_bfloat_ = shared.in_bfloat;
  if (in_half_) mark_wide_values(graph);
  if (shared.memory != nullptr) memory_ = shared.memory;
  places_ = make_array<void*>(graph.values().size());
  if (places_ == nullptr) return no_memory();
  const uint64_t needed = graph.total_bytes();
  for (const Cut how : {Cut::kAtMoves, Cut::kAtOwnStages, Cut::kWhole}) {
    uint64_t spare_bytes = max_bytes - needed;
    TAPER_TRY(cut(how, spare_bytes));
    max_memory_bytes_ = needed - graph.fixed_bytes() + spare_bytes;
    TAPER_TRY(find_buffers());
    if (!is_cut_badly(kMostBuffers)) break;
    if (how != Cut::kWhole) continue;
    TAPER_XNNPACK_REQUIRE(part_count_ <= 1 || !is_cut_badly(kMostPartsAtAll),
                          "the graph cannot be cut at nodes that have to be stages");
  }
  stages_ = make_array<std::unique_ptr<Stage>>(part_count_);
  if (stages_ == nullptr) return no_memory();
  for (size_t p = 0; p < part_count_; ++p) {
    const Part& part = parts_[p];
    if (part.own.kind == OwnPart::Kind::kNone) {
      auto* made = new (std::nothrow) Segment();
      if (made == nullptr) return no_memory();
      stages_[p].reset(made);
      TAPER_TRY(made->build(graph, part.first, part.last, epilogues_.get(), shared, part.in_half));
    } else {
      TAPER_TRY(make_own_or_move(graph, part.first, part.own, shared, stages_[p]));
    }
  }
  return {};
}

std::unique_ptr<uint32_t[]> count_uses(const Subgraph& graph) {
  constexpr uint32_t kMany = 1 << 20;
  const Span<XnnValue> values = graph.values();
  auto uses = make_array<uint32_t>(values.size());
  if (uses == nullptr) return uses;
  for (size_t id = 0; id < values.size(); ++id) {
    if (values[id].is_input || values[id].is_output) uses[id] = kMany;
  }
  for (const XnnNode& node : graph.nodes()) {
    for (uint32_t id : node.inputs) {
      if (node.is_needed && id != kNone) ++uses[id];
    }
  }
  return uses;
}

// Whether the node is a large slice that is not even a copy as a stage, since it is a part of the
// memory of its input.
bool Stages::is_free_slice(const XnnNode& node) const {
  if (!MoveStage::is_range(node, graph_->values())) return false;
  const XnnValue& from = graph_->values()[node.inputs[0]];
  const XnnValue& to = graph_->values()[node.output];
  const bool is_inside = from.data == nullptr && !from.is_input && !from.is_output && !to.is_output;
  return is_inside && element_count(to.shape) >= kLeastSlice;
}

// Whether the node is a reshape that is not even a copy as a stage, since nothing else reads its
// input: its result has the same memory.
bool Stages::is_free_move(const XnnNode& node, Span<const uint32_t> uses) const {
  if (node.content_type != wire::NodeContent::Reshape || uses[node.inputs[0]] != 1) return false;
  const XnnValue& from = graph_->values()[node.inputs[0]];
  const XnnValue& to = graph_->values()[node.output];
  return from.data == nullptr && !to.is_output && from.nonbatch_dims == 0 && to.nonbatch_dims == 0;
}

Status Stages::split_moves(Span<const uint32_t> uses) {
  const Span<const XnnNode> nodes = graph_->nodes();
  auto parts = make_array<Part>(std::min(kMostPartsAtAll, nodes.size()));
  if (parts == nullptr) return no_memory();
  size_t count = 0;
  const auto add_moves = [&](size_t n, size_t end) {
    for (; n < end; ++n) {
      if (nodes[n].is_needed) parts[count++] = {n, n + 1, part_of(nodes[n]), false};
    }
  };
  const auto is_move = [&](size_t n) {
    return !nodes[n].is_needed || is_free_move(nodes[n], uses);
  };
  for (size_t p = 0; p < part_count_; ++p) {
    const Part& part = parts_[p];
    size_t begin = part.first, end = part.last;
    if (part.own.nodes == 0) {
      while (begin < end && is_move(begin)) ++begin;
      while (end > begin && is_move(end - 1)) --end;
    }
    if (count + (begin - part.first) + (part.last - end) >= kMostParts) return {};
    add_moves(part.first, begin);
    if (begin < end) parts[count++] = {begin, end, part.own, part.in_half};
    add_moves(end, part.last);
  }
  parts_ = std::move(parts);
  part_count_ = count;
  return {};
}

Status Stages::cut(Cut how, uint64_t& spare_bytes) {
  parts_ = make_array<Part>(std::min(kMostPartsAtAll, graph_->nodes().size()));
  epilogues_ = make_array<Fusion>(graph_->nodes().size());
  const auto uses = count_uses(*graph_);
  if (parts_ == nullptr || epilogues_ == nullptr || uses == nullptr) return no_memory();
  part_count_ = 0;
  const size_t count = graph_->nodes().size();
  for (size_t n = 0; n < count;) {
    const bool is_needed = graph_->nodes()[n].is_needed;
    const Part part = next_part(how, n, {uses.get(), graph_->values().size()}, spare_bytes);
    if (part.own.kind == OwnPart::Kind::kNone) epilogues_[n] = part.own.fusion;
    n = part.last;
    if (!is_needed) continue;
    if (part_count_ > 0 && are_one(parts_[part_count_ - 1], part)) {
      parts_[part_count_ - 1].last = part.last;
    } else {
      TAPER_XNNPACK_REQUIRE(part_count_ < kMostPartsAtAll,
                            "the graph has too many nodes that are stages of their own");
      parts_[part_count_++] = part;
    }
  }
  settle_halves();
  if (how != Cut::kAtMoves) return {};
  return split_moves({uses.get(), graph_->values().size()});
}

Stages::Part Stages::next_part(Cut how, size_t n, Span<const uint32_t> uses,
                               uint64_t& spare_bytes) const {
  const XnnNode& node = graph_->nodes()[n];
  Part part;
  part.first = n;
  part.last = n + 1;
  if (!node.is_needed) return part;
  if (is_always_part(node) || (how == Cut::kAtMoves && is_free_slice(node))) {
    part.own = part_of(node);
  } else if (how != Cut::kWhole && part_count_ + 2 < kMostParts) {
    part.own = find_own_part(*graph_, uses, n, in_half_, in_bfloat_, spare_bytes);
    const bool is_own = part.own.nodes > 0;
    part.last = n + (is_own ? part.own.nodes : 1 + part.own.fusion.nodes);
    part.in_half = in_half_ && part.own.nodes == 0 && may_be_in_half(node, graph_->values());
  }
  return part;
}

void Stages::settle_halves() {
  const Span<const XnnNode> nodes = graph_->nodes();
  size_t count = 0;
  for (size_t p = 0; p < part_count_; ++p) {
    Part& part = parts_[p];
    part.in_half = part.in_half &&
                   std::any_of(nodes.data() + part.first, nodes.data() + part.last,
                               [&](const XnnNode& n) { return is_product(n, graph_->values()); });
    if (count > 0 && are_one(parts_[count - 1], part)) {
      parts_[count - 1].last = part.last;
    } else {
      parts_[count++] = part;
    }
  }
  part_count_ = count;
}

// Finds the values that one part computes and another reads, and how long they are needed.
Status Stages::find_buffers() {
  const Span<XnnValue> values = graph_->values();
  const auto uses = make_array<Buffer>(values.size());
  if (uses == nullptr) return no_memory();
  for (XnnValue& value : values) value.is_shared = value.is_input || value.is_output;
  buffer_count_ = 0;
  for (size_t p = 0; p < part_count_; ++p) {
    for (size_t n = parts_[p].first; n < parts_[p].last; ++n) {
      const XnnNode& node = graph_->nodes()[n];
      if (!node.is_needed) continue;
      uses[node.output].value = node.output;
      uses[node.output].first = uses[node.output].last = p;
      for (uint32_t id : node.inputs) {
        if (id == kNone || uses[id].value == kNone || uses[id].first == p) continue;
        uses[id].last = p;
        if (!values[id].is_shared) ++buffer_count_;
        values[id].is_shared = true;
      }
    }
  }
  buffers_ = make_array<Buffer>(buffer_count_ + part_count_);
  in_order_ = make_array<Buffer*>(buffer_count_ + part_count_);
  if (buffers_ == nullptr || in_order_ == nullptr) return no_memory();
  write_over({uses.get(), values.size()});
  size_t found = 0;
  for (size_t id = 0; id < values.size(); ++id) {
    const bool is_argument = values[id].is_input || values[id].is_output;
    if (values[id].is_shared && !is_argument) buffers_[found++] = uses[id];
  }
  for (size_t p = 0; p < part_count_; ++p) buffers_[found + p].first = buffers_[found + p].last = p;
  return {};
}

bool Stages::has_buffer(uint32_t id) const {
  const XnnValue& value = graph_->values()[id];
  return value.is_shared && !value.is_input && !value.is_output;
}

// Lets a slice, or what is made of one, be a part of the memory of another value, which is kept as
// long as that part is needed.
bool Stages::become_part(Span<Buffer> uses, const Part& part) const {
  const uint32_t from = part.own.fusion.inputs[0], to = part.own.fusion.output;
  if (!has_buffer(from)) return false;
  const bool is_slice = graph_->nodes()[part.first].content_type == wire::NodeContent::Slice;
  if (!is_slice && uses[from].base == kNone) return false;
  Buffer& base = uses[uses[from].base == kNone ? from : uses[from].base];
  base.last = std::max(base.last, uses[to].last);
  uses[to].base = base.value;
  return true;
}

// Lets a function store its result in the memory of an argument that is not read after it.
void Stages::write_over(Span<Buffer> uses) {
  for (size_t p = 0; p < part_count_; ++p) {
    const Fusion& fusion = parts_[p].own.fusion;
    const OwnPart::Kind kind = parts_[p].own.kind;
    const bool may_write = kind == OwnPart::Kind::kFusion || kind == OwnPart::Kind::kImageNorm ||
                           kind == OwnPart::Kind::kMove || kind == OwnPart::Kind::kTable;
    if (!may_write || !has_buffer(fusion.output)) continue;
    if (kind == OwnPart::Kind::kMove && become_part(uses, parts_[p])) continue;
    for (uint32_t id : fusion.inputs) {
      if (id == kNone || !has_buffer(id) || uses[id].last != p) continue;
      // Nor one that is a part of another, or of which it reads a part as well.
      const bool is_part = uses[id].base != kNone;
      const bool has_part =
          std::any_of(std::begin(fusion.inputs), std::end(fusion.inputs),
                      [&](uint32_t other) { return other != kNone && uses[other].base == id; });
      if (is_part || has_part) continue;
      uses[fusion.output].first = uses[id].first;
      uses[id].successor = fusion.output;
      break;
    }
  }
}

// True if there are too many buffers, or if a value that XNNPACK quantises at run time would have
// to leave its graph.
bool Stages::is_cut_badly(size_t most_buffers) const {
  if (buffer_count_ > most_buffers) return true;
  for (size_t b = 0; b < buffer_count_; ++b) {
    if (graph_->values()[buffers_[b].value].nonbatch_dims > 0) return true;
  }
  return false;
}

Status Stages::reshape() {
  for (size_t p = 0; p < part_count_; ++p) TAPER_TRY(stages_[p]->reshape(graph_->values()));
  measure_buffers();
  memory_bytes_ = std::max(place_buffers(), kAlignment);  // Never 0, since an address is needed.
  TAPER_REQUIRE(memory_bytes_ <= max_memory_bytes_, Error::kOutOfResources,
                "the XNNPACK graph needs more memory than XnnpackOptions::max_bytes allows");
  return memory_->grow(memory_bytes_) ? Status() : no_memory();
}

const Stages::Buffer* Stages::buffer_of(uint32_t value) const {
  return std::lower_bound(buffers_.get(), buffers_.get() + buffer_count_, value,
                          [](const Buffer& b, uint32_t id) { return b.value < id; });
}

void Stages::place_values() {
  for (size_t b = 0; b < buffer_count_; ++b) {
    const Buffer* buffer = &buffers_[b];
    while (buffer->successor != kNone) buffer = buffer_of(buffer->successor);
    places_[buffers_[b].value] = memory_->begin() + buffer->offset;
  }
  for (size_t p = 0; p < part_count_; ++p) {  // In order, since parts may have parts.
    const OwnPart& own = parts_[p].own;
    if (own.kind != OwnPart::Kind::kMove || !has_buffer(own.fusion.output)) continue;
    if (buffer_of(own.fusion.output)->base == kNone) continue;
    const size_t begin = MoveStage::begin_of(graph_->nodes()[parts_[p].first], graph_->values());
    places_[own.fusion.output] = static_cast<uint8_t*>(places_[own.fusion.inputs[0]]) + begin;
  }
}

void Stages::measure_buffers() {
  for (size_t b = 0; b < buffer_count_; ++b) {
    Buffer& buffer = buffers_[b];
    const XnnValue& value = graph_->values()[buffer.value];
    const uint64_t bytes = stored_bytes(value.type, value.shape) + XNN_EXTRA_BYTES;
    const bool has_own = buffer.successor == kNone && buffer.base == kNone;
    buffer.bytes = has_own ? WorkMemory::aligned(bytes) : 0;
  }
  for (size_t p = 0; p < part_count_; ++p) {
    buffers_[buffer_count_ + p].bytes = WorkMemory::aligned(stages_[p]->scratch_bytes());
  }
}

// Places the largest buffers first, each at the lowest offset that is free while it is needed.
// Returns the end of all buffers.
uint64_t Stages::place_buffers() {
  const size_t count = buffer_count_ + part_count_;
  for (size_t b = 0; b < count; ++b) in_order_[b] = &buffers_[b];
  std::sort(in_order_.get(), in_order_.get() + count, [](const Buffer* a, const Buffer* b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  uint64_t end = 0;
  for (size_t b = 0; b < count && in_order_[b]->bytes > 0; ++b) {
    Buffer** const placed = in_order_.get();
    Buffer& next = *placed[b];
    end = std::max(end, place_buffer(next, {placed, b}));
    // Placed buffers are sorted by offset.
    Buffer** const after = std::upper_bound(
        placed, placed + b, next.offset,
        [](uint64_t offset, const Buffer* other) { return offset < other->offset; });
    std::rotate(after, placed + b, placed + b + 1);
  }
  return end;
}

uint64_t Stages::place_buffer(Buffer& buffer, Span<Buffer* const> placed) const {
  buffer.offset = 0;
  for (const Buffer* other : placed) {
    const bool at_once = other->first <= buffer.last && buffer.first <= other->last;
    if (!at_once || other->offset + other->bytes <= buffer.offset) continue;
    if (buffer.offset + buffer.bytes <= other->offset) break;
    buffer.offset = other->offset + other->bytes;
  }
  return buffer.offset + buffer.bytes;
}

void Stages::place(size_t argument, void* data) { places_[graph_->arguments()[argument]] = data; }

Status Stages::bind() {
  // Another delegate that shares the memory may have moved it.
  if (!memory_->grow(memory_bytes_)) return no_memory();
  place_values();
  const Span<void* const> places(places_.get(), graph_->values().size());
  for (size_t p = 0; p < part_count_; ++p) {
    uint8_t* scratch = memory_->begin() + buffers_[buffer_count_ + p].offset;
    TAPER_TRY(stages_[p]->bind(places, scratch));
  }
  bound_memory_ = memory_->begin();
  return {};
}

void Stages::tell_memory(MemoryListener& listener, MemoryBlock::Kind kind) const {
  listener.add(MemoryBlock{"intermediate results", memory_bytes_, kind});
  const Span<const XnnNode> nodes = graph_->nodes();
  const auto node_of = [&](size_t n) { return static_cast<int64_t>(nodes[n].origin) - 1; };
  for (size_t b = 0; b < buffer_count_ + part_count_; ++b) {
    const Buffer& buffer = buffers_[b];
    if (buffer.bytes == 0) continue;
    PlacedResult result;
    result.offset = buffer.offset;
    result.bytes = buffer.bytes;
    result.first = static_cast<uint32_t>(buffer.first);
    result.last = static_cast<uint32_t>(buffer.last);
    if (b < buffer_count_) {
      for (size_t n = 0; n < nodes.size(); ++n) {
        if (nodes[n].output == buffer.value) result.node = node_of(n);
      }
    } else {
      const Part& part = parts_[b - buffer_count_];
      result.node = node_of(part.first);
      result.last_node = node_of(part.last - 1);
    }
    listener.add(result);
  }
}

// "winograd": what computes a stage of ours.
const char* Stages::kernel_of(const Part& part) {
  switch (part.own.kind) {
    case OwnPart::Kind::kPlaneConvolution:
      return "taper plane convolution";
    case OwnPart::Kind::kPlanes:
      return "taper planes";
    case OwnPart::Kind::kBytePlanes:
      return "taper byte planes";
    case OwnPart::Kind::kWinograd:
      return "taper winograd";
    case OwnPart::Kind::kTaps:
      return "taper taps";
    case OwnPart::Kind::kExpanded:
      return "taper expanded";
    case OwnPart::Kind::kDepthwise:
    case OwnPart::Kind::kByteDepthwise:
      return "taper depthwise";
    case OwnPart::Kind::kGrouped:
      return "taper grouped";
    case OwnPart::Kind::kTransposed:
      return "taper transposed";
    case OwnPart::Kind::kBfloat:
      return "taper bfloat16";
    case OwnPart::Kind::kProduct:
      return "taper product";
    case OwnPart::Kind::kFusion:
      return "taper fused";
    case OwnPart::Kind::kImageNorm:
      return "taper image norm";
    case OwnPart::Kind::kPlaneLayer:
      return "taper plane layer";
    case OwnPart::Kind::kAttention:
      return "taper attention";
    case OwnPart::Kind::kJoin:
      return "taper concatenate";
    case OwnPart::Kind::kMove:
      return "taper move";
    case OwnPart::Kind::kTable:
      return "taper table";
    case OwnPart::Kind::kNone:
      return "XNNPACK";
  }
  return "";
}

Status Stages::run_and_tell() const {
  NodeTimes times(*profiler_, *graph_);
  for (size_t p = 0; p < part_count_; ++p) {
    times.begin_stage();
    TAPER_TRY(stages_[p]->run());
    const double seconds = times.stage_seconds();
    if (stages_[p]->tell_steps(times)) continue;
    const Part& part = parts_[p];
    const Span<const XnnNode> nodes(&graph_->nodes()[part.first], part.last - part.first);
    times.add(nodes, kernel_of(part), seconds);
  }
  return {};
}

Status Stages::run() {
  if (profiler_ != nullptr) return run_and_tell();
  for (size_t p = 0; p < part_count_; ++p) TAPER_TRY(stages_[p]->run());
  return {};
}

}  // namespace taper::xnnpack
