// Operators that compute each element of the result from the elements at the same place.
// Semantics: PyTorch's native_functions.yaml, for float32; integers where the shader has a
// function.

#include <limits>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

constexpr uint32_t kNoFunction = 0xff;

// The functions of an operator for floats, for int32 and for bool, as Operator::variant has them.
constexpr int functions(uint32_t floats, uint32_t integers = kNoFunction,
                        uint32_t booleans = kNoFunction) {
  return static_cast<int>(floats | integers << 8 | booleans << 16);
}

// Which of them is for a dtype. int64, int16 and bytes would have to wrap at their own width.
ElementFunction function_for(Call& call, int variant, ScalarType dtype) {
  const auto all = static_cast<uint32_t>(variant);
  const uint32_t found = dtype == ScalarType::kFloat  ? all & 0xff
                         : dtype == ScalarType::kInt  ? all >> 8 & 0xff
                         : dtype == ScalarType::kBool ? all >> 16 & 0xff
                                                      : kNoFunction;
  call.require(found != kNoFunction, "it computes with a dtype other than float32");
  return static_cast<ElementFunction>(found);
}

bool is_int32(double number) {
  return number >= INT32_MIN && number <= INT32_MAX && number == static_cast<int32_t>(number);
}

bool is_integer(ScalarType dtype) {
  return dtype == ScalarType::kInt || dtype == ScalarType::kLong || dtype == ScalarType::kShort ||
         dtype == ScalarType::kChar || dtype == ScalarType::kByte || dtype == ScalarType::kBool;
}

// Which of them compares elements of a dtype.
ElementFunction comparison_for(Call& call, int variant, ScalarType dtype) {
  const bool known = dtype == ScalarType::kFloat || is_integer(dtype);
  call.require(known, "it compares a dtype other than float32 or integers");
  const auto all = static_cast<uint32_t>(variant);
  return static_cast<ElementFunction>(dtype == ScalarType::kFloat ? all & 0xff : all >> 8 & 0xff);
}

// Functions whose results are often beyond the range of float16; they stay float32 in memory.
bool may_be_large(ElementFunction function) {
  switch (function) {
    case EXP:
    case EXPM1:
    case RECIPROCAL:
    case RSQRT:
    case SQUARE:
    case POW:
    case POW_SCALAR:
    case SCALAR_POW:
      return true;
    default:
      return false;
  }
}

void unary(Call& call, const Operand& x, ElementFunction function, Scalars scalars = {}) {
  const Operand out =
      may_be_large(function) ? call.result(x.dims, x.dtype) : call.half_result(x.dims, x.dtype);
  elementwise(call, function, out, {x}, scalars);
}

// (x)
void plan_unary(Call& call, int variant) {
  const Operand x = call.tensor(0);
  unary(call, x, function_for(call, variant, x.dtype));
}

// (x) -> bool
void plan_test(Call& call, int variant) {
  const Operand x = call.tensor(0);
  call.require(x.dtype == ScalarType::kFloat, "it computes with a dtype other than float32");
  const Operand out = call.result(x.dims, ScalarType::kBool);
  elementwise(call, static_cast<ElementFunction>(variant), out, {x});
}

// (x, Scalar p)
void plan_scalar(Call& call, int variant) {
  const Operand x = call.tensor(0);
  const auto p = static_cast<float>(call.number(1));
  unary(call, x, function_for(call, variant, x.dtype), {p, 0});
}

// add(x, Scalar other, Scalar alpha), sub: variant is the sign of other.
void plan_add_scalar(Call& call, int sign) {
  const Operand x = call.tensor(0);
  const double term = call.number(1) * call.number(2, 1) * sign;
  unary(call, x, function_for(call, functions(ADD_SCALAR), x.dtype), {static_cast<float>(term), 0});
}

// rsub(x, Scalar other, Scalar alpha)
void plan_rsub_scalar(Call& call, int) {
  const Operand x = call.tensor(0);
  const auto other = static_cast<float>(call.number(1));
  const auto alpha = static_cast<float>(call.number(2, 1));
  unary(call, x, function_for(call, functions(RSUB_SCALAR), x.dtype), {other, alpha});
}

// pow(Scalar base, x)
void plan_scalar_pow(Call& call, int) {
  const auto base = static_cast<float>(call.number(0));
  const Operand x = call.tensor(1);
  unary(call, x, function_for(call, functions(SCALAR_POW), x.dtype), {base, 0});
}

void clamp_integers(Call& call, const Operand& x) {
  const double least = call.number(1, INT32_MIN), most = call.number(2, INT32_MAX);
  if (!call.require(is_int32(least) && is_int32(most), "a bound of it is no int32")) return;
  unary(call, x, INT_CLAMP,
        {as_float_bits(static_cast<int64_t>(least)), as_float_bits(static_cast<int64_t>(most))});
}

// clamp(x, Scalar? min, Scalar? max), hardtanh
void plan_clamp(Call& call, int) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Operand x = call.tensor(0);
  if (x.dtype == ScalarType::kInt) return clamp_integers(call, x);
  const auto least = static_cast<float>(call.number(1, -kInfinity));
  const auto most = static_cast<float>(call.number(2, kInfinity));
  call.require(least == least && most == most, "a bound of it is not a number");
  unary(call, x, function_for(call, functions(CLAMP), x.dtype), {least, most});
}

// clamp.Tensor(x, min?, max?)
void plan_clamp_tensor(Call& call, int) {
  Operand x = call.tensor(0);
  const bool has_min = !call.is_none(1), has_max = !call.is_none(2);
  const Operand least = has_min ? call.tensor(1) : x, most = has_max ? call.tensor(2) : x;
  call.require(least.dtype == x.dtype && most.dtype == x.dtype,
               "its operands have different dtypes");
  const ElementFunction larger = function_for(call, functions(MAXIMUM, INT_MAXIMUM), x.dtype);
  const ElementFunction smaller = function_for(call, functions(MINIMUM, INT_MINIMUM), x.dtype);
  const Dims dims = broadcast(call, broadcast(call, x.dims, least.dims), most.dims);
  const Operand out = call.half_result(dims, x.dtype);
  if (has_min && has_max) {
    Operand raised = call.temporary(dims.numel());
    raised.dims = dims;
    elementwise(call, larger, raised, {x, least});
    elementwise(call, smaller, out, {raised, most});
  } else if (call.require(has_min || has_max, "it has neither bound")) {
    elementwise(call, has_min ? larger : smaller, out, {x, has_min ? least : most});
  }
}

// glu(x, int dim)
void plan_glu(Call& call, int) {
  const Operand x = call.tensor(0);
  const size_t d = call.dim(1, x.dims.rank);
  call.require(x.dtype == ScalarType::kFloat, "it computes with a dtype other than float32");
  if (!call.require(x.dims.rank > 0 && x.dims[d] % 2 == 0, "it has no two halves")) return;
  Dims dims = x.dims;
  dims[d] /= 2;
  const Operand out = call.half_result(dims, ScalarType::kFloat);
  if (!call.ok() || dims.numel() == 0) return;
  struct {
    uint32_t count, n;
  } const push = {static_cast<uint32_t>(dims.numel()),
                  static_cast<uint32_t>(dims.product(d, dims.rank))};
  call.dispatch(Shader::glu).push(push).writes(out).reads(x).groups_for_words(out);
}

void plan_relu6(Call& call, int) {
  const Operand x = call.tensor(0);
  unary(call, x, function_for(call, functions(CLAMP), x.dtype), {0, 6});
}

// gelu(x, str approximate)
void plan_gelu(Call& call, int) {
  const Operand x = call.tensor(0);
  const bool is_tanh = !call.is_none(1) && call.text(1) == "tanh";
  unary(call, x, function_for(call, functions(is_tanh ? GELU_TANH : GELU), x.dtype));
}

// leaky_relu(x, Scalar slope)
void plan_leaky_relu(Call& call, int) {
  const Operand x = call.tensor(0);
  unary(call, x, function_for(call, functions(LEAKY_RELU), x.dtype),
        {static_cast<float>(call.number(1, 0.01)), 0});
}

// elu(x, Scalar alpha, Scalar scale, Scalar input_scale)
void plan_elu(Call& call, int) {
  const Operand x = call.tensor(0);
  const double scale = call.number(2, 1);
  call.require(call.number(3, 1) == 1, "it scales the input of elu");
  unary(call, x, function_for(call, functions(ELU), x.dtype),
        {static_cast<float>(call.number(1, 1) * scale), static_cast<float>(scale)});
}

// softplus(x, Scalar beta, Scalar threshold)
void plan_softplus(Call& call, int) {
  const Operand x = call.tensor(0);
  unary(call, x, function_for(call, functions(SOFTPLUS), x.dtype),
        {static_cast<float>(call.number(1, 1)), static_cast<float>(call.number(2, 20))});
}

// hardshrink(x, Scalar lambda)
void plan_hardshrink(Call& call, int) {
  const Operand x = call.tensor(0);
  unary(call, x, function_for(call, functions(HARDSHRINK), x.dtype),
        {static_cast<float>(call.number(1, 0.5)), 0});
}

void binary(Call& call, ElementFunction function, const Operand& a, const Operand& b,
            ScalarType dtype, Scalars scalars = {}) {
  call.require(a.dtype == b.dtype, "its operands have different dtypes");
  const Dims dims = broadcast(call, a.dims, b.dims);
  const bool is_large = may_be_large(function) || (function == MUL && a.id == b.id);
  const Operand out = is_large ? call.result(dims, dtype) : call.half_result(dims, dtype);
  elementwise(call, function, out, {a, b}, scalars);
}

// (a, b)
void plan_binary(Call& call, int variant) {
  const Operand a = call.tensor(0), b = call.tensor(1);
  binary(call, function_for(call, variant, a.dtype), a, b, a.dtype);
}

// add(a, b, Scalar alpha), sub
void plan_add(Call& call, int variant) {
  const Operand a = call.tensor(0), b = call.tensor(1);
  const double alpha = call.number(2, 1);
  call.require(a.dtype == ScalarType::kFloat || is_int32(alpha), "alpha is not an integer");
  if (!call.ok()) return;
  const float p = a.dtype == ScalarType::kFloat ? static_cast<float>(alpha)
                                                : as_float_bits(static_cast<int64_t>(alpha));
  binary(call, function_for(call, variant, a.dtype), a, b, a.dtype, {p, 0});
}

// div(a, b, str? rounding_mode). Integers are divided by constants alone: a division by 0 is an
// error of the call.
void plan_div_mode(Call& call, int) {
  const Operand a = call.tensor(0), b = call.tensor(1);
  const bool rounds = !call.is_none(2), is_floor = rounds && call.text(2) == "floor";
  if (a.dtype == ScalarType::kInt && !rounds) {
    return binary(call, INT_DIV, a, b, ScalarType::kFloat);
  }
  if (a.dtype == ScalarType::kInt) {
    call.require(call.has_no_zeros(1), "it divides integers by what may be 0");
    return binary(call, is_floor ? INT_DIV_FLOOR : INT_DIV_TRUNC, a, b, a.dtype);
  }
  const ElementFunction function = !rounds ? DIV : is_floor ? DIV_FLOOR : DIV_TRUNC;
  binary(call, function_for(call, functions(function), a.dtype), a, b, a.dtype);
}

// (a, b) -> bool
void plan_compare(Call& call, int variant) {
  const Operand a = call.tensor(0), b = call.tensor(1);
  binary(call, comparison_for(call, variant, a.dtype), a, b, ScalarType::kBool);
}

// (a, Scalar b) -> bool
void plan_compare_scalar(Call& call, int variant) {
  const Operand a = call.tensor(0);
  const double b = call.number(1);
  const bool is_float = a.dtype == ScalarType::kFloat;
  call.require(is_float || is_int32(b), "it compares integers with a fraction");
  const ElementFunction function = comparison_for(call, variant, a.dtype);
  const Operand out = call.result(a.dims, ScalarType::kBool);
  if (!call.ok()) return;
  elementwise(call, function, out, {a},
              {is_float ? static_cast<float>(b) : as_float_bits(static_cast<int64_t>(b)), 0});
}

// (a, b) -> bool
void plan_logical(Call& call, int variant) {
  const Operand a = call.tensor(0), b = call.tensor(1);
  call.require(is_integer(a.dtype), "it takes floats for booleans");
  binary(call, static_cast<ElementFunction>(variant), a, b, ScalarType::kBool);
}

void plan_logical_not(Call& call, int) {
  const Operand x = call.tensor(0);
  const Operand out = call.result(x.dims, ScalarType::kBool);
  elementwise(call, x.dtype == ScalarType::kFloat ? LOGICAL_NOT_FLOAT : LOGICAL_NOT, out, {x});
}

// where(condition, a, b)
void plan_where(Call& call, int) {
  const Operand condition = call.tensor(0), a = call.tensor(1), b = call.tensor(2);
  call.require(condition.dtype == ScalarType::kBool, "its condition is not a bool");
  call.require(a.dtype == b.dtype, "its operands have different dtypes");
  const Dims dims = broadcast(call, broadcast(call, condition.dims, a.dims), b.dims);
  elementwise(call, WHERE, call.half_result(dims, a.dtype), {condition, a, b});
}

// The function that makes elements of one dtype from those of another.
ElementFunction conversion(ScalarType from, ScalarType to) {
  if (from == to) return IDENTITY;
  if (to == ScalarType::kBool) return from == ScalarType::kFloat ? FLOAT_TO_BOOL : INT_TO_BOOL;
  if (to == ScalarType::kFloat) return INT_TO_FLOAT;
  if (from == ScalarType::kFloat) return FLOAT_TO_INT;
  if (to == ScalarType::kByte) return INT_TO_BYTE;
  if (to == ScalarType::kChar) return INT_TO_CHAR;
  if (to == ScalarType::kShort) return INT_TO_SHORT;
  return IDENTITY;
}

// _to_copy(x, ...): the dtype is that of the result.
void plan_to_copy(Call& call, int) {
  const Operand x = call.tensor(0);
  const ScalarType to = call.stated_dtype();
  const bool known = (x.dtype == ScalarType::kFloat || is_integer(x.dtype)) &&
                     (to == ScalarType::kFloat || is_integer(to));
  call.require(known, "it converts from or to a dtype other than float32 or integers");
  call.require(x.dtype != ScalarType::kFloat || to != ScalarType::kLong,
               "it converts floats to int64, of which the GPU has 32 bits");
  if (x.dtype == to) {
    call.alias(x, x.dims);
    return;
  }
  const bool is_narrow =
      to == ScalarType::kByte || to == ScalarType::kChar || to == ScalarType::kShort;
  const Operand out = call.half_result(x.dims, to);
  if (x.dtype != ScalarType::kFloat || !is_narrow) {
    elementwise(call, conversion(x.dtype, to), out, {x});
    return;
  }
  Operand whole = call.temporary(x.dims.numel());  // Of 32 bits, of which the lowest stay.
  whole.dtype = ScalarType::kInt;
  whole.dims = x.dims;
  elementwise(call, FLOAT_TO_INT, whole, {x});
  elementwise(call, conversion(ScalarType::kInt, to), out, {whole});
}

constexpr Operator kOperators[] = {
    {"aten.abs.default", "aten::abs.out", 1, plan_unary, functions(ABS, INT_ABS)},
    {"aten.neg.default", "aten::neg.out", 1, plan_unary, functions(NEG, INT_NEG)},
    {"aten.exp.default", "aten::exp.out", 1, plan_unary, functions(EXP)},
    {"aten.expm1.default", "aten::expm1.out", 1, plan_unary, functions(EXPM1)},
    {"aten.log.default", "aten::log.out", 1, plan_unary, functions(LOG)},
    {"aten.log2.default", "aten::log2.out", 1, plan_unary, functions(LOG2)},
    {"aten.log10.default", "aten::log10.out", 1, plan_unary, functions(LOG10)},
    {"aten.log1p.default", "aten::log1p.out", 1, plan_unary, functions(LOG1P)},
    {"aten.sqrt.default", "aten::sqrt.out", 1, plan_unary, functions(SQRT)},
    {"aten.rsqrt.default", "aten::rsqrt.out", 1, plan_unary, functions(RSQRT)},
    {"aten.reciprocal.default", "aten::reciprocal.out", 1, plan_unary, functions(RECIPROCAL)},
    {"aten.sin.default", "aten::sin.out", 1, plan_unary, functions(SIN)},
    {"aten.cos.default", "aten::cos.out", 1, plan_unary, functions(COS)},
    {"aten.tan.default", "aten::tan.out", 1, plan_unary, functions(TAN)},
    {"aten.asin.default", "aten::asin.out", 1, plan_unary, functions(ASIN)},
    {"aten.acos.default", "aten::acos.out", 1, plan_unary, functions(ACOS)},
    {"aten.atan.default", "aten::atan.out", 1, plan_unary, functions(ATAN)},
    {"aten.tanh.default", "aten::tanh.out", 1, plan_unary, functions(TANH)},
    {"aten.sigmoid.default", "aten::sigmoid.out", 1, plan_unary, functions(SIGMOID)},
    {"aten.erf.default", "aten::erf.out", 1, plan_unary, functions(ERF)},
    {"aten.floor.default", "aten::floor.out", 1, plan_unary, functions(FLOOR, IDENTITY)},
    {"aten.ceil.default", "aten::ceil.out", 1, plan_unary, functions(CEIL, IDENTITY)},
    {"aten.round.default", "aten::round.out", 1, plan_unary, functions(ROUND, IDENTITY)},
    {"aten.trunc.default", "aten::trunc.out", 1, plan_unary, functions(TRUNC, IDENTITY)},
    {"aten.sign.default", "aten::sign.out", 1, plan_unary, functions(SIGN)},
    {"aten.relu.default", "aten::relu.out", 1, plan_unary, functions(RELU)},
    {"aten.silu.default", "aten::silu.out", 1, plan_unary, functions(SILU)},
    {"aten.mish.default", "vulkan::mish", 1, plan_unary, functions(MISH)},
    {"aten.hardsigmoid.default", "aten::hardsigmoid.out", 1, plan_unary, functions(HARDSIGMOID)},
    {"aten.hardswish.default", "aten::hardswish.out", 1, plan_unary, functions(HARDSWISH)},
    {"aten.relu6.default", "vulkan::relu6", 1, plan_relu6},
    {"aten.isnan.default", "aten::isnan.out", 1, plan_test, IS_NAN},
    {"aten.isinf.default", "aten::isinf.out", 1, plan_test, IS_INF},
    {"aten.clamp.default", "aten::clamp.out", 3, plan_clamp},
    {"aten.clamp.Tensor", "aten::clamp.Tensor_out", 3, plan_clamp_tensor},
    {"aten.glu.default", "aten::glu.out", 2, plan_glu},
    {"aten.hardtanh.default", "aten::hardtanh.out", 3, plan_clamp},
    {"aten.gelu.default", "aten::gelu.out", 2, plan_gelu},
    {"aten.leaky_relu.default", "aten::leaky_relu.out", 2, plan_leaky_relu},
    {"aten.elu.default", "aten::elu.out", 4, plan_elu},
    {"aten.softplus.default", "vulkan::softplus", 3, plan_softplus},
    {"aten.hardshrink.default", "vulkan::hardshrink", 2, plan_hardshrink},
    {"aten.add.Tensor", "aten::add.out", 3, plan_add, functions(ADD, INT_ADD)},
    {"aten.sub.Tensor", "aten::sub.out", 3, plan_add, functions(SUB, INT_SUB)},
    {"aten.mul.Tensor", "aten::mul.out", 2, plan_binary, functions(MUL, INT_MUL, LOGICAL_AND)},
    {"aten.div.Tensor", "aten::div.out", 2, plan_div_mode},
    {"aten.div.Tensor_mode", "aten::div.out_mode", 3, plan_div_mode},
    {"aten.remainder.Tensor", "aten::remainder.Tensor_out", 2, plan_binary, functions(REMAINDER)},
    {"aten.fmod.Tensor", "aten::fmod.Tensor_out", 2, plan_binary, functions(FMOD)},
    {"aten.pow.Tensor_Tensor", "aten::pow.Tensor_Tensor_out", 2, plan_binary, functions(POW)},
    {"aten.minimum.default", "aten::minimum.out", 2, plan_binary,
     functions(MINIMUM, INT_MINIMUM, LOGICAL_AND)},
    {"aten.maximum.default", "aten::maximum.out", 2, plan_binary,
     functions(MAXIMUM, INT_MAXIMUM, LOGICAL_OR)},
    {"aten._prelu_kernel.default", "vulkan::prelu", 2, plan_binary, functions(PRELU)},
    {"aten.add.Scalar", "aten::add.Scalar_out", 3, plan_add_scalar, 1},
    {"aten.sub.Scalar", "aten::sub.Scalar_out", 3, plan_add_scalar, -1},
    {"aten.mul.Scalar", "aten::mul.Scalar_out", 2, plan_scalar, functions(MUL_SCALAR)},
    {"aten.div.Scalar", "aten::div.Scalar_out", 2, plan_scalar, functions(DIV_SCALAR)},
    {"aten.rsub.Scalar", "aten::rsub.Scalar_out", 3, plan_rsub_scalar},
    {"aten.pow.Tensor_Scalar", "aten::pow.Tensor_Scalar_out", 2, plan_scalar,
     functions(POW_SCALAR)},
    {"aten.pow.Scalar", "aten::pow.Scalar_out", 2, plan_scalar_pow},
    {"aten.eq.Tensor", "aten::eq.Tensor_out", 2, plan_compare, functions(EQ, INT_EQ)},
    {"aten.ne.Tensor", "aten::ne.Tensor_out", 2, plan_compare, functions(NE, INT_NE)},
    {"aten.lt.Tensor", "aten::lt.Tensor_out", 2, plan_compare, functions(LT, INT_LT)},
    {"aten.le.Tensor", "aten::le.Tensor_out", 2, plan_compare, functions(LE, INT_LE)},
    {"aten.gt.Tensor", "aten::gt.Tensor_out", 2, plan_compare, functions(GT, INT_GT)},
    {"aten.ge.Tensor", "aten::ge.Tensor_out", 2, plan_compare, functions(GE, INT_GE)},
    {"aten.eq.Scalar", "aten::eq.Scalar_out", 2, plan_compare_scalar,
     functions(EQ_SCALAR, INT_EQ_SCALAR)},
    {"aten.ne.Scalar", "aten::ne.Scalar_out", 2, plan_compare_scalar,
     functions(NE_SCALAR, INT_NE_SCALAR)},
    {"aten.lt.Scalar", "aten::lt.Scalar_out", 2, plan_compare_scalar,
     functions(LT_SCALAR, INT_LT_SCALAR)},
    {"aten.le.Scalar", "aten::le.Scalar_out", 2, plan_compare_scalar,
     functions(LE_SCALAR, INT_LE_SCALAR)},
    {"aten.gt.Scalar", "aten::gt.Scalar_out", 2, plan_compare_scalar,
     functions(GT_SCALAR, INT_GT_SCALAR)},
    {"aten.ge.Scalar", "aten::ge.Scalar_out", 2, plan_compare_scalar,
     functions(GE_SCALAR, INT_GE_SCALAR)},
    {"aten.logical_and.default", "aten::logical_and.out", 2, plan_logical, LOGICAL_AND},
    {"aten.logical_or.default", "aten::logical_or.out", 2, plan_logical, LOGICAL_OR},
    {"aten.logical_xor.default", "aten::logical_xor.out", 2, plan_logical, LOGICAL_XOR},
    {"aten.logical_not.default", "aten::logical_not.out", 1, plan_logical_not},
    {"aten.bitwise_and.Tensor", "aten::bitwise_and.Tensor_out", 2, plan_binary,
     functions(kNoFunction, BITWISE_AND, BITWISE_AND)},
    {"aten.bitwise_or.Tensor", "aten::bitwise_or.Tensor_out", 2, plan_binary,
     functions(kNoFunction, BITWISE_OR, BITWISE_OR)},
    {"aten.bitwise_xor.Tensor", "aten::bitwise_xor.Tensor_out", 2, plan_binary,
     functions(kNoFunction, BITWISE_XOR, BITWISE_XOR)},
    {"aten.bitwise_not.default", "aten::bitwise_not.out", 1, plan_unary,
     functions(kNoFunction, BITWISE_NOT, LOGICAL_NOT)},
    {"aten.where.self", "aten::where.self_out", 3, plan_where},
    with_options({"aten._to_copy.default", "aten::_to_copy.out", 7, plan_to_copy}, 1),
    with_options({"dim_order_ops._to_dim_order_copy.default",
                  "dim_order_ops::_to_dim_order_copy.out", 7, plan_to_copy},
                 1),
};

}  // namespace

const Span<const Operator> kElementwiseOperators = kOperators;

}  // namespace taper::vulkan
