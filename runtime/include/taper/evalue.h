// EValue: one slot of a program. It holds None, a number, a string, a tensor or a list.
//
// It has 16 bytes, is trivially copyable and owns nothing: lists and tensors are in the Method's
// block. The tag of a slot never changes after Method::load, so that kernels may read arguments
// unchecked.

#pragma once

#include <cstdint>
#include <string_view>

#include "taper/span.h"
#include "taper/tensor.h"

namespace taper {

enum class Tag : uint8_t {
  kNone = 0,
  kTensor = 1,
  kString = 2,
  kDouble = 3,
  kInt = 4,
  kBool = 5,
  kBoolList = 6,
  kDoubleList = 7,
  kIntList = 8,
  kTensorList = 9,
  kOptionalTensorList = 11,
};

const char* to_string(Tag tag);

class EValue;

// A list of integers that are slots of the program, so that an item can be a computed size.
struct BoxedIntList {
  EValue** items;    // Each one is an Int slot.
  int64_t* unboxed;  // Scratch for the values, filled by EValue::to_int_list().
};

// A list of tensors that are slots. In an optional list an item may be a None slot or null.
struct BoxedTensorList {
  EValue** items;
  Tensor** unboxed;  // Scratch for the pointers; None becomes a null pointer.
};

class EValue {
 public:
  EValue() : as_int_(0) {}
  explicit EValue(int64_t value) : as_int_(value), tag_(Tag::kInt) {}
  explicit EValue(double value) : as_double_(value), tag_(Tag::kDouble) {}
  explicit EValue(bool value) : as_bool_(value), tag_(Tag::kBool) {}
  explicit EValue(Tensor* tensor) : as_tensor_(tensor), tag_(Tag::kTensor) {}
  EValue(const char* text, uint32_t length)
      : as_string_(text), count_(length), tag_(Tag::kString) {}
  EValue(const double* items, uint32_t count)
      : as_doubles_(items), count_(count), tag_(Tag::kDoubleList) {}
  EValue(const bool* items, uint32_t count)
      : as_bools_(items), count_(count), tag_(Tag::kBoolList) {}
  EValue(BoxedIntList* list, uint32_t count)
      : as_int_list_(list), count_(count), tag_(Tag::kIntList) {}
  // `tag` is kTensorList or kOptionalTensorList.
  EValue(BoxedTensorList* list, uint32_t count, Tag tag)
      : as_tensor_list_(list), count_(count), tag_(tag) {}

  Tag tag() const { return tag_; }
  bool is_none() const { return tag_ == Tag::kNone; }
  bool is_tensor() const { return tag_ == Tag::kTensor; }
  bool is_int() const { return tag_ == Tag::kInt; }
  bool is_double() const { return tag_ == Tag::kDouble; }
  bool is_bool() const { return tag_ == Tag::kBool; }
  bool is_number() const { return is_int() || is_double() || is_bool(); }

  // The value. REQUIRES of each: the tag is that of the type. Nothing is checked.
  int64_t to_int() const { return as_int_; }
  double to_double() const { return as_double_; }
  bool to_bool() const { return as_bool_; }
  Tensor& to_tensor() const { return *as_tensor_; }
  std::string_view to_string_view() const { return {as_string_, count_}; }
  Span<const double> to_double_list() const { return {as_doubles_, count_}; }
  Span<const bool> to_bool_list() const { return {as_bools_, count_}; }
  // Reads the current values of the items into the list's scratch.
  Span<const int64_t> to_int_list() const;
  Span<Tensor* const> to_tensor_list() const;
  // The slots of an IntList, TensorList or OptionalTensorList.
  Span<EValue* const> list_items() const;

 private:
  union {
    int64_t as_int_;
    double as_double_;
    bool as_bool_;
    Tensor* as_tensor_;
    const char* as_string_;
    const double* as_doubles_;
    const bool* as_bools_;
    BoxedIntList* as_int_list_;
    BoxedTensorList* as_tensor_list_;
  };
  uint32_t count_ = 0;
  Tag tag_ = Tag::kNone;
};

static_assert(sizeof(EValue) <= 16 || sizeof(void*) != 8, "an EValue is two words");

}  // namespace taper
