// The values of a method: filling its slots from the file, and restoring them.

#include <cstring>
#include <new>

#include "runtime/executor/method_state.h"
#include "runtime/program/plan_access.h"
#include "runtime/program/wire_access.h"

namespace taper::internal {
namespace {

using wire::KernelTypes;

template <typename T>
bool same(Span<const T> a, Span<const T> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

std::string_view key_of(const wire::Tensor& tensor) {
  return text(tensor.extra_tensor_info()->fully_qualified_name());
}

// The bytes of an external tensor, whose layout must be the one that the program declares.
Result<Span<const uint8_t>> external_bytes(const NamedDataMap* map, const wire::Tensor& tensor) {
  TAPER_REQUIRE(map != nullptr, Error::kNotFound,
                "this tensor is stored in a .ptd file, and none was given");
  Result<NamedData> found = map->find(key_of(tensor));
  TAPER_REQUIRE(found.ok(), Error::kNotFound, "the .ptd file lacks this tensor");
  const bool same_layout = found->is_tensor && found->scalar_type == scalar_type(tensor) &&
                           same(found->sizes, items(tensor.sizes())) &&
                           same(found->dim_order, items(tensor.dim_order()));
  TAPER_REQUIRE(same_layout, Error::kInvalidExternalData,
                "the .ptd file holds this tensor with another dtype, sizes or dim order");
  TAPER_REQUIRE(found->bytes.size() >= tensor_bytes(tensor), Error::kInvalidExternalData,
                "the .ptd file holds too few bytes for this tensor");
  return found->bytes;
}

class ValueFiller {
 public:
  ValueFiller(MethodState& state, const HierarchicalAllocator& planned, EValue** pointers)
      : pointers(pointers),
        state_(state),
        planned_(planned),
        tensors_(state.tensors),
        int_lists_(state.int_lists),
        tensor_lists_(state.tensor_lists),
        ints_(state.list_ints),
        list_tensors_(state.list_tensors),
        dims_(state.dims) {}

  Status fill(const wire::EValue& slot, EValue* value, uint8_t* flags) {
    *flags = 0;
    switch (slot.val_type()) {
      case KernelTypes::Tensor:
        return tensor(*slot.val_as_Tensor(), value, flags);
      case KernelTypes::IntList:
        int_list(items(slot.val_as_IntList()->items()), value);
        break;
      case KernelTypes::DoubleList: {
        const Span<const double> list = items(slot.val_as_DoubleList()->items());
        new (value) EValue(list.data(), static_cast<uint32_t>(list.size()));
        break;
      }
      case KernelTypes::BoolList: {
        const Span<const bool> list = bools(slot.val_as_BoolList()->items());
        new (value) EValue(list.data(), static_cast<uint32_t>(list.size()));
        break;
      }
      case KernelTypes::TensorList:
        tensor_list(items(slot.val_as_TensorList()->items()), Tag::kTensorList, value);
        break;
      case KernelTypes::OptionalTensorList:
        tensor_list(items(slot.val_as_OptionalTensorList()->items()), Tag::kOptionalTensorList,
                    value);
        break;
      default:
        new (value) EValue(plain_value(slot));
    }
    return {};
  }

  EValue** pointers;  // The first one that is not used.

 private:
  Status tensor(const wire::Tensor& wire, EValue* value, uint8_t* flags) {
    const size_t rank = wire.sizes()->size();
    const bool dynamic = wire.shape_dynamism() != wire::TensorShapeDynamism::STATIC;
    // Static sizes and dim orders are never written, so they stay in the file.
    int32_t* sizes = const_cast<int32_t*>(wire.sizes()->data());
    if (dynamic) {
      if (rank > 0) std::memcpy(dims_, sizes, rank * sizeof(int32_t));
      sizes = dims_;
      dims_ += rank;
    }
    uint8_t* order = const_cast<uint8_t*>(items(wire.dim_order()).data());
    Tensor* made =
        new (tensors_++) Tensor(scalar_type(wire), rank, sizes, order, dims_, nullptr,
                                dynamic ? ShapeDynamism::kDynamicBound : ShapeDynamism::kStatic);
    dims_ += rank;
    new (value) EValue(made);
    return bind(wire, *made, flags);
  }

  Status bind(const wire::Tensor& wire, Tensor& tensor, uint8_t* flags) {
    const Storage where = storage(wire);
    if (is_planned(where)) {
      const wire::AllocationDetails& place = *wire.allocation_info();
      Result<uint8_t*> address =
          planned_.address(place.memory_id() - 1, planned_offset(place), tensor.nbytes());
      if (!address.ok()) return address.status();
      tensor.set_data(*address);
    }
    if (where == Storage::kNone) *flags = kMayBeUnbound;
    if (is_constant(where)) {
      *flags = kMayBeConstant;
      tensor.set_constant();
    }
    if (where == Storage::kConstant) {
      tensor.set_data(
          const_cast<uint8_t*>(state_.program->constant(wire.data_buffer_idx()).data()));
    }
    return is_external(where) ? bind_external(wire, tensor) : Status();
  }

  Status bind_external(const wire::Tensor& wire, Tensor& tensor) {
    Result<Span<const uint8_t>> bytes = external_bytes(state_.external, wire);
    if (!bytes.ok()) return bytes.status();
    if (wire.allocation_info() != nullptr) return {};
    const uintptr_t address = reinterpret_cast<uintptr_t>(bytes->data());
    TAPER_REQUIRE(address % element_size(tensor.scalar_type()) == 0, Error::kInvalidExternalData,
                  "an external tensor is not aligned to its elements");
    tensor.set_data(const_cast<uint8_t*>(bytes->data()));
    return {};
  }

  void int_list(Span<const int64_t> list, EValue* value) {
    BoxedIntList* boxed = new (int_lists_++) BoxedIntList{pointers, ints_};
    for (int64_t item : list) *pointers++ = &state_.values[item];
    ints_ += list.size();
    new (value) EValue(boxed, static_cast<uint32_t>(list.size()));
  }

  void tensor_list(Span<const int32_t> list, Tag tag, EValue* value) {
    BoxedTensorList* boxed = new (tensor_lists_++) BoxedTensorList{pointers, list_tensors_};
    for (int32_t item : list) *pointers++ = item < 0 ? nullptr : &state_.values[item];
    list_tensors_ += list.size();
    new (value) EValue(boxed, static_cast<uint32_t>(list.size()), tag);
  }

  MethodState& state_;
  const HierarchicalAllocator& planned_;
  Tensor* tensors_;
  BoxedIntList* int_lists_;
  BoxedTensorList* tensor_lists_;
  int64_t* ints_;
  Tensor** list_tensors_;
  int32_t* dims_;
};

// The saved bytes of a mutable tensor; empty if it has none.
Result<Span<const uint8_t>> saved_bytes(const MethodState& state, const wire::Tensor& tensor) {
  const Storage where = storage(tensor);
  if (where == Storage::kExternalMutable) return external_bytes(state.external, tensor);
  if (where != Storage::kMutable) return Span<const uint8_t>();
  const wire::ExtraTensorInfo* extra = tensor.extra_tensor_info();
  const uint64_t index = extra == nullptr ? 0 : extra->mutable_data_segments_idx();
  const wire::SubsegmentOffsets& table =
      *state.program->wire().mutable_data_segments()->Get(static_cast<uint32_t>(index));
  Result<Span<const uint8_t>> segment = state.program->segment(table.segment_index());
  if (!segment.ok()) return segment.status();
  return segment->subspan(static_cast<size_t>(table.offsets()->Get(tensor.data_buffer_idx())),
                          static_cast<size_t>(tensor_bytes(tensor)));
}

}  // namespace

Status fill_values(MethodState& state, const HierarchicalAllocator& planned,
                   const Diagnostics& diagnostics, EValue*** cursor) {
  ValueFiller filler(state, planned, *cursor);
  Status result;
  for (uint32_t i = 0; i < state.plan->values()->size(); ++i) {
    const wire::EValue& slot = *state.plan->values()->Get(i);
    const Status status = filler.fill(slot, &state.values[i], &state.flags[i]);
    if (status.ok()) continue;
    const wire::Tensor* tensor = slot.val_as_Tensor();
    const bool external = tensor != nullptr && is_external(storage(*tensor));
    diagnostics(
        {status, text(state.plan->name()), external ? key_of(*tensor) : std::string_view(), i, -1});
    result = status;
  }
  *cursor = filler.pointers;
  return result;
}

void restore_slots(MethodState& state) {
  Tensor* tensor = state.tensors;
  for (uint32_t i = 0; i < state.plan->values()->size(); ++i) {
    const wire::EValue& slot = *state.plan->values()->Get(i);
    if (slot.val_type() == KernelTypes::Tensor) {
      state.values[i] = EValue(tensor++);
    } else if (slot.val_type() < KernelTypes::IntList) {
      state.values[i] = plain_value(slot);
    }
  }
}

Status load_saved_values(MethodState& state) {
  Tensor* tensor = state.tensors;
  for (const wire::EValue* slot : *state.plan->values()) {
    const wire::Tensor* wire = slot->val_as_Tensor();
    if (wire == nullptr) continue;
    Tensor& own = *tensor++;
    Result<Span<const uint8_t>> bytes = saved_bytes(state, *wire);
    if (!bytes.ok()) return bytes.status();
    if (bytes->empty()) continue;
    TAPER_TRY(own.resize(items(wire->sizes())));
    std::memcpy(own.mutable_data(), bytes->data(), own.nbytes());
  }
  return {};
}

}  // namespace taper::internal
