// Serialises hand-written .pte and .ptd files, without any checks.

#include "test/support/program_builder.h"

#include <cstring>
#include <numeric>

#include "schema/flat_tensor_generated.h"

namespace taper::test {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using wire::InstructionArguments;
using wire::KernelTypes;

constexpr size_t kSegmentAlignment = 128;
constexpr size_t kHeaderBlock = 32;     // The size of a .pte's header.
constexpr size_t kPtdHeaderBlock = 48;  // The same for a .ptd: 40 bytes, padded to 16.

template <typename T, typename Allocator>
Offset<flatbuffers::Vector<T>> vector(FlatBufferBuilder& fbb,
                                      const std::optional<std::vector<T, Allocator>>& items) {
  if (!items) return 0;
  return fbb.CreateVector(items->data(), items->size());
}

Offset<flatbuffers::String> string(FlatBufferBuilder& fbb, const std::optional<std::string>& text) {
  if (!text) return 0;
  return fbb.CreateString(*text);
}

void pad(Bytes* bytes, size_t alignment) {
  bytes->resize((bytes->size() + alignment - 1) / alignment * alignment);
}

std::vector<uint8_t> natural_order(size_t rank) {
  std::vector<uint8_t> order(rank);
  std::iota(order.begin(), order.end(), uint8_t{0});
  return order;
}

Offset<void> write_tensor(FlatBufferBuilder& fbb, const TensorSpec& t) {
  Offset<wire::AllocationDetails> place = 0;
  if (t.memory_id) {
    place = wire::CreateAllocationDetails(fbb, *t.memory_id, static_cast<uint32_t>(t.offset),
                                          static_cast<uint32_t>(t.offset >> 32));
  }
  Offset<wire::ExtraTensorInfo> extra = 0;
  if (!t.name.empty() || t.location != 0 || t.device != 0 || t.mutable_segment != 0) {
    const auto name = t.name.empty() ? Offset<flatbuffers::String>(0) : fbb.CreateString(t.name);
    extra = wire::CreateExtraTensorInfo(fbb, t.mutable_segment, name,
                                        static_cast<wire::TensorDataLocation>(t.location),
                                        static_cast<wire::DeviceType>(t.device), 0);
  }
  const auto sizes = vector(fbb, t.sizes);
  Offset<flatbuffers::Vector<uint8_t>> order = 0;
  if (!t.no_dim_order) {
    order =
        fbb.CreateVector(t.dim_order ? *t.dim_order : natural_order(t.sizes ? t.sizes->size() : 0));
  }
  return wire::CreateTensor(fbb, static_cast<wire::ScalarType>(t.scalar_type), t.storage_offset,
                            sizes, order, false, t.data_buffer_idx, place, t.layout,
                            static_cast<wire::TensorShapeDynamism>(t.dynamism), extra)
      .Union();
}

Offset<wire::EValue> write_value(FlatBufferBuilder& fbb, const ValueSpec& v) {
  Offset<void> value = 0;
  switch (v.type) {
    case KernelTypes::Null:
      value = wire::CreateNull(fbb).Union();
      break;
    case KernelTypes::Int:
      value = wire::CreateInt(fbb, v.integer).Union();
      break;
    case KernelTypes::Bool:
      value = wire::CreateBool(fbb, v.integer != 0).Union();
      break;
    case KernelTypes::Double:
      value = wire::CreateDouble(fbb, v.real).Union();
      break;
    case KernelTypes::Tensor:
      value = write_tensor(fbb, v.tensor);
      break;
    case KernelTypes::String:
      value = wire::CreateString(fbb, string(fbb, v.text)).Union();
      break;
    case KernelTypes::IntList:
      value = wire::CreateIntList(fbb, vector(fbb, v.ints)).Union();
      break;
    case KernelTypes::DoubleList:
      value = wire::CreateDoubleList(fbb, vector(fbb, v.reals)).Union();
      break;
    case KernelTypes::BoolList:
      value = wire::CreateBoolList(fbb, vector(fbb, v.bools)).Union();
      break;
    case KernelTypes::TensorList:
      value = wire::CreateTensorList(fbb, vector(fbb, v.tensors)).Union();
      break;
    case KernelTypes::OptionalTensorList:
      value = wire::CreateOptionalTensorList(fbb, vector(fbb, v.tensors)).Union();
      break;
    default:
      value = wire::CreateNull(fbb).Union();
      break;
  }
  return wire::CreateEValue(fbb, v.type, v.absent ? Offset<void>(0) : value);
}

Offset<wire::Instruction> write_instruction(FlatBufferBuilder& fbb, const InstructionSpec& s) {
  Offset<void> args = 0;
  switch (s.type) {
    case InstructionArguments::KernelCall:
      args = wire::CreateKernelCall(fbb, s.a, vector(fbb, s.args)).Union();
      break;
    case InstructionArguments::DelegateCall:
      args = wire::CreateDelegateCall(fbb, s.a, vector(fbb, s.args)).Union();
      break;
    case InstructionArguments::MoveCall:
      args = wire::CreateMoveCall(fbb, s.a, s.b).Union();
      break;
    case InstructionArguments::JumpFalseCall:
      args = wire::CreateJumpFalseCall(fbb, s.a, s.b).Union();
      break;
    default:
      args = wire::CreateFreeCall(fbb, s.a).Union();
      break;
  }
  return wire::CreateInstruction(fbb, s.type, s.absent ? Offset<void>(0) : args);
}

Offset<wire::BackendDelegate> write_delegate(FlatBufferBuilder& fbb, const DelegateSpec& d) {
  std::vector<Offset<wire::CompileSpec>> specs;
  for (const auto& [key, value] : d.specs) {
    const auto name = string(fbb, key);
    specs.push_back(wire::CreateCompileSpec(fbb, name, vector(fbb, value)));
  }
  Offset<wire::BackendDelegateDataReference> processed = 0;
  if (!d.no_payload) {
    processed = wire::CreateBackendDelegateDataReference(
        fbb, static_cast<wire::DataLocation>(d.location), d.index);
  }
  const auto id = string(fbb, d.id);
  return wire::CreateBackendDelegate(fbb, id, processed, fbb.CreateVector(specs));
}

template <typename Spec, typename Write>
auto write_all(FlatBufferBuilder& fbb, const std::vector<Spec>& specs, Write write) {
  std::vector<decltype(write(fbb, specs[0]))> offsets;
  for (const Spec& spec : specs) offsets.push_back(write(fbb, spec));
  return fbb.CreateVector(offsets);
}

Offset<wire::Chain> write_chain(FlatBufferBuilder& fbb, const std::vector<InstructionSpec>& steps) {
  return wire::CreateChain(fbb, 0, 0, write_all(fbb, steps, write_instruction));
}

Offset<wire::Operator> write_operator(
    FlatBufferBuilder& fbb, const std::pair<std::optional<std::string>, std::string>& op) {
  const auto name = string(fbb, op.first);
  return wire::CreateOperator(fbb, name, fbb.CreateString(op.second));
}

Offset<wire::NonConstBufferDevice> write_device(FlatBufferBuilder& fbb,
                                                const std::pair<int32_t, int8_t>& entry) {
  return wire::CreateNonConstBufferDevice(fbb, entry.first,
                                          static_cast<wire::DeviceType>(entry.second));
}

Offset<wire::ExecutionPlan> write_method(FlatBufferBuilder& fbb, const MethodSpec& m) {
  const auto name = string(fbb, m.name);
  const auto values = write_all(fbb, m.values, write_value);
  const auto inputs = fbb.CreateVector(m.inputs);
  const auto outputs = fbb.CreateVector(m.outputs);
  Offset<flatbuffers::Vector<Offset<wire::Chain>>> chains = 0;
  if (m.no_instructions) {
    chains = fbb.CreateVector(std::vector{wire::CreateChain(fbb)});
  } else {
    chains = write_all(fbb, m.chains, write_chain);
  }
  const auto operators = write_all(fbb, m.operators, write_operator);
  const auto delegates = write_all(fbb, m.delegates, write_delegate);
  const auto sizes = fbb.CreateVector(m.buffer_sizes);
  const auto devices = write_all(fbb, m.buffer_devices, write_device);
  return wire::CreateExecutionPlan(fbb, name, 0, m.no_values ? decltype(values)(0) : values, inputs,
                                   outputs, m.no_chains ? decltype(chains)(0) : chains, operators,
                                   delegates, sizes, devices);
}

Offset<wire::BackendDelegateInlineData> write_inline(FlatBufferBuilder& fbb,
                                                     const std::optional<Bytes>& data) {
  if (!data) return wire::CreateBackendDelegateInlineData(fbb, 0);
  fbb.ForceVectorAlignment(data->size(), 1, 16);
  return wire::CreateBackendDelegateInlineData(fbb, fbb.CreateVector(*data));
}

Offset<wire::NamedData> write_named(FlatBufferBuilder& fbb,
                                    const std::pair<std::optional<std::string>, uint32_t>& entry) {
  const auto key = string(fbb, entry.first);
  return wire::CreateNamedData(fbb, key, entry.second);
}

// Concatenates aligned segments; `places` receives the offset and size of each.
Bytes join(const std::vector<Bytes>& segments, std::vector<std::pair<uint64_t, uint64_t>>* places) {
  Bytes joined;
  for (const Bytes& segment : segments) {
    pad(&joined, kSegmentAlignment);
    places->emplace_back(joined.size(), segment.size());
    joined.insert(joined.end(), segment.begin(), segment.end());
  }
  return joined;
}

// Inserts room for a header after byte 8 and adjusts the root offset.
Bytes with_room(const FlatBufferBuilder& fbb, size_t block) {
  Bytes file(fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize());
  wire::write_u32(file.data(), wire::read_u32(file.data()) + static_cast<uint32_t>(block));
  file.insert(file.begin() + wire::kHeaderOffset, block, uint8_t{0});
  return file;
}

}  // namespace

int MethodSpec::add(ValueSpec value) {
  values.push_back(std::move(value));
  return static_cast<int>(values.size()) - 1;
}
int MethodSpec::integer(int64_t value) { return add({.type = KernelTypes::Int, .integer = value}); }
int MethodSpec::boolean(bool value) { return add({.type = KernelTypes::Bool, .integer = value}); }
int MethodSpec::real(double value) { return add({.type = KernelTypes::Double, .real = value}); }
int MethodSpec::string(std::string value) {
  return add({.type = KernelTypes::String, .text = std::move(value)});
}
int MethodSpec::tensor(TensorSpec tensor) {
  return add({.type = KernelTypes::Tensor, .tensor = std::move(tensor)});
}
int MethodSpec::int_list(std::vector<int64_t> slots) {
  return add({.type = KernelTypes::IntList, .ints = std::move(slots)});
}
int MethodSpec::real_list(std::vector<double> items) {
  return add({.type = KernelTypes::DoubleList, .reals = std::move(items)});
}
int MethodSpec::bool_list(std::vector<uint8_t> items) {
  return add({.type = KernelTypes::BoolList, .bools = std::move(items)});
}
int MethodSpec::tensor_list(std::vector<int32_t> slots, bool optional) {
  return add({.type = optional ? KernelTypes::OptionalTensorList : KernelTypes::TensorList,
              .tensors = std::move(slots)});
}

void MethodSpec::call(const std::string& op, const std::string& overload,
                      std::vector<int32_t> args) {
  size_t index = 0;
  while (index < operators.size() &&
         (operators[index].first != op || operators[index].second != overload)) {
    ++index;
  }
  if (index == operators.size()) operators.emplace_back(op, overload);
  chains.back().push_back({.a = static_cast<int32_t>(index), .args = std::move(args)});
}
void MethodSpec::delegate(int32_t index, std::vector<int32_t> args) {
  chains.back().push_back(
      {.type = InstructionArguments::DelegateCall, .a = index, .args = std::move(args)});
}
void MethodSpec::move(int32_t from, int32_t to) {
  chains.back().push_back({.type = InstructionArguments::MoveCall, .a = from, .b = to});
}
void MethodSpec::jump_false(int32_t condition, int32_t target) {
  chains.back().push_back(
      {.type = InstructionArguments::JumpFalseCall, .a = condition, .b = target});
}
void MethodSpec::free(int32_t value) {
  chains.back().push_back({.type = InstructionArguments::FreeCall, .a = value});
}

MethodSpec& ProgramBuilder::method(std::string name) {
  methods_.emplace_back();
  methods_.back().name = std::move(name);
  return methods_.back();
}

uint32_t ProgramBuilder::constant(Bytes bytes, size_t alignment) {
  pad(&constants_.bytes, alignment);
  constants_.offsets.push_back(constants_.bytes.size());
  constants_.bytes.insert(constants_.bytes.end(), bytes.begin(), bytes.end());
  return static_cast<uint32_t>(constants_.offsets.size()) - 1;
}

uint32_t ProgramBuilder::mutable_data(Bytes bytes) {
  mutables_.offsets.push_back(mutables_.bytes.size());
  mutables_.bytes.insert(mutables_.bytes.end(), bytes.begin(), bytes.end());
  return static_cast<uint32_t>(mutables_.offsets.size()) - 1;
}

uint32_t ProgramBuilder::segment(Bytes bytes) {
  segments_.push_back(std::move(bytes));
  return static_cast<uint32_t>(segments_.size()) - 1;
}

Bytes ProgramBuilder::finish() const {
  std::vector<Bytes> all = segments_;
  const uint32_t constant_segment = static_cast<uint32_t>(all.size());
  const bool has_constants = constants_.offsets.size() > 1 || constant_offsets.has_value();
  if (has_constants) all.push_back(constants_.bytes);
  const uint32_t mutable_segment = static_cast<uint32_t>(all.size());
  const bool has_mutables = mutables_.offsets.size() > 1 || mutable_offsets.has_value();
  if (has_mutables) all.push_back(mutables_.bytes);
  std::vector<std::pair<uint64_t, uint64_t>> places;
  const Bytes data = join(all, &places);
  if (constant_segment_place && has_constants) places[constant_segment] = *constant_segment_place;

  FlatBufferBuilder fbb;
  std::vector<Offset<wire::ExecutionPlan>> plans;
  for (const MethodSpec& m : methods_) plans.push_back(write_method(fbb, m));
  const auto plan_list = fbb.CreateVector(plans);
  const auto inline_list = write_all(fbb, inline_data, write_inline);
  std::vector<Offset<wire::DataSegment>> segment_list;
  for (const auto& [offset, size] : places) {
    segment_list.push_back(wire::CreateDataSegment(fbb, offset, size));
  }
  const auto segments = fbb.CreateVector(segment_list);
  const auto constants = wire::CreateSubsegmentOffsets(
      fbb, constant_segment, fbb.CreateVector(constant_offsets.value_or(constants_.offsets)));
  const auto mutables = wire::CreateSubsegmentOffsets(
      fbb, mutable_segment, fbb.CreateVector(mutable_offsets.value_or(mutables_.offsets)));
  const auto mutable_list = fbb.CreateVector(std::vector{mutables});
  const auto named = write_all(fbb, named_data, write_named);
  fbb.Finish(wire::CreateProgram(fbb, version, no_plans ? decltype(plan_list)(0) : plan_list, 0,
                                 no_inline_data ? decltype(inline_list)(0) : inline_list, segments,
                                 has_constants ? constants : decltype(constants)(0),
                                 has_mutables ? mutable_list : decltype(mutable_list)(0), named),
             identifier);

  Bytes file = with_room(fbb, kHeaderBlock);
  wire::ExtendedHeader header;
  header.program_size = header_program_size.value_or(file.size());
  pad(&file, kSegmentAlignment);
  header.segment_base_offset = header_segment_base.value_or(all.empty() ? 0 : file.size());
  header.segment_data_size = header_segment_bytes.value_or(data.size());
  wire::write_header(file.data() + wire::kHeaderOffset, header);
  if (header_length) wire::write_u32(file.data() + wire::kHeaderOffset + 4, *header_length);
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

void PtdBuilder::tensor(std::string key, std::vector<int32_t> sizes,
                        const std::vector<float>& data) {
  const std::vector<uint8_t> order = natural_order(sizes.size());
  tensors.push_back({.key = std::move(key),
                     .segment = static_cast<uint32_t>(segments.size()),
                     .sizes = std::move(sizes),
                     .dim_order = order});
  segments.push_back(bytes_of(data));
}

Bytes PtdBuilder::finish() const {
  namespace ptd = wire::ptd;
  std::vector<std::pair<uint64_t, uint64_t>> places;
  const Bytes data = join(segments, &places);
  if (segment_places) places = *segment_places;

  FlatBufferBuilder fbb;
  const auto segment_list = write_all(fbb, places, [](FlatBufferBuilder& b, const auto& place) {
    return ptd::CreateDataSegment(b, place.first, place.second);
  });
  const auto entries = write_all(fbb, tensors, [](FlatBufferBuilder& b, const ExternalTensor& t) {
    Offset<ptd::TensorLayout> layout = 0;
    if (t.has_layout) {
      const auto sizes = vector(b, t.sizes);
      layout = ptd::CreateTensorLayout(b, static_cast<wire::ScalarType>(t.scalar_type), sizes,
                                       vector(b, t.dim_order));
    }
    const auto key = string(b, t.key);
    return ptd::CreateNamedData(b, key, t.segment, layout);
  });
  fbb.Finish(ptd::CreateFlatTensor(fbb, version, segment_list, entries), identifier);

  Bytes file = with_room(fbb, kPtdHeaderBlock);
  wire::PtdHeader header;
  header.flatbuffer_offset = header_flatbuffer_offset.value_or(kPtdHeaderBlock);
  header.flatbuffer_size = header_flatbuffer_size.value_or(fbb.GetSize());
  pad(&file, kSegmentAlignment);
  header.segment_base_offset = header_segment_base.value_or(file.size());
  header.segment_data_size = header_segment_bytes.value_or(data.size());
  wire::write_ptd_header(file.data() + wire::kHeaderOffset, header);
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

}  // namespace taper::test
