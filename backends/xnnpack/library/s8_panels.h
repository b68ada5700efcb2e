// What the int8 tiles of every instruction set read and write: pixels of windows, panels of packed
// weights, and results of int8 or of floats.

#pragma once

#include <cstddef>
#include <cstdint>

#include "xnnpack/microparams.h"

namespace {

template <typename T>
T* advance(T* pointer, size_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(pointer) + bytes);
}

// For each tap of a window a group of pointers, one per row. `offset` is added to them, except to
// those that equal `outside`, for which `zeros` are read.
struct Pixels {
  const int8_t** pointers;
  size_t offset;
  const int8_t* outside;
  const int8_t* zeros;

  const int8_t* at(size_t pointer) const {
    const int8_t* pixel = pointers[pointer];
    return pixel == outside ? zeros : pixel + offset;
  }
};

// One panel of packed weights.
struct Panel {
  const int32_t* biases;
  const int8_t* weights;
  const float* scales;
};

// The panels of all columns, one behind the other. A column has as many floats after its weights as
// the form of the results says.
template <size_t kColumns, typename Form>
class Panels {
 public:
  Panels(const void* weights, size_t steps)
      : first_(static_cast<const char*>(weights)),
        scales_(kColumns * (sizeof(int32_t) + steps)),
        bytes_(scales_ + kColumns * Form::kScales * sizeof(float)) {}

  size_t bytes() const { return bytes_; }

  // The panel that begins with this column.
  Panel at(size_t column) const {
    const char* begin = first_ + column / kColumns * bytes_;
    return {reinterpret_cast<const int32_t*>(begin),
            reinterpret_cast<const int8_t*>(begin) + kColumns * sizeof(int32_t),
            reinterpret_cast<const float*>(begin + scales_)};
  }

 private:
  const char* first_;
  size_t scales_;  // Where the scales of a panel begin.
  size_t bytes_;
};

// The destination of the results.
template <typename Result>
struct Place {
  Result* c;
  size_t row_bytes;
  size_t panel_bytes;
};

// Results of int8: sums times scales, rounded, plus the zero point of the results.
class Int8Form {
 public:
  using Result = int8_t;
  static constexpr size_t kScales = 1;

  explicit Int8Form(const xnn_qs8_qc8w_conv_minmax_params* params)
      : zero_point_(params->fp32_scalar.output_zero_point),
        min_(static_cast<int8_t>(params->fp32_scalar.output_min)),
        max_(params->fp32_scalar.output_max) {}

 protected:
  int16_t zero_point_;
  int8_t min_;
  int16_t max_;
};

// Results of floats; each row has its own scale and zero point.
class FloatForm {
 public:
  using Result = float;
  static constexpr size_t kScales = 2;  // A scale and a bias.

  // `next` is 1 if every row has parameters, 0 if all rows share them.
  FloatForm(const xnn_f32_minmax_params* limits, const xnn_qd8_quantization_params* rows,
            size_t next)
      : limits_(limits), rows_(rows), next_(next) {}

 protected:
  const xnn_f32_minmax_params* limits_;
  const xnn_qd8_quantization_params* rows_;
  size_t next_;
};

}  // namespace
