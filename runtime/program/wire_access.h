// Helpers that read verified flatbuffers: vectors as spans, strings as views.

#pragma once

#include <string_view>

#include "schema/flatbuffers.h"
#include "schema/program_generated.h"
#include "taper/scalar_type.h"
#include "taper/span.h"

#if FLATBUFFERS_LITTLEENDIAN != 1
#error "vectors of a program are read in place, which requires a little-endian machine"
#endif

namespace taper::internal {

// An absent vector reads as an empty one.
template <typename T>
Span<const T> items(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? Span<const T>() : Span<const T>(vector->data(), vector->size());
}

template <typename T>
size_t count(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// FlatBuffers verifies that a vector's length is aligned, not that its items are. Writers align
// only vectors that have items.
template <typename T>
bool is_aligned(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr || vector->size() == 0 ||
         reinterpret_cast<uintptr_t>(vector->data()) % alignof(T) == 0;
}

inline std::string_view text(const flatbuffers::String* string) {
  return string == nullptr ? std::string_view() : std::string_view(string->c_str(), string->size());
}

// flatc stores bools as bytes; the verifier has checked that they are 0 or 1.
inline Span<const bool> bools(const flatbuffers::Vector<uint8_t>* vector) {
  return {reinterpret_cast<const bool*>(vector->data()), vector->size()};
}

// Where a tensor's bytes come from; see schema/program.fbs.
enum class Storage : uint8_t {
  kNone,              // Nowhere yet: an input, an output or a view, which is bound later.
  kPlanned,           // In an arena, not initialised.
  kConstant,          // In the constant segment.
  kMutable,           // In an arena, initialised from a mutable segment.
  kExternalConstant,  // In a .ptd.
  kExternalMutable,   // In an arena, initialised from a .ptd.
};

inline Storage storage(const wire::Tensor& tensor) {
  const wire::ExtraTensorInfo* extra = tensor.extra_tensor_info();
  const bool planned = tensor.allocation_info() != nullptr;
  if (extra != nullptr && extra->location() == wire::TensorDataLocation::EXTERNAL) {
    return planned ? Storage::kExternalMutable : Storage::kExternalConstant;
  }
  if (tensor.data_buffer_idx() > 0) return planned ? Storage::kMutable : Storage::kConstant;
  return planned ? Storage::kPlanned : Storage::kNone;
}

inline bool is_constant(Storage storage) {
  return storage == Storage::kConstant || storage == Storage::kExternalConstant;
}
inline bool is_planned(Storage storage) {
  return storage == Storage::kPlanned || storage == Storage::kMutable ||
         storage == Storage::kExternalMutable;
}
inline bool is_external(Storage storage) {
  return storage == Storage::kExternalConstant || storage == Storage::kExternalMutable;
}

// Whether a tensor lives on from one execution to the next. ExecuTorch writes buffers without saved
// bytes, too; of these, those with names are known.
inline bool is_state(const wire::Tensor& tensor) {
  const Storage where = storage(tensor);
  if (where != Storage::kPlanned) return is_planned(where);
  const wire::ExtraTensorInfo* extra = tensor.extra_tensor_info();
  return extra != nullptr && extra->fully_qualified_name() != nullptr &&
         extra->fully_qualified_name()->size() != 0;
}

inline uint64_t planned_offset(const wire::AllocationDetails& place) {
  return static_cast<uint64_t>(place.memory_offset_high()) << 32 | place.memory_offset_low();
}

inline ScalarType scalar_type(const wire::Tensor& tensor) {
  return static_cast<ScalarType>(tensor.scalar_type());
}

// The size in bytes at the declared sizes. REQUIRES: the tensor is verified.
uint64_t tensor_bytes(const wire::Tensor& tensor);

}  // namespace taper::internal
