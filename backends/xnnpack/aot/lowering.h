// The interface for the rules of the operator table: the tensors of a part as values of the
// payload, in the layouts that have been requested so far.
//
// A tensor of rank 3, 4 or 5 may exist twice: plain, in PyTorch's layout ([n, c, h, w]), and as an
// image, channels last ([n, h, w, c]). If a rule requests the other layout, the tensor is
// transposed once. So a sequence of convolutions stays channels last, and an operator that works in
// either layout uses the existing one.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "backends/xnnpack/aot/payload_writer.h"
#include "exir/delegate/backend_compiler.h"

namespace taper::xnnpack {

class Lowering {
 public:
  explicit Lowering(const exir::Part& part);

  PayloadWriter& out() { return out_; }
  bool for_executorch() const { return part_.for_executorch; }

  // The value of a tensor in a layout.
  Id plain(const exir::Value* value);
  // REQUIRES: rank 3, 4 or 5.
  Id image(const exir::Value* value);
  // The form for nodes that broadcast: sizes are 1 in dimensions along which the tensor is
  // expanded.
  Id loose(const exir::Value* value);
  void set_loose(const exir::Value* value, Id id) { forms_[value].loose = id; }
  // True if only the loose form exists and a size to which it must be expanded is symbolic.
  bool repeats_openly(const exir::Value* value) const;
  // Weights or a bias, which XNNPACK packs. They get a separate value, since runtimes may free the
  // bytes after packing. REQUIRES: a constant.
  Id weights(const exir::Value* value);
  // True if the tensor exists as an image only.
  bool is_image(const exir::Value* value) const;

  void set_plain(const exir::Value* value, Id id) { set_like(value, false, id); }
  void set_image(const exir::Value* value, Id id) { set_like(value, true, id); }
  // Sets the plain form or the image.
  void set_like(const exir::Value* value, bool image, Id id);

  // The following add a node whose sizes are inferred from its arguments, and return its result.
  Id unary(wire::NodeContent kind, Id x);
  Id binary(wire::NodeContent kind, Id a, Id b);
  Id clamp(Id x, float min, float max);
  // Adds a node of one of Taper's own kinds, whose result has the sizes of its first input.
  // REQUIRES: not for_executorch().
  Id taper_node(wire::NodeContent kind, std::vector<Id> inputs, std::vector<uint32_t> list = {},
                float number = 0);
  // A constant is transposed at compile time, without a node.
  Id transpose(Id x, const std::vector<uint32_t>& perm);
  // Throws Failure if several sizes are symbolic and the payload is for ExecuTorch.
  Id reshape(Id x, Dims dims);
  // Takes `size` elements of a dimension from `start` on.
  Id slice(Id x, size_t dim, int64_t start, int64_t size);
  // Concatenates along a dimension.
  Id concatenated(const std::vector<Id>& ids, size_t dim);
  // Repeats x; the result is [product of sizes before `dim`, times, product of those from `dim`
  // on].
  Id copies(Id x, size_t dim, int64_t times);
  // The mean over the last `count` dimensions, which are kept with size 1.
  Id mean_of_last(Id x, size_t count);
  // Reduce over dimensions in ascending order, which are kept with size 1.
  Id mean(Id x, const std::vector<size_t>& dims);
  Id sum(Id x, const std::vector<size_t>& dims);
  // The sizes of these dimensions are fixed.
  Id largest(Id x, const std::vector<size_t>& dims);
  // Multiplies matrices [..., n, k] and [..., k, m], or [..., m, k] if b is transposed.
  Id product(Id a, Id b, bool is_transposed);
  // A linear layer. Weights are constants [out, in].
  Id connected(Id x, Id weights, Id bias);
  Id number(float value);
  Id constant(Dims dims, const std::vector<float>& values);

  // Makes the clamp the output range of the node that produces `id`, the tensor `value`, if that
  // node supports it and the tensor has no other reader. False if a separate node is needed.
  bool clamp_maker(const exir::Value* value, Id id, float min, float max);

  // The result of `make` for a tensor, which is called only once for each `what`.
  template <typename Make>
  Id once(const exir::Value* value, const std::string& what, const Make& make) {
    const auto found = made_.find({value, what});
    if (found != made_.end()) return found->second;
    const Id id = make();
    made_[{value, what}] = id;
    return id;
  }

  // Whether a node of the part that calls `target` reads a tensor.
  bool is_read_by(const exir::Value* value, std::string_view target) const;

  // How often a tensor is read, inside or outside the part.
  size_t uses(const exir::Value* value) const;

  // Leaves out a node that could not be lowered: its results become inputs of the call.
  void leave_out(const exir::Node& node);
  // Marks the part's results.
  void finish_outputs();

 private:
  struct Forms {
    Id plain = kNone, image = kNone, loose = kNone, weights = kNone;
  };

  Id first_form(const exir::Value* value);
  std::optional<Id> joined_transpose(Id x, const std::vector<uint32_t>& perm);
  bool may_be_sizes(const Dims& dims) const;
  Id repeated(Id x, const Dims& dims);
  Id pooled(Id x, const Dims& image, uint32_t flags);
  Id weighted_rows(Id x, float weight);
  Id mean_of_rows(Id x);
  Id mean_between(Id x, size_t first, size_t last);
  Id sum_between(Id x, size_t first, size_t last);
  Id largest_between(Id x, size_t first, size_t last);
  template <typename Fold>
  Id in_turns(Id x, const std::vector<size_t>& dims, const Fold& fold);

  const exir::Part& part_;
  PayloadWriter out_;
  std::unordered_map<const exir::Value*, Forms> forms_;
  std::unordered_map<const exir::Value*, size_t> uses_;
  std::unordered_map<Id, size_t> holders_;  // The number of tensors that a payload's value holds.
  std::unordered_map<float, Id> numbers_;
  std::map<std::pair<int64_t, float>, Id> row_weights_;  // By length and weight.
  std::map<std::pair<const exir::Value*, std::string>, Id> made_;
};

// True if a constant was dequantised with one scale, or with one for each index along `dim`.
bool has_scales(const exir::Value* value, size_t dim);

// The permutation from plain to channels last and back.
std::vector<uint32_t> to_image(size_t rank);
std::vector<uint32_t> to_plain(size_t rank);

// The sizes of the result of an element-wise operator.
Dims broadcast(const Dims& a, const Dims& b);

}  // namespace taper::xnnpack
