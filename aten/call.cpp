// Boxed calls of the dispatcher.

#include "aten/call.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <cstdio>
#include <vector>

namespace taper::aten {
namespace {

using c10::TypeKind;

at::ScalarType dtype_of(const Tensor& tensor) {
  return static_cast<at::ScalarType>(tensor.scalar_type());  // The numbers are PyTorch's.
}

at::Tensor view_of(const Tensor& tensor) {
  const std::vector<int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  const std::vector<int64_t> strides(tensor.strides().begin(), tensor.strides().end());
  return at::from_blob(tensor.mutable_data(), sizes, strides, at::dtype(dtype_of(tensor)));
}

// A tensor for an out argument. If its sizes may change it has none yet, and room for all that the
// memory can hold: the operator gives it its sizes.
at::Tensor view_of_result(const Tensor& tensor) {
  if (tensor.shape_dynamism() == ShapeDynamism::kStatic) return view_of(tensor);
  const at::Tensor whole =
      at::from_blob(tensor.mutable_data(), {tensor.capacity()}, at::dtype(dtype_of(tensor)));
  whole.unsafeGetTensorImpl()->set_sizes_contiguous({0});
  return whole;
}

void store(const at::Tensor& result, Tensor& to) {
  if (!result.defined()) {
    TORCH_CHECK(to.numel() == 0, "it gives no tensor where the program expects one");
    return;
  }
  TORCH_CHECK(result.layout() == at::kStrided, "it gives a tensor with the layout ",
              result.layout(), ", for which the program has no memory");
  TORCH_CHECK(result.scalar_type() == dtype_of(to), "it gives ", result.scalar_type(),
              " where the program states ", dtype_of(to));
  const std::vector<int32_t> sizes(result.sizes().begin(), result.sizes().end());
  TORCH_CHECK(to.resize({sizes.data(), sizes.size()}).ok(), "it gives the sizes ", result.sizes(),
              ", for which the program has no memory");
  const at::Tensor target = view_of(to);
  const bool in_place = result.is_same(target) || result.data_ptr() == target.data_ptr();
  if (in_place && result.strides() == target.strides() && !result.is_conj() && !result.is_neg()) {
    return;
  }
  target.copy_(in_place ? result.clone() : result);
}

struct Written {
  at::Tensor value;
  Tensor* tensor;
};

class Call {
 public:
  Call(const c10::OperatorHandle& handle, Given given, EValue* const* slots)
      : handle_(handle), schema_(handle.schema()), given_(given), slots_(slots) {}

  void run() {
    const c10::InferenceMode no_gradients;
    for (const c10::Argument& argument : schema_.arguments()) {
      const bool left_out = given_ == Given::kWithoutDefaults && argument.default_value();
      stack_.push_back(left_out ? *argument.default_value() : value_of(**slots_++, argument));
    }
    handle_.callBoxed(stack_);
    for (const Written& each : written_) store(each.value, *each.tensor);
    std::vector<at::Tensor> results;
    bool fresh = false;
    for (size_t i = 0; i < schema_.returns().size(); ++i) {
      if (!is_fresh(schema_.returns()[i])) continue;
      append(stack_.at(i), results);
      fresh = true;
    }
    if (fresh) store_all(results);
  }

 private:
  at::IValue value_of(const EValue& slot, const c10::Argument& argument) {
    const c10::Type* type = argument.real_type().get();
    if (type->kind() == TypeKind::OptionalType) {
      if (slot.is_none()) return {};
      type = type->castRaw<c10::OptionalType>()->getElementType().get();
    }
    const bool written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    if (type->kind() == TypeKind::ListType) {
      return list_of(slot, *type->castRaw<c10::ListType>()->getElementType(), argument);
    }
    return item_of(slot, *type, written, argument.is_out());
  }

  at::IValue item_of(const EValue& slot, const c10::Type& type, bool written, bool out) {
    switch (type.kind()) {
      case TypeKind::TensorType:
        return tensor_of(slot.to_tensor(), written, out);
      case TypeKind::DeviceObjType:
        return at::Device(at::kCPU);
      case TypeKind::StringType:
        return std::string(slot.to_string_view());
      case TypeKind::FloatType:
        return slot.is_double() ? slot.to_double() : static_cast<double>(integer_of(slot));
      case TypeKind::BoolType:
        return integer_of(slot) != 0;
      case TypeKind::NumberType:
        if (slot.is_tensor()) return view_of(slot.to_tensor()).item();
        if (slot.is_double()) return slot.to_double();
        if (slot.is_bool()) return slot.to_bool();
        return slot.to_int();
      default:  // Dtypes, layouts and memory formats are numbers, too; None is the first of them.
        return slot.is_none() ? int64_t{0} : integer_of(slot);
    }
  }

  static int64_t integer_of(const EValue& slot) {
    return slot.is_bool() ? slot.to_bool() : slot.to_int();
  }

  at::Tensor tensor_of(Tensor& tensor, bool written, bool out) {
    if (!written) return view_of(tensor);
    written_.push_back({out ? view_of_result(tensor) : view_of(tensor), &tensor});
    return written_.back().value;
  }

  at::IValue list_of(const EValue& slot, const c10::Type& item, const c10::Argument& argument) {
    switch (item.kind()) {
      case TypeKind::TensorType: {
        const bool written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
        c10::List<at::Tensor> list;
        for (Tensor* each : slot.to_tensor_list()) {
          list.push_back(tensor_of(*each, written, argument.is_out()));
        }
        return list;
      }
      case TypeKind::OptionalType: {
        c10::List<std::optional<at::Tensor>> list;
        for (Tensor* each : slot.to_tensor_list()) {
          list.push_back(each == nullptr ? std::nullopt : std::optional(view_of(*each)));
        }
        return list;
      }
      case TypeKind::FloatType:
        return numbers_of<double>(slot.to_double_list(), argument);
      case TypeKind::BoolType:
        return numbers_of<bool>(slot.to_bool_list(), argument);
      default:
        return numbers_of<int64_t>(slot.to_int_list(), argument);
    }
  }

  // One number may stand for a list of fixed length: int[2] kernel_size=3.
  template <typename T>
  static c10::List<T> numbers_of(Span<const T> items, const c10::Argument& argument) {
    c10::List<T> list;
    for (const T item : items) list.push_back(item);
    const auto length = static_cast<size_t>(argument.N().value_or(0));
    while (items.size() == 1 && list.size() < length) list.push_back(items[0]);
    return list;
  }

  static void append(const at::IValue& result, std::vector<at::Tensor>& results) {
    if (!result.isTensorList()) return results.push_back(result.toTensor());
    for (const at::Tensor& each : result.toTensorVector()) results.push_back(each);
  }

  // Either each result has a slot, or all have one, which is a list.
  void store_all(const std::vector<at::Tensor>& results) {
    if ((*slots_)->is_tensor()) {
      for (const at::Tensor& each : results) store(each, (*slots_++)->to_tensor());
      return;
    }
    const Span<Tensor* const> to = (*slots_)->to_tensor_list();
    TORCH_CHECK(results.size() == to.size(), "it gives ", results.size(),
                " tensors where the program states ", to.size());
    for (size_t i = 0; i < to.size(); ++i) store(results[i], *to[i]);
  }

  const c10::OperatorHandle& handle_;
  const c10::FunctionSchema& schema_;
  const Given given_;
  EValue* const* slots_;
  torch::jit::Stack stack_;
  std::vector<Written> written_;
};

// The first line of what was thrown.
Status failed(const char* text) {
  static thread_local char message[512];
  std::snprintf(message, sizeof(message), "%s", text);
  for (char* c = message; *c != '\0'; ++c) {
    if (*c == '\n') *c = '\0';
    if (*c == '\0') break;
  }
  return Status(Error::kInvalidArgument, message);
}

std::optional<ArgKind> list_kind(const c10::Type& item, bool written) {
  switch (item.kind()) {
    case TypeKind::TensorType:
      return written ? ArgKind::kMutableTensorList : ArgKind::kTensorList;
    case TypeKind::OptionalType:
      if (item.castRaw<c10::OptionalType>()->getElementType()->kind() != TypeKind::TensorType) {
        return std::nullopt;
      }
      return ArgKind::kOptionalTensorList;
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return ArgKind::kIntList;
    case TypeKind::FloatType:
      return ArgKind::kDoubleList;
    case TypeKind::BoolType:
      return ArgKind::kBoolList;
    default:
      return std::nullopt;
  }
}

std::optional<ArgKind> kind_of(const c10::Type& type, bool written) {
  switch (type.kind()) {
    case TypeKind::TensorType:
      return written ? ArgKind::kMutableTensor : ArgKind::kTensor;
    case TypeKind::NumberType:
      return ArgKind::kScalar;
    case TypeKind::FloatType:
      return ArgKind::kDouble;
    case TypeKind::BoolType:
      return ArgKind::kBool;
    case TypeKind::StringType:
      return ArgKind::kString;
    case TypeKind::IntType:
    case TypeKind::SymIntType:
    case TypeKind::ScalarTypeType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
    case TypeKind::DeviceObjType:
      return ArgKind::kInt;
    case TypeKind::ListType:
      return list_kind(*type.castRaw<c10::ListType>()->getElementType(), written);
    default:
      return std::nullopt;
  }
}

// Programs state None for devices and memory formats, which have only one value here.
bool may_be_none(const c10::Type& type) {
  return type.kind() == TypeKind::DeviceObjType || type.kind() == TypeKind::MemoryFormatType;
}

}  // namespace

std::optional<ArgSpec> spec_of(const c10::Argument& argument, bool written, Given given) {
  const c10::Type* type = argument.real_type().get();
  const bool optional = type->kind() == TypeKind::OptionalType;
  if (optional) type = type->castRaw<c10::OptionalType>()->getElementType().get();
  std::optional<ArgKind> kind = kind_of(*type, written);
  if (!kind) return std::nullopt;
  if (kind == ArgKind::kScalar && given == Given::kNumbersAsTensors) kind = ArgKind::kTensor;
  return ArgSpec{*kind, optional || may_be_none(*type), true};
}

bool is_fresh(const c10::Argument& result) {
  return result.alias_info() == nullptr || !result.alias_info()->isWrite();
}

Status call(const c10::OperatorHandle& handle, Given given, EValue* const* slots) {
  try {
    Call(handle, given, slots).run();
    return {};
  } catch (const c10::Error& error) {
    return failed(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return failed(error.what());
  } catch (...) {
    return failed("PyTorch's operator has failed");
  }
}

}  // namespace taper::aten
