// Writes each argument as a separate value, in the same form as the emitter of programs.

#include "test/support/backends/understudy/aot/payload_writer.h"

#include "exir/delegate/content_name.h"
#include "exir/delegate/number.h"
#include "exir/ir/registry.h"
#include "exir/ops/variants.h"

namespace taper::understudy {

using exir::ArgType;
using exir::Argument;
using exir::Node;
using exir::TypeBase;
using wire::Kind;

PayloadWriter::PayloadWriter(const exir::Part& part) : part_(part) {
  int32_t place = 0;
  for (const exir::Value* value : part.inputs) places_[value] = place++;
  for (const exir::Value* value : part.outputs) places_[value] = place++;
}

PayloadWriter::Index PayloadWriter::add_value(flatbuffers::Offset<wire::Value> value) {
  values_.push_back(value);
  return static_cast<Index>(values_.size() - 1);
}

PayloadWriter::Index PayloadWriter::tensor(const exir::Value* value) {
  const auto known = tensors_.find(value);
  if (known != tensors_.end()) return known->second;
  std::vector<int32_t> sizes;  // The compiler refuses larger ones.
  for (const exir::Sym& size : value->type.sizes) {
    sizes.push_back(static_cast<int32_t>(size.range(part_.graph->ranges).max));
  }
  const auto place = places_.find(value);
  std::string key;
  if (value->role == exir::ValueRole::kConstant) {
    key = exir::content_name(value->data);
    data_.push_back({key, value->data});
  }
  const auto tensor = wire::CreateTensorDirect(fbb_, static_cast<int8_t>(value->type.dtype), &sizes,
                                               &value->type.dim_order, !value->type.is_static(),
                                               place == places_.end() ? -1 : place->second,
                                               key.empty() ? nullptr : key.c_str());
  return tensors_[value] = add_value(wire::CreateValue(fbb_, Kind::Tensor, tensor));
}

PayloadWriter::Index PayloadWriter::integer(Kind kind, int64_t value) {
  return add_value(wire::CreateValue(fbb_, kind, 0, value));
}

PayloadWriter::Index PayloadWriter::real(double value) {
  return add_value(exir::create_number(fbb_, value, [](auto& fbb, double number) {
    return wire::CreateValue(fbb, Kind::Double, 0, 0, number);
  }));
}

PayloadWriter::Index PayloadWriter::integers(Kind kind, const std::vector<int64_t>& items) {
  return add_value(wire::CreateValueDirect(fbb_, kind, 0, 0, 0, nullptr, &items));
}

PayloadWriter::Index PayloadWriter::list(const Argument::List& items, const ArgType& type) {
  std::vector<int64_t> whole;
  std::vector<double> reals;
  for (const Argument& item : items) {
    if (type.base == TypeBase::kFloat) {
      reals.push_back(item.to_double());
    } else if (type.base == TypeBase::kTensor) {
      whole.push_back(item.is_none() ? -1 : int64_t{tensor(item.value())});
    } else {
      whole.push_back(item.is<bool>() ? item.to_bool() : item.to_int());
    }
  }
  if (type.base == TypeBase::kTensor) {
    return integers(type.optional_item ? Kind::OptionalTensors : Kind::Tensors, whole);
  }
  if (type.base == TypeBase::kFloat) {
    return add_value(
        wire::CreateValueDirect(fbb_, Kind::Doubles, 0, 0, 0, nullptr, nullptr, &reals));
  }
  return integers(type.base == TypeBase::kBool ? Kind::Bools : Kind::Ints, whole);
}

PayloadWriter::Index PayloadWriter::argument(const Argument& arg, const ArgType& type) {
  if (arg.is_value()) return tensor(arg.value());
  if (arg.is_list()) return list(arg.list(), type);
  if (type.list && !arg.is_none()) return list({arg}, type);
  if (arg.is<int64_t>()) {
    if (type.base == TypeBase::kFloat) return real(arg.to_double());
    return integer(type.base == TypeBase::kBool ? Kind::Bool : Kind::Int, arg.to_int());
  }
  if (arg.is<double>()) return real(arg.to_double());
  if (arg.is<bool>()) return integer(Kind::Bool, arg.to_bool());
  if (arg.is<std::string>()) {
    return add_value(wire::CreateValueDirect(fbb_, Kind::Text, 0, 0, 0, arg.text().c_str()));
  }
  if (arg.is<ScalarType>()) {
    return integer(Kind::Int, static_cast<int64_t>(std::get<ScalarType>(arg.v)));
  }
  if (arg.is<exir::Layout>()) return integer(Kind::Int, 0);
  return add_value(wire::CreateValue(fbb_, Kind::None));  // Only one device and memory format.
}

PayloadWriter::Index PayloadWriter::results(const Node& node) {
  std::vector<int64_t> items;
  for (const exir::Value* output : node.outputs) items.push_back(tensor(output));
  return integers(Kind::Tensors, items);
}

void PayloadWriter::add(const Node& node) {
  const std::shared_ptr<const exir::Schema> kernel =
      part_.graph->operators()->out_variant(node.target());
  std::vector<Index> args;
  size_t outputs = 0;
  for (const exir::SchemaArg& arg : kernel->args) {
    const int from = node.schema->find(arg.name);
    if (exir::is_out_argument(arg)) {
      args.push_back(arg.type.list ? results(node) : tensor(node.outputs.at(outputs++)));
    } else {
      args.push_back(
          argument(from < 0 ? exir::default_argument(arg) : node.args.at(static_cast<size_t>(from)),
                   arg.type));
    }
  }
  calls_.push_back(wire::CreateCallDirect(fbb_, kernel->name.c_str(), &args));
}

exir::Delegate PayloadWriter::finish() {
  const auto arguments = static_cast<uint32_t>(part_.inputs.size() + part_.outputs.size());
  wire::FinishGraphBuffer(fbb_, wire::CreateGraphDirect(fbb_, &values_, &calls_, arguments));
  exir::Delegate delegate;
  delegate.payload.assign(fbb_.GetBufferPointer(), fbb_.GetBufferPointer() + fbb_.GetSize());
  delegate.data = std::move(data_);
  return delegate;
}

}  // namespace taper::understudy
