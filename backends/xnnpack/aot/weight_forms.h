// The forms in which XNNPACK's layers take weights of integers.

#pragma once

#include <optional>
#include <vector>

#include "backends/xnnpack/aot/payload_writer.h"

namespace taper::xnnpack {

enum class WeightForm {
  kBytes,           // 8 bits, a scale for each channel.
  kHalfBytes,       // 4 bits, a scale for each channel.
  kHalfByteGroups,  // 4 bits, a scale for each group of a row, if the input is quantised by rows.
};

// The form of a matrix [out, in]; nullopt if XNNPACK has no kernel for one that fits.
// `by_rows` says whether the input is quantised at run time, row by row.
std::optional<WeightForm> form_of(const exir::Scales& scales, const Dims& dims, bool by_rows);

// Adds the weights to the payload. REQUIRES: `form` is that of the matrix.
Id add_weights(NodeList& list, const exir::Scales& scales, const Dims& dims, WeightForm form);

// Replaces the weights and biases of layers, floats that were made of integers, by integers.
class ByteWeights {
 public:
  // Keeps the list, to which constants are added.
  explicit ByteWeights(NodeList& list) : list_(list) {}

  // Takes the weights of a layer of floats, or of rows that are quantised at run time, as integers,
  // and its filter, whose scales then are of channels; the bias stays floats. False if there is no
  // such form.
  bool take_packed(NodeSpec& node, bool by_rows);
  bool take_filter(NodeSpec& node);

  // Replaces the weights and the bias in `inputs`, the first of which is bytes, by integers, for
  // results in steps of `out`; false if they cannot be represented.
  bool take_weights(const NodeSpec& node, std::vector<Id>& inputs, double out);

  // A constant of integers with one step, of type `one`, or with several along `dim`.
  Id with_steps(const Dims& dims, exir::TensorData integers, const std::vector<float>& steps,
                uint32_t dim, wire::DataType one, wire::DataType several);

 private:
  ValueSpec& value(Id id) { return list_.values[id]; }
  double scale(Id id) { return value(id).quantization.scale; }
  Id divided(Id bias, const std::vector<float>& scales);
  bool keeps_bias(Id bias, const std::vector<float>& steps, double out);
  std::optional<Id> in_bytes(Id id, const exir::Scales& made, uint32_t dim);
  template <typename T>
  std::optional<Id> in_steps(Id id, const std::vector<float>& steps, uint32_t dim,
                             wire::DataType one, wire::DataType several);

  NodeList& list_;
};

}  // namespace taper::xnnpack
