// A graph of XNNPACK while it is put together, and its bytes.
//
// Sizes are symbolic like those of the compiler's tensors; the payload holds their upper bounds.
// Results that nothing reads are left out when the bytes are made.

#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "backends/xnnpack/aot/size_sources.h"
#include "backends/xnnpack/schema_generated.h"
#include "exir/ir/graph.h"

namespace taper::xnnpack {

using Id = uint32_t;
inline constexpr Id kNone = UINT32_MAX;
using Dims = std::vector<exir::Sym>;

struct Window {
  // Top, right, bottom, left.
  uint32_t padding[4] = {0, 0, 0, 0};
  uint32_t kernel[2] = {1, 1};
  uint32_t stride[2] = {1, 1};
  uint32_t dilation[2] = {1, 1};
  uint32_t adjustment[2] = {0, 0};
  uint32_t groups = 1, group_in = 1, group_out = 1;
};

struct NodeSpec {
  wire::NodeContent kind = wire::NodeContent::NONE;
  std::vector<Id> inputs;
  Id output = kNone;
  uint32_t flags = 0;
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
  float number = 0;  // Slope, alpha, padding value.
  std::vector<uint32_t> list,
      list2;  // Permutation, sizes, offsets, paddings; new height and width.
  Window window;
  std::vector<wire::SizeSource> sources;  // Of a reshape with several open sizes; made last.
};

// Of a tensor of whole numbers. x is (number - zero_point) * scale.
struct Quantization {
  wire::DataType type = wire::DataType::FP32;  // This: none.
  float scale = 0;
  int32_t zero_point = 0;
  std::vector<float> scales;  // One for each place along a dimension, instead; of constants.
  uint32_t dim = 0;
  int32_t group = 0;  // If not 0: one for so many elements of a row.

  bool operator==(const Quantization&) const = default;
};

struct ValueSpec {
  Dims dims;
  uint32_t constant = 0;
  bool is_input = false, is_output = false, is_read = false;
  uint32_t external = kNone;
  int64_t maker = -1;
  Quantization quantization;
  std::shared_ptr<const exir::Scales> made_from;  // Of a constant of floats that were bytes.
};

// What the bytes are made from.
struct NodeList {
  std::vector<ValueSpec> values;
  std::vector<NodeSpec> nodes;
  std::vector<exir::TensorData> constants;  // Number n is at n - 1.

  Id add_constant(Dims dims, exir::TensorData data);
  // Says of reshapes with several open sizes where these come from. Throws Failure if it cannot.
  void find_size_sources(const std::vector<bool>& live);
  // Puts these off as long as possible: each ends what XNNPACK computes in a row.
  void postpone_open_reshapes();
  // Those that results of the call depend on.
  std::vector<bool> live_nodes() const;
};

class PayloadWriter {
 public:
  explicit PayloadWriter(const exir::SymRanges& ranges) : ranges_(ranges) {}

  // A tensor that comes with the call; in the order of these calls.
  Id add_input(Dims dims);
  Id add_constant(Dims dims, exir::TensorData data);
  Id add_number(float value);
  // A result of `spec`, which becomes a node.
  Id add(NodeSpec spec, Dims dims);
  // Makes the result one of the call's, after all inputs; in the order of these calls.
  void set_output(Id id);

  // How the bytes of an input are to be read.
  void set_quantization(Id id, Quantization how) { list_.values[id].quantization = std::move(how); }
  void set_made_from(Id id, std::shared_ptr<const exir::Scales> scales) {
    list_.values[id].made_from = std::move(scales);
  }
  const Dims& dims(Id id) const { return list_.values[id].dims; }
  bool is_constant(Id id) const { return list_.values[id].constant != 0; }
  const exir::TensorData& data(Id id) const {
    return list_.constants[list_.values[id].constant - 1];
  }
  bool may_be_output(Id id) const {
    return list_.values[id].maker >= 0 && !list_.values[id].is_output;
  }
  // Whether a reshape to these sizes can say where they come from.
  bool knows_sizes(const Dims& dims) const { return known_.sources(dims).has_value(); }
  // True if a node reads it.
  bool is_read(Id id) const { return list_.values[id].is_read; }
  // The node that makes the value; null if none does.
  NodeSpec* maker(Id id);

  exir::Delegate finish();

 private:
  const exir::SymRanges& ranges_;
  NodeList list_;
  KnownSizes known_;
  uint32_t extern_count_ = 0;
};

}  // namespace taper::xnnpack
