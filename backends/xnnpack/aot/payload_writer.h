// A graph for XNNPACK while it is built, and its serialisation as a payload.
//
// Sizes are symbolic like those of the compiler's tensors; the payload holds their upper bounds.
// Results that are not read are left out of the payload.

#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/xnnpack/aot/size_sources.h"
#include "backends/xnnpack/schema_generated.h"
#include "exir/ir/graph.h"

namespace taper::xnnpack {

using Id = uint32_t;
inline constexpr Id kNone = UINT32_MAX;
using Dims = std::vector<exir::Sym>;

// The parameters of a convolution or pool.
struct Window {
  // In the order top, right, bottom, left.
  uint32_t padding[4] = {0, 0, 0, 0};
  uint32_t kernel[2] = {1, 1};
  uint32_t stride[2] = {1, 1};
  uint32_t dilation[2] = {1, 1};
  uint32_t adjustment[2] = {0, 0};
  uint32_t groups = 1, group_in = 1, group_out = 1;
};

// A node of the payload.
struct NodeSpec {
  wire::NodeContent kind = wire::NodeContent::NONE;
  std::vector<Id> inputs;
  Id output = kNone;
  uint32_t flags = 0;
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
  float number = 0;  // A slope, alpha, a padding value or eps.
  // A permutation, sizes, offsets, paddings, new height and width, dimensions or groups.
  std::vector<uint32_t> list, list2;
  Window window;
  // Where the sizes of a reshape come from if several are dynamic. Filled in last.
  std::vector<wire::SizeSource> sources;
  uint32_t origin =
      0;  // The node of the part that it computes, counted from 1. Filled in by add().
  bool has_wide_weights = false;  // wide_weights.h
  // Why it computes in floats among quantised tensors. Filled in by compute_in_bytes().
  std::string why_floats;
};

// Whether nodes of this kind multiply their first argument with their second one.
bool has_weights(wire::NodeContent kind);

// The quantisation parameters of a tensor: x is (number - zero_point) * scale.
struct Quantization {
  wire::DataType type = wire::DataType::FP32;  // FP32 means that it is not quantised.
  float scale = 0;
  float inverse = 0;  // Of tensors of bytes: 1 / scale, as PyTorch rounds that of a double.
  int32_t zero_point = 0;
  std::vector<float> scales;  // Constants may have one for each index along `dim` instead.
  uint32_t dim = 0;
  int32_t group = 0;  // If not 0, each scale applies to this many elements of a row.
  // If it is quantised at run time: how many of the last dimensions share a scale.
  int32_t shared_dims = 1;

  bool operator==(const Quantization&) const = default;
};

// The integers that a constant of floats is stored as, if there are any: each run of `span` of them
// has the next scale and zero point of ValueSpec::integers, in turn.
struct StoredIntegers {
  exir::TensorData bytes;
  uint32_t span = 1;
  wire::DataType type = wire::DataType::QINT8;  // QCINT4 if half a byte has each of them.
};

// A value of the payload.
struct ValueSpec {
  Dims dims;
  uint32_t constant = 0;
  bool is_input = false, is_output = false, is_read = false;
  uint32_t external = kNone;
  int64_t maker = -1;
  Quantization quantization;
  // The integers with scales of a constant of floats, in another layout if it has data.
  std::shared_ptr<const exir::Scales> made_from;
  // The same, whatever the layout and the form of the scales, or codes; only for storing them.
  std::shared_ptr<const exir::Scales> integers;
  StoredIntegers stored;  // Filled in last.
};

// The graph that is serialised.
struct NodeList {
  std::vector<ValueSpec> values;
  std::vector<NodeSpec> nodes;
  std::vector<exir::TensorData> constants;  // Number n is at n - 1.

  Id add_constant(Dims dims, exir::TensorData data);
  // The bytes of a constant, which are computed first if it is stored as integers.
  const exir::TensorData& data(Id id);
  bool has_data(Id id) const { return constants[values[id].constant - 1].data != nullptr; }
  // Finds the sources of sizes for reshapes with several dynamic sizes. Throws Failure if it
  // cannot.
  void find_size_sources(const std::vector<bool>& live);
  // Moves these reshapes as far back as possible, since each ends a run of XNNPACK nodes.
  void postpone_open_reshapes();
  // The node that makes the value; null if none does.
  NodeSpec* maker(Id id);
  // How often each value is read by live nodes; results of the call count as read twice more.
  std::vector<uint32_t> count_reads() const;
  // For each node, whether results of the call depend on it.
  std::vector<bool> live_nodes() const;
};

class PayloadWriter {
 public:
  // With `for_executorch`, none of Taper's extensions are written.
  PayloadWriter(const exir::SymRanges& ranges, bool for_executorch)
      : ranges_(ranges), for_executorch_(for_executorch) {}

  // Adds an input of the call; inputs are numbered in the order of these calls.
  Id add_input(Dims dims);
  // With `integers`, the elements, in any order, were computed from these integers.
  Id add_constant(Dims dims, exir::TensorData data,
                  std::shared_ptr<const exir::Scales> integers = nullptr);
  Id add_number(float value);
  // Convolutions between bytes whose weights would be split (wide_weights.h) compute floats.
  void keep_weights_whole() { splits_weights_ = false; }
  // What is added next computes that node of the part, counted from 0.
  void set_origin(size_t node) { origin_ = static_cast<uint32_t>(node) + 1; }
  // Adds the node and returns its result.
  Id add(NodeSpec spec, Dims dims);
  // The same for a node that moves elements of its input: bytes stay bytes.
  Id add_move(NodeSpec spec, Dims dims);
  // Makes the value a result of the call. Results are numbered after all inputs, in the order of
  // these calls.
  void set_output(Id id);

  // Sets the quantisation parameters of a value.
  void set_quantization(Id id, Quantization how) { list_.values[id].quantization = std::move(how); }
  void set_made_from(Id id, std::shared_ptr<const exir::Scales> scales) {
    list_.values[id].made_from = std::move(scales);
  }
  const std::shared_ptr<const exir::Scales>& integers(Id id) const {
    return list_.values[id].integers;
  }
  const Dims& dims(Id id) const { return list_.values[id].dims; }
  bool is_constant(Id id) const { return list_.values[id].constant != 0; }
  const exir::TensorData& data(Id id) { return list_.data(id); }
  bool may_be_output(Id id) const {
    return list_.values[id].maker >= 0 && !list_.values[id].is_output;
  }
  // Whether the device can compute the sizes of a reshape to these dimensions.
  bool knows_sizes(const Dims& dims) const { return known_.sources(dims).has_value(); }
  // Whether a reshape of the value to these dimensions fits for the upper bounds of sizes, too.
  bool fits_upper_bounds(Id id, const Dims& dims) const;
  // True if a node reads it.
  bool is_read(Id id) const { return list_.values[id].is_read; }
  // The node that makes the value; null if none does.
  NodeSpec* maker(Id id) { return list_.maker(id); }

  // Writes the payload.
  exir::Delegate finish();

 private:
  const exir::SymRanges& ranges_;
  const bool for_executorch_;
  bool splits_weights_ = true;
  uint32_t origin_ = 0;
  NodeList list_;
  KnownSizes known_;
  uint32_t extern_count_ = 0;
};

}  // namespace taper::xnnpack
