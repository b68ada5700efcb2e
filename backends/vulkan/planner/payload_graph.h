// A payload, read and checked: values, and calls of operators in order.
//
//     header     "VH00", where the two parts are         PayloadGraph    values   %0 tensor f32[1, 8]
//     graph      flatbuffer "VK00"                  ->                     %1 int 1
//     constants  bytes                                            calls    aten.add.Tensor %0 %0 %1 %2
//
// Nothing in a payload is trusted. After read() every id is in range, every call has an operator of
// the table, every list is there, sizes are bounded, and constants have exactly their bytes. What
// an operator asks of its arguments is checked when it is planned (call.h).

#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "backends/vulkan/planner/dims.h"
#include "backends/vulkan/planner/epilogue.h"
#include "taper/scalar_type.h"
#include "taper/span.h"
#include "taper/status.h"

namespace taper::vulkan {

struct Operator;

using ValueId = uint32_t;

enum class Kind : uint8_t {
  kNone,
  kInt,
  kDouble,
  kBool,
  kText,
  kInts,
  kDoubles,
  kBools,
  kValues,
  kTensor,
  kSymInt,
};

// Only the fields of its kind are set. Spans view the payload.
struct PayloadValue {
  Kind kind = Kind::kNone;

  int64_t integer = 0;  // kInt, kBool, kSymInt (its current value).
  double real = 0;      // kDouble.
  std::string_view text;
  Span<const int64_t> ints;
  Span<const double> doubles;
  Span<const uint8_t> bools;
  Span<const int32_t> values;  // Ids.

  ScalarType dtype = ScalarType::kFloat;
  Dims dims;             // Current sizes.
  Dims limits;           // The largest sizes.
  bool is_half = false;  // The payload says float16; dtype is float32, in which it is computed.
  bool is_constant = false;
  bool is_state = false;  // A constant that calls write: `data` is what it holds at first.
  bool is_input = false;
  // Whether plans depend on the elements of this input; then these, int32 or int64, as they were
  // given for the call that is planned. Null before the first one.
  bool is_read = false;
  ScalarType given_dtype = ScalarType::kInt;
  const uint8_t* given = nullptr;
  Span<const uint8_t> data;  // Of a constant; empty if the graph was read without data.
};

struct PayloadCall {
  const Operator* op = nullptr;
  Span<const int32_t> args;  // Ids: one for each argument of the schema, then the result.
  uint32_t node_id = 0;      // As the schema has it.
  // What fuse() makes of it: it also computes the calls behind it, whose result it has; or another
  // call computes it.
  Epilogue epilogue;
  RowNorm norm;
  FactorGrid factor;  // Of the first factor.
  int32_t fused_result = -1;
  bool is_fused = false;

  // The values that it writes in place, of those that are arguments.
  Span<const int32_t> written() const;
  int32_t result() const { return fused_result < 0 ? args[args.size() - 1] : fused_result; }
};

// Where named constants are found. An error is returned from PayloadGraph::read().
class ConstantSource {
 public:
  virtual Result<Span<const uint8_t>> find(std::string_view key) const = 0;

 protected:
  ~ConstantSource() = default;
};

struct PayloadGraph {
  std::vector<PayloadValue> values;
  std::vector<PayloadCall> calls;
  std::vector<ValueId> inputs, outputs;
  // Data of float16 constants as float32, which take their place (runtime/element_words.h).
  std::vector<std::vector<float>> widened;
  std::deque<std::vector<int32_t>> made_args;  // Of calls that the payload does not have.
  bool in_half = false;  // Products take their factors as float16; not a part of the payload.
  // The name of the operator that read() did not know; empty otherwise. Views the payload.
  std::string_view unknown_operator;

  // `source` may be null: then constants have no data. `payload` and what `source` finds must
  // outlive the graph. Returns kDelegateInvalidCompatibility for a payload that breaks a rule, or
  // the error of `source`.
  Status read(Span<const uint8_t> payload, const ConstantSource* source);

  // The node, as in ProfiledStep, that gives the value `id`, which is written first by call
  // `first`; negative for an input, and if it is not known.
  int64_t node_of(ValueId id, uint32_t first) const {
    const bool is_input = id < values.size() && values[id].is_input;
    return is_input || first >= calls.size() ? -1 : int64_t{calls[first].node_id} - 1;
  }
};

}  // namespace taper::vulkan
