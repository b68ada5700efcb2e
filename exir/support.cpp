// Follows each operator through the stages of the compiler, in the order in which they would take
// it.

#include "exir/support.h"

#include <optional>
#include <unordered_set>

#include "exir/decompose/complex.h"
#include "exir/decompose/rules.h"
#include "exir/ops/builtin.h"
#include "exir/ops/dtype_rule.h"
#include "exir/ops/facts.h"
#include "exir/ops/variants.h"
#include "exir/passes/functional/functionalize_write.h"
#include "exir/passes/simplify/keep_assertions.h"
#include "exir/passes/simplify/prepare_for_inference.h"
#include "kernels_portable/kernel_facts.h"
#include "kernels_portable/kernel_table.h"

namespace taper::exir {
namespace {

using Names = std::unordered_set<std::string_view>;

const Kernel* portable_kernel(std::string_view name) {
  return find_kernel(portable::portable_kernels(), name);
}

bool is_control_flow(std::string_view name) {
  static const Names names = {"higher_order::cond",
                              "higher_order::while_loop",
                              "higher_order::scan",
                              "higher_order::map_impl",
                              "higher_order::wrap_with_set_grad_enabled",
                              "higher_order::wrap_with_autocast",
                              "higher_order::invoke_subgraph",
                              "higher_order::strict_mode",
                              "higher_order::out_dtype",
                              "higher_order::executorch_call_delegate"};
  return names.count(name) != 0;
}

bool is_out_variant(const Schema& schema) {
  return !schema.args.empty() && is_out_argument(schema.args.back());
}

OperatorRow row_of(std::string_view name, const char* dialect, std::string becomes) {
  const char* scalar = facts_of(name).scalar;
  return {std::string(name),
          dialect,
          std::move(becomes),
          "",
          {},
          "",
          "parts",
          scalar == nullptr ? "" : scalar};
}

const char* memory_text(portable::Memory memory) {
  switch (memory) {
    case portable::Memory::kOwn:
      return "own";
    case portable::Memory::kElementwise:
      return "any operand";
    case portable::Memory::kUpdate:
      return "first operand";
    default:
      return "view";
  }
}

class Table {
 public:
  OperatorTable make() {
    for (const std::string& name : operators_.names()) {
      const std::shared_ptr<const Schema> schema = operators_.need(name);
      const bool backend = is_out_variant(*schema) || portable_kernel(name) != nullptr;
      // An out variant is named by its functional row.
      if (backend && operators_.functional_variant(name) != nullptr) continue;
      if (auto row = backend ? kernel_row(name) : resolve(name, *schema, 0)) {
        table_.rows.push_back(*std::move(row));
      } else if (!backend) {
        table_.unsupported.push_back(name);
      }
    }
    return std::move(table_);
  }

 private:
  void use_kernel(OperatorRow& row, const Kernel& kernel) {
    const portable::KernelFacts& facts = *portable::find_kernel_facts(kernel.name);
    row.kernel = row.becomes = kernel.name;
    row.dtypes = DtypeRule(facts.dtypes).first_dtypes();
    row.memory = memory_text(facts.memory);
    row.dynamic = facts_of(row.name).is(kChooses | kReadsValues) ? "bounded" : "any";
  }

  // A kernel without a functional operator: only programs from other compilers call it.
  std::optional<OperatorRow> kernel_row(std::string_view name) {
    const Kernel* kernel = portable_kernel(name);
    if (kernel == nullptr) return std::nullopt;
    OperatorRow row = row_of(name, "backend", "");
    use_kernel(row, *kernel);
    return row;
  }

  std::optional<OperatorRow> resolve(std::string_view name, const Schema& schema, int depth) {
    const bool core = operators_.tags(name).core;
    if (depth > 4) return std::nullopt;
    if (is_control_flow(name)) return row_of(name, "backend", "jumps and moves");
    if (becomes_assertion(name)) return row_of(name, "aten", "taper::assert");
    if (is_dropped_for_inference(name))
      return row_of(name, core ? "core" : "aten", "nothing, or a copy");
    if (schema.mutates()) return written(name, depth);
    if (find_decomposition(name) != nullptr) {
      return row_of(name, core ? "core" : "decomposed", "simpler operators");
    }
    if (const auto out = kernel_schema(operators_, schema)) {
      if (const Kernel* kernel = portable_kernel(out->name)) {
        OperatorRow row = row_of(name, core ? "core" : "edge", "");
        use_kernel(row, *kernel);
        return row;
      }
    }
    if (auto row = view(name, schema, core, depth)) return row;
    if (find_complex_rule(name) == nullptr) return std::nullopt;
    return row_of(name, "decomposed", "real operators");  // Takes complex numbers only.
  }

  // x.add_(y) is x = x.add(y).
  std::optional<OperatorRow> written(std::string_view name, int depth) {
    const bool aten = name.substr(0, 6) == "aten::";
    if (writes_plainly(name) || (!aten && operators_.functional_form(name) != nullptr)) {
      return row_of(name, "aten", "the values written");
    }
    const std::string twin = functional_twin(name);
    const std::shared_ptr<const Schema> schema = twin.empty() ? nullptr : operators_.find(twin);
    if (schema == nullptr || !resolve(twin, *schema, depth + 1)) return std::nullopt;
    return row_of(name, "aten", twin);
  }

  std::optional<OperatorRow> view(std::string_view name, const Schema& schema, bool core,
                                  int depth) {
    const std::string twin = copy_twin(name);
    const std::shared_ptr<const Schema> copy = operators_.find(twin);
    if (!schema.returns_alias() || copy == nullptr) return std::nullopt;
    std::optional<OperatorRow> row = resolve(twin, *copy, depth + 1);
    if (!row) return std::nullopt;
    row->name = std::string(name);
    row->dialect = core ? "core" : "aten";
    return row;
  }

  const OperatorRegistry& operators_ = *builtin_operators();
  OperatorTable table_;
};

}  // namespace

OperatorTable operator_table() { return Table().make(); }

const char* short_name(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kFloat:
      return "f32";
    case ScalarType::kDouble:
      return "f64";
    case ScalarType::kHalf:
      return "f16";
    case ScalarType::kBFloat16:
      return "bf16";
    case ScalarType::kByte:
      return "u8";
    case ScalarType::kChar:
      return "i8";
    case ScalarType::kShort:
      return "i16";
    case ScalarType::kInt:
      return "i32";
    case ScalarType::kLong:
      return "i64";
    case ScalarType::kComplexHalf:
      return "c32";
    case ScalarType::kComplexFloat:
      return "c64";
    case ScalarType::kComplexDouble:
      return "c128";
    case ScalarType::kBool:
      return "bool";
    case ScalarType::kUInt16:
      return "u16";
    case ScalarType::kUInt32:
      return "u32";
    case ScalarType::kUInt64:
      return "u64";
  }
  return "";
}

}  // namespace taper::exir
