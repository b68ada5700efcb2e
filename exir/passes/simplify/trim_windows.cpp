// The dimensions of a window are independent: each is cut to a range of its taps.

#include "exir/passes/simplify/trim_windows.h"

#include <cstring>
#include <optional>

#include "exir/ir/rewrite.h"
#include "exir/ir/scales.h"

namespace taper::exir {
namespace {

// A convolution along one dimension, and the range of taps that it keeps.
struct Axis {
  int64_t in, out, kernel, stride, padding, dilation;
  int64_t first = 0, count = 0;

  // Whether any result reads a pixel of the image through the tap: the first that lies at or behind
  // the start of the image.
  bool reads(int64_t tap) const {
    const int64_t start = padding - tap * dilation;
    const int64_t y = start > 0 ? (start + stride - 1) / stride : 0;
    return y < out && y * stride - start < in;
  }

  // Whether the taps [begin, end) with an equal padding of both ends give all results.
  bool may_keep(int64_t begin, int64_t end) const {
    const int64_t before = padding - begin * dilation;
    const int64_t room = in + 2 * before - dilation * (end - begin - 1) - 1;
    return before >= 0 && room >= 0 && room / stride + 1 == out;
  }

  void trim() {
    int64_t begin = 0, end = kernel;
    while (begin < end && !reads(begin)) ++begin;
    while (end > begin && !reads(end - 1)) --end;
    count = kernel;
    if (begin == end) return;  // All results are the bias.
    for (int64_t b = begin; b >= 0; --b) {
      for (int64_t e = end; e <= kernel; ++e) {
        if (e - b >= count || !may_keep(b, e)) continue;
        first = b;
        count = e - b;
      }
    }
  }
};

// What the arithmetic above neither overflows with nor takes long for.
constexpr int64_t kMost = int64_t{1} << 20, kMostTaps = 1024;

// The dimensions of a convolution; nothing if they are unknown or out of range.
std::optional<std::vector<Axis>> axes_of(const Node& node) {
  const TensorType &x = node.arg("input").value()->type, &y = node.outputs[0]->type;
  const TensorType& weight = node.arg("weight").value()->type;
  const size_t rank = x.rank();
  const auto lists = {to_ints(node.arg("stride")), to_ints(node.arg("padding")),
                      to_ints(node.arg("dilation"))};
  std::vector<Axis> axes;
  for (size_t d = 2; d < rank; ++d) {
    std::vector<int64_t> numbers;
    for (const TensorType* type : {&x, &y, &weight}) {
      if (!type->sizes[d].is_int()) return std::nullopt;
      numbers.push_back(type->sizes[d].as_int());
    }
    for (const std::vector<int64_t>& list : lists) {
      if (list.size() != 1 && list.size() != rank - 2) return std::nullopt;
      numbers.push_back(list[list.size() == 1 ? 0 : d - 2]);
    }
    for (size_t i = 0; i < numbers.size(); ++i) {
      const bool may_be_zero = i == 4;
      if (numbers[i] < (may_be_zero ? 0 : 1) || numbers[i] > kMost) return std::nullopt;
    }
    if (numbers[2] > kMostTaps) return std::nullopt;
    axes.push_back({numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]});
  }
  return axes;
}

// The numbers of the elements that are kept, in their order.
std::vector<size_t> kept_elements(size_t filters, const std::vector<Axis>& axes) {
  std::vector<size_t> kept(filters);
  for (size_t i = 0; i < filters; ++i) kept[i] = i;
  for (const Axis& axis : axes) {
    std::vector<size_t> next;
    for (const size_t at : kept) {
      for (int64_t tap = axis.first; tap < axis.first + axis.count; ++tap) {
        next.push_back(at * static_cast<size_t>(axis.kernel) + static_cast<size_t>(tap));
      }
    }
    kept = std::move(next);
  }
  return kept;
}

Value* trimmed_weight(Graph& graph, const Value& weight, const std::vector<Axis>& axes) {
  TensorType type = weight.type;
  const size_t filters = static_cast<size_t>(type.sizes[0].as_int() * type.sizes[1].as_int());
  for (size_t d = 0; d < axes.size(); ++d) type.sizes[d + 2] = Sym(axes[d].count);
  const std::vector<size_t> kept = kept_elements(filters, axes);
  Value* made;
  if (weight.scales != nullptr) {
    made = new_constant(graph, weight.name + "_trimmed", type, reordered(*weight.scales, kept));
  } else {
    const size_t width = element_size(type.dtype);
    std::vector<uint8_t> bytes(kept.size() * width);
    for (size_t i = 0; i < kept.size(); ++i) {
      std::memcpy(&bytes[i * width], weight.data.data + kept[i] * width, width);
    }
    made = graph.new_constant(weight.name + "_trimmed", type, own_bytes(std::move(bytes)));
  }
  if (!weight.fqn.empty()) made->fqn = weight.fqn + "." + made->name;
  return made;
}

bool has_plain_weight(const Node& node) {
  if (!node.is("aten::convolution") || node.arg("transposed").to_bool()) return false;
  const Argument& arg = node.arg("weight");
  if (!arg.is_value() || arg.value()->role != ValueRole::kConstant) return false;
  const Value& weight = *arg.value();
  if (!weight.type.is_static() || !weight.type.is_contiguous()) return false;
  const bool has_elements = weight.scales != nullptr || weight.data.data != nullptr;
  return has_elements && weight.type.rank() >= 3 &&
         weight.type.rank() == node.arg("input").value()->type.rank();
}

Argument list_of(const std::vector<Axis>& axes, int64_t Axis::*member) {
  Argument::List items;
  for (const Axis& axis : axes) items.push_back(axis.*member);
  return items;
}

bool trim(const Node& node, Rewriter& rewriter) {
  if (!has_plain_weight(node)) return false;
  auto axes = axes_of(node);
  if (!axes) return false;
  bool any = false;
  for (Axis& axis : *axes) {
    axis.trim();
    any = any || axis.count < axis.kernel;
  }
  if (!any) return false;
  std::vector<Argument> args = node.args;
  args[1] = trimmed_weight(rewriter.graph(), *node.arg("weight").value(), *axes);
  for (Axis& axis : *axes) {
    axis.padding -= axis.first * axis.dilation;
    if (axis.count == 1) axis.dilation = 1;
  }
  args[3] = list_of(*axes, &Axis::stride);
  args[4] = list_of(*axes, &Axis::padding);
  args[5] = list_of(*axes, &Axis::dilation);
  Value* result = rewriter.emit(node.target(), args, {node.outputs[0]->type})[0];
  result->producer->name = node.name;
  rewriter.replace(node.outputs[0], result);
  return true;
}

}  // namespace

int trim_windows(Graph& graph) {
  const int trimmed =
      rewrite(graph, [](Node& node, Rewriter& rewriter) { return trim(node, rewriter); });
  if (trimmed != 0) erase_dead(graph);
  return trimmed;
}

}  // namespace taper::exir
