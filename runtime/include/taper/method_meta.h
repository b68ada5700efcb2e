// MethodMeta: the inputs, outputs and memory needs of a method, known before it is loaded.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "taper/evalue.h"
#include "taper/scalar_type.h"
#include "taper/span.h"
#include "taper/status.h"

namespace taper {

namespace wire {
struct ExecutionPlan;
struct Tensor;
}  // namespace wire

// A tensor as the program declares it. A view of the program file.
class TensorInfo {
 public:
  explicit TensorInfo(const wire::Tensor* wire) : wire_(wire) {}

  ScalarType scalar_type() const;
  // The upper bounds if the shape is dynamic.
  Span<const int32_t> sizes() const;
  Span<const uint8_t> dim_order() const;
  ShapeDynamism shape_dynamism() const;
  // The size in bytes at the declared sizes.
  size_t nbytes() const;
  // True if the program determines the tensor's memory: it is planned or constant. Otherwise an
  // input is bound to the caller's memory without a copy, and an output needs set_output_data().
  bool is_memory_planned() const;
  // The dotted name of a parameter or buffer; empty for other tensors.
  std::string_view name() const;

 private:
  const wire::Tensor* wire_;
};

// "aten::add" and "out"; the overload may be empty.
struct OperatorName {
  std::string_view name;
  std::string_view overload;
};

// A view of the program file. It may be copied, is valid as long as the Program, and may be used by
// any thread.
class MethodMeta {
 public:
  explicit MethodMeta(const wire::ExecutionPlan* plan) : plan_(plan) {}

  std::string_view name() const;

  // Inputs and outputs in flattened order. They return kInvalidArgument if the index is out of
  // range, kInvalidType if a tensor is asked for and it is not one.
  size_t num_inputs() const;
  Result<Tag> input_tag(size_t i) const;
  Result<TensorInfo> input_tensor_meta(size_t i) const;
  // The value that export fixed for an input that is not a tensor: None, a number or a string. Of a
  // number that varies, its value at the sample inputs.
  Result<EValue> input_value(size_t i) const;
  size_t num_outputs() const;
  Result<Tag> output_tag(size_t i) const;
  Result<TensorInfo> output_tensor_meta(size_t i) const;

  // State: tensors that persist between executions. They start with saved values, or with zeros if
  // they have none but a name.
  size_t num_attributes() const;
  Result<TensorInfo> attribute_tensor_meta(size_t i) const;

  // Memory needs in bytes. The method block must have at least method_bytes(); see taper/memory.h.
  size_t method_bytes() const;
  // The same for a device with 32-bit pointers, for programs that are compiled into firmware.
  size_t method_bytes_on_32_bits() const;
  size_t num_memory_planned_buffers() const;
  // Index 0 is the first planned buffer (memory_id 1 on the wire).
  Result<uint64_t> memory_planned_buffer_size(size_t i) const;

  // What the method runs. Each operator is listed once.
  size_t num_instructions() const;
  size_t num_operators() const;
  OperatorName operator_name(size_t i) const;     // REQUIRES: i < num_operators().
  size_t num_backends() const;                    // One per delegate; names may repeat.
  std::string_view backend_name(size_t i) const;  // REQUIRES: i < num_backends().
  bool uses_backend(std::string_view name) const;

  // How inputs and outputs were nested in Python, as PyTorch writes it; empty if unknown.
  std::string_view input_structure() const;
  std::string_view output_structure() const;

 private:
  const wire::ExecutionPlan* plan_;
};

}  // namespace taper
