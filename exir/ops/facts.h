// What the compiler knows of operators beyond their schemas. facts.def has one row per operator;
// what is known of kernels stands beside them (kernel_facts.h).

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

struct Call;  // type_rules.h
using TypeRuleFunction = std::vector<TensorType> (*)(const Call&);

enum Trait : uint16_t {
  kPromotes = 1 << 0,  // Promotes its first two operands to one dtype, explicitly in Edge graphs.
  kOneDtype = 1 << 1,  // PyTorch requires tensors of one dtype.
  kPassive = 1 << 2,   // Returns the first operand, possibly in another dtype or other memory.
  kReshapes = 1 << 3,  // Returns the elements of the first operand in their order.
  kMoves = 1 << 4,    // Returns elements of the first operand; all of them if the type is the same.
  kAsserts = 1 << 5,  // Checks something and computes nothing.
  kDropout = 1 << 6,  // A no-op in inference.
  kBatchNorm = 1 << 7,  // Updates its statistics in training.
  kChooses = 1 << 8,  // Returns a data-dependent number of elements: at most all that it is given.
  kReadsValues = 1 << 9,  // The sizes or numbers that it returns are data-dependent.
};

struct OperatorFacts {
  TypeRuleFunction rule = nullptr;  // Computes the types of its results; null if no pass emits it.
  uint16_t traits = 0;              // A set of Trait.
  const char* scalar = nullptr;     // The operator whose second operand is a number.
  const char* reversed = nullptr;   // The operator to use if the first operand is a number.

  bool is(int trait) const { return (traits & trait) != 0; }
};

// The facts of "aten::add.Tensor"; empty if no row names the operator. Thread-safe.
const OperatorFacts& facts_of(std::string_view target);

// The operators that have a row, sorted by name.
std::vector<std::string_view> operators_with_facts();

}  // namespace taper::exir
