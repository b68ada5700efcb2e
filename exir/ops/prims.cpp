// The table of twins. What has other arguments is decomposed (exir/decompose/tensors/prims.cpp).

#include "exir/ops/prims.h"

#include <algorithm>

namespace taper::exir {
namespace {

constexpr PrimTwin kTwins[] = {
    {"abs", "aten::abs"},
    {"acos", "aten::acos"},
    {"acosh", "aten::acosh"},
    {"add", "aten::add.Tensor"},
    {"amax", "aten::amax"},
    {"amin", "aten::amin"},
    {"as_strided", "aten::as_strided"},
    {"as_strided_scatter", "aten::as_strided_scatter"},
    {"asin", "aten::asin"},
    {"asinh", "aten::asinh"},
    {"atan", "aten::atan"},
    {"atan2", "aten::atan2"},
    {"atanh", "aten::atanh"},
    {"bessel_i0", "aten::i0"},
    {"bessel_i0e", "aten::special_i0e"},
    {"bessel_i1", "aten::special_i1"},
    {"bessel_i1e", "aten::special_i1e"},
    {"bessel_j0", "aten::special_bessel_j0"},
    {"bessel_j1", "aten::special_bessel_j1"},
    {"bitwise_and", "aten::bitwise_and.Tensor"},
    {"bitwise_not", "aten::bitwise_not"},
    {"bitwise_or", "aten::bitwise_or.Tensor"},
    {"bitwise_xor", "aten::bitwise_xor.Tensor"},
    {"cat", "aten::cat"},
    {"ceil", "aten::ceil"},
    {"clone", "aten::clone"},
    {"conj", "aten::conj"},
    {"conj_physical", "aten::conj_physical"},
    {"convert_element_type", "aten::_to_copy"},
    {"cos", "aten::cos"},
    {"cosh", "aten::cosh"},
    {"digamma", "aten::digamma"},
    {"empty", "aten::empty.memory_format"},
    {"empty_permuted", "aten::empty_permuted"},
    {"empty_strided", "aten::empty_strided"},
    {"eq", "aten::eq.Tensor"},
    {"erf", "aten::erf"},
    {"erf_inv", "aten::erfinv"},
    {"erfc", "aten::erfc"},
    {"erfcx", "aten::special_erfcx"},
    {"exp", "aten::exp"},
    {"exp2", "aten::exp2"},
    {"expm1", "aten::expm1"},
    {"floor", "aten::floor"},
    {"fmax", "aten::fmax"},
    {"fmin", "aten::fmin"},
    {"fmod", "aten::fmod.Tensor"},
    {"frexp", "aten::frexp.Tensor"},
    {"full", "aten::full"},
    {"full_like", "aten::full_like"},
    {"gcd", "aten::gcd"},
    {"ge", "aten::ge.Tensor"},
    {"gt", "aten::gt.Tensor"},
    {"hypot", "aten::hypot"},
    {"igamma", "aten::igamma"},
    {"igammac", "aten::igammac"},
    {"imag", "aten::imag"},
    {"isfinite", "aten::isfinite"},
    {"item", "aten::item"},
    {"le", "aten::le.Tensor"},
    {"lgamma", "aten::lgamma"},
    {"log", "aten::log"},
    {"log10", "aten::log10"},
    {"log1p", "aten::log1p"},
    {"log2", "aten::log2"},
    {"lt", "aten::lt.Tensor"},
    {"maximum", "aten::maximum"},
    {"minimum", "aten::minimum"},
    {"mul", "aten::mul.Tensor"},
    {"ndtri", "aten::special_ndtri"},
    {"ne", "aten::ne.Tensor"},
    {"neg", "aten::neg"},
    {"nextafter", "aten::nextafter"},
    {"pow", "aten::pow.Tensor_Tensor"},
    {"real", "aten::real"},
    {"reciprocal", "aten::reciprocal"},
    {"remainder", "aten::remainder.Tensor"},
    {"reshape", "aten::reshape"},
    {"rev", "aten::flip"},
    {"round", "aten::round"},
    {"rsqrt", "aten::rsqrt"},
    {"scalar_tensor", "aten::scalar_tensor"},
    {"shift_left", "aten::bitwise_left_shift.Tensor"},
    {"shift_right_arithmetic", "aten::bitwise_right_shift.Tensor"},
    {"sign", "aten::sign"},
    {"sin", "aten::sin"},
    {"sinh", "aten::sinh"},
    {"spherical_bessel_j0", "aten::special_spherical_bessel_j0"},
    {"sqrt", "aten::sqrt"},
    {"squeeze", "aten::squeeze.dims"},
    {"sub", "aten::sub.Tensor"},
    {"sum", "aten::sum.dim_IntList"},
    {"svd", "aten::_linalg_svd"},
    {"tan", "aten::tan"},
    {"tanh", "aten::tanh"},
    {"transpose", "aten::permute"},
    {"trunc", "aten::trunc"},
    {"var", "aten::var.correction"},
    {"view_of", "aten::alias"},
    {"view_of_dtype", "aten::view.dtype"},
    {"where", "aten::where.self"},
    {"zeta", "aten::special_zeta"},
};

}  // namespace

std::span<const PrimTwin> prim_twins() { return kTwins; }

std::string_view aten_twin(std::string_view prim) {
  constexpr std::string_view kPrims = "prims::";
  if (!prim.starts_with(kPrims)) return {};
  prim.remove_prefix(kPrims.size());
  const auto* const found = std::lower_bound(
      std::begin(kTwins), std::end(kTwins), prim,
      [](const PrimTwin& twin, std::string_view name) { return twin.prim < name; });
  return found != std::end(kTwins) && found->prim == prim ? found->aten : std::string_view();
}

}  // namespace taper::exir
