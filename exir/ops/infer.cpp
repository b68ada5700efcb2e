// Looks up the rule of an operator in facts.def and applies it; type_rules.h lists the rules.

#include "exir/ops/infer.h"

#include <stdexcept>

#include "exir/ops/facts.h"
#include "exir/ops/type_rules.h"

namespace taper::exir {
std::vector<TensorType> infer_types(const Schema& schema, const std::vector<Argument>& args) {
  const TypeRuleFunction rule = facts_of(schema.name).rule;
  if (rule == nullptr) throw Failure("no type rule for " + schema.name);
  try {
    return rule({schema, args});
  } catch (const std::out_of_range&) {
    throw Failure(schema.name + ": an argument has too few dimensions or entries");
  }
}

bool has_type_rule(std::string_view target) { return facts_of(target).rule != nullptr; }

}  // namespace taper::exir
