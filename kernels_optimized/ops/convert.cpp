// Dtype conversions: to float32 from 16-bit floats, bytes with and without a sign, bools and int32;
// from float32 to 16-bit floats; from int64 and int32 to bool. One pass over the memory, which is
// dense whatever the dim order.

#include "kernels_optimized/cores/convert.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/engine/dims.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/convert.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/bfloat_vectors.h"
#include "kernels_optimized/engine/vectors.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

const hn::RebindToSigned<Tag> kInts;
const hn::RebindToUnsigned<Tag> kBits;
const hn::Rebind<hwy::float16_t, Tag> kHalves;
const hn::Rebind<uint16_t, Tag> kShorts;
const hn::Rebind<uint8_t, Tag> kBytes;
const hn::Rebind<int8_t, Tag> kSignedBytes;

// Where processors have no instructions for it, Highway truncates and knows no infinity.
constexpr bool kConvertsHalves = HWY_ARCH_X86 || HWY_ARCH_ARM;

// One struct for each dtype, which loads or stores a vector of it.
struct Half {
  using Lane = hwy::float16_t;
  static HWY_INLINE Vec load(const Lane* from) {
    return hn::PromoteTo(kTag, hn::LoadU(kHalves, from));
  }
  static HWY_INLINE void store(Vec x, Lane* to) {
    hn::StoreU(hn::DemoteTo(kHalves, x), kHalves, to);
  }
};

struct BFloat16 {
  using Lane = uint16_t;
  static HWY_INLINE Vec load(const Lane* from) {
    return hn::BitCast(kTag, hn::ShiftLeft<16>(hn::PromoteTo(kBits, hn::LoadU(kShorts, from))));
  }
  static HWY_INLINE void store(Vec x, Lane* to) { store_bfloat(x, to); }
};

struct Byte {
  using Lane = uint8_t;
  static HWY_INLINE Vec load(const Lane* from) {
    return hn::ConvertTo(kTag, hn::PromoteTo(kInts, hn::LoadU(kBytes, from)));
  }
};

struct SignedByte {
  using Lane = int8_t;
  static HWY_INLINE Vec load(const Lane* from) {
    return hn::ConvertTo(kTag, hn::PromoteTo(kInts, hn::LoadU(kSignedBytes, from)));
  }
};

struct Bool {
  using Lane = uint8_t;
  static HWY_INLINE Vec load(const Lane* from) {
    return hn::IfThenZeroElse(hn::Eq(Byte::load(from), hn::Zero(kTag)), hn::Set(kTag, 1));
  }
};

struct Int {
  using Lane = int32_t;
  static HWY_INLINE Vec load(const Lane* from) {
    return hn::ConvertTo(kTag, hn::LoadU(kInts, from));
  }
};

struct Float {
  using Lane = float;
  static HWY_INLINE Vec load(const Lane* from) { return hn::LoadU(kTag, from); }
  static HWY_INLINE void store(Vec x, Lane* to) { hn::StoreU(x, kTag, to); }
};

template <typename From, typename To>
void run(const void* source, void* target, int64_t begin, int64_t end) {
  using In = typename From::Lane;
  using Out = typename To::Lane;
  const In* from = static_cast<const In*>(source) + begin;
  Out* to = static_cast<Out*>(target) + begin;
  const int64_t count = end - begin;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) To::store(From::load(from + i), to + i);
  if (i == count) return;
  const auto left = static_cast<size_t>(count - i);
  HWY_ALIGN In in[kLanes] = {};
  HWY_ALIGN Out out[kLanes];
  std::memcpy(in, from + i, left * sizeof(In));
  To::store(From::load(in), out);
  std::memcpy(to + i, out, left * sizeof(Out));
}

// Whether integers are not zero; the compiler vectorises it.
template <typename T>
void run_truth(const void* source, void* target, int64_t begin, int64_t end) {
  const T* HWY_RESTRICT from = static_cast<const T*>(source);
  uint8_t* HWY_RESTRICT to = static_cast<uint8_t*>(target);
  for (int64_t i = begin; i < end; ++i) to[i] = from[i] != 0 ? 1 : 0;
}

}  // namespace

// Converts elements [begin, end). False if the pair of dtypes is not supported.
bool convert_form(ScalarType from, ScalarType to, const void* source, void* target, int64_t begin,
                  int64_t end) {
  if (!kConvertsHalves && (from == ScalarType::kHalf || to == ScalarType::kHalf)) return false;
  if (from == ScalarType::kFloat) {
    if (to == ScalarType::kHalf) return run<Float, Half>(source, target, begin, end), true;
    if (to == ScalarType::kBFloat16) return run<Float, BFloat16>(source, target, begin, end), true;
    return false;
  }
  if (to == ScalarType::kBool) {
    if (from == ScalarType::kLong) return run_truth<int64_t>(source, target, begin, end), true;
    if (from == ScalarType::kInt) return run_truth<int32_t>(source, target, begin, end), true;
  }
  if (to != ScalarType::kFloat) return false;
  switch (from) {
    case ScalarType::kHalf:
      return run<Half, Float>(source, target, begin, end), true;
    case ScalarType::kBFloat16:
      return run<BFloat16, Float>(source, target, begin, end), true;
    case ScalarType::kByte:
      return run<Byte, Float>(source, target, begin, end), true;
    case ScalarType::kChar:
      return run<SignedByte, Float>(source, target, begin, end), true;
    case ScalarType::kBool:
      return run<Bool, Float>(source, target, begin, end), true;
    case ScalarType::kInt:
      return run<Int, Float>(source, target, begin, end), true;
    default:
      return false;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {

Convert find_convert() { return TAPER_CHOOSE(Convert, convert_form); }

Convert find_narrow_convert(ScalarType narrow) {
  const Convert convert = find_convert();
  const bool is_narrow = narrow == ScalarType::kHalf || narrow == ScalarType::kBFloat16;
  const bool does = is_narrow && convert != nullptr &&
                    convert(narrow, ScalarType::kFloat, nullptr, nullptr, 0, 0);
  return does ? convert : nullptr;
}

namespace {

bool convert(const KernelContext& context, const Tensor& self, Tensor& out) {
  const Convert form = find_convert();
  const ScalarType from = self.scalar_type(), to = out.scalar_type();
  if (form == nullptr || !portable::same_dim_order(self, out) ||
      !form(from, to, nullptr, nullptr, 0, 0) || !out.resize(self.sizes()).ok()) {
    return false;
  }
  const void* source = self.const_data();
  void* target = out.mutable_data();
  for_parts(context.pool(), self.numel(), 1, kLineFloats,
            [&](int64_t begin, int64_t end) { form(from, to, source, target, begin, end); });
  return true;
}

bool fast_to_copy(KernelContext& context, const Tensor& self, bool, std::optional<int64_t>,
                  Tensor& out) {
  return convert(context, self, out);
}

bool fast_to_dim_order_copy(KernelContext& context, const Tensor& self, bool,
                            std::optional<IntList> dim_order, Tensor& out) {
  return convert(context, self, out) && portable::check_dim_order(dim_order, out).ok();
}

}  // namespace

extern const Kernel kToCopyOut, kToDimOrderCopyOut;
const Kernel kToCopyOut =
    overlay<fast_to_copy, portable::kToCopyOut, Takes::kComplexToo>("aten::_to_copy.out");
const Kernel kToDimOrderCopyOut =
    overlay<fast_to_dim_order_copy, portable::kToDimOrderCopyOut, Takes::kComplexToo>(
        "dim_order_ops::_to_dim_order_copy.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
