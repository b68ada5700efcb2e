// Element-wise operators: out[i] = f(a[i], b[i], c[i]) with broadcasting.
//
// An operator is a small struct with a templated call operator; the helpers below turn it into at
// most three loops, over float, double and int64_t. Blocks of each input are converted to the
// compute type, the loop runs over the block, and the block is converted to the dtype of out.
// Where no conversion is needed the loop works on the tensors' memory directly.
//
//   struct Add {
//     template <typename C> C operator()(C a, C b) const { return wrap_add(a, b); }
//   };
//   Status add_out(KernelContext&, const Tensor& a, const Tensor& b, Tensor& out) {
//     return binary(Add{}, a, b, out);
//   }
//
// An input may occupy exactly the memory of out if it has out's sizes. Otherwise they must not
// overlap.

#pragma once

#include <cstdint>

#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/promote.h"
#include "taper/dtypes.h"
#include "taper/kernel.h"

// Tells the compiler that the iterations of the next loop do not depend on each other, so that it
// vectorises the loop although out and an input may be the same memory.
#if defined(__GNUC__) && !defined(__clang__)
#define TAPER_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#else
#define TAPER_INDEPENDENT_LOOP
#endif

namespace taper::portable {

inline constexpr int kMaxInputs = 3;

// out[i] = op(in[0][i], in[1][i], ...) for i < count.
template <typename C>
using Loop = void (*)(const void* op, const C* const* in, C* out, int64_t count);

// An operator's loop for each compute type; null for a type that it does not take.
struct Loops {
  Loop<float> f32 = nullptr;
  Loop<double> f64 = nullptr;
  Loop<int64_t> i64 = nullptr;
};

// Resizes out and runs `loops` over the broadcast inputs. Inputs are read as `common` (integers
// wrap to it); results are of dtype `result`, which must be castable to the dtype of out.
Status elementwise(ScalarType common, ScalarType result, const Loops& loops, const void* op,
                   Span<const Operand> in, Tensor& out);

template <typename Op, typename C>
void unary_loop(const void* op_pointer, const C* const* in, C* out, int64_t count) {
  const Op op = *static_cast<const Op*>(op_pointer);
  const C* a = in[0];
  TAPER_INDEPENDENT_LOOP
  for (int64_t i = 0; i < count; ++i) out[i] = op(a[i]);
}

template <typename Op, typename C>
void binary_loop(const void* op_pointer, const C* const* in, C* out, int64_t count) {
  const Op op = *static_cast<const Op*>(op_pointer);
  const C* a = in[0];
  const C* b = in[1];
  TAPER_INDEPENDENT_LOOP
  for (int64_t i = 0; i < count; ++i) out[i] = op(a[i], b[i]);
}

template <typename Op, typename C>
void ternary_loop(const void* op_pointer, const C* const* in, C* out, int64_t count) {
  const Op op = *static_cast<const Op*>(op_pointer);
  const C* a = in[0];
  const C* b = in[1];
  const C* c = in[2];
  TAPER_INDEPENDENT_LOOP
  for (int64_t i = 0; i < count; ++i) out[i] = op(a[i], b[i], c[i]);
}

// An operator's loops for the compute types that this build selects: ..._of_float only for float
// and double, the others for int64_t too.
template <typename Op>
static constexpr Loops unary_loops_of_float() {
  return {kInFloat ? unary_loop<Op, float> : nullptr, kInDouble ? unary_loop<Op, double> : nullptr};
}
template <typename Op>
static constexpr Loops unary_loops() {
  Loops loops = unary_loops_of_float<Op>();
  if constexpr (kInInt) loops.i64 = unary_loop<Op, int64_t>;
  return loops;
}
template <typename Op>
static constexpr Loops binary_loops_of_float() {
  return {kInFloat ? binary_loop<Op, float> : nullptr,
          kInDouble ? binary_loop<Op, double> : nullptr};
}
template <typename Op>
static constexpr Loops binary_loops() {
  Loops loops = binary_loops_of_float<Op>();
  if constexpr (kInInt) loops.i64 = binary_loop<Op, int64_t>;
  return loops;
}
template <typename Op>
static constexpr Loops ternary_loops() {
  return {kInFloat ? ternary_loop<Op, float> : nullptr,
          kInDouble ? ternary_loop<Op, double> : nullptr,
          kInInt ? ternary_loop<Op, int64_t> : nullptr};
}

// Computes in the dtype of self. out has that dtype or one that it can be cast to.
template <typename Op>
static Status unary(const Op& op, const Tensor& self, Tensor& out) {
  const ScalarType type = self.scalar_type();
  const Operand in[] = {self};
  return elementwise(type, type, unary_loops<Op>(), &op, in, out);
}

// Like unary(), for operators that take floats only.
template <typename Op>
static Status unary_of_float(const Op& op, const Tensor& self, Tensor& out) {
  const ScalarType type = self.scalar_type();
  const Operand in[] = {self};
  return elementwise(type, type, unary_loops_of_float<Op>(), &op, in, out);
}

// Like unary(), with integers computed as float: exp, sigmoid, sqrt.
template <typename Op>
static Status unary_to_float(const Op& op, const Tensor& self, Tensor& out) {
  const ScalarType type = to_floating(self.scalar_type());
  const Operand in[] = {self};
  return elementwise(type, type, unary_loops_of_float<Op>(), &op, in, out);
}

// Like unary(), with a bool as result.
template <typename Op>
static Status unary_to_bool(const Op& op, const Tensor& self, Tensor& out) {
  const Operand in[] = {self};
  return elementwise(self.scalar_type(), ScalarType::kBool, unary_loops<Op>(), &op, in, out);
}

// Computes in the promoted dtype of both operands, which is also the dtype of the result.
template <typename Op>
static Status binary(const Op& op, const Operand& a, const Operand& b, Tensor& out) {
  const Operand in[] = {a, b};
  const ScalarType type = result_type(in);
  return elementwise(type, type, binary_loops<Op>(), &op, in, out);
}

// Like binary(), for operators on integers and bool only.
template <typename Op>
static Status binary_of_int(const Op& op, const Operand& a, const Operand& b, Tensor& out) {
  const Operand in[] = {a, b};
  const ScalarType type = result_type(in);
  const Loops loops = {nullptr, nullptr, binary_loop<Op, int64_t>};
  return elementwise(type, type, loops, &op, in, out);
}

// Like binary(), with integers computed as float: div, atan2.
template <typename Op>
static Status binary_to_float(const Op& op, const Operand& a, const Operand& b, Tensor& out) {
  const Operand in[] = {a, b};
  const ScalarType type = to_floating(result_type(in));
  return elementwise(type, type, binary_loops_of_float<Op>(), &op, in, out);
}

// Like binary(), with a bool as result.
template <typename Op>
static Status binary_to_bool(const Op& op, const Operand& a, const Operand& b, Tensor& out) {
  const Operand in[] = {a, b};
  return elementwise(result_type(in), ScalarType::kBool, binary_loops<Op>(), &op, in, out);
}

// Calls op(mask, a, b) for each element and computes in `type`: the mask selects between a and b
// and has no say in the dtype.
template <typename Op>
static Status choose(const Op& op, const Tensor& mask, const Operand& a, const Operand& b,
                     ScalarType type, Tensor& out) {
  const Operand in[] = {mask, a, b};
  return elementwise(type, type, ternary_loops<Op>(), &op, in, out);
}

// Writes the elements of `self`, broadcast to the sizes of `out`, converting the dtype if it
// differs: any dtype to any other, float to integer too.
Status copy_elements(const Tensor& self, Tensor& out);

// True if `operand` is an integer or bool and has an element that is zero: integer division refuses
// such a divisor.
bool has_integer_zero(const Operand& operand);

}  // namespace taper::portable
