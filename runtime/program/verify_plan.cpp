// The verification of one method: first the slots, then everything that refers to them.

#include "runtime/program/verify_plan.h"

#include "runtime/program/tensor_rules.h"
#include "runtime/program/wire_access.h"
#include "taper/kernel.h"

namespace taper::internal {
namespace {

using Values = flatbuffers::Vector<flatbuffers::Offset<wire::EValue>>;
using wire::InstructionArguments;
using wire::KernelTypes;

constexpr Error kBadPlan = Error::kInvalidProgram;
constexpr char kCrooked[] = "a list's items are not aligned";

class PlanVerifier {
 public:
  PlanVerifier(FileContext& file, const wire::ExecutionPlan& plan)
      : file_(file), plan_(plan), values_(plan.values()) {}

  Status run() {
    TAPER_REQUIRE(!text(plan_.name()).empty(), kBadPlan, "a method has no name");
    TAPER_REQUIRE(values_ != nullptr, kBadPlan, "a method has no values");
    TAPER_REQUIRE(plan_.chains() != nullptr, kBadPlan, "a method has no instruction chains");
    TAPER_TRY(buffers());
    for (value = 0; value < static_cast<int64_t>(values_->size()); ++value) {
      TAPER_TRY(slot(*values_->Get(static_cast<uint32_t>(value))));
    }
    value = -1;
    TAPER_TRY(inputs_and_outputs());
    TAPER_TRY(operators());
    TAPER_TRY(delegates());
    for (const wire::Chain* chain : *plan_.chains()) TAPER_TRY(instructions(*chain));
    return {};
  }

  // The value or instruction at which run() stopped.
  int64_t value = -1;
  int64_t instruction = -1;

 private:
  bool is_slot(int64_t index) const {
    return index >= 0 && index < static_cast<int64_t>(values_->size());
  }
  // REQUIRES: is_slot(index).
  const wire::EValue& at(int64_t index) const {
    return *values_->Get(static_cast<uint32_t>(index));
  }
  bool is(int64_t index, KernelTypes type) const {
    return is_slot(index) && at(index).val_type() == type;
  }

  Status spend(size_t items) {
    TAPER_REQUIRE(items <= file_.budget, kBadPlan, "the lists of a method repeat too much data");
    file_.budget -= items;
    return {};
  }

  Status buffers() {
    TAPER_REQUIRE(is_aligned(plan_.non_const_buffer_sizes()), kBadPlan, kCrooked);
    const Span<const int64_t> sizes = items(plan_.non_const_buffer_sizes());
    for (int64_t size : sizes) {
      TAPER_REQUIRE(size >= 0, kBadPlan, "a planned buffer has a negative size");
      TAPER_REQUIRE(static_cast<uint64_t>(size) <= SIZE_MAX / 2, kBadPlan,
                    "a planned buffer is larger than the address space");
    }
    if (plan_.non_const_buffer_device() == nullptr) return {};
    for (const wire::NonConstBufferDevice* entry : *plan_.non_const_buffer_device()) {
      TAPER_REQUIRE(entry->device_type() == wire::DeviceType::CPU, Error::kNotSupported,
                    "a planned buffer lies on a device other than the CPU");
      TAPER_REQUIRE(
          entry->buffer_idx() >= 0 && static_cast<size_t>(entry->buffer_idx()) < sizes.size(),
          kBadPlan, "a device is given for a planned buffer that does not exist");
    }
    return {};
  }

  Status slot(const wire::EValue& entry) {
    TAPER_REQUIRE(entry.val_type() != KernelTypes::NONE && entry.val() != nullptr, kBadPlan,
                  "a value is empty");
    switch (entry.val_type()) {
      case KernelTypes::Null:
      case KernelTypes::Int:
      case KernelTypes::Bool:
      case KernelTypes::Double:
        return {};
      case KernelTypes::Tensor:
        return tensor(*entry.val_as_Tensor());
      case KernelTypes::String:
        TAPER_REQUIRE(entry.val_as_String()->string_val() != nullptr, kBadPlan,
                      "a string value has no text");
        return {};
      case KernelTypes::IntList:
        return int_list(entry.val_as_IntList()->items());
      case KernelTypes::DoubleList:
        TAPER_REQUIRE(entry.val_as_DoubleList()->items() != nullptr, kBadPlan,
                      "a list has no items");
        TAPER_REQUIRE(is_aligned(entry.val_as_DoubleList()->items()), kBadPlan, kCrooked);
        return {};
      case KernelTypes::BoolList:
        return bool_list(entry.val_as_BoolList()->items());
      case KernelTypes::TensorList:
        return tensor_list(entry.val_as_TensorList()->items(), false);
      case KernelTypes::OptionalTensorList:
        return tensor_list(entry.val_as_OptionalTensorList()->items(), true);
      default:
        break;
    }
    return Status(kBadPlan, "a value is of an unknown kind");
  }

  Status int_list(const flatbuffers::Vector<int64_t>* list) {
    TAPER_REQUIRE(list != nullptr, kBadPlan, "a list has no items");
    TAPER_REQUIRE(is_aligned(list), kBadPlan, kCrooked);
    TAPER_TRY(spend(list->size()));
    for (int64_t item : items(list)) {
      TAPER_REQUIRE(is(item, KernelTypes::Int), kBadPlan,
                    "an item of an int list is not an int value");
    }
    return {};
  }

  Status bool_list(const flatbuffers::Vector<uint8_t>* list) {
    TAPER_REQUIRE(list != nullptr, kBadPlan, "a list has no items");
    TAPER_TRY(spend(list->size()));
    for (uint8_t item : items(list)) {
      TAPER_REQUIRE(item <= 1, kBadPlan, "an item of a bool list is neither 0 nor 1");
    }
    return {};
  }

  Status tensor_list(const flatbuffers::Vector<int32_t>* list, bool optional) {
    TAPER_REQUIRE(list != nullptr, kBadPlan, "a list has no items");
    TAPER_TRY(spend(list->size()));
    for (int32_t item : items(list)) {
      const bool none = optional && (item == -1 || is(item, KernelTypes::Null));
      TAPER_REQUIRE(none || is(item, KernelTypes::Tensor), kBadPlan,
                    "an item of a tensor list is not a tensor value");
    }
    return {};
  }

  Status tensor(const wire::Tensor& tensor) {
    TAPER_REQUIRE(tensor.sizes() != nullptr, kBadPlan, "a tensor has no sizes");
    uint64_t bytes = 0;
    TAPER_TRY(check_shape(kBadPlan, static_cast<int8_t>(tensor.scalar_type()),
                          items(tensor.sizes()), items(tensor.dim_order()), &bytes));
    TAPER_REQUIRE(tensor.storage_offset() == 0, kBadPlan, "a tensor's storage offset is not 0");
    TAPER_REQUIRE(tensor.layout() == 0, kBadPlan, "a tensor's layout is not strided");
    switch (tensor.shape_dynamism()) {
      case wire::TensorShapeDynamism::STATIC:
      case wire::TensorShapeDynamism::DYNAMIC_BOUND:
        break;
      case wire::TensorShapeDynamism::DYNAMIC_UNBOUND:
        return Status(Error::kNotSupported, "a tensor has no upper bound on its sizes");
      default:
        return Status(kBadPlan, "a tensor's shape dynamism is unknown");
    }
    TAPER_TRY(extra(tensor));
    return storage_of(tensor, bytes);
  }

  Status extra(const wire::Tensor& tensor) {
    const wire::ExtraTensorInfo* extra = tensor.extra_tensor_info();
    if (extra == nullptr) return {};
    TAPER_REQUIRE(extra->device_type() == wire::DeviceType::CPU, Error::kNotSupported,
                  "a tensor lies on a device other than the CPU");
    TAPER_REQUIRE(extra->location() == wire::TensorDataLocation::SEGMENT ||
                      extra->location() == wire::TensorDataLocation::EXTERNAL,
                  kBadPlan, "a tensor's data location is unknown");
    TAPER_REQUIRE(extra->location() == wire::TensorDataLocation::SEGMENT ||
                      !text(extra->fully_qualified_name()).empty(),
                  kBadPlan, "an external tensor has no name");
    return {};
  }

  Status storage_of(const wire::Tensor& tensor, uint64_t bytes) {
    const Storage where = storage(tensor);
    const size_t alignment = element_size(scalar_type(tensor));
    if (is_planned(where)) {
      const Span<const int64_t> sizes = items(plan_.non_const_buffer_sizes());
      const wire::AllocationDetails& place = *tensor.allocation_info();
      TAPER_REQUIRE(place.memory_id() > 0 && place.memory_id() < sizes.size(), kBadPlan,
                    "a tensor is planned into a buffer that does not exist");
      const uint64_t offset = planned_offset(place);
      TAPER_REQUIRE(fits(offset, bytes, static_cast<uint64_t>(sizes[place.memory_id()])), kBadPlan,
                    "a tensor ends past the end of its planned buffer");
      TAPER_REQUIRE(is_multiple(offset, alignment), kBadPlan,
                    "a tensor's planned offset is not aligned to its elements");
    }
    TAPER_REQUIRE(
        !is_constant(where) || tensor.shape_dynamism() == wire::TensorShapeDynamism::STATIC,
        kBadPlan, "a constant tensor has a dynamic shape");
    if (where == Storage::kConstant) {
      uint64_t start = 0;
      TAPER_TRY(
          subsegment(file_.program->constant_segment(), tensor.data_buffer_idx(), bytes, &start));
      TAPER_REQUIRE(is_multiple(start, alignment), kBadPlan,
                    "a constant is not aligned to its elements");
    }
    if (where == Storage::kMutable) {
      const auto* segments = file_.program->mutable_data_segments();
      const wire::ExtraTensorInfo* extra = tensor.extra_tensor_info();
      const uint64_t index = extra == nullptr ? 0 : extra->mutable_data_segments_idx();
      TAPER_REQUIRE(index < count(segments), kBadPlan,
                    "a mutable tensor names a data segment that does not exist");
      uint64_t start = 0;
      return subsegment(segments->Get(static_cast<uint32_t>(index)), tensor.data_buffer_idx(),
                        bytes, &start);
    }
    return {};
  }

  // Checks that `bytes` bytes from entry `index` of `table` on lie within the segment; `start`
  // becomes their offset in the file.
  Status subsegment(const wire::SubsegmentOffsets* table, uint32_t index, uint64_t bytes,
                    uint64_t* start) {
    const Span<const uint64_t> offsets =
        table == nullptr ? Span<const uint64_t>() : items(table->offsets());
    TAPER_REQUIRE(index < offsets.size(), kBadPlan, "a tensor's data buffer does not exist");
    const auto* segments = file_.program->segments();
    TAPER_REQUIRE(table->segment_index() < count(segments), kBadPlan,
                  "tensor data lies in a segment that does not exist");
    const wire::DataSegment& segment = *segments->Get(table->segment_index());
    TAPER_REQUIRE(fits(offsets[index], bytes, segment.size()), kBadPlan,
                  "a tensor's data ends past the end of its segment");
    *start = file_.segment_base + segment.offset() + offsets[index];
    return {};
  }

  Status inputs_and_outputs() {
    for (int32_t index : items(plan_.inputs())) {
      TAPER_REQUIRE(is_slot(index), kBadPlan, "an input is not a value of the method");
      value = index;
      TAPER_REQUIRE(
          !is(index, KernelTypes::Tensor) || !is_constant(storage(*at(index).val_as_Tensor())),
          kBadPlan, "an input is a constant");
    }
    value = -1;
    for (int32_t index : items(plan_.outputs())) {
      TAPER_REQUIRE(is_slot(index), kBadPlan, "an output is not a value of the method");
    }
    return {};
  }

  Status operators() {
    if (plan_.operators() == nullptr) return {};
    for (const wire::Operator* op : *plan_.operators()) {
      const std::string_view name = text(op->name());
      TAPER_REQUIRE(!name.empty(), kBadPlan, "an operator has no name");
      TAPER_REQUIRE(name.size() < kMaxOperatorName &&
                        text(op->overload()).size() < kMaxOperatorName - name.size(),
                    kBadPlan, "an operator's name is too long");
    }
    return {};
  }

  Status delegates() {
    if (plan_.delegates() == nullptr) return {};
    for (const wire::BackendDelegate* delegate : *plan_.delegates()) {
      TAPER_REQUIRE(!text(delegate->id()).empty(), kBadPlan, "a delegate has no id");
      TAPER_REQUIRE(delegate->processed() != nullptr, kBadPlan, "a delegate has no payload");
      TAPER_TRY(payload(*delegate->processed()));
      if (delegate->compile_specs() == nullptr) continue;
      TAPER_TRY(spend(delegate->compile_specs()->size()));
      for (const wire::CompileSpec* spec : *delegate->compile_specs()) {
        TAPER_REQUIRE(spec->key() != nullptr && spec->value() != nullptr, kBadPlan,
                      "a delegate's compile spec lacks its key or value");
      }
    }
    return {};
  }

  Status payload(const wire::BackendDelegateDataReference& reference) {
    if (reference.location() == wire::DataLocation::SEGMENT) {
      TAPER_REQUIRE(reference.index() < count(file_.program->segments()), kBadPlan,
                    "a delegate's payload lies in a segment that does not exist");
      return {};
    }
    TAPER_REQUIRE(reference.location() == wire::DataLocation::INLINE, kBadPlan,
                  "a delegate's payload lies in an unknown place");
    const auto* list = file_.program->backend_delegate_data();
    TAPER_REQUIRE(
        reference.index() < count(list) && list->Get(reference.index())->data() != nullptr,
        kBadPlan, "a delegate's inline payload does not exist");
    return {};
  }

  Status instructions(const wire::Chain& chain) {
    TAPER_REQUIRE(chain.instructions() != nullptr, kBadPlan, "a chain has no instructions");
    const int64_t size = chain.instructions()->size();
    for (instruction = 0; instruction < size; ++instruction) {
      TAPER_TRY(one(*chain.instructions()->Get(static_cast<uint32_t>(instruction)), size));
    }
    instruction = -1;
    return {};
  }

  Status one(const wire::Instruction& step, int64_t chain_size) {
    TAPER_REQUIRE(step.instr_args() != nullptr, kBadPlan, "an instruction is empty");
    switch (step.instr_args_type()) {
      case InstructionArguments::KernelCall: {
        const wire::KernelCall& call = *step.instr_args_as_KernelCall();
        TAPER_REQUIRE(
            call.op_index() >= 0 && static_cast<size_t>(call.op_index()) < count(plan_.operators()),
            kBadPlan, "an instruction calls an operator that does not exist");
        return arguments(call.args());
      }
      case InstructionArguments::DelegateCall: {
        const wire::DelegateCall& call = *step.instr_args_as_DelegateCall();
        TAPER_REQUIRE(call.delegate_index() >= 0 &&
                          static_cast<size_t>(call.delegate_index()) < count(plan_.delegates()),
                      kBadPlan, "an instruction calls a delegate that does not exist");
        return arguments(call.args());
      }
      case InstructionArguments::MoveCall:
        return move(*step.instr_args_as_MoveCall());
      case InstructionArguments::JumpFalseCall:
        return jump(*step.instr_args_as_JumpFalseCall(), chain_size);
      case InstructionArguments::FreeCall:
        TAPER_REQUIRE(is(step.instr_args_as_FreeCall()->value_index(), KernelTypes::Tensor),
                      kBadPlan, "a free instruction names no tensor");
        return {};
      default:
        break;
    }
    return Status(kBadPlan, "an instruction is of an unknown kind");
  }

  Status arguments(const flatbuffers::Vector<int32_t>* args) {
    TAPER_TRY(spend(count(args)));
    for (int32_t index : items(args)) {
      TAPER_REQUIRE(is_slot(index), kBadPlan, "an argument is not a value of the method");
    }
    return {};
  }

  Status move(const wire::MoveCall& call) {
    TAPER_REQUIRE(is_slot(call.move_from()) && is_slot(call.move_to()), kBadPlan,
                  "a move names no value of the method");
    const wire::EValue& from = at(call.move_from());
    const wire::EValue& to = at(call.move_to());
    TAPER_REQUIRE(from.val_type() == to.val_type(), kBadPlan,
                  "a move joins two values of different kinds");
    TAPER_REQUIRE(from.val_type() < KernelTypes::IntList, Error::kNotSupported,
                  "a move of a list is not supported");
    TAPER_REQUIRE(from.val_type() != KernelTypes::Tensor ||
                      from.val_as_Tensor()->scalar_type() == to.val_as_Tensor()->scalar_type(),
                  kBadPlan, "a move joins two tensors of different dtypes");
    return {};
  }

  Status jump(const wire::JumpFalseCall& call, int64_t chain_size) {
    const int64_t condition = call.cond_value_index();
    const bool tensor = is(condition, KernelTypes::Tensor) &&
                        at(condition).val_as_Tensor()->scalar_type() == wire::ScalarType::BOOL;
    TAPER_REQUIRE(tensor || is(condition, KernelTypes::Bool) || is(condition, KernelTypes::Int),
                  kBadPlan, "a jump's condition is no bool, int or bool tensor");
    TAPER_REQUIRE(
        call.destination_instruction() >= 0 && call.destination_instruction() <= chain_size,
        kBadPlan, "a jump leaves its chain");
    return {};
  }

  FileContext& file_;
  const wire::ExecutionPlan& plan_;
  const Values* const values_;
};

}  // namespace

Status verify_plan(FileContext& file, const wire::ExecutionPlan& plan,
                   const Diagnostics& diagnostics) {
  PlanVerifier verifier(file, plan);
  const Status status = verifier.run();
  if (!status.ok()) {
    diagnostics({status, text(plan.name()), {}, verifier.value, verifier.instruction});
  }
  return status;
}

}  // namespace taper::internal
