// What the device does for a graph with its current sizes: dispatches of shaders in order, where
// barriers stand between them, and where every tensor is in memory. Nothing here needs a GPU: a
// plan is made from limits, so that it can be tested, fuzzed and inspected anywhere.
//
//     calls      linear %x %w %b -> %y      relu %y -> %z
//     dispatches gemm(%x, %w, %b -> %y)     | elementwise(%y -> %z)         | is a barrier
//     arena      %x 0..256   %y 256..1280   %z 0..1024                      %x is dead by then
//
// A tensor is dense, in PyTorch's order of dimensions. An element takes four bytes: float32 as it
// is, integers and booleans as int32. With PayloadGraph::in_half what calls compute for others may
// be float16, two elements in a word. Views share the place of what they view.
//
// What is computed from constants alone is computed once, and kept beside them. Buffers that the
// program writes, states, lie in memory of their own, which keeps what one execution leaves for the
// next. A view of a state that is read after the state is written is a copy.
//
// The places are decided once, for the largest sizes; build() with other sizes changes dispatches
// alone.

#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "backends/vulkan/planner/payload_graph.h"

namespace taper::vulkan {

enum class Shader : uint8_t {
#define TAPER_SHADER(name, halves) name,
#include "backends/vulkan/planner/shaders.def"
#undef TAPER_SHADER
};

// What a device can do, as far as plans depend on it: by default the least, but for the largest
// tensor.
struct Limits {
  uint32_t groups[3] = {65535, 65535, 65535};  // Workgroups per dispatch.
  uint64_t range = UINT32_MAX;                 // Bytes of one tensor.
  uint64_t bytes = uint64_t{1} << 40;          // Of constants and arena.
  uint32_t alignment = 256;                    // Of tensors.
  // Whether there are matrix units for fragments of 16 x 16 x 16 float16 with sums of float32.
  bool matrix_units = false;
  uint32_t subgroup = 32;      // Invocations of a subgroup, if there are matrix units.
  bool byte_products = false;  // Whether there are fast sums of products of four signed bytes.
  // m, n and k of matrix units' fragments of signed bytes with sums of int32; 0: there are none.
  uint32_t byte_fragment[3] = {};
};

// A word outside the arena that a shader sets to say that an index it read is out of range.
inline constexpr ValueId kFaultValue = UINT32_MAX;

struct Dispatch {
  static constexpr size_t kMaxConstants = 16, kMaxPushBytes = 128, kMaxBindings = 8;
  struct Binding {
    ValueId value;
    bool writes;
  };

  Shader shader;
  bool barrier = false;  // Whether what was dispatched before must be complete.
  bool once = false;     // Whether it reads only constants, so that it runs when it is loaded.
  uint8_t num_constants = 0, num_bindings = 0, push_bytes = 0;
  uint8_t halves = 0;                 // Which bindings are float16, a bit each.
  uint32_t call = 0;                  // The call that it is for.
  uint32_t groups[3] = {1, 1, 1};     // Workgroups.
  uint32_t constants[kMaxConstants];  // Specialisation constants, from 0 on.
  Binding bindings[kMaxBindings];     // Binding i is a storage buffer.
  uint8_t push[kMaxPushBytes];        // Push constants.
};

// Where a tensor is.
struct Place {
  // kLoading: constants that others are made of, which are not needed after that.
  enum class Memory : uint8_t { kNone, kArena, kConstants, kStates, kLoading };
  Memory memory = Memory::kNone;
  ValueId root = 0;  // The value whose memory it is: itself, or what it views.
  uint64_t offset = 0;
  uint64_t bytes = 0;  // With the largest sizes; of a root.
  // Whether it is a constant whose elements of one byte lie side by side; of a root.
  bool has_bytes = false;
  bool is_half = false;  // Whether its elements are float16; of a root.
  // The first and the last call that need it; of a root.
  uint32_t first = 0, last = 0;
};

class Plan {
 public:
  // Plans all calls with the current sizes of the inputs, and sets the sizes of all other values.
  // The first time, the sizes are the largest. Returns kDelegateInvalidCompatibility with the
  // reason for a graph that breaks a rule of an operator, kDelegateMemoryAllocationFailed where a
  // limit is exceeded.
  Status build(PayloadGraph& graph, const Limits& limits);

  // The first half of build(): dispatches without places. For trials, with a plan that is not used.
  Status plan_calls(PayloadGraph& graph);

  // Where build() failed: the number of the call that broke a rule, or of all calls.
  uint32_t current_call() const { return call_; }

  // The calls whose factors are rounded to float16, in order.
  const std::vector<uint32_t>& rounding() const { return rounding_; }

  // Whether a value is stored as float16.
  bool is_half(ValueId value) const { return places_[places_[value].root].is_half; }

  const std::vector<Dispatch>& dispatches() const { return dispatches_; }
  // Indexed by ValueId; temporary tensors follow those of the graph.
  const std::vector<Place>& places() const { return places_; }
  uint64_t arena_bytes() const { return arena_bytes_; }
  uint64_t constant_bytes() const { return constant_bytes_; }
  uint64_t state_bytes() const { return state_bytes_; }
  // Of constants that are needed only until the dispatches have run that run once.
  uint64_t loading_bytes() const { return loading_bytes_; }
  // The most bytes of the arena that are in use at one call: no plan needs less.
  uint64_t arena_bound() const { return arena_bound_; }

 private:
  friend class Call;
  struct Temporary {
    uint32_t call;
    uint64_t bytes;  // With the largest sizes.
    bool is_shared;  // By calls; others are taken in order, and again by plans for other sizes.
  };
  // A tensor that is stored when a call needs it so: until then, calls walk through its source.
  struct OpenView {
    bool is_open = false, was_open = false;  // In this plan; in the first one.
    bool is_output = false;
    bool is_stored = false;           // In this plan, too.
    uint32_t stored_at = UINT32_MAX;  // The call for which the first plan stores it.
    ValueId whole = 0;                // What it is a view of, which may be a view,
    ValueId source = 0;               // and what that walks through.
    int64_t offset = 0;
    Dims strides;
  };
  using SharedKey = std::tuple<ValueId, int64_t, int64_t>;  // The constant, its form, elements.

  // A tensor in another width: what it is stored as, and how many elements of it are, in this plan.
  struct OtherWidth {
    ValueId made;
    int64_t filled;
  };

  struct StateView {
    ValueId root, view;
  };

  void place_values(PayloadGraph& graph);
  void note_use(ValueId value);
  size_t& skip_shared();
  void find_constants(const PayloadGraph& graph);
  void find_loading(const PayloadGraph& graph);
  void find_uses(const PayloadGraph& graph);
  // Whether what a view of a state shows is read after it is written over.
  bool outlives(ValueId view, ValueId state) const;
  // Views of a state that is written show what is not there any more.
  void forget_views(ValueId state);
  void assign_offsets(const PayloadGraph& graph, const Limits& limits);
  bool conflict(const Dispatch& one, const Dispatch& two) const;
  void find_barriers(bool once);
  Status check(const Limits& limits) const;
  const Place& root_of(ValueId value) const { return places_[places_[value].root]; }

  std::vector<Dispatch> dispatches_;
  std::vector<Place> places_;
  std::vector<uint8_t> defined_;
  std::vector<StateView> state_views_;
  std::vector<uint32_t> last_reads_;                 // Of each value of the graph: the call.
  std::vector<std::vector<uint32_t>> state_writes_;  // Of each value of the graph: the calls.
  std::vector<OpenView> views_;
  std::vector<Temporary> temporaries_;     // In the order of calls.
  std::map<SharedKey, ValueId> shared_;    // Temporaries that calls share.
  std::map<ValueId, OtherWidth> halves_;   // As float16, by the root of the tensor.
  std::map<ValueId, OtherWidth> widened_;  // Those of float16 as float32, likewise.
  size_t next_temporary_ = 0;
  std::vector<uint32_t> rounding_;
  std::vector<int64_t> choices_;  // Of each call: what it decided with the largest sizes.
  Limits limits_;
  uint32_t call_ = 0;  // The one that is planned.
  bool is_placed_ = false;
  bool is_late_ = false;  // A tensor is used when its memory is another's.
  uint64_t arena_bytes_ = 0, constant_bytes_ = 0, loading_bytes_ = 0, state_bytes_ = 0;
  uint64_t arena_bound_ = 0;
};

}  // namespace taper::vulkan
