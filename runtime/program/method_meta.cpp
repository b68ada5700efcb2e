// MethodMeta and TensorInfo: inputs, outputs and memory of a method, read from the verified file.

#include "taper/method_meta.h"

#include "runtime/core/shape.h"
#include "runtime/program/plan_access.h"
#include "runtime/program/wire_access.h"

namespace taper {

using internal::count;
using internal::items;
using internal::storage;
using internal::Storage;
using internal::text;

namespace internal {

uint64_t tensor_bytes(const wire::Tensor& tensor) {
  return static_cast<uint64_t>(count_elements(items(tensor.sizes()))) *
         element_size(scalar_type(tensor));
}

const wire::EValue& slot_at(const wire::ExecutionPlan& plan, int64_t index) {
  return *plan.values()->Get(static_cast<uint32_t>(index));
}

Tag tag_of(const wire::EValue& slot) {
  switch (slot.val_type()) {
    case wire::KernelTypes::Int:
      return Tag::kInt;
    case wire::KernelTypes::Bool:
      return Tag::kBool;
    case wire::KernelTypes::Double:
      return Tag::kDouble;
    case wire::KernelTypes::Tensor:
      return Tag::kTensor;
    case wire::KernelTypes::String:
      return Tag::kString;
    case wire::KernelTypes::IntList:
      return Tag::kIntList;
    case wire::KernelTypes::DoubleList:
      return Tag::kDoubleList;
    case wire::KernelTypes::BoolList:
      return Tag::kBoolList;
    case wire::KernelTypes::TensorList:
      return Tag::kTensorList;
    case wire::KernelTypes::OptionalTensorList:
      return Tag::kOptionalTensorList;
    default:
      return Tag::kNone;
  }
}

EValue plain_value(const wire::EValue& slot) {
  switch (slot.val_type()) {
    case wire::KernelTypes::Int:
      return EValue(int64_t{slot.val_as_Int()->int_val()});
    case wire::KernelTypes::Bool:
      return EValue(slot.val_as_Bool()->bool_val());
    case wire::KernelTypes::Double:
      return EValue(slot.val_as_Double()->double_val());
    case wire::KernelTypes::String: {
      const std::string_view value = text(slot.val_as_String()->string_val());
      return EValue(value.data(), static_cast<uint32_t>(value.size()));
    }
    default:
      return EValue();
  }
}

}  // namespace internal

namespace {

using SlotIndices = flatbuffers::Vector<int32_t>;

Result<const wire::EValue*> slot_of(const wire::ExecutionPlan& plan, const SlotIndices* indices,
                                    size_t i) {
  TAPER_REQUIRE(i < count(indices), Error::kInvalidArgument,
                "the method has no input or output of this index");
  return &internal::slot_at(plan, indices->Get(static_cast<uint32_t>(i)));
}

Result<Tag> tag(const wire::ExecutionPlan& plan, const SlotIndices* indices, size_t i) {
  Result<const wire::EValue*> slot = slot_of(plan, indices, i);
  if (!slot.ok()) return slot.status();
  return internal::tag_of(**slot);
}

Result<TensorInfo> tensor(const wire::ExecutionPlan& plan, const SlotIndices* indices, size_t i) {
  Result<const wire::EValue*> slot = slot_of(plan, indices, i);
  if (!slot.ok()) return slot.status();
  const wire::Tensor* found = (*slot)->val_as_Tensor();
  TAPER_REQUIRE(found != nullptr, Error::kInvalidType, "this input or output is not a tensor");
  return TensorInfo(found);
}

bool is_attribute(const wire::EValue& slot) {
  const wire::Tensor* found = slot.val_as_Tensor();
  return found != nullptr && internal::is_state(*found);
}

}  // namespace

ScalarType TensorInfo::scalar_type() const { return internal::scalar_type(*wire_); }
Span<const int32_t> TensorInfo::sizes() const { return items(wire_->sizes()); }
Span<const uint8_t> TensorInfo::dim_order() const { return items(wire_->dim_order()); }
ShapeDynamism TensorInfo::shape_dynamism() const {
  return wire_->shape_dynamism() == wire::TensorShapeDynamism::STATIC
             ? ShapeDynamism::kStatic
             : ShapeDynamism::kDynamicBound;
}
size_t TensorInfo::nbytes() const { return static_cast<size_t>(internal::tensor_bytes(*wire_)); }
bool TensorInfo::is_memory_planned() const { return storage(*wire_) != Storage::kNone; }
std::string_view TensorInfo::name() const {
  const wire::ExtraTensorInfo* extra = wire_->extra_tensor_info();
  return extra == nullptr ? std::string_view() : text(extra->fully_qualified_name());
}

std::string_view MethodMeta::name() const { return text(plan_->name()); }

size_t MethodMeta::num_inputs() const { return count(plan_->inputs()); }
Result<Tag> MethodMeta::input_tag(size_t i) const { return tag(*plan_, plan_->inputs(), i); }
Result<TensorInfo> MethodMeta::input_tensor_meta(size_t i) const {
  return tensor(*plan_, plan_->inputs(), i);
}
Result<EValue> MethodMeta::input_value(size_t i) const {
  Result<const wire::EValue*> slot = slot_of(*plan_, plan_->inputs(), i);
  if (!slot.ok()) return slot.status();
  const wire::KernelTypes type = (*slot)->val_type();
  TAPER_REQUIRE(type <= wire::KernelTypes::String && type != wire::KernelTypes::Tensor,
                Error::kInvalidType, "this input is a tensor or a list: it has no fixed value");
  return internal::plain_value(**slot);
}

size_t MethodMeta::num_outputs() const { return count(plan_->outputs()); }
Result<Tag> MethodMeta::output_tag(size_t i) const { return tag(*plan_, plan_->outputs(), i); }
Result<TensorInfo> MethodMeta::output_tensor_meta(size_t i) const {
  return tensor(*plan_, plan_->outputs(), i);
}

size_t MethodMeta::num_attributes() const {
  size_t found = 0;
  for (const wire::EValue* slot : *plan_->values()) found += is_attribute(*slot);
  return found;
}
Result<TensorInfo> MethodMeta::attribute_tensor_meta(size_t i) const {
  for (const wire::EValue* slot : *plan_->values()) {
    if (is_attribute(*slot) && i-- == 0) return TensorInfo(slot->val_as_Tensor());
  }
  return Status(Error::kInvalidArgument, "the method has no attribute of this index");
}

size_t MethodMeta::num_memory_planned_buffers() const {
  const size_t stored = count(plan_->non_const_buffer_sizes());
  return stored == 0 ? 0 : stored - 1;
}
Result<uint64_t> MethodMeta::memory_planned_buffer_size(size_t i) const {
  TAPER_REQUIRE(i < num_memory_planned_buffers(), Error::kInvalidArgument,
                "the method has no planned buffer of this index");
  return static_cast<uint64_t>(plan_->non_const_buffer_sizes()->Get(static_cast<uint32_t>(i + 1)));
}

size_t MethodMeta::num_instructions() const {
  size_t total = 0;
  for (const wire::Chain* chain : *plan_->chains()) total += count(chain->instructions());
  return total;
}
size_t MethodMeta::num_operators() const { return count(plan_->operators()); }
OperatorName MethodMeta::operator_name(size_t i) const {
  const wire::Operator* op = plan_->operators()->Get(static_cast<uint32_t>(i));
  return {text(op->name()), text(op->overload())};
}
size_t MethodMeta::num_backends() const { return count(plan_->delegates()); }
std::string_view MethodMeta::backend_name(size_t i) const {
  return text(plan_->delegates()->Get(static_cast<uint32_t>(i))->id());
}
bool MethodMeta::uses_backend(std::string_view name) const {
  for (size_t i = 0; i < num_backends(); ++i) {
    if (backend_name(i) == name) return true;
  }
  return false;
}

std::string_view MethodMeta::input_structure() const {
  const wire::ContainerMetadata* meta = plan_->container_meta_type();
  return meta == nullptr ? std::string_view() : text(meta->encoded_inp_str());
}
std::string_view MethodMeta::output_structure() const {
  const wire::ContainerMetadata* meta = plan_->container_meta_type();
  return meta == nullptr ? std::string_view() : text(meta->encoded_out_str());
}

}  // namespace taper
