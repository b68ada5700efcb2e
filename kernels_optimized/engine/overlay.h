// Combines a fast function with the portable kernel of the same name, to which it falls back.
//
// A fast function has the schema's arguments, computes the cases that it supports and returns true.
// In all other cases (other dtypes, layouts, sizes that do not fit, a processor without vectors) it
// returns false before it has written anything, and the portable kernel runs, which also reports
// errors. The fast function may have resized an output; the portable kernel resizes it again.
//
//   bool fast_exp(KernelContext&, const Tensor& self, Tensor& out);
//   const Kernel kExpOut = overlay<fast_exp, portable::kExpOut>("aten::exp.out");
//
// For two operators in a row a fast function has the arguments of both (taper/kernel.h), and falls
// back to the kernels of the two. It has to look whether the second works in place.

#pragma once

#include <iterator>

#include "taper/kernel.h"

namespace taper::portable {

#define TAPER_OP(variable, file, schema, memory, dtypes) extern const Kernel variable;
#include "kernels_portable/ops.def"
#undef TAPER_OP

}  // namespace taper::portable

namespace taper::optimized {

template <auto kFast, const Kernel& kPortable, bool kComplex>
struct Overlay;

template <typename... Args, bool (*kFast)(KernelContext&, Args...), const Kernel& kPortable,
          bool kComplex>
struct Overlay<kFast, kPortable, kComplex> {
  static constexpr ArgSpec kSpecs[] = {
      {internal::Arg<Args>::kSpec.kind, internal::Arg<Args>::kSpec.optional, kComplex}...};

  template <size_t... kIndex>
  static bool call(KernelContext& context, EValue* const* args,
                   std::integer_sequence<size_t, kIndex...>) {
    return kFast(context, internal::Arg<Args>::get(*args[kIndex])...);
  }
  static Status run(KernelContext& context, EValue* const* args) {
    if (call(context, args, std::make_index_sequence<sizeof...(Args)>())) return {};
    return kPortable.run(context, args);
  }
};

template <auto kFast, const Kernel& kPortable, Takes kTakes = Takes::kReal>
constexpr Kernel overlay(const char* name) {
  using Wrapper = Overlay<kFast, kPortable, kTakes == Takes::kComplexToo>;
  return {name, Wrapper::run, Wrapper::kSpecs, sizeof(Wrapper::kSpecs) / sizeof(ArgSpec)};
}

template <auto kFast, const Kernel& kFirst, const Kernel& kSecond>
struct Joined {
  static Status run(KernelContext& context, EValue* const* args) {
    using Fast = Overlay<kFast, kFirst, false>;
    if (Fast::call(context, args, std::make_index_sequence<std::size(Fast::kSpecs)>())) return {};
    TAPER_TRY(kFirst.run(context, args));
    context.reset_temp();
    return kSecond.run(context, args + kFirst.arg_count);
  }
};

template <auto kFast, const Kernel& kFirst, const Kernel& kSecond>
constexpr Kernel joined(const char* name) {
  constexpr auto& kSpecs = Overlay<kFast, kFirst, false>::kSpecs;
  return {name, Joined<kFast, kFirst, kSecond>::run, kSpecs, std::size(kSpecs)};
}

// True if all tensors are float32.
template <typename... Tensors>
bool are_float(const Tensors&... tensors) {
  return ((tensors.scalar_type() == ScalarType::kFloat) && ...);
}

}  // namespace taper::optimized
