// Goes back from the last node, step by step; see byte_product.h.

#include "exir/passes/simplify/byte_product.h"

#include <cstring>

#include "exir/ops/facts.h"

namespace taper::exir {
namespace {

const Node* made_by(const Argument& arg, std::string_view target) {
  if (!arg.is_value() || arg.value()->kind != ValueKind::kTensor) return nullptr;
  const Node* node = arg.value()->producer;
  return node != nullptr && node->is(target) ? node : nullptr;
}

bool is_constant(const Argument& arg) {
  return arg.is_value() && arg.value()->role == ValueRole::kConstant;
}

// The operand of a conversion to a dtype; null for other values.
const Argument* converted(const Argument& arg, ScalarType dtype) {
  if (!arg.is_value() || arg.value()->type.dtype != dtype) return nullptr;
  const Node* node = arg.value()->producer;
  if (node == nullptr) return nullptr;
  const bool is_cast = node->is("aten::_to_copy") || node->is("dim_order_ops::_to_dim_order_copy");
  return is_cast ? &node->arg(0) : nullptr;
}

// int8 from which 128 more were made as uint8; null if it was not so.
Value* unshifted(const Argument& arg) {
  const Argument* sum = converted(arg, ScalarType::kByte);
  const Node* add = sum == nullptr ? nullptr : made_by(*sum, "aten::add.Scalar");
  if (add == nullptr || !add->arg(1).is_int() || add->arg(1).to_int() != 128 ||
      add->arg(2).to_double() != 1) {
    return nullptr;
  }
  const Argument* bytes = converted(add->arg(0), ScalarType::kInt);
  if (bytes == nullptr || bytes->value()->type.dtype != ScalarType::kChar) return nullptr;
  return bytes->value();
}

// Whether the numbers, of type T, are the sums of the columns of a matrix of int8, times a factor.
template <typename T>
bool are_sums(const Argument& numbers, ScalarType dtype, const Value& matrix, int32_t factor) {
  if (!is_constant(numbers)) return false;
  const Value& given = *numbers.value();
  const auto rows = static_cast<size_t>(matrix.type.sizes[0].as_int());
  const auto columns = static_cast<size_t>(matrix.type.sizes[1].as_int());
  if (given.type.dtype != dtype || !given.type.is_contiguous() ||
      given.data.bytes != columns * sizeof(T)) {
    return false;
  }
  std::vector<int32_t> sums(columns);
  for (size_t i = 0; i < rows * columns; ++i) {
    sums[i % columns] += static_cast<int8_t>(matrix.data.data[i]);
  }
  for (size_t i = 0; i < columns; ++i) {
    T number;
    std::memcpy(&number, given.data.data + i * sizeof(number), sizeof(number));
    if (number != static_cast<T>(factor * sums[i])) return false;
  }
  return true;
}

bool is_matrix_of_bytes(const Argument& arg) {
  return is_constant(arg) && arg.value()->type.dtype == ScalarType::kChar &&
         arg.value()->type.rank() == 2 && arg.value()->type.is_contiguous();
}

// One number for each of `count`, or one for all.
bool are_factors(const Value* factors, const Sym& count) {
  const TensorType& type = factors->type;
  if (type.dtype == ScalarType::kFloat && type.numel() == Sym(1)) return true;
  return type.dtype == ScalarType::kFloat && type.rank() >= 1 && type.rank() <= 2 &&
         type.sizes.back() == count && type.numel() == count && type.is_contiguous();
}

// Fills in the zero points of a layer whose weights and scales are known, if `arg` is what they add
// to each of its results: cast(%z, float32) * %s * sums of %w.
bool find_zero_points(const Argument& arg, ByteProduct& found) {
  const Node* shift = made_by(arg, "aten::mul.Tensor");
  const Node* scaled = shift == nullptr ? nullptr : made_by(shift->arg(0), "aten::mul.Tensor");
  if (scaled == nullptr || !scaled->arg(1).is_value()) return false;
  const Argument* points = converted(scaled->arg(0), ScalarType::kFloat);
  if (points == nullptr || !(points->value()->type.sizes == found.scales->type.sizes) ||
      before_views(scaled->arg(1).value()) != before_views(found.scales) ||
      !are_sums<float>(shift->arg(1), ScalarType::kFloat, *found.weights, 1)) {
    return false;
  }
  found.zero_points = points->value();
  return true;
}

}  // namespace

std::optional<ByteProduct> byte_product_of(const Node& node) {
  if (!node.is("aten::mul.Tensor") || !is_constant(node.arg(1))) return std::nullopt;
  const Node* difference = made_by(node.arg(0), "aten::sub.Tensor");
  if (difference != nullptr && difference->arg("alpha").to_double() != 1) return std::nullopt;
  const Node* scaled =
      made_by(difference == nullptr ? node.arg(0) : difference->arg(0), "aten::mul.Tensor");
  if (scaled == nullptr || !scaled->arg(1).is_value()) return std::nullopt;
  const Argument* sums = converted(scaled->arg(0), ScalarType::kFloat);
  if (sums == nullptr) return std::nullopt;
  const Node* shift = made_by(*sums, "aten::sub.Tensor");
  const Node* product = made_by(shift == nullptr ? *sums : shift->arg(0), "aten::_int_mm");
  if (product == nullptr || !is_matrix_of_bytes(product->arg(1))) return std::nullopt;
  ByteProduct found;
  found.weights = product->arg(1).value();
  found.scales = scaled->arg(1).value();
  found.factors = node.arg(1).value();
  if (shift == nullptr) {
    found.integers = product->arg(0).value();
  } else if (shift->arg(2).to_double() == 1 &&
             are_sums<int32_t>(shift->arg(1), ScalarType::kInt, *found.weights, 128)) {
    found.integers = unshifted(product->arg(0));
  }
  if (found.integers == nullptr || found.integers->type.dtype != ScalarType::kChar) {
    return std::nullopt;
  }
  const std::vector<Sym> rows = {found.integers->type.sizes.at(0), Sym(1)};
  const bool has_rows = found.scales->type == TensorType(ScalarType::kFloat, rows);
  const bool has_one = found.scales->type == TensorType(ScalarType::kFloat, {Sym(1), Sym(1)});
  const bool fits = (has_rows || has_one) &&
                    are_factors(found.factors, found.weights->type.sizes[1]) &&
                    (difference == nullptr || find_zero_points(difference->arg(1), found));
  return fits ? std::optional(found) : std::nullopt;
}

Value* before_views(Value* value) {
  while (value->producer != nullptr && facts_of(value->producer->target()).is(kReshapes) &&
         value->producer->arg(0).is_value()) {
    value = value->producer->arg(0).value();
  }
  return value;
}

}  // namespace taper::exir
