#include "exir/support.h"

#include <optional>
#include <unordered_set>

#include "exir/decompose/complex.h"
#include "exir/decompose/rules.h"
#include "exir/ops/registry.h"
#include "exir/passes/functionalize_write.h"
#include "exir/passes/kernel_dtypes.h"
#include "exir/passes/remove_noise.h"
#include "exir/passes/to_edge.h"
#include "exir/passes/to_out_variants.h"
#include "kernels_portable/kernel_table.h"

namespace taper::exir {
namespace {

using Names = std::unordered_set<std::string_view>;

const Kernel* portable_kernel(std::string_view name) {
  return find_kernel(portable::portable_kernels(), name);
}

bool sizes_depend_on_values(std::string_view name) {
  static const Names names = {"aten::nonzero",
                              "aten::masked_select",
                              "aten::repeat_interleave.Tensor",
                              "aten::unique_consecutive",
                              "aten::_unique2",
                              "aten::_local_scalar_dense",
                              "aten::item"};
  return names.count(name) != 0;
}

bool is_control_flow(std::string_view name) {
  static const Names names = {"higher_order::cond",
                              "higher_order::while_loop",
                              "higher_order::scan",
                              "higher_order::map_impl",
                              "higher_order::wrap_with_set_grad_enabled",
                              "higher_order::wrap_with_autocast",
                              "higher_order::executorch_call_delegate"};
  return names.count(name) != 0;
}

bool is_out_variant(const Schema& schema) {
  return !schema.args.empty() && is_out_argument(schema.args.back());
}

OperatorRow row_of(std::string_view name, const char* dialect, std::string becomes) {
  return {std::string(name), dialect, std::move(becomes), "", {}, "parts", {"portable"}};
}

class Table {
 public:
  OperatorTable make() {
    for (const std::string& name : operator_names()) {
      const std::shared_ptr<const Schema> schema = need_schema(name);
      const bool backend = is_out_variant(*schema) || portable_kernel(name) != nullptr;
      if (backend && functional_variant(name) != nullptr) continue;  // Named by its functional row.
      if (auto row = backend ? kernel_row(name, *schema) : resolve(name, *schema, 0)) {
        table_.rows.push_back(*std::move(row));
      } else if (!backend) {
        table_.unsupported.push_back(name);
      }
    }
    return std::move(table_);
  }

 private:
  void use_kernel(OperatorRow& row, const Kernel& kernel, const Schema& schema) {
    row.kernel = row.becomes = kernel.name;
    row.dtypes = kernel_dtypes(kernel, schema);
    row.dynamic = sizes_depend_on_values(row.name) ? "bounded" : "any";
  }

  // A kernel without a functional operator: only programs that others made name it.
  std::optional<OperatorRow> kernel_row(std::string_view name, const Schema& schema) {
    const Kernel* kernel = portable_kernel(name);
    if (kernel == nullptr) return std::nullopt;
    OperatorRow row = row_of(name, "backend", "");
    use_kernel(row, *kernel, schema);
    return row;
  }

  std::optional<OperatorRow> resolve(std::string_view name, const Schema& schema, int depth) {
    const bool core = op_facts(name).core;
    if (depth > 4) return std::nullopt;
    if (is_control_flow(name)) return row_of(name, "backend", "jumps and moves");
    if (is_noise(name)) return row_of(name, core ? "core" : "aten", "nothing, or a copy");
    if (schema.mutates()) return written(name, depth);
    if (find_decomposition(name) != nullptr) {
      return row_of(name, core ? "core" : "decomposed", "simpler operators");
    }
    if (const auto out = kernel_schema(schema)) {
      if (const Kernel* kernel = portable_kernel(out->name)) {
        OperatorRow row = row_of(name, core ? "core" : "edge", "");
        use_kernel(row, *kernel, *out);
        return row;
      }
    }
    if (auto row = view(name, schema, core, depth)) return row;
    if (find_complex_rule(name) == nullptr) return std::nullopt;
    return row_of(name, "decomposed", "real operators");  // Of complex numbers only.
  }

  // x.add_(y) is x = x.add(y).
  std::optional<OperatorRow> written(std::string_view name, int depth) {
    const bool aten = name.substr(0, 6) == "aten::";
    if (writes_plainly(name) || (!aten && functional_form(name) != nullptr)) {
      return row_of(name, "aten", "the values written");
    }
    const std::string twin = functional_twin(name);
    const std::shared_ptr<const Schema> schema = twin.empty() ? nullptr : find_schema(twin);
    if (schema == nullptr || !resolve(twin, *schema, depth + 1)) return std::nullopt;
    return row_of(name, "aten", twin);
  }

  std::optional<OperatorRow> view(std::string_view name, const Schema& schema, bool core,
                                  int depth) {
    const std::string twin = copy_twin(name);
    const std::shared_ptr<const Schema> copy = find_schema(twin);
    if (!schema.returns_alias() || copy == nullptr) return std::nullopt;
    std::optional<OperatorRow> row = resolve(twin, *copy, depth + 1);
    if (!row) return std::nullopt;
    row->name = std::string(name);
    row->dialect = core ? "core" : "aten";
    return row;
  }

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
