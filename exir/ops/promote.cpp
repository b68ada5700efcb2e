// The promotion of each pair of dtypes follows from three rules, so no table is stored.

#include "exir/ops/promote.h"

#include <algorithm>

namespace taper::exir {
namespace {

int category(ScalarType type) {
  if (type == ScalarType::kBool) return 0;
  return is_floating(type) ? 2 : 1;
}

bool is_unsigned(ScalarType type) {
  return type == ScalarType::kByte || type == ScalarType::kUInt16 || type == ScalarType::kUInt32 ||
         type == ScalarType::kUInt64;
}

ScalarType promote_integers(ScalarType a, ScalarType b) {
  if (is_unsigned(a) == is_unsigned(b)) return element_size(a) >= element_size(b) ? a : b;
  const ScalarType u = is_unsigned(a) ? a : b;
  const ScalarType s = is_unsigned(a) ? b : a;
  if (element_size(s) > element_size(u)) return s;
  return u == ScalarType::kByte ? ScalarType::kShort : ScalarType::kLong;
}

// The highest group of the operands so far.
struct Group {
  bool any = false;
  ScalarType type = ScalarType::kBool;
  void add(ScalarType other) {
    type = any ? promote_types(type, other) : other;
    any = true;
  }
};

void add_operand(const Argument& arg, Group& dims, Group& zero_dim, Group& numbers) {
  if (arg.is_value()) {
    const Value& value = *arg.value();
    if (value.kind == ValueKind::kTensor) {
      (value.type.rank() > 0 ? dims : zero_dim).add(value.type.dtype);
    } else {
      numbers.add(value.kind == ValueKind::kInt     ? ScalarType::kLong
                  : value.kind == ValueKind::kFloat ? ScalarType::kFloat
                                                    : ScalarType::kBool);
    }
  } else if (arg.is<int64_t>()) {
    numbers.add(ScalarType::kLong);
  } else if (arg.is<double>()) {
    numbers.add(ScalarType::kFloat);
  } else if (arg.is<bool>()) {
    numbers.add(ScalarType::kBool);
  }
}

}  // namespace

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (category(a) == 1) return promote_integers(a, b);
  if (element_size(a) == 2 && element_size(b) == 2) return ScalarType::kFloat;
  return element_size(a) > element_size(b) ? a : b;
}

ScalarType result_type(const std::vector<Argument>& operands) {
  Group dims, zero_dim, numbers;
  for (const Argument& arg : operands) {
    if (arg.is_list()) {
      for (const Argument& item : arg.list()) add_operand(item, dims, zero_dim, numbers);
    } else {
      add_operand(arg, dims, zero_dim, numbers);
    }
  }
  Group result;
  for (const Group& group : {dims, zero_dim, numbers}) {
    if (!group.any) continue;
    if (!result.any || category(group.type) > category(result.type)) result.add(group.type);
  }
  return result.any ? result.type : ScalarType::kFloat;
}

ScalarType float_result_type(const std::vector<Argument>& operands) {
  const ScalarType common = result_type(operands);
  return is_floating(common) ? common : ScalarType::kFloat;
}

ScalarType wide_type(ScalarType type) {
  const bool half = type == ScalarType::kHalf || type == ScalarType::kBFloat16;
  return half ? ScalarType::kFloat : type;
}

}  // namespace taper::exir
