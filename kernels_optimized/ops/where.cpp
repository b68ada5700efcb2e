// where.self_out, of any dtype: the bits of one element or the other are copied, in plain loops
// (plain_loops.h).

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/pairs.h"
#include "kernels_optimized/engine/plain_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/where.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_WHERE_LOOP
#define TAPER_WHERE_LOOP
namespace taper::optimized {
namespace {

// `out` may be one of the others.
using Loop = void (*)(const char* condition, const char* a, const char* b, char* out,
                      int64_t count);

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

template <typename Bits>
void run(const char* condition, const char* a, const char* b, char* out, int64_t count) {
  const auto* x = reinterpret_cast<const Bits*>(a);
  const auto* y = reinterpret_cast<const Bits*>(b);
  auto* to = reinterpret_cast<Bits*>(out);
  const auto choose = [=](int64_t i) HWY_ATTR {
    const Bits yes = x[i], no = y[i];
    to[i] = condition[i] != 0 ? yes : no;
  };
  int64_t i = 0;
  for (; i + kPlainStep <= count; i += kPlainStep) {
    TAPER_ROLLED_LOOP
    for (int64_t k = i; k < i + kPlainStep; ++k) choose(k);
  }
  for (; i < count; ++i) {
    TAPER_FEW_ELEMENTS;
    choose(i);
  }
}

}  // namespace

// Null if no elements have so many bytes.
Loop where_form(size_t element) {
  switch (element) {
    case 1:
      return run<uint8_t>;
    case 2:
      return run<uint16_t>;
    case 4:
      return run<uint32_t>;
    case 8:
      return run<uint64_t>;
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = Loop (*)(size_t);

constexpr int64_t kLine = 64;  // As many elements as bytes in a cache line.

// The operands of a run, of which numbers are repeated in memory.
struct Operands {
  Line condition, a, b;
  int64_t element;
};

void run(Loop loop, Operands x, char* out, int64_t count) {
  if (x.condition.step + x.a.step + x.b.step == 3) {
    return loop(x.condition.data, x.a.data, x.b.data, out, count);
  }
  const int64_t some = std::min(count, Repeated::kCount);
  Repeated condition, a, b;
  if (x.condition.step == 0) x.condition.data = condition.fill(x.condition.data, 1, some);
  if (x.a.step == 0) x.a.data = a.fill(x.a.data, x.element, some);
  if (x.b.step == 0) x.b.data = b.fill(x.b.data, x.element, some);
  for (int64_t i = 0; i < count; i += some) {
    loop(x.condition.from(i, 1).data, x.a.from(i, x.element).data, x.b.from(i, x.element).data,
         out + i * x.element, std::min(some, count - i));
  }
}

bool fast_where(KernelContext& context, const Tensor& condition, const Tensor& self,
                const Tensor& other, Tensor& out) {
  const ScalarType type = out.scalar_type();
  const bool has_bytes =
      condition.scalar_type() == ScalarType::kBool || condition.scalar_type() == ScalarType::kByte;
  const Form form = TAPER_CHOOSE(Form, where_form);
  const Loop loop = form != nullptr ? form(element_size(type)) : nullptr;
  portable::LoopNest nest;
  if (loop == nullptr || !has_bytes || self.scalar_type() != type || other.scalar_type() != type ||
      !nest_of({&condition, &self, &other}, out, &nest)) {
    return false;
  }
  const auto element = static_cast<int64_t>(element_size(type));
  const auto line = [&](const Tensor& tensor, int operand, int64_t offset, int64_t bytes) {
    const auto* data = static_cast<const char*>(tensor.const_data());
    return Line{data + offset * bytes, nest.inner_stride(operand)};
  };
  nest.for_each_run([&](const int64_t* offsets, int64_t count) {
    const Line chooses = line(condition, 1, offsets[1], 1);
    const Line a = line(self, 2, offsets[2], element), b = line(other, 3, offsets[3], element);
    char* to = static_cast<char*>(out.mutable_data()) + offsets[0] * element;
    for_parts(context.pool(), count, 1, kLine, [&](int64_t begin, int64_t end) {
      run(loop, {chooses.from(begin, 1), a.from(begin, element), b.from(begin, element), element},
          to + begin * element, end - begin);
    });
  });
  return true;
}

}  // namespace

extern const Kernel kWhereSelfOut;
const Kernel kWhereSelfOut = overlay<fast_where, portable::kWhereSelfOut>("aten::where.self_out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
