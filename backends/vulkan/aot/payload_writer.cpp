// The arguments of a call are those of the schema, in its order, then the result; several results
// are one list.

#include "backends/vulkan/aot/payload_writer.h"

#include <algorithm>
#include <cstring>

#include "backends/vulkan/aot/state_updates.h"
#include "backends/vulkan/planner/payload_header.h"
#include "exir/delegate/content_name.h"
#include "exir/delegate/half_constants.h"
#include "exir/delegate/number.h"
#include "exir/ir/failure.h"
#include "exir/ir/scales.h"

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

PayloadWriter::PayloadWriter(const exir::Graph& graph, const std::vector<exir::Value*>& inputs,
                             Purpose purpose)
    : graph_(graph), purpose_(purpose) {
  for (const exir::Value* input : inputs) {
    inputs_.push_back(static_cast<uint32_t>(tensor(input)));
    measured_.push_back(input);
  }
}

PayloadWriter::Id PayloadWriter::add_value(wire::Kind kind, Item item) {
  values_.push_back(wire::CreateValue(fbb_, kind, item));
  return static_cast<Id>(values_.size() - 1);
}

PayloadWriter::Id PayloadWriter::constant(const exir::TensorData& bytes) {
  const std::string key = purpose_ == Purpose::kRun ? exir::content_name(bytes) : "";
  if (purpose_ == Purpose::kRun) data_.push_back({key, bytes});
  constants_.push_back(wire::CreateBytesDirect(fbb_, kNamed, bytes.bytes, key.c_str()));
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
  const bool is_constant = value->role == exir::ValueRole::kConstant;
  if (is_constant && packs_ && stays_integers(value)) return tensors_[value] = dequantised(value);
  const bool is_known = is_constant || states_.count(value) != 0;
  exir::TensorData elements = is_known ? exir::elements_of(*value) : exir::TensorData();
  wire::DataType type = data_type(value->type.dtype);
  const bool may_be_halves = is_constant && packs_ && purpose_ == Purpose::kRun;
  if (may_be_halves && value->type.dtype == ScalarType::kFloat) {
    const exir::TensorData halves = exir::as_halves(elements);
    if (halves.data != nullptr) {  // The device widens them when it loads the payload.
      elements = halves;
      type = wire::DataType::Float16;
    }
  }
  const Id data = is_known ? constant(elements) : -1;
  const auto made = wire::CreateTensorDirect(fbb_, type, &dims, data, /*mem_obj_id=*/-1);
  return tensors_[value] = add_value(wire::Kind::Tensor, made.Union());
}

// Integers that no operator takes packed, and codes, become floats by a call of their own, which
// the device runs when it loads the payload.
PayloadWriter::Id PayloadWriter::dequantised(const exir::Value* value) {
  const exir::Scales& scales = *exir::bytes_of(*value);
  const auto runs = static_cast<uint32_t>(scales.items.size());
  const auto rounds = static_cast<uint32_t>(exir::rounds_of(scales));
  std::vector<uint32_t> dims = {runs, static_cast<uint32_t>(scales.span)};
  if (rounds > 1) dims.insert(dims.begin(), rounds);
  const auto floats = [&](const std::vector<float>& numbers) {
    std::vector<uint8_t> bytes(numbers.size() * sizeof(float));
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return packed_tensor(wire::DataType::Float32, {runs}, exir::own_bytes(std::move(bytes)));
  };
  const auto result = [&](const std::vector<uint32_t>& sizes) {
    return add_value(
        wire::Kind::Tensor,
        wire::CreateTensorDirect(fbb_, wire::DataType::Float32, &sizes, -1, -1).Union());
  };
  const bool is_unsigned = scales.dtype == ScalarType::kByte;
  const Id matrix = result(dims);
  if (!scales.table.empty() || (scales.bits < 8 && scales.zero_points.empty())) {
    exir::CodedBytes coded = exir::coded_bytes(scales);
    std::vector<uint32_t> byte_dims = dims;
    byte_dims.back() /= static_cast<uint32_t>(coded.each);
    const Id bytes = packed_tensor(wire::DataType::UInt8, byte_dims, coded.bytes);
    std::vector<uint8_t> table(coded.table.size() * sizeof(float));
    std::memcpy(table.data(), coded.table.data(), table.size());
    const Id numbers =
        packed_tensor(wire::DataType::Float32, {256, static_cast<uint32_t>(coded.each)},
                      exir::own_bytes(std::move(table)));
    const Id items = floats(scales.items);
    call("taper.look_up.default", {bytes, numbers, items, matrix});
  } else {
    const Id integers = packed_tensor(data_type(scales.dtype), dims, scales.integers);
    const Id items = floats(scales.items);
    const Id points = scales.zero_points.empty() ? none() : floats(scales.zero_points);
    call("quantized_decomposed.dequantize_per_channel.default",
         {integers, items, points, integer(rounds > 1 ? 1 : 0), integer(is_unsigned ? 0 : -128),
          integer(is_unsigned ? 255 : 127), integer(static_cast<int64_t>(scales.dtype)), none(),
          matrix});
  }
  std::vector<uint32_t> sizes;
  std::vector<int64_t> view;
  for (const exir::Sym& size : value->type.sizes) {
    view.push_back(size.as_int());
    sizes.push_back(static_cast<uint32_t>(size.as_int()));
  }
  if (sizes == dims) return matrix;
  const Id tensor = result(sizes);
  call("aten.view_copy.default",
       {matrix, add_value(wire::Kind::IntList, wire::CreateIntListDirect(fbb_, &view).Union()),
        tensor});
  return tensor;
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
  if (std::any_of(items.begin(), items.end(), [](const auto& item) { return item.is_value(); })) {
    std::vector<int32_t> ids;
    for (const Argument& item : items) ids.push_back(argument(item, {TypeBase::kInt}));
    return add_value(wire::Kind::ValueList, wire::CreateValueListDirect(fbb_, &ids).Union());
  }
  std::vector<int64_t> integers;
  for (const Argument& item : items) {
    integers.push_back(item.is<bool>() ? item.to_bool() : item.to_int());
  }
  return add_value(wire::Kind::IntList, wire::CreateIntListDirect(fbb_, &integers).Union());
}

PayloadWriter::Id PayloadWriter::argument(const Argument& arg, const ArgType& type) {
  if (arg.is_value()) {
    if (arg.value()->kind == exir::ValueKind::kTensor) return tensor(arg.value());
    if (arg.value()->kind == exir::ValueKind::kInt) return size(arg.value()->sym);
    throw exir::Failure("one of its arguments is known only when it runs");
  }
  if (arg.is_list()) return list(arg.list(), type);
  if (arg.is_int()) return integer(arg.to_int());
  if (arg.is<double>()) {
    const auto number = exir::create_number(fbb_, arg.to_double(), wire::CreateDouble);
    return add_value(wire::Kind::Double, number.Union());
  }
  if (arg.is<bool>()) {
    return add_value(wire::Kind::Bool, wire::CreateBool(fbb_, arg.to_bool()).Union());
  }
  if (arg.is<std::string>()) {
    return add_value(wire::Kind::String,
                     wire::CreateStringDirect(fbb_, arg.text().c_str()).Union());
  }
  if (arg.is<ScalarType>()) return integer(static_cast<int64_t>(std::get<ScalarType>(arg.v)));
  return none();  // There is one device and one memory format.
}

PayloadWriter::Id PayloadWriter::new_size(const exir::Sym& size) {
  const exir::SymRange range = size.range(graph_.ranges);
  if (range.min < INT32_MIN || range.max > INT32_MAX) {
    throw exir::Failure("the size " + size.text() + " has no bound");
  }
  const auto most = static_cast<int32_t>(range.max);
  return sizes_[size.text()] =
             add_value(wire::Kind::SymInt, wire::CreateSymInt(fbb_, most).Union());
}

PayloadWriter::Id PayloadWriter::computed(const char* name, const exir::Sym& size, Id a, Id b) {
  const Id result = new_size(size);
  call(name, {a, b, result});
  return result;
}

// -1 if no tensor has that size.
PayloadWriter::Id PayloadWriter::read_off(const exir::Sym& size) {
  for (const exir::Value* value : measured_) {
    const std::vector<exir::Sym>& sizes = value->type.sizes;
    const auto found = std::find(sizes.begin(), sizes.end(), size);
    if (found == sizes.end()) continue;
    return computed("sym_size.int", size, tensor(value), integer(found - sizes.begin()));
  }
  return -1;
}

PayloadWriter::Id PayloadWriter::size(const exir::Sym& size) {
  if (size.is_int()) return integer(*size.evaluate({}));
  const auto known = sizes_.find(size.text());
  if (known != sizes_.end()) return known->second;
  const Id read = read_off(size);
  if (read >= 0) return read;
  const char* name = size.op() == exir::SymOp::kAdd        ? "add"
                     : size.op() == exir::SymOp::kMul      ? "mul"
                     : size.op() == exir::SymOp::kFloorDiv ? "floordiv"
                                                           : nullptr;
  if (name == nullptr) {
    if (purpose_ == Purpose::kRun) {
      throw exir::Failure("no tensor of the group says the size " + size.text());
    }
    const Id made = new_size(size);
    inputs_.push_back(static_cast<uint32_t>(made));
    return made;
  }
  exir::Sym sum = size.args()[0];
  Id id = this->size(sum);
  for (size_t i = 1; i < size.args().size(); ++i) {
    const exir::Sym& next = size.args()[i];
    sum = size.op() == exir::SymOp::kAdd   ? sum + next
          : size.op() == exir::SymOp::kMul ? sum * next
                                           : exir::floor_div(sum, next);
    id = computed(name, sum, id, this->size(next));
  }
  return id;
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

void PayloadWriter::add_states(const exir::Part& part) {
  for (const exir::Mutation& state : part.states) states_.insert(state.target);
  for (const exir::Mutation& state : part.states) {
    const bool is_alone = tensors_.count(state.source) == 0;
    if (is_alone && is_written_in_place(part, state)) {
      tensors_[state.source] = tensor(state.target);
    } else {
      copied_.push_back(state);
    }
  }
}

PayloadWriter::Id PayloadWriter::packed_weights(const exir::Value* weight,
                                                const WeightPacking& packing) {
  const auto [known, is_new] = packed_.insert({{weight, 0}, 0});
  if (!is_new) return known->second;
  const bool runs = purpose_ == Purpose::kRun;
  const std::vector<uint32_t> dims = {static_cast<uint32_t>(packing.rows),
                                      static_cast<uint32_t>(packing.row_bytes())};
  const auto dtype = packing.bits == 4 ? wire::DataType::UInt8 : wire::DataType::Int8;
  return known->second =
             packed_tensor(dtype, dims, runs ? packed_bytes(weight, packing) : exir::TensorData());
}

PayloadWriter::Id PayloadWriter::packed_tensor(wire::DataType dtype,
                                               const std::vector<uint32_t>& dims,
                                               const exir::TensorData& bytes) {
  const auto made = wire::CreateTensorDirect(fbb_, dtype, &dims, constant(bytes), -1);
  return add_value(wire::Kind::Tensor, made.Union());
}

PayloadWriter::Id PayloadWriter::packed_scales_of(const exir::Value* weight,
                                                  const WeightPacking& packing, bool by_column) {
  const auto [known, is_new] = packed_.insert({{weight, by_column ? 1 : 2}, 0});
  if (!is_new) return known->second;
  const bool runs = purpose_ == Purpose::kRun;
  const auto rows = static_cast<uint32_t>(packing.rows);
  const auto groups = static_cast<uint32_t>(packing.groups());
  std::vector<uint32_t> dims = {by_column ? groups : rows, by_column ? rows : groups};
  if (packing.bits == 8) dims = {rows};
  return known->second =
             packed_tensor(wire::DataType::Float32, dims,
                           runs ? packed_scales(weight, packing, by_column) : exir::TensorData());
}

// linear(x, weight, bias?), embedding(weight, indices, ...)
bool PayloadWriter::add_packed(const Node& node) {
  const bool is_linear = node.is("aten::linear"), is_table = node.is("aten::embedding");
  if (!packs_ || !has_packed_form(node)) return false;
  const exir::Value* weight = node.args[is_linear ? 1 : 0].value();
  const auto packing = packing_of(weight);
  const Id weights = packed_weights(weight, *packing);
  const Id scales = packed_scales_of(weight, *packing, is_linear);
  if (is_table) {
    const Id indices = tensor(node.args[1].value());
    const Id is_low_first = add_value(wire::Kind::Bool, wire::CreateBool(fbb_, true).Union());
    call("et_vk.embedding_q4gsw.default",
         {weights, scales, integer(packing->group), indices, is_low_first, results(node)});
    return true;
  }
  const Id x = tensor(node.args[0].value());
  const Id bias = node.args[2].is_none() ? none() : tensor(node.args[2].value());
  if (packing->bits == 4) {
    call("et_vk.linear_q4gsw.default",
         {x, weights, scales, integer(packing->group), bias, results(node)});
  } else {
    call("et_vk.linear_q8csw.default", {x, weights, scales, bias, results(node)});
  }
  return true;
}

// convolution(x, weight, bias?, stride, padding, dilation, transposed, output_padding, groups)
bool PayloadWriter::add_packed_convolution(const Node& node) {
  if (!packs_ || !node.is("aten::convolution") || !node.args[8].is_int()) return false;
  const exir::Value* weight = node.args[1].value();
  const bool transposed = node.args[6].to_bool();
  if (packed_.count({weight, 0}) == 0) {
    const auto windows = packed_windows(weight, transposed, node.args[8].to_int());
    if (!windows) return false;
    packed_[{weight, 0}] = packed_tensor(wire::DataType::Int8, windows->sizes, windows->bytes);
    packed_[{weight, 1}] =
        packed_tensor(wire::DataType::Float32, {windows->sizes[0]}, windows->scales);
  }
  std::vector<int32_t> args = {tensor(node.args[0].value()), packed_[{weight, 0}],
                               packed_[{weight, 1}]};
  for (size_t i = 2; i < node.args.size(); ++i) {
    args.push_back(argument(node.args[i], node.schema->args[i].type));
  }
  args.push_back(results(node));
  call(
      transposed ? "taper.transposed_convolution_q8csw.default" : "taper.convolution_q8csw.default",
      args);
  return true;
}

void PayloadWriter::add(const Node& node) {
  if (add_packed(node) || add_packed_convolution(node)) {
    measured_.push_back(node.outputs[0]);
    return;
  }
  std::vector<int32_t> args;
  for (size_t i = 0; i < node.args.size(); ++i) {
    args.push_back(argument(node.args[i], node.schema->args[i].type));
  }
  args.push_back(results(node));
  call(payload_name(node.target()), args);
  measured_.insert(measured_.end(), node.outputs.begin(), node.outputs.end());
}

void PayloadWriter::call(const std::string& name, const std::vector<Id>& args) {
  calls_.push_back(wire::CreateCallDirect(fbb_, origin_, name.c_str(), &args));
}

exir::Delegate PayloadWriter::finish(const std::vector<exir::Value*>& outputs) {
  for (const exir::Mutation& state : copied_) {
    const Id to = tensor(state.target);
    const Id waits = add_value(wire::Kind::Bool, wire::CreateBool(fbb_, false).Union());
    call("aten.copy.default", {to, tensor(state.source), waits, to});
  }
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
