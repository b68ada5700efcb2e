// The call of an operator case (kernels_portable/cases) as a node of a graph, for tests.

#pragma once

#include "exir/ir/graph.h"
#include "exir/ops/builtin.h"
#include "exir/ops/variants.h"
#include "test/support/case_values.h"
#include "test/support/op_case_file.h"

namespace taper::exir {

struct CaseCall {
  Graph graph{builtin_operators()};
  Node node;
  std::shared_ptr<const Schema> kernel;

  // A call of the kernel's schema with tensors that hold nothing.
  CaseCall(const test::OpCase& c, std::shared_ptr<const Schema> schema)
      : kernel(std::move(schema)) {
    node.schema = kernel;
    for (size_t i = 0; i < c.args.size() && i < kernel->args.size(); ++i) {
      node.args.push_back(argument(c.args[i], kernel->args[i].type));
    }
    for (const test::CaseValue& result : c.results) {
      for (const test::CaseTensor& item : result.tensors) node.outputs.push_back(tensor(item));
    }
  }

  // The arguments as the functional form of the operator takes them.
  std::vector<Argument> arguments_for(const Schema& functional) const {
    std::vector<Argument> args;
    for (const SchemaArg& arg : functional.args) {
      const int at = kernel->find(arg.name);
      if (at >= 0) {
        args.push_back(node.args.at(static_cast<size_t>(at)));
      } else if (arg.name == "dtype") {  // The kernel reads it off its result.
        args.push_back(node.outputs.at(0)->type.dtype);
      } else {
        args.push_back(default_argument(arg));
      }
    }
    return args;
  }

 private:
  Value* tensor(const test::CaseTensor& text) {
    std::vector<Sym> sizes(text.sizes.begin(), text.sizes.end());
    Value* value = graph.new_tensor("t", TensorType(text.type, std::move(sizes)));
    if (!text.dim_order.empty()) value->type.dim_order = text.dim_order;
    return value;
  }

  static Argument number(const std::string& word, Tag tag, TypeBase base) {
    if (base == TypeBase::kScalarType) return static_cast<ScalarType>(test::parse_int(word));
    if (tag == Tag::kDouble || tag == Tag::kDoubleList) return test::parse_double(word);
    if (tag == Tag::kBool || tag == Tag::kBoolList) return word == "true";
    return test::parse_int(word);
  }

  Argument argument(const test::CaseValue& value, const ArgType& type) {
    if (value.tag == Tag::kNone) return {};
    if (value.tag == Tag::kTensor) return tensor(value.tensors[0]);
    if (value.tag == Tag::kString) return value.words.empty() ? std::string() : value.words[0];
    if (!type.list) return number(value.words.at(0), value.tag, type.base);
    Argument::List items;
    for (size_t i = 0; i < value.tensors.size(); ++i) {
      items.push_back(value.present[i] ? Argument(tensor(value.tensors[i])) : Argument());
    }
    if (!value.tensors.empty()) return items;  // The word is their count.
    for (const std::string& word : value.words) {
      items.push_back(number(word, value.tag, type.base));
    }
    return items;
  }
};

}  // namespace taper::exir
