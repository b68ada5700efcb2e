// A payload, read and checked. Every reference, size and parameter that XNNPACK gets is checked
// first, since XNNPACK itself trusts most of them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/xnnpack/payload_format.h"
#include "backends/xnnpack/schema_generated.h"
#include "taper/backend.h"
#include "taper/span.h"
#include "taper/status.h"

namespace taper::xnnpack {

inline constexpr uint32_t kNone = UINT32_MAX;

struct Shape {
  uint32_t rank = 0;
  uint32_t dims[kMaxRank] = {};

  uint32_t last() const { return dims[rank - 1]; }
  bool operator==(const Shape& other) const;
  bool operator!=(const Shape& other) const { return !(*this == other); }
};

// The most elements that a value may have.
inline constexpr uint64_t kMaxElements = uint64_t{1} << 32;

// The elements of a shape; UINT64_MAX if they cannot be counted.
uint64_t element_count(const Shape& shape);

// A value of the graph.
struct XnnValue {
  wire::DataType type = wire::DataType::INVALID;
  Shape declared;
  Shape shape;  // For the current sizes of the inputs.

  const uint8_t* data = nullptr;     // The bytes of a constant, as its type and shape require.
  const uint8_t* stored = nullptr;   // The bytes in the file.
  size_t stored_size = 0;            // How many; fewer than `data` has if they are float16.
  bool is_in_program = false;        // The bytes are part of the program file.
  std::unique_ptr<uint8_t[]> owned;  // Holds `data` if the bytes of the file cannot be used.

  float scale = 0;  // For the whole tensor.
  int32_t zero_point = 0;
  const float* scales = nullptr;            // One per channel.
  const uint16_t* group_scales = nullptr;   // One bfloat16 per group of a channel.
  std::unique_ptr<uint16_t[]> made_scales;  // Holds group_scales if the file has floats.
  uint32_t scale_count = 0;
  uint32_t channel_dim = 0;
  uint32_t group_size = 0;
  uint32_t nonbatch_dims = 0;  // Greater than 0 if it is quantised at run time.

  uint32_t external_id = kNone;  // The index of the argument, if it is one.
  bool is_input = false;
  bool is_output = false;
  bool is_needed = false;  // An argument, or a result on which one depends.
  bool is_known = false;   // A constant, an input, or computed by a node read so far.
  bool is_shared = false;  // An argument, or used by several stages.
  bool is_wide = false;    // Its numbers may leave the range of float16 (stages/half_parts.h).
  uint32_t xnn_id = kNone;
};

struct NodeKind;

// A node of the graph.
struct XnnNode {
  const NodeKind* kind = nullptr;
  const void* content = nullptr;  // The table of its kind in the schema.
  wire::NodeContent content_type = wire::NodeContent::NONE;
  float number = 0;  // A parameter that XNNPACK reads as a constant, such as an eps.
  uint32_t inputs[5] = {kNone, kNone, kNone, kNone, kNone};
  uint32_t output = kNone;
  uint32_t flags = 0;
  float min = 0, max = 0;
  uint32_t origin = 0;     // As the schema's debug_handle.
  bool is_needed = false;  // Its result is needed; XNNPACK aborts on nodes whose result is not.

  template <typename Table>
  const Table& as() const {
    return *static_cast<const Table*>(content);
  }
};

class Subgraph {
 public:
  // Reads the payload, which must live as long as this. `max_bytes` limits the memory of the values
  // and the packed weights. Returns kDelegateInvalidCompatibility if anything in it is invalid.
  Status read(Span<const uint8_t> payload, const BackendInitContext& context, uint64_t max_bytes);

  // The bytes of the payload that describe the graph, without its constants.
  Span<const uint8_t> description() const { return description_; }
  Span<XnnValue> values() const { return {values_.get(), value_count_}; }
  Span<const XnnNode> nodes() const { return {nodes_.get(), node_count_}; }
  // For each argument of the call, the index of its value.
  Span<const uint32_t> arguments() const { return {arguments_.get(), argument_count_}; }

  // An estimate of the memory that the graph needs: its inputs, packed constants, tables of
  // windows, and the results that are needed at once.
  uint64_t total_bytes() const;
  // The same without results.
  uint64_t fixed_bytes() const;
  // True if it may contain nodes of Taper's own kinds; then it need not be searched for patterns.
  bool is_taper() const { return is_taper_; }
  // Infers the shape of every result from those of the inputs. XNNPACK computes none that is empty.
  Status infer_shapes(bool may_be_empty = false);

 private:
  Status read_arguments(const wire::XNNGraph& graph);
  Status read_values(const wire::XNNGraph& graph, Span<const uint8_t> constants,
                     const BackendInitContext& context, uint64_t max_bytes);
  Status read_nodes(const wire::XNNGraph& graph, uint64_t max_bytes);
  Status count_owned(const XnnValue& value, uint64_t max_bytes);
  Status count_results();
  Status widen_filter(const XnnNode& node, uint64_t max_bytes);
  void find_needed();

  Span<const uint8_t> description_;
  std::unique_ptr<XnnValue[]> values_;
  std::unique_ptr<XnnNode[]> nodes_;
  std::unique_ptr<uint32_t[]> arguments_;
  size_t value_count_ = 0;
  size_t node_count_ = 0;
  size_t argument_count_ = 0;
  uint64_t results_bytes_ = 0;  // Of those that are needed at once, with the shapes of the file.
  uint64_t owned_bytes_ = 0;    // Of constants; many values may copy the same bytes of the file.
  bool is_taper_ = false;
};

inline Status refuse(const char* text) {
  return Status(Error::kDelegateInvalidCompatibility, text);
}

#define TAPER_XNNPACK_REQUIRE(condition, text) \
  do {                                         \
    if (!(condition)) return refuse(text);     \
  } while (false)

}  // namespace taper::xnnpack
