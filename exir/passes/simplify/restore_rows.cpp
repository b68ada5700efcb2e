// Goes back from each conversion to int8, step by step; see restore_rows.h.

#include "exir/passes/simplify/restore_rows.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "exir/ir/number_nodes.h"
#include "exir/ir/rewrite.h"
#include "exir/ir/scales.h"
#include "exir/ops/facts.h"
#include "exir/passes/simplify/byte_product.h"

namespace taper::exir {
namespace {

// The node that makes a value, before changes of sizes; null if none does, or if it calls another
// operator.
const Node* made_by(const Argument& arg, std::string_view target) {
  if (!arg.is_value() || arg.value()->kind != ValueKind::kTensor) return nullptr;
  const Node* node = before_views(arg.value())->producer;
  return node != nullptr && node->is(target) ? node : nullptr;
}

const Node* cast_to(const Argument& arg, ScalarType dtype) {
  for (const char* target : {"dim_order_ops::_to_dim_order_copy", "aten::_to_copy"}) {
    const Node* node = made_by(arg, target);
    if (node != nullptr && node->outputs[0]->type.dtype == dtype) return node;
  }
  return nullptr;
}

bool is_number(const Argument& arg, double expected) {
  return (arg.is<int64_t>() || arg.is<double>()) && arg.to_double() == expected;
}

// Whether an argument is a tensor of zeros, perhaps cast.
bool is_zero(const Argument& arg) {
  if (!arg.is_value()) return false;
  const Value* value = arg.value();
  const Node* cast = cast_to(arg, value->type.dtype);
  if (cast != nullptr) return is_zero(cast->arg(0));
  if (value->role == ValueRole::kConstant) {
    const TensorData data = elements_of(*value);
    return data.data != nullptr &&
           std::all_of(data.data, data.data + data.bytes, [](uint8_t byte) { return byte == 0; });
  }
  const Node* full = made_by(arg, "aten::full");
  if (full == nullptr) full = made_by(arg, "aten::full_like");
  return full != nullptr && is_number(full->arg("fill_value"), 0);
}

// A chain that has been recognised.
struct Rows {
  Value* input = nullptr;
  const Value* scale = nullptr;  // One for each row.
  const Value* bytes = nullptr;  // The zero points as int8; null if the chain is symmetric.
  int64_t least = 0, most = 0;
  double eps = 0;
  bool is_whole = false;  // One scale for all rows.
};

// Whether these are the dimensions of a tensor that are not 1.
bool are_all(const Argument::List& dims, const TensorType& type) {
  std::vector<bool> has(type.rank());
  for (const Argument& dim : dims) {
    if (!dim.is_int()) return false;
    const int64_t d =
        dim.to_int() < 0 ? dim.to_int() + static_cast<int64_t>(has.size()) : dim.to_int();
    if (d < 0 || d >= static_cast<int64_t>(has.size())) return false;
    has[static_cast<size_t>(d)] = true;
  }
  for (size_t d = 0; d < has.size(); ++d) {
    if (!has[d] && !(type.sizes[d] == Sym(1))) return false;
  }
  return !dims.empty();
}

// `x`, if the argument is the least (or greatest) element of each of its rows, or of all, or 0.
const Value* extreme_of(const Argument& arg, bool is_least, bool is_whole) {
  const Node* bound = made_by(arg, is_least ? "aten::minimum" : "aten::maximum");
  if (bound == nullptr || !is_zero(bound->arg(1))) return nullptr;
  const Node* reduced = made_by(bound->arg(0), is_least ? "aten::amin" : "aten::amax");
  if (reduced == nullptr || !reduced->arg(1).is_list()) return nullptr;
  const Value* x = reduced->arg(0).value();
  const Argument::List& dims = reduced->arg(1).list();
  if (is_whole) return are_all(dims, x->type) ? x : nullptr;
  const auto last = static_cast<int64_t>(x->type.rank()) - 1;
  if (dims.size() != 1 || !dims[0].is_int()) return nullptr;
  return dims[0].to_int() == last || dims[0].to_int() == -1 ? x : nullptr;
}

// Whether the two are the same tensor in the same rows.
bool are_same_rows(const Value* a, const Value* b) {
  return a == b || (a != nullptr && b != nullptr && a->type == b->type &&
                    before_views(const_cast<Value*>(a)) == before_views(const_cast<Value*>(b)));
}

// Whether the scale is that of the rows of `rows.input`; fills in eps. `symmetric` chains divide
// the larger of the extremes.
bool is_scale(const Node& clamp, bool symmetric, Rows& rows) {
  const Argument& eps = clamp.arg(1);
  const bool bounds_below = (eps.is<int64_t>() || eps.is<double>()) && clamp.arg(2).is_none();
  if (!clamp.is("aten::clamp") || !bounds_below) return false;
  rows.eps = clamp.arg(1).to_double();
  const Node* quotient = made_by(clamp.arg(0), "aten::div.Scalar");
  const auto range = static_cast<double>(rows.most - rows.least);
  if (quotient == nullptr || !is_number(quotient->arg(1), symmetric ? range / 2 : range)) {
    return false;
  }
  if (symmetric) {
    const Node* larger = made_by(quotient->arg(0), "aten::maximum");
    const Node* least = larger == nullptr ? nullptr : made_by(larger->arg(0), "aten::neg");
    return least != nullptr &&
           are_same_rows(extreme_of(least->arg(0), true, rows.is_whole), rows.input) &&
           are_same_rows(extreme_of(larger->arg(1), false, rows.is_whole), rows.input);
  }
  const Node* width = made_by(quotient->arg(0), "aten::sub.Tensor");
  return width != nullptr && is_number(width->arg("alpha"), 1) &&
         are_same_rows(extreme_of(width->arg(0), false, rows.is_whole), rows.input) &&
         are_same_rows(extreme_of(width->arg(1), true, rows.is_whole), rows.input);
}

// Whether the zero points, int8, are those of the scale.
bool are_zero_points(const Node& cast, const Node& scale, const Rows& rows) {
  const Node* clamp = made_by(cast.arg(0), "aten::clamp");
  if (clamp == nullptr || !is_number(clamp->arg(1), static_cast<double>(rows.least)) ||
      !is_number(clamp->arg(2), static_cast<double>(rows.most))) {
    return false;
  }
  const Node* rest = made_by(clamp->arg(0), "aten::rsub.Scalar");
  if (rest == nullptr || !is_number(rest->arg(1), static_cast<double>(rows.least)) ||
      !is_number(rest->arg(2), 1)) {
    return false;
  }
  const Node* rounded = made_by(rest->arg(0), "aten::round");
  const Node* quotient =
      rounded == nullptr ? nullptr : made_by(rounded->arg(0), "aten::div.Tensor");
  return quotient != nullptr &&
         are_same_rows(extreme_of(quotient->arg(0), true, rows.is_whole), rows.input) &&
         made_by(quotient->arg(1), "aten::clamp") == &scale;
}

// The node that makes the scale by whose reciprocal `factor` multiplies.
const Node* scale_of_reciprocal(const Argument& factor) {
  const Node* times = made_by(factor, "aten::mul.Scalar");
  if (times != nullptr && !is_number(times->arg(1), 1)) return nullptr;
  const Node* reciprocal = made_by(times == nullptr ? factor : times->arg(0), "aten::reciprocal");
  return reciprocal == nullptr ? nullptr : made_by(reciprocal->arg(0), "aten::clamp");
}

// The chain that ends in a conversion to int8; nullopt if the node is no such conversion.
std::optional<Rows> rows_of(const Node& node) {
  const Node* clamp = nullptr;
  const bool casts = node.is("dim_order_ops::_to_dim_order_copy") || node.is("aten::_to_copy");
  if (!casts || node.outputs[0]->type.dtype != ScalarType::kChar) return std::nullopt;
  clamp = made_by(node.arg(0), "aten::clamp");
  if (clamp == nullptr || !clamp->arg(1).is_int() || !clamp->arg(2).is_int()) return std::nullopt;
  Rows rows;
  rows.least = clamp->arg(1).to_int();
  rows.most = clamp->arg(2).to_int();
  const Node* sum = made_by(clamp->arg(0), "aten::add.Tensor");
  if (sum == nullptr || !is_number(sum->arg("alpha"), 1)) return std::nullopt;
  const Node* rounded = made_by(sum->arg(0), "aten::round");
  const Node* product = rounded == nullptr ? nullptr : made_by(rounded->arg(0), "aten::mul.Tensor");
  if (product == nullptr || !product->arg(0).is_value()) return std::nullopt;
  rows.input = product->arg(0).value();
  const TensorType& type = rows.input->type;
  if (type.dtype != ScalarType::kFloat || type.rank() < 2 || !type.sizes.back().is_int() ||
      !(type.sizes == product->outputs[0]->type.sizes) ||
      !(type.sizes == node.outputs[0]->type.sizes)) {
    return std::nullopt;
  }
  const Node* scale = scale_of_reciprocal(product->arg(1));
  const bool symmetric = is_zero(sum->arg(1));
  if (scale == nullptr) return std::nullopt;
  rows.is_whole = !is_scale(*scale, symmetric, rows);
  if (rows.is_whole && !is_scale(*scale, symmetric, rows)) return std::nullopt;
  rows.scale = scale->outputs[0];
  if (symmetric) return rows;
  const Node* widened = cast_to(sum->arg(1), ScalarType::kFloat);
  const Node* bytes = widened == nullptr ? nullptr : cast_to(widened->arg(0), ScalarType::kChar);
  if (bytes == nullptr || !are_zero_points(*bytes, *scale, rows)) return std::nullopt;
  rows.bytes = bytes->outputs[0];
  return rows;
}

class RowRestorer {
 public:
  bool visit(Node& node, Rewriter& rewriter) {
    if (node.is("aten::view_copy")) {
      views_[before_views(node.outputs[0])].push_back(node.outputs[0]);
      return false;
    }
    if (const auto rows = rows_of(node)) return quantise(node, *rows, rewriter);
    return node.is("aten::mul.Tensor") && dequantise(node, rewriter);
  }

 private:
  struct Made {
    Rows rows;
    Argument block;
    Value *scale = nullptr, *zero_point = nullptr;
  };

  bool quantise(Node& node, const Rows& rows, Rewriter& rewriter) {
    Made made;
    made.rows = rows;
    const TensorType& type = rows.input->type;
    TensorSizes block(type.rank(), Sym(1));
    block.back() = type.sizes.back();
    made.block = size_arguments(rewriter, rows.is_whole ? type.sizes : block, rows.input);
    const TensorSizes& sizes = rows.scale->type.sizes;
    const bool keeps_dim = sizes.size() == type.rank();
    const std::vector<Value*> chosen = rewriter.emit(
        "torchao::choose_qparams_affine",
        {rows.input, std::string(rows.bytes == nullptr ? "SYMMETRIC" : "ASYMMETRIC"), made.block,
         ScalarType::kChar, rows.least, rows.most, rows.eps, ScalarType::kFloat, ScalarType::kChar,
         keeps_dim},
        {TensorType(ScalarType::kFloat, sizes), TensorType(ScalarType::kChar, sizes)});
    made.scale = chosen[0];
    made.zero_point = chosen[1];
    Value* integers = rewriter.emit("torchao::quantize_affine",
                                    {rows.input, made.block, made.scale, made.zero_point,
                                     ScalarType::kChar, rows.least, rows.most},
                                    {node.outputs[0]->type})[0];
    // Later readers of the scales and zero points themselves, such as products of integers.
    replace_with_views(rows.scale, made.scale, rewriter);
    if (rows.bytes != nullptr) replace_with_views(rows.bytes, made.zero_point, rewriter);
    rewriter.replace(node.outputs[0], integers);
    made_[integers] = std::move(made);
    return true;
  }

  // Replaces a value, and those of its views that have the same sizes.
  void replace_with_views(const Value* value, Value* made, Rewriter& rewriter) {
    rewriter.replace(const_cast<Value*>(value), made);
    for (Value* view : views_[value]) {
      if (view->type == made->type) rewriter.replace(view, made);
    }
  }

  // Whether an argument is the scale of the chain, or what has replaced it.
  static bool is_scale_of(const Argument& arg, const Made& made) {
    const Value* scale = arg.is_value() ? before_views(arg.value()) : nullptr;
    return scale != nullptr && (scale == made.rows.scale || scale == made.scale);
  }

  static bool is_zero_point_of(const Argument& arg, const Made& made) {
    const Value* points = arg.is_value() ? before_views(arg.value()) : nullptr;
    return points != nullptr && (points == made.rows.bytes || points == made.zero_point);
  }

  // (float(q) - float(z)) * s, or float(q) * s.
  bool dequantise(Node& node, Rewriter& rewriter) {
    const Node* difference = made_by(node.arg(0), "aten::sub.Tensor");
    const Node* widened =
        cast_to(difference == nullptr ? node.arg(0) : difference->arg(0), ScalarType::kFloat);
    if (widened == nullptr || !widened->arg(0).is_value()) return false;
    const auto found = made_.find(before_views(widened->arg(0).value()));
    if (found == made_.end() || !is_scale_of(node.arg(1), found->second)) return false;
    const Made& made = found->second;
    if (!(found->first->type.sizes == node.outputs[0]->type.sizes)) return false;
    if (difference != nullptr && !is_number(difference->arg("alpha"), 1)) return false;
    if (made.rows.bytes == nullptr) {
      if (difference != nullptr && !is_zero(difference->arg(1))) return false;
    } else {
      const Node* points =
          difference == nullptr ? nullptr : cast_to(difference->arg(1), ScalarType::kFloat);
      if (points == nullptr || !is_zero_point_of(points->arg(0), made)) return false;
    }
    Value* floats = rewriter.emit("torchao::dequantize_affine",
                                  {found->first, made.block, made.scale, made.zero_point,
                                   ScalarType::kChar, made.rows.least, made.rows.most},
                                  {node.outputs[0]->type})[0];
    rewriter.replace(node.outputs[0], floats);
    return true;
  }

  std::unordered_map<Value*, Made> made_;                        // By the integers.
  std::unordered_map<const Value*, std::vector<Value*>> views_;  // Those of a value so far.
};

}  // namespace

int restore_rows(Graph& graph) {
  RowRestorer restorer;
  const int count = rewrite(
      graph, [&](Node& node, Rewriter& rewriter) { return restorer.visit(node, rewriter); });
  if (count != 0) erase_dead(graph);
  return count;
}

}  // namespace taper::exir
