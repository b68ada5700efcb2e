// Reads a value of a payload: its type, sizes, quantisation and, for a constant, its location.

#pragma once

#include "backends/xnnpack/runtime/graph/subgraph.h"

namespace taper::xnnpack {

class ValueReader {
 public:
  // Keeps references to its first three arguments. Constants of float16 and of integers become
  // float32 if they are only stored so, as in payloads of Taper's own.
  ValueReader(const wire::XNNGraph& graph, Span<const uint8_t> constants,
              const BackendInitContext& context, bool widens_constants)
      : graph_(graph),
        constants_(constants),
        context_(context),
        widens_constants_(widens_constants) {}

  // `id` is the index of the value, by which nodes refer to it.
  Status read(const wire::XValue& wire, uint32_t id, XnnValue& value) const;

 private:
  Status read_tensor(const wire::Tensor& tensor, uint32_t id, XnnValue& value) const;
  Status read_quantization(const wire::QuantizedTensor& tensor, XnnValue& value) const;
  Status read_channels(const wire::PerChannel& channels, XnnValue& value) const;
  Status read_groups(const wire::PerGroup& groups, XnnValue& value) const;
  Status read_constant(const wire::Tensor& tensor, XnnValue& value) const;
  Status read_steps(const wire::Steps& steps, XnnValue& value) const;
  Status read_half_bytes(const wire::QuantizedTensor& tensor, XnnValue& value) const;
  // The bytes of a constant of the graph by its number.
  struct Constant {
    Span<const uint8_t> bytes;
    const uint8_t* end = nullptr;  // The end of the memory that is safe to read; null if unknown.
    bool is_in_program = true;     // The program file contains the bytes.
  };
  Result<Constant> constant(uint32_t number) const;

  const wire::XNNGraph& graph_;
  Span<const uint8_t> constants_;
  const BackendInitContext& context_;
  const bool widens_constants_;
};

// Copies a constant's bytes of the file, or the numbers of float16 that they are if its type is
// float32.
Status own_constant(XnnValue& value);

// True if XNNPACK may read past the end of the page: it reads up to XNN_EXTRA_BYTES too many, which
// is safe if they are in the same page as the last byte.
bool may_be_read_past(const void* data, uint64_t bytes);

// The bytes of a constant of a type and shape; UINT64_MAX if a constant cannot have them.
uint64_t stored_bytes(wire::DataType type, const Shape& shape);

}  // namespace taper::xnnpack
