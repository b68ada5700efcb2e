// Dtype conversions: between float32 and all other real dtypes but uint16 and wider ones, and among
// int32, int64, bytes and bools, as far as models use them. One pass over the memory, which is
// dense whatever the dim order.

#include "kernels_optimized/cores/convert.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_optimized/engine/plain_loops.h"
#include "kernels_portable/engine/convert.h"
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

// Conversions that the compiler vectorises; every number has a result.
template <typename From, typename To, bool kIsTruth = false>
void run_plain(const void* source, void* target, int64_t begin, int64_t end) {
  const From* HWY_RESTRICT from = static_cast<const From*>(source);
  To* HWY_RESTRICT to = static_cast<To*>(target);
  const auto convert = [=](int64_t i) HWY_ATTR {
    to[i] = kIsTruth ? static_cast<To>(from[i] != 0) : static_cast<To>(from[i]);
  };
  int64_t i = begin;
  for (; i + kPlainStep <= end; i += kPlainStep) {
    TAPER_ROLLED_LOOP
    for (int64_t k = i; k < i + kPlainStep; ++k) convert(k);
  }
  for (; i < end; ++i) {
    TAPER_FEW_ELEMENTS;
    convert(i);
  }
}

// Whether numbers are not zero, as bytes or as wider numbers.
template <typename From, typename To>
constexpr auto run_truth = run_plain<From, To, true>;

template <typename To>
HWY_NOINLINE void convert_few(const float* from, To* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    TAPER_FEW_ELEMENTS;
    to[i] = portable::convert<To>(from[i]);
  }
}

// Floats to whole numbers, by way of int32 where all of a block fit that; they are rounded towards
// zero, and wrap to the width of To.
template <typename To>
void run_whole(const void* source, void* target, int64_t begin, int64_t end) {
  constexpr int64_t kBlock = 4 * kLanes;
  const float* HWY_RESTRICT from = static_cast<const float*>(source);
  To* HWY_RESTRICT to = static_cast<To*>(target);
  const Vec least = hn::Set(kTag, -2147483648.f), bound = hn::Set(kTag, 2147483648.f);
  int64_t i = begin;
  for (; i + kBlock <= end; i += kBlock) {
    HWY_ALIGN int32_t whole[kBlock];
    bool fits = true;
    TAPER_UNROLL
    for (int64_t k = 0; k < kBlock; k += kLanes) {
      const Vec x = hn::LoadU(kTag, from + i + k);
      fits = fits && hn::AllTrue(kTag, hn::And(hn::Ge(x, least), hn::Lt(x, bound)));
      hn::Store(hn::ConvertTo(kInts, x), kInts, whole + k);
    }
    if (fits) {
      TAPER_ROLLED_LOOP
      for (int64_t k = 0; k < kBlock; ++k) to[i + k] = static_cast<To>(whole[k]);
    } else {
      convert_few(from + i, to + i, kBlock);
    }
  }
  convert_few(from + i, to + i, end - i);
}

using Run = void (*)(const void*, void*, int64_t, int64_t);

// From floats. Null if the dtype is not supported.
Run find_from_float(ScalarType to) {
  switch (to) {
    case ScalarType::kHalf:
      return run<Float, Half>;
    case ScalarType::kBFloat16:
      return run<Float, BFloat16>;
    case ScalarType::kDouble:
      return run_plain<float, double>;
    case ScalarType::kByte:
      return run_whole<uint8_t>;
    case ScalarType::kChar:
      return run_whole<int8_t>;
    case ScalarType::kInt:
      return run_whole<int32_t>;
    case ScalarType::kLong:
      return run_whole<int64_t>;
    case ScalarType::kBool:
      return run_truth<float, uint8_t>;
    default:
      return nullptr;
  }
}

Run find_to_float(ScalarType from) {
  switch (from) {
    case ScalarType::kHalf:
      return run<Half, Float>;
    case ScalarType::kBFloat16:
      return run<BFloat16, Float>;
    case ScalarType::kDouble:
      return run_plain<double, float>;
    case ScalarType::kByte:
      return run<Byte, Float>;
    case ScalarType::kChar:
      return run<SignedByte, Float>;
    case ScalarType::kBool:
      return run<Bool, Float>;
    case ScalarType::kInt:
      return run<Int, Float>;
    case ScalarType::kLong:
      return run_plain<int64_t, float>;
    default:
      return nullptr;
  }
}

// Among whole numbers and bools.
Run find_whole(ScalarType from, ScalarType to) {
  const bool is_wide = to == ScalarType::kLong;
  switch (from) {
    case ScalarType::kLong:
      if (to == ScalarType::kInt) return run_plain<int64_t, int32_t>;
      return to == ScalarType::kBool ? run_truth<int64_t, uint8_t> : nullptr;
    case ScalarType::kInt:
      if (is_wide) return run_plain<int32_t, int64_t>;
      return to == ScalarType::kBool ? run_truth<int32_t, uint8_t> : nullptr;
    case ScalarType::kByte:
      return is_wide ? run_plain<uint8_t, int64_t> : nullptr;
    case ScalarType::kBool:
      return is_wide ? run_truth<uint8_t, int64_t> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

// Converts elements [begin, end). False if the pair of dtypes is not supported.
bool convert_form(ScalarType from, ScalarType to, const void* source, void* target, int64_t begin,
                  int64_t end) {
  if (!kConvertsHalves && (from == ScalarType::kHalf || to == ScalarType::kHalf)) return false;
  const Run run = from == ScalarType::kFloat ? find_from_float(to)
                  : to == ScalarType::kFloat ? find_to_float(from)
                                             : find_whole(from, to);
  if (run == nullptr) return false;
  run(source, target, begin, end);
  return true;
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
