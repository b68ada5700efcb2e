// Logic on tensors of bool: and, or, exclusive or, not. Elements are bytes, so that the compiler's
// vectors hold 16 of them or more; any byte but 0 is true.

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/pairs.h"
#include "kernels_optimized/ops/integers.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::optimized {
namespace {

using Bytes = Source<uint8_t>;

struct And {
  uint8_t operator()(bool a, bool b) const { return a & b; }
};
struct Or {
  uint8_t operator()(bool a, bool b) const { return a | b; }
};
struct Xor {
  uint8_t operator()(bool a, bool b) const { return a ^ b; }
};

template <typename... Tensors>
bool are_bool(const Tensors&... tensors) {
  return ((tensors.scalar_type() == ScalarType::kBool) && ...);
}

// The steps are constants in each loop, without which it is not vectorised. `to` may be an operand.
template <typename Op, bool kStepA, bool kStepB>
void run(const uint8_t* a, const uint8_t* b, uint8_t* to, int64_t count) {
  const Op op = {};
  const uint8_t first = *a, second = *b;
  TAPER_INDEPENDENT_LOOP
  for (int64_t i = 0; i < count; ++i) {
    to[i] = op((kStepA ? a[i] : first) != 0, (kStepB ? b[i] : second) != 0);
  }
}

template <typename Op>
void run_steps(Bytes a, Bytes b, uint8_t* to, int64_t count) {
  if (a.step != 0 && b.step != 0) return run<Op, true, true>(a.data, b.data, to, count);
  if (a.step != 0) return run<Op, true, false>(a.data, b.data, to, count);
  run<Op, false, true>(a.data, b.data, to, count);
}

template <typename Op>
bool fast_logic(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return are_bool(self, other, out) && self.numel() != 0 && other.numel() != 0 &&
         for_each_pair<uint8_t>(context, 1, self, other, out, run_steps<Op>);
}

template <typename Op, Pairwise kOp>
bool fast_bitwise(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return fast_logic<Op>(context, self, other, out) || pairwise(context, kOp, self, other, out);
}

bool fast_not(KernelContext& context, const Tensor& self, Tensor& out) {
  return are_bool(self, out) && self.numel() != 0 &&
         for_each_element(context, 1, self, uint8_t{1}, out, run_steps<Xor>);
}

}  // namespace

extern const Kernel kBitwiseAndTensorOut, kBitwiseOrTensorOut, kBitwiseXorTensorOut, kBitwiseNotOut,
    kLogicalAndOut, kLogicalOrOut, kLogicalXorOut, kLogicalNotOut;
const Kernel kBitwiseAndTensorOut =
    overlay<fast_bitwise<And, Pairwise::kAnd>, portable::kBitwiseAndTensorOut>(
        "aten::bitwise_and.Tensor_out");
const Kernel kBitwiseOrTensorOut =
    overlay<fast_bitwise<Or, Pairwise::kOr>, portable::kBitwiseOrTensorOut>(
        "aten::bitwise_or.Tensor_out");
const Kernel kBitwiseXorTensorOut =
    overlay<fast_bitwise<Xor, Pairwise::kXor>, portable::kBitwiseXorTensorOut>(
        "aten::bitwise_xor.Tensor_out");
const Kernel kBitwiseNotOut = overlay<fast_not, portable::kBitwiseNotOut>("aten::bitwise_not.out");
const Kernel kLogicalAndOut =
    overlay<fast_logic<And>, portable::kLogicalAndOut>("aten::logical_and.out");
const Kernel kLogicalOrOut =
    overlay<fast_logic<Or>, portable::kLogicalOrOut>("aten::logical_or.out");
const Kernel kLogicalXorOut =
    overlay<fast_logic<Xor>, portable::kLogicalXorOut>("aten::logical_xor.out");
const Kernel kLogicalNotOut = overlay<fast_not, portable::kLogicalNotOut>("aten::logical_not.out");

}  // namespace taper::optimized
