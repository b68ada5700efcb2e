// The table of the operators that the XNNPACK backend takes: an operator of the Edge dialect, its
// conditions beyond those for all operators, and its lowering.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backends/xnnpack/aot/lowering.h"

namespace taper::xnnpack {

// The dtypes that the tensors of a call may have.
enum class Types { kFloats, kBytesToo, kAny };

struct OpRule {
  std::string_view target;
  // Returns why a call is not taken; empty if it is taken. Null: there are no further conditions.
  std::string (*refusal)(const exir::Node& node);
  void (*lower)(Lowering& l, const exir::Node& node);
  // The work per element of the result: 0 for movement, 1 for arithmetic, 2 for an operator that
  // makes a delegate call pay by itself.
  int weight;
  // Only the first result is computed; the others must not be read.
  bool first_result_only = false;
  Types types = Types::kFloats;
  // Returns why a call is not taken because of the rest of the graph; empty if it is taken.
  std::string (*refusal_in)(const exir::Node& node, const exir::Graph& graph) = nullptr;
};

// The rows, by subject.
extern const std::span<const OpRule> kElementRules;
extern const std::span<const OpRule> kMatrixRules;
extern const std::span<const OpRule> kWindowRules;
extern const std::span<const OpRule> kReduceRules;
extern const std::span<const OpRule> kNormRules;
extern const std::span<const OpRule> kMovementRules;
extern const std::span<const OpRule> kAttentionRules;
extern const std::span<const OpRule> kQuantizedRules;

// The rule for an operator, or null.
const OpRule* find_rule(std::string_view target);

// Helpers for the rules: an argument that is a tensor.
inline const exir::Value* tensor(const exir::Node& node, size_t i = 0) {
  return node.arg(i).value();
}
inline const exir::Value* tensor(const exir::Node& node, std::string_view name) {
  return node.arg(name).value();
}
bool is_constant(const exir::Value* value);
// Whether the argument is a number that is known at compile time.
bool is_known(const exir::Argument& arg);
// Dimensions counted from the front, sorted; all of them if the list is empty or None.
std::vector<size_t> dims_of(const exir::Argument& arg, size_t rank);
// Throws Failure if there is no such dimension.
size_t dim_of(const exir::Argument& arg, size_t rank);
// Whether a call of a torchao operator quantises or dequantises computed rows, float32 as int8,
// each with a scale or all with one.
bool is_by_row(const exir::Node& node);
// Whether a tensor is quantised at run time, before linear layers whose weights are integers.
bool is_quantised_by_rows(const exir::Value* x, const exir::Graph& graph);
// Whether a layer reads what was dequantised with a fixed scale, and its result, perhaps clamped,
// is quantised: compute_in_bytes.h computes it with integers.
bool is_between_bytes(const exir::Node& node, const exir::Graph& graph);
// The integers of a list such as a stride; a single one is repeated `count` times.
std::vector<int64_t> ints_of(const exir::Argument& arg, size_t count);

}  // namespace taper::xnnpack
