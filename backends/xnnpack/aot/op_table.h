// The one table of what the XNNPACK backend takes: an operator of the Edge dialect, what must hold
// for it beyond what holds for all, and what it becomes.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backends/xnnpack/aot/lowering.h"

namespace taper::xnnpack {

// The types that the tensors of a call may have.
enum class Types { kFloats, kBytesToo, kAny };

struct OpRule {
  std::string_view target;
  // Why this call is not taken; empty if it is. Null: nothing more is asked.
  std::string (*refusal)(const exir::Node& node);
  void (*lower)(Lowering& l, const exir::Node& node);
  // How much a call computes per element of its result: 0 for movement, 1 for arithmetic, 2 for an
  // operator that makes a delegate call pay by itself.
  int weight;
  // Results that are not computed must not be read.
  bool first_result_only = false;
  Types types = Types::kFloats;
  // Why it is not taken for what else the graph holds; empty if it is.
  std::string (*refusal_in)(const exir::Node& node, const exir::Graph& graph) = nullptr;
};

// The rows, by what they are about.
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

// Shared by the rows.
inline const exir::Value* tensor(const exir::Node& node, size_t i = 0) {
  return node.arg(i).value();
}
inline const exir::Value* tensor(const exir::Node& node, std::string_view name) {
  return node.arg(name).value();
}
bool is_constant(const exir::Value* value);
// Whether the argument is a number that is known when the model is compiled.
bool is_known(const exir::Argument& arg);
// Dimensions counted from the front, sorted; all of them if the list is empty or None.
std::vector<size_t> dims_of(const exir::Argument& arg, size_t rank);
size_t dim_of(const exir::Argument& arg, size_t rank);
// Whether a call of torchao's is about rows of float32 as int8, which are computed.
bool is_by_row(const exir::Node& node);
// The integers of a list such as a stride; one stands for as many as there should be.
std::vector<int64_t> ints_of(const exir::Argument& arg, size_t count);

}  // namespace taper::xnnpack
