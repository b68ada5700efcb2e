// Aliases: operators that are another operator under an older or friendlier name.

#include <string>
#include <unordered_map>

#include "exir/decompose/rules.h"
#include "exir/ir/registry.h"

namespace taper::exir {
namespace {

const std::unordered_map<std::string_view, const char*>& names() {
  static const std::unordered_map<std::string_view, const char*> map = {
      {"absolute", "abs"},
      {"negative", "neg"},
      {"multiply.Tensor", "mul.Tensor"},
      {"multiply.Scalar", "mul.Scalar"},
      {"subtract.Tensor", "sub.Tensor"},
      {"subtract.Scalar", "sub.Scalar"},
      {"divide.Tensor", "div.Tensor"},
      {"divide.Scalar", "div.Scalar"},
      {"divide.Tensor_mode", "div.Tensor_mode"},
      {"divide.Scalar_mode", "div.Scalar_mode"},
      {"true_divide.Tensor", "div.Tensor"},
      {"true_divide.Scalar", "div.Scalar"},
      {"greater.Tensor", "gt.Tensor"},
      {"greater.Scalar", "gt.Scalar"},
      {"greater_equal.Tensor", "ge.Tensor"},
      {"greater_equal.Scalar", "ge.Scalar"},
      {"less.Tensor", "lt.Tensor"},
      {"less.Scalar", "lt.Scalar"},
      {"less_equal.Tensor", "le.Tensor"},
      {"less_equal.Scalar", "le.Scalar"},
      {"not_equal.Tensor", "ne.Tensor"},
      {"not_equal.Scalar", "ne.Scalar"},
      {"arccos", "acos"},
      {"arcsin", "asin"},
      {"arctan", "atan"},
      {"arccosh", "acosh"},
      {"arcsinh", "asinh"},
      {"arctanh", "atanh"},
      {"arctan2", "atan2"},
      {"fix", "trunc"},
      {"clip", "clamp"},
      {"clip.Tensor", "clamp.Tensor"},
      {"concat", "cat"},
      {"concatenate", "cat"},
      {"special_exp2", "exp2"},
      {"special_expm1", "expm1"},
      {"special_erf", "erf"},
      {"special_erfc", "erfc"},
      {"special_expit", "sigmoid"},
      {"special_log1p", "log1p"},
      {"special_softmax", "softmax.int"},
      {"special_log_softmax", "log_softmax.int"},
      {"swapaxes", "transpose.int"},
      {"swapdims", "transpose.int"},
      {"moveaxis.intlist", "movedim.intlist"},
      {"moveaxis.int", "movedim.int"},
      {"max.other", "maximum"},
      {"min.other", "minimum"},
      {"unsafe_split.Tensor", "split.Tensor"},
      {"unsafe_split_with_sizes", "split_with_sizes"},
      {"_unsafe_index.Tensor", "index.Tensor"},
      {"_unsafe_index_put", "index_put"},
      {"_unsafe_view", "view"},
      {"ger", "outer"},
      {"row_stack", "vstack"},
      {"linalg_matmul", "matmul"},
      {"linalg_diagonal", "diagonal"},
      {"special_logit", "logit"},
      {"special_sinc", "sinc"},
      {"special_logsumexp", "logsumexp"},
      {"conj_physical", "alias"},
      {"_conj_physical", "alias"},
      {"native_channel_shuffle", "channel_shuffle"},
      {"trapz.x", "trapezoid.x"},
      {"trapz.dx", "trapezoid.dx"},
      {"matrix_power", "linalg_matrix_power"},
      {"matrix_H", "mH"},
      {"_reshape_alias", "view"},
      {"_neg_view", "neg"},
      {"item", "_local_scalar_dense"},
      {"__and__.Tensor", "bitwise_and.Tensor"},
      {"__and__.Scalar", "bitwise_and.Scalar"},
      {"__or__.Tensor", "bitwise_or.Tensor"},
      {"__or__.Scalar", "bitwise_or.Scalar"},
      {"__xor__.Tensor", "bitwise_xor.Tensor"},
      {"__xor__.Scalar", "bitwise_xor.Scalar"},
      {"__lshift__.Tensor", "bitwise_left_shift.Tensor"},
      {"__rshift__.Tensor", "bitwise_right_shift.Tensor"},
      {"__lshift__.Scalar", "bitwise_left_shift.Tensor_Scalar"},
      {"__rshift__.Scalar", "bitwise_right_shift.Tensor_Scalar"},
  };
  return map;
}

// Emits the same call of the real operator. Arguments keep their positions; trailing ones that the
// real operator lacks are dropped.
void rename(Builder& b) {
  const std::string real = main_name(b.node().target());
  const std::shared_ptr<const Schema> schema = b.rewriter().graph().operators()->need(real);
  std::vector<Argument> args = b.node().args;
  if (args.size() > schema->args.size()) args.resize(schema->args.size());
  Node* node = b.rewriter().emit_node(schema, args);
  for (Value* old : b.node().outputs) {
    Value* fresh = b.rewriter().graph().new_value(old->name, old->kind);
    fresh->type = old->type;
    fresh->sym = old->sym;
    fresh->producer = node;
    node->outputs.push_back(fresh);
    b.rewriter().replace(old, fresh);
  }
}

}  // namespace

std::string main_name(std::string_view target) {
  constexpr std::string_view kPrefix = "aten::";
  const bool is_aten = target.starts_with(kPrefix);
  const auto found = names().find(is_aten ? target.substr(kPrefix.size()) : target);
  if (!is_aten || found == names().end()) return std::string(target);
  return std::string(kPrefix) + found->second;
}

const Decompositions& alias_rules() {
  static const Decompositions table = [] {
    Decompositions out;
    for (const auto& [alias, real] : names()) out.push_back({alias.data(), rename});
    return out;
  }();
  return table;
}

}  // namespace taper::exir
