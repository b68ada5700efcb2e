// Builds a graph of one node from a kernel's case, by its functional operator.

#include "test/backends/case_graph.h"

#include <algorithm>
#include <numeric>

#include "exir/ir/registry.h"
#include "exir/ops/builtin.h"
#include "exir/ops/infer.h"
#include "exir/ops/variants.h"
#include "test/support/case_values.h"
#include "test/support/test_tensor.h"

namespace taper::test {
namespace {

using exir::ArgType;
using exir::Argument;
using exir::Graph;
using exir::Schema;
using exir::TensorType;
using exir::TypeBase;
using exir::Value;

exir::TensorData data_of(const CaseTensor& text) {
  TestTensor tensor(text.type, text.sizes, text.dim_order);
  fill(text, *tensor);
  const auto* bytes = tensor->const_data_ptr<uint8_t>();
  return exir::own_bytes({bytes, bytes + tensor->nbytes()});
}

class Builder {
 public:
  Builder(const OpCase& c, Known known, Returned returned, Signs signs)
      : case_(c), known_(known), returned_(returned), signs_(signs) {}

  CaseGraph run() {
    const exir::Operators& operators = exir::builtin_operators();
    const std::shared_ptr<const Schema> kernel = operators->find(case_.kernel);
    const std::shared_ptr<const Schema> schema = operators->functional_variant(case_.kernel);
    if (kernel == nullptr || schema == nullptr || !is_plain(*kernel)) return {};
    if (known_ == Known::kOnlyBounds && states_sizes(*schema)) return {};
    made_.graph = std::make_unique<Graph>(operators);
    std::vector<Argument> args;
    for (const exir::SchemaArg& arg : schema->args) {
      const int from = kernel->find(arg.name);
      args.push_back(from < 0 ? exir::default_argument(arg)
                              : argument(case_.args.at(static_cast<size_t>(from)), arg.type));
    }
    if (known_ != Known::kNothing && tensors_ < (known_ == Known::kOnlyBounds ? 1 : 2)) return {};
    exir::Node* node = made_.graph->append(schema, std::move(args));
    if (!add_results(*node)) return {};
    return std::move(made_);
  }

 private:
  // Whether the call has arguments that would have to change with dynamic sizes.
  static bool states_sizes(const Schema& schema) {
    return std::any_of(schema.args.begin(), schema.args.end(), [](const exir::SchemaArg& arg) {
      return arg.name == "size" || arg.name == "sizes" || arg.name == "HxW";
    });
  }

  static bool is_real(const CaseValue& value) {
    return std::none_of(value.tensors.begin(), value.tensors.end(),
                        [](const CaseTensor& tensor) { return is_complex(tensor.type); });
  }

  bool is_plain(const Schema& kernel) const {
    size_t inputs = 0;
    for (const exir::SchemaArg& arg : kernel.args) {
      if (exir::is_out_argument(arg)) continue;
      if (arg.written()) return false;
      ++inputs;
    }
    const auto is_tensor = [](const CaseValue& value) { return !value.tensors.empty(); };
    // A compiled graph is contiguous and has no calls that choose the layout of a result.
    if (kernel.name.rfind("dim_order_ops::", 0) == 0) return false;
    return inputs == case_.args.size() && !case_.refused && case_.after.empty() &&
           std::all_of(case_.args.begin(), case_.args.end(), is_real) &&
           std::all_of(case_.results.begin(), case_.results.end(), is_real) &&
           std::all_of(case_.results.begin(), case_.results.end(), is_tensor);
  }

  // Equal sizes become one symbol, as they would in an exported program.
  exir::Sym open_size(int32_t size) {
    if (size < 2) return size;
    const std::string name = "s" + std::to_string(size);
    made_.graph->ranges[name] = {2, int64_t{size} + 3};
    symbols_[name] = size;
    return exir::Sym::symbol(name);
  }

  TensorType type_of(const CaseTensor& text, bool open) {
    TensorType type;
    type.dtype = text.type;
    type.dim_order = text.dim_order;
    for (const int32_t size : text.sizes) {
      type.sizes.push_back(open ? open_size(size) : exir::Sym(size));
    }
    return type;
  }

  bool is_constant(size_t index) const {
    return (known_ == Known::kAllButFirst && index > 0) || (known_ == Known::kFirst && index == 0);
  }

  Value* tensor(const CaseTensor& text) {
    const TensorType type = type_of(text, known_ == Known::kOnlyBounds);
    if (is_constant(tensors_++)) return made_.graph->new_constant("c", type, data_of(text));
    Value* value = made_.graph->new_tensor("x", type);
    value->role = exir::ValueRole::kInput;
    made_.graph->inputs.push_back(value);
    made_.inputs.push_back(&text);
    return changed(value);
  }

  // The value itself, or its negative, which a node computes.
  Value* changed(Value* value) {
    if (signs_ == Signs::kKept || value->type.dtype != ScalarType::kFloat) return value;
    const std::shared_ptr<const Schema> schema =
        exir::builtin_operators()->functional_variant("aten::neg.out");
    exir::Node* node = made_.graph->append(schema, {Argument(value)});
    Value* negative = made_.graph->new_tensor("n", value->type);
    negative->producer = node;
    node->outputs.push_back(negative);
    return negative;
  }

  static Argument number(const std::string& word, Tag tag, TypeBase base) {
    if (tag == Tag::kDouble) return parse_double(word);
    if (base == TypeBase::kScalarType) return static_cast<ScalarType>(parse_int(word));
    if (base == TypeBase::kFloat) return static_cast<double>(parse_int(word));
    if (tag == Tag::kBool || base == TypeBase::kBool) return parse_int(word) != 0;
    return parse_int(word);
  }

  Argument argument(const CaseValue& value, const ArgType& type) {
    Argument::List items;
    switch (value.tag) {
      case Tag::kTensor:
        return tensor(value.tensors[0]);
      case Tag::kTensorList:
      case Tag::kOptionalTensorList:
        for (size_t i = 0; i < value.tensors.size(); ++i) {
          items.push_back(value.present[i] ? Argument(tensor(value.tensors[i])) : Argument());
        }
        return items;
      case Tag::kIntList:
      case Tag::kDoubleList:
      case Tag::kBoolList: {
        const Tag item = value.tag == Tag::kIntList      ? Tag::kInt
                         : value.tag == Tag::kDoubleList ? Tag::kDouble
                                                         : Tag::kBool;
        for (const std::string& word : value.words) items.push_back(number(word, item, type.base));
        return items;
      }
      case Tag::kString:
        return value.words.empty() ? std::string() : value.words[0];
      case Tag::kNone:
        return {};
      default:
        break;
    }
    const bool has_one_value = type.base == TypeBase::kMemoryFormat ||
                               type.base == TypeBase::kLayout || type.base == TypeBase::kDevice;
    return has_one_value ? Argument() : number(value.words[0], value.tag, type.base);
  }

  bool add_results(exir::Node& node) {
    std::vector<TensorType> types;
    for (const CaseValue& result : case_.results) {
      for (const CaseTensor& tensor : result.tensors) {
        types.push_back(type_of(tensor, false));
        made_.outputs.push_back(&tensor);
      }
    }
    if (returned_ == Returned::kFirst) {
      if (case_.results.size() < 2) return false;
      made_.outputs.resize(1);
    }
    if (!follow_rule(node, types)) return false;
    for (const TensorType& type : types) {
      Value* output = made_.graph->new_tensor("y", type);
      output->producer = &node;
      node.outputs.push_back(output);
    }
    for (size_t i = 0; i < made_.outputs.size(); ++i) {
      made_.graph->outputs.emplace_back(changed(node.outputs[i]));
    }
    return true;
  }

  // Replaces the sizes by those that shape inference gives, which may be dynamic. Returns false if
  // they differ from the case's, for example if the kernel converts its result to another dtype.
  bool follow_rule(const exir::Node& node, std::vector<TensorType>& types) const {
    std::vector<TensorType> ruled;
    try {
      ruled = exir::infer_types(*node.schema, node.args);
    } catch (const exir::Failure&) {
      return known_ != Known::kOnlyBounds;  // Type inference does not support the operator.
    }
    if (ruled.size() != types.size()) return false;
    for (size_t i = 0; i < types.size(); ++i) {
      if (ruled[i].dtype != types[i].dtype || ruled[i].rank() != types[i].rank()) return false;
      for (size_t d = 0; d < types[i].rank(); ++d) {
        if (ruled[i].sizes[d].evaluate(symbols_) != types[i].sizes[d].as_int()) return false;
      }
      types[i].sizes = ruled[i].sizes;
    }
    return true;
  }

  const OpCase& case_;
  const Known known_;
  const Returned returned_;
  const Signs signs_;
  CaseGraph made_;
  size_t tensors_ = 0;
  exir::SymValues symbols_;
};

}  // namespace

CaseGraph case_graph(const OpCase& c, Known known, Returned returned, Signs signs) {
  return Builder(c, known, returned, signs).run();
}

}  // namespace taper::test
