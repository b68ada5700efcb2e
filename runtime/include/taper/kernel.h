// The interface of an operator: a Kernel is a name, a function over slots, and the kinds of its
// arguments. A KernelTable is a sorted list of kernels that the application passes to a Method.
//
// A kernel is written as a plain function and wrapped once:
//
//   Status add_out(KernelContext&, const Tensor& self, const Tensor& other, Scalar alpha,
//                  Tensor& out);
//   extern const Kernel kAddOut;
//   const Kernel kAddOut = make_kernel<add_out>("aten::add.out");
//
// The wrapper derives the argument kinds from the C++ types. Method::load compares them once with
// the slots that an instruction names, so that the call itself reads its arguments unchecked.
//
//   C++ type                       accepts a slot with
//   const Tensor&                  a tensor
//   Tensor&                        a tensor that may be written (never a constant)
//   const Tensor*                  a tensor or None (null)
//   Scalar                         an int, double or bool
//   int64_t, double, bool          an int, double or bool (double also an int; int64_t and bool
//                                  also each other)
//   std::string_view               a string
//   Message                        a string, which is what ExecutionFailure says if the call fails
//   IntList, DoubleList, BoolList  a list of that type
//   TensorList                     a list of tensors
//   OptionalTensorList             a list of tensors or Nones, with either list tag
//   MutableTensorList              a list of tensors that may be written
//   std::optional<number or list>  the same or None
//
// Two operators in a row, of which the second works in place on the result of the first, may have a
// kernel for both: it has their names, joined by '+', and takes the arguments of the first, then
// those of the second. It does what the two do one after the other.
//
// Prim operators, which write number slots or rebind tensors, define their Kernel by hand with the
// kinds kNumberOut and kAliasTensor and access the slots directly.
//
// A kernel checks dtypes and shapes, resizes its outputs, then computes. It may access every tensor
// only within nbytes(). It never allocates, locks, logs or keeps state. Method::execute returns its
// Status; after an error its outputs are undefined.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "taper/dtypes.h"
#include "taper/evalue.h"
#include "taper/span.h"
#include "taper/status.h"
#include "taper/tensor.h"
#include "taper/thread_pool.h"

namespace taper {

// A number whose type the program chose: an int, a double or a bool.
class Scalar {
 public:
  constexpr Scalar(int64_t value) : int_(value), tag_(Tag::kInt) {}
  constexpr Scalar(double value) : double_(value), tag_(Tag::kDouble) {}
  constexpr Scalar(bool value) : int_(value), tag_(Tag::kBool) {}

  constexpr bool is_double() const { return tag_ == Tag::kDouble; }
  constexpr bool is_int() const { return tag_ == Tag::kInt; }
  constexpr bool is_bool() const { return tag_ == Tag::kBool; }
  // The value, converted. A double outside the range of int64_t becomes the nearest int64_t; NaN
  // becomes 0.
  double to_double() const { return is_double() ? double_ : static_cast<double>(int_); }
  int64_t to_int() const {
    if (!is_double()) return int_;
    if (!(double_ > -9223372036854775808.0)) return double_ != double_ ? 0 : INT64_MIN;
    return double_ < 9223372036854775808.0 ? static_cast<int64_t>(double_) : INT64_MAX;
  }
  bool to_bool() const { return is_double() ? double_ != 0 : int_ != 0; }

 private:
  union {
    int64_t int_;
    double double_;
  };
  Tag tag_;
};

using IntList = Span<const int64_t>;
using DoubleList = Span<const double>;
using BoolList = Span<const bool>;

// Items are never null in a TensorList; null stands for None in an OptionalTensorList.
struct TensorList : Span<Tensor* const> {};
struct OptionalTensorList : Span<Tensor* const> {};
struct MutableTensorList : Span<Tensor* const> {};

// A text of the program that says what it means if the call fails.
struct Message : std::string_view {};

// What a kernel has access to besides its arguments: scratch memory for the duration of one call,
// and threads.
class KernelContext {
 public:
  KernelContext() = default;
  explicit KernelContext(Span<unsigned char> temp, const ThreadPool& pool = {})
      : temp_(temp), pool_(pool) {}

  // `bytes` bytes of scratch memory aligned to 64, or null if there is not enough temp memory left.
  void* allocate_temp(size_t bytes);
  // Makes all scratch free again. Called between instructions.
  void reset_temp() { used_ = 0; }
  // How much of it is taken.
  size_t used_temp() const { return used_; }

  const ThreadPool& pool() const { return pool_; }

 private:
  Span<unsigned char> temp_;
  ThreadPool pool_;
  size_t used_ = 0;
};

enum class ArgKind : uint8_t {
  kTensor,
  kMutableTensor,
  kScalar,
  kInt,
  kDouble,
  kBool,
  kString,
  kMessage,  // A string that explains a failure of the call.
  kIntList,
  kDoubleList,
  kBoolList,
  kTensorList,
  kOptionalTensorList,
  kMutableTensorList,
  kNumberOut,    // A number slot that the kernel overwrites; an int may become a double.
  kAliasTensor,  // A tensor whose memory the kernel rebinds to that of its first tensor argument.
};

// One argument: its kind, whether it may be None, and whether tensors may be complex.
struct ArgSpec {
  ArgKind kind;
  bool optional;
  bool complex = false;
};

using KernelFunction = Status (*)(KernelContext& context, EValue* const* args);

struct Kernel {
  const char* name;  // "aten::add.out": namespace, name, and the overload if there is one.
  KernelFunction run;
  const ArgSpec* args;  // One per schema argument, out arguments last.
  uint8_t arg_count;
  DtypeSet dtypes = kSelectedDtypes;  // Tensors of other dtypes are refused by Method::load.
};

// Kernels sorted by name (strcmp order), each name once. Tables are searched in order, so a partial
// library goes before the portable one. The memory must outlive every Method that uses it.
using KernelTable = Span<const Kernel* const>;

// The longest name of an operator, including dot and overload. Programs with longer ones are
// refused.
inline constexpr size_t kMaxOperatorName = 200;

// The kernel of that name, or null. Binary search.
const Kernel* find_kernel(KernelTable table, std::string_view name);

// True if a slot that holds `value` may be passed for an argument of this `spec`.
bool accepts(ArgSpec spec, const EValue& value);

namespace internal {

// For each C++ parameter type: its description (kSpec), and how it is read from a slot (get).
template <typename T>
struct Arg;

template <ArgKind kKindOf, bool kOptional = false>
struct ArgBase {
  static constexpr ArgSpec kSpec = {kKindOf, kOptional};
};

template <>
struct Arg<const Tensor&> : ArgBase<ArgKind::kTensor> {
  static const Tensor& get(const EValue& v) { return v.to_tensor(); }
};
template <>
struct Arg<Tensor&> : ArgBase<ArgKind::kMutableTensor> {
  static Tensor& get(const EValue& v) { return v.to_tensor(); }
};
template <>
struct Arg<const Tensor*> : ArgBase<ArgKind::kTensor, true> {
  static const Tensor* get(const EValue& v) { return v.is_none() ? nullptr : &v.to_tensor(); }
};
template <>
struct Arg<Scalar> : ArgBase<ArgKind::kScalar> {
  static Scalar get(const EValue& v) {
    if (v.is_double()) return Scalar(v.to_double());
    return v.is_bool() ? Scalar(v.to_bool()) : Scalar(v.to_int());
  }
};
template <>
struct Arg<int64_t> : ArgBase<ArgKind::kInt> {
  static int64_t get(const EValue& v) { return v.is_bool() ? v.to_bool() : v.to_int(); }
};
template <>
struct Arg<double> : ArgBase<ArgKind::kDouble> {
  static double get(const EValue& v) { return Arg<Scalar>::get(v).to_double(); }
};
template <>
struct Arg<bool> : ArgBase<ArgKind::kBool> {
  static bool get(const EValue& v) { return v.is_bool() ? v.to_bool() : v.to_int() != 0; }
};
template <>
struct Arg<std::string_view> : ArgBase<ArgKind::kString> {
  static std::string_view get(const EValue& v) { return v.to_string_view(); }
};
template <>
struct Arg<Message> : ArgBase<ArgKind::kMessage> {
  static Message get(const EValue& v) { return {v.to_string_view()}; }
};
template <>
struct Arg<IntList> : ArgBase<ArgKind::kIntList> {
  static IntList get(const EValue& v) { return v.to_int_list(); }
};
template <>
struct Arg<DoubleList> : ArgBase<ArgKind::kDoubleList> {
  static DoubleList get(const EValue& v) { return v.to_double_list(); }
};
template <>
struct Arg<BoolList> : ArgBase<ArgKind::kBoolList> {
  static BoolList get(const EValue& v) { return v.to_bool_list(); }
};
template <>
struct Arg<TensorList> : ArgBase<ArgKind::kTensorList> {
  static TensorList get(const EValue& v) { return {v.to_tensor_list()}; }
};
template <>
struct Arg<OptionalTensorList> : ArgBase<ArgKind::kOptionalTensorList> {
  static OptionalTensorList get(const EValue& v) { return {v.to_tensor_list()}; }
};
template <>
struct Arg<MutableTensorList> : ArgBase<ArgKind::kMutableTensorList> {
  static MutableTensorList get(const EValue& v) { return {v.to_tensor_list()}; }
};
template <typename T>
struct Arg<std::optional<T>> : ArgBase<Arg<T>::kSpec.kind, true> {
  static std::optional<T> get(const EValue& v) {
    if (v.is_none()) return std::nullopt;
    return Arg<T>::get(v);
  }
};

template <auto kFunction, bool kComplex>
struct Boxed;

template <typename... Args, Status (*kFunction)(KernelContext&, Args...), bool kComplex>
struct Boxed<kFunction, kComplex> {
  static constexpr ArgSpec kSpecs[] = {
      {Arg<Args>::kSpec.kind, Arg<Args>::kSpec.optional, kComplex}...};
  static constexpr uint8_t kCount = sizeof...(Args);

  template <size_t... kIndex>
  static Status call(KernelContext& context, EValue* const* args,
                     std::integer_sequence<size_t, kIndex...>) {
    return kFunction(context, Arg<Args>::get(*args[kIndex])...);
  }
  static Status run(KernelContext& context, EValue* const* args) {
    return call(context, args, std::make_index_sequence<sizeof...(Args)>());
  }
};

}  // namespace internal

// Wraps a plain function as a Kernel; see the top of this file. `name` must outlive it. Only a
// kernel made with Takes::kComplexToo is passed complex tensors.
enum class Takes : bool { kReal, kComplexToo };
template <auto kFunction, Takes kTakes = Takes::kReal>
constexpr Kernel make_kernel(const char* name) {
  using Wrapper = internal::Boxed<kFunction, kTakes == Takes::kComplexToo>;
  return {name, Wrapper::run, Wrapper::kSpecs, Wrapper::kCount};
}

}  // namespace taper
