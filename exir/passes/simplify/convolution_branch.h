// A convolution with constant weights as one of several branches that may become one convolution.

#pragma once

#include <cstdint>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// Whether the argument is a constant whose elements lie in order, and not those of integers with
// scales.
bool is_plain_constant(const Argument& arg);

struct ConvolutionBranch {
  using Sizes = std::vector<int64_t>;

  const Node* node = nullptr;
  const Value* weight = nullptr;
  const Value* bias = nullptr;  // Null: none.
  int64_t groups = 0, outs = 0, group_ins = 0;
  Sizes window, stride, padding, dilation;

  // Reads an aten::convolution; false if it is transposed or its weights are no plain constants.
  bool read(const Node& convolution);

  int64_t taps() const;

  // Whether both can be groups of one convolution, apart from their windows.
  bool agrees_with(const ConvolutionBranch& other) const;

  // Whether the window is one of another, larger branch with taps left out on all sides.
  bool fits_into(const ConvolutionBranch& other) const;

  // For each row of window.back() taps that follow one another in both: visit(from, to) with the
  // places of the first one among the weights, and among those of a branch that this fits into.
  template <typename Visit>
  void for_rows(const ConvolutionBranch& other, const Visit& visit) const {
    const size_t dims = window.size();
    const int64_t row = window[dims - 1];
    for (int64_t from = 0; from < outs * group_ins * taps(); from += row) {
      int64_t rest = from % taps() / row, step = other.window[dims - 1];
      int64_t place = from / taps() * other.taps() + (step - row) / 2;
      for (size_t d = dims - 1; d-- > 0;) {
        place += (rest % window[d] + (other.window[d] - window[d]) / 2) * step;
        rest /= window[d];
        step *= other.window[d];
      }
      visit(from, place);
    }
  }
};

}  // namespace taper::exir
