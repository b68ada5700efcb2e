// What a rule of infer.cpp sees and what it gives; one table of rules per kind of operator.

#pragma once

#include <string_view>
#include <vector>

#include "exir/ops/infer.h"

namespace taper::exir {

using Sizes = std::vector<Sym>;
using Types = std::vector<TensorType>;

// A call with its arguments by name.
struct Call {
  const Schema& schema;
  const std::vector<Argument>& args;

  const Argument& arg(std::string_view name) const {
    const int index = schema.find(name);
    if (index < 0) throw Failure(schema.name + " has no argument '" + std::string(name) + "'");
    return args[static_cast<size_t>(index)];
  }
  bool has(std::string_view name) const {
    const int index = schema.find(name);
    return index >= 0 && !args[static_cast<size_t>(index)].is_none();
  }
  const TensorType& tensor(size_t i) const { return args[i].value()->type; }
  const TensorType& tensor(std::string_view name) const { return arg(name).value()->type; }
  int64_t integer(std::string_view name) const { return arg(name).to_int(); }
  bool flag(std::string_view name) const { return has(name) && arg(name).to_bool(); }
  // The explicit dtype argument, or `otherwise`.
  ScalarType dtype_or(ScalarType otherwise) const {
    if (!has("dtype")) return otherwise;
    return std::get<ScalarType>(arg("dtype").v);
  }
};

using TypeRule = Types (*)(const Call&);

// The operators ("add.Tensor", without "aten::") that obey one rule.
struct Family {
  TypeRule rule;
  std::vector<const char*> names;
};

const std::vector<Family>& element_families();
const std::vector<Family>& shape_families();
const std::vector<Family>& layer_families();
// For operators of another namespace.
Types same_type(const Call& c);
Types converted_type(const Call& c);
Types lstm_types(const Call& c);
Types gru_types(const Call& c);

}  // namespace taper::exir
