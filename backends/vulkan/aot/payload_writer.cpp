// The arguments of a call are those of the schema, in its order, then the result; several results
// are one list.

#include "backends/vulkan/aot/payload_writer.h"

#include <cstring>

#include "backends/vulkan/planner/payload_header.h"
#include "exir/delegate/content_name.h"
#include "exir/ir/failure.h"

namespace taper::vulkan {

using exir::ArgType;
using exir::Argument;
using exir::Node;
using exir::TypeBase;

namespace {

constexpr size_t kAlignment = 16;
constexpr uint64_t kNamed = UINT64_MAX;

wire::DataType data_type(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kBool:
      return wire::DataType::Bool;
    case ScalarType::kByte:
      return wire::DataType::UInt8;
    case ScalarType::kChar:
      return wire::DataType::Int8;
    case ScalarType::kInt:
      return wire::DataType::Int32;
    case ScalarType::kLong:
      return wire::DataType::Int64;
    case ScalarType::kHalf:
      return wire::DataType::Float16;
    case ScalarType::kFloat:
      return wire::DataType::Float32;
    case ScalarType::kDouble:
      return wire::DataType::Float64;
    default:
      throw exir::Failure(std::string("a payload has no dtype ") + to_string(dtype));
  }
}

void put(std::vector<uint8_t>& bytes, size_t at, uint64_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<uint8_t>(value >> (8 * i));
}

}  // namespace

std::string payload_name(std::string_view target) {
  std::string name(target);
  const size_t at = name.find("::");
  if (at != std::string::npos) name.replace(at, 2, ".");
  return name.find('.', at + 1) == std::string::npos ? name + ".default" : name;
}

PayloadWriter::PayloadWriter(const exir::Graph& graph, const std::vector<exir::Value*>& inputs)
    : graph_(graph) {
  for (const exir::Value* input : inputs) inputs_.push_back(static_cast<uint32_t>(tensor(input)));
}

PayloadWriter::Id PayloadWriter::add_value(wire::Kind kind, Item item) {
  values_.push_back(wire::CreateValue(fbb_, kind, item));
  return static_cast<Id>(values_.size() - 1);
}

PayloadWriter::Id PayloadWriter::constant(const exir::Value* value) {
  const std::string key = exir::content_name(value->data);
  data_.push_back({key, value->data});
  constants_.push_back(wire::CreateBytesDirect(fbb_, kNamed, value->data.bytes, key.c_str()));
  return static_cast<Id>(constants_.size() - 1);
}

PayloadWriter::Id PayloadWriter::tensor(const exir::Value* value) {
  const auto known = tensors_.find(value);
  if (known != tensors_.end()) return known->second;
  std::vector<uint32_t> dims;
  for (const exir::Sym& size : value->type.sizes) {
    const int64_t most = size.range(graph_.ranges).max;
    if (most > INT32_MAX) throw exir::Failure("the size " + size.text() + " has no bound");
    dims.push_back(static_cast<uint32_t>(most));
  }
  const Id data = value->role == exir::ValueRole::kConstant ? constant(value) : -1;
  const auto made =
      wire::CreateTensorDirect(fbb_, data_type(value->type.dtype), &dims, data, /*mem_obj_id=*/-1);
  return tensors_[value] = add_value(wire::Kind::Tensor, made.Union());
}

PayloadWriter::Id PayloadWriter::none() {
  return add_value(wire::Kind::Null, wire::CreateNull(fbb_).Union());
}

PayloadWriter::Id PayloadWriter::integer(int64_t value) {
  return add_value(wire::Kind::Int, wire::CreateInt(fbb_, value).Union());
}

PayloadWriter::Id PayloadWriter::list(const Argument::List& items, const ArgType& type) {
  if (type.base == TypeBase::kTensor) {
    std::vector<int32_t> ids;
    for (const Argument& item : items)
      ids.push_back(item.is_none() ? none() : tensor(item.value()));
    return add_value(wire::Kind::ValueList, wire::CreateValueListDirect(fbb_, &ids).Union());
  }
  if (type.base == TypeBase::kFloat) {
    std::vector<double> reals;
    for (const Argument& item : items) reals.push_back(item.to_double());
    return add_value(wire::Kind::DoubleList, wire::CreateDoubleListDirect(fbb_, &reals).Union());
  }
  std::vector<int64_t> integers;
  for (const Argument& item : items) {
    if (item.is_value()) throw exir::Failure("one of its arguments is known only when it runs");
    integers.push_back(item.is<bool>() ? item.to_bool() : item.to_int());
  }
  return add_value(wire::Kind::IntList, wire::CreateIntListDirect(fbb_, &integers).Union());
}

PayloadWriter::Id PayloadWriter::argument(const Argument& arg, const ArgType& type) {
  if (arg.is_value()) {
    if (arg.value()->kind == exir::ValueKind::kTensor) return tensor(arg.value());
    throw exir::Failure("one of its arguments is known only when it runs");
  }
  if (arg.is_list()) return list(arg.list(), type);
  if (arg.is_int()) return integer(arg.to_int());
  if (arg.is<double>()) {
    return add_value(wire::Kind::Double, wire::CreateDouble(fbb_, arg.to_double()).Union());
  }
  if (arg.is<bool>()) {
    return add_value(wire::Kind::Bool, wire::CreateBool(fbb_, arg.to_bool()).Union());
  }
  if (arg.is<std::string>()) {
    return add_value(wire::Kind::String,
                     wire::CreateStringDirect(fbb_, arg.text().c_str()).Union());
  }
  return none();  // The result says the dtype; there is one device and one memory format.
}

PayloadWriter::Id PayloadWriter::results(const Node& node) {
  const auto& returns = node.schema->returns;
  if (node.outputs.size() == 1 && returns.size() == 1 && !returns[0].type.list) {
    return tensor(node.outputs[0]);
  }
  std::vector<int32_t> ids;
  for (const exir::Value* output : node.outputs) ids.push_back(tensor(output));
  return add_value(wire::Kind::ValueList, wire::CreateValueListDirect(fbb_, &ids).Union());
}

void PayloadWriter::add(const Node& node) {
  std::vector<int32_t> args;
  for (size_t i = 0; i < node.args.size(); ++i) {
    args.push_back(argument(node.args[i], node.schema->args[i].type));
  }
  args.push_back(results(node));
  const std::string name = payload_name(node.target());
  calls_.push_back(
      wire::CreateCallDirect(fbb_, static_cast<uint32_t>(calls_.size()), name.c_str(), &args));
}

exir::Delegate PayloadWriter::finish(const std::vector<exir::Value*>& outputs) {
  std::vector<uint32_t> output_ids;
  for (const exir::Value* output : outputs) {
    output_ids.push_back(static_cast<uint32_t>(tensor(output)));
  }
  wire::FinishGraphBuffer(fbb_, wire::CreateGraphDirect(fbb_, "0", &calls_, &values_, &inputs_,
                                                        &output_ids, &constants_));
  const size_t graph_bytes = fbb_.GetSize();
  const size_t constants_at =
      (kPaddedHeaderBytes + graph_bytes + kAlignment - 1) / kAlignment * kAlignment;
  exir::Delegate delegate;
  delegate.data = std::move(data_);
  std::vector<uint8_t>& bytes = delegate.payload;
  bytes.resize(constants_at);
  std::memcpy(bytes.data() + 4, kMagic, 4);
  put(bytes, 8, kHeaderBytes, 2);
  put(bytes, 10, kPaddedHeaderBytes, 4);
  put(bytes, 14, graph_bytes, 4);
  put(bytes, 18, constants_at, 4);
  std::memcpy(bytes.data() + kPaddedHeaderBytes, fbb_.GetBufferPointer(), graph_bytes);
  return delegate;
}

}  // namespace taper::vulkan
