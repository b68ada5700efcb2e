// The lines of a tensor along one dimension, for operators that work on a line at a time: softmax,
// cumsum, argmax.

#pragma once

#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/strided.h"

namespace taper::portable {

// A line of `size` elements in a tensor, `stride` elements apart, the first of which is at `data`.
struct Line {
  const void* data;
  ScalarType type;
  int64_t stride;
  int64_t size;

  // Elements [first, first + count) as C: in the tensor itself if they are contiguous values of C,
  // otherwise converted into `buffer`.
  template <typename C>
  const C* read(int64_t first, int64_t count, C* buffer) const {
    const void* from = element(data, first * stride, type);
    if (stride == 1 && type == native_type<C>()) return static_cast<const C*>(from);
    loader<C>(type)(from, stride, count, buffer);
    return buffer;
  }
  // Where to compute the results for elements [first, ...): in the tensor itself if its elements
  // are contiguous values of C, otherwise in `buffer`. write() accepts either.
  template <typename C>
  C* target(int64_t first, C* buffer) const {
    if (stride != 1 || type != native_type<C>()) return buffer;
    return static_cast<C*>(const_cast<void*>(element(data, first, type)));
  }
  template <typename C>
  void write(int64_t first, int64_t count, const C* values) const {
    void* to = const_cast<void*>(element(data, first * stride, type));
    if (to == values) return;
    storer<C>(type)(values, count, to, stride);
  }
};

// Calls each(line of self, line of out) for all lines along `dim`, which is within the rank of self
// (0 for a 0-d tensor). REQUIRES: out has the sizes of self except along dim, where it may differ.
// If another dim of `self` has size 0 there are no lines.
template <typename Each>
void for_each_line(const Tensor& self, int64_t dim, const Tensor& out, Each&& each) {
  LoopNest nest;
  nest.operands = 2;
  Line in = {self.const_data(), self.scalar_type(), 1, 1};
  Line to = {out.const_data(), out.scalar_type(), 1, 1};
  for (uint8_t d : self.dim_order()) {
    const int64_t strides[] = {self.strides()[d], out.strides()[d]};
    if (d == dim) {
      in.stride = strides[0];
      to.stride = strides[1];
      in.size = self.size(d);
      to.size = out.size(d);
    } else {
      nest.add_loop(self.size(d), strides);
    }
  }
  nest.simplify();
  nest.for_each_run([&](const int64_t* offsets, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      Line from = in;
      Line target = to;
      from.data = element(in.data, offsets[0] + i * nest.inner_stride(0), in.type);
      target.data = element(to.data, offsets[1] + i * nest.inner_stride(1), to.type);
      each(from, target);
    }
  });
}

// Calls visit(first, count) for blocks of at most `block` that cover [0, size).
template <typename Visit>
void for_each_block(int64_t size, int64_t block, Visit&& visit) {
  for (int64_t first = 0; first < size; first += block) {
    visit(first, size - first < block ? size - first : block);
  }
}

}  // namespace taper::portable
