// Type promotion; promote.h states the rules.

#include "kernels_portable/engine/promote.h"

namespace taper::portable {
namespace {

enum class Category { kNone, kBool, kInteger, kFloat };

Category category(ScalarType type) {
  if (is_floating(type)) return Category::kFloat;
  return type == ScalarType::kBool ? Category::kBool : Category::kInteger;
}

ScalarType type_of_number(Scalar number) {
  if (number.is_double()) return ScalarType::kFloat;
  return number.is_bool() ? ScalarType::kBool : ScalarType::kLong;
}

bool is_unsigned(ScalarType type) {
  return type == ScalarType::kByte || type == ScalarType::kUInt16 || type == ScalarType::kUInt32 ||
         type == ScalarType::kUInt64;
}

ScalarType promote_integers(ScalarType a, ScalarType b) {
  const ScalarType wider = element_size(a) >= element_size(b) ? a : b;
  const ScalarType other = wider == a ? b : a;
  if (is_unsigned(a) == is_unsigned(b)) return wider;
  if (!is_unsigned(wider) && element_size(wider) > element_size(other)) return wider;
  switch (element_size(wider)) {  // The signed type that is wider than the unsigned one.
    case 1:
      return ScalarType::kShort;
    case 2:
      return ScalarType::kInt;
    default:
      return ScalarType::kLong;
  }
}

// What the operands of one group (tensors, 0-d tensors or numbers) seen so far promote to.
struct Group {
  Category rank = Category::kNone;
  ScalarType type = ScalarType::kBool;

  void add(ScalarType other) {
    type = rank == Category::kNone ? other : promote_types(type, other);
    rank = category(type);
  }
  // `lower` changes the result only if its category is higher.
  void join(const Group& lower) {
    if (lower.rank > rank) {
      type = rank == Category::kNone ? lower.type : promote_types(type, lower.type);
      rank = category(type);
    }
  }
};

}  // namespace

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b || b == ScalarType::kBool) return a;
  if (a == ScalarType::kBool) return b;
  if (is_floating(a) && is_floating(b)) {
    if (element_size(a) == element_size(b)) return ScalarType::kFloat;  // Half and bfloat16.
    return element_size(a) > element_size(b) ? a : b;
  }
  if (is_floating(a)) return a;
  return is_floating(b) ? b : promote_integers(a, b);
}

DtypeSet closed_under_promotion(DtypeSet set) {
  set |= dtype_bit(ScalarType::kFloat);
  if ((set & ~kFloatingDtypes) != 0) set |= dtype_bit(ScalarType::kLong);
  const DtypeSet given = set;
  for (int a = 0; a < 32; ++a) {
    const ScalarType left = static_cast<ScalarType>(a);
    if (holds(given, left)) set |= dtype_bit(part_type(left));
    for (int b = 0; b < a; ++b) {
      const ScalarType right = static_cast<ScalarType>(b);
      const bool both = holds(given, left) && holds(given, right);
      if (both && !is_complex(left) && !is_complex(right)) {
        set |= dtype_bit(promote_types(left, right));
      }
    }
  }
  return set;
}

ScalarType result_type(Span<const Operand> operands) {
  Group tensors, zero_d, numbers;
  for (const Operand& operand : operands) {
    if (operand.tensor == nullptr) {
      numbers.add(type_of_number(operand.scalar));
    } else {
      (operand.tensor->dim() > 0 ? tensors : zero_d).add(operand.tensor->scalar_type());
    }
  }
  zero_d.join(numbers);
  tensors.join(zero_d);
  return tensors.type;
}

}  // namespace taper::portable
