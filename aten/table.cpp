// The table: a kernel for each operator of the dispatcher whose arguments a program can hold.
//
//   aten::add.out               as PyTorch declares it: results are out arguments
//   my::push_                   writes arguments and returns nothing new
//   aten::add.Tensor_functional3
//                               the functional form (exir/ops/aten_calls.h), with all arguments:
//                               results lie in the slots behind them, into which they are copied
//   aten::add.Tensor_functional2
//                               the same without arguments that have defaults
//   aten::add.Tensor_functional3_of_tensors
//                               with all arguments, of which numbers are 0-d tensors
//   my::shrink.out              the same, as declared operators are called
//
// If a list is among several results, the functional form has one slot: the list of all tensors.
//
// A kernel is a function without data, so each operator has a function of its own: one of a pool.

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <regex>
#include <string>
#include <unordered_set>
#include <vector>

#include "aten/call.h"
#include "aten/interface.h"

namespace taper::aten {
namespace {

constexpr size_t kPool = 10240;  // PyTorch 2.13 has 3,400 operators.

struct Operator {
  c10::OperatorHandle handle;
  Given given;
};

std::vector<Operator>& pool() {
  static std::vector<Operator> used;
  return used;
}

template <size_t kIndex>
Status run(KernelContext&, EValue* const* slots) {
  return call(pool()[kIndex].handle, pool()[kIndex].given, slots);
}

template <size_t... kIndex>
constexpr std::array<KernelFunction, kPool> functions(std::index_sequence<kIndex...>) {
  return {&run<kIndex>...};
}

constexpr std::array<KernelFunction, kPool> kFunctions =
    functions(std::make_index_sequence<kPool>());

// "my::shrink" -> "my::shrink.out", "my::shrink.int" -> "my::shrink.int_out".
std::string with_overload(const c10::OperatorName& name, const std::string& word) {
  return name.name + "." + (name.overload_name.empty() ? "" : name.overload_name + "_") + word;
}

// PyTorch's normalisations write these, although their schemas do not say so.
bool is_written(const c10::Argument& argument) {
  if (argument.alias_info() != nullptr && argument.alias_info()->isWrite()) return true;
  return argument.name() == "running_mean" || argument.name() == "running_var";
}

class Table {
 public:
  explicit Table(Span<const char* const> libraries) {
    const std::vector<c10::OperatorName> names = c10::Dispatcher::singleton().getAllOpNames();
    const std::unordered_set<c10::OperatorName> known(names.begin(), names.end());
    for (const char* library : libraries) {
      TORCH_CHECK(dlopen(library, RTLD_NOW | RTLD_LOCAL) != nullptr, dlerror());
    }
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
      const auto handle = c10::Dispatcher::singleton().findSchema(name);
      if (!handle || !add(name, *handle)) continue;
      if (known.count(name) == 0) declarations_ += declaration(handle->schema()) + "\n";
    }
    for (auto& [name, kernel] : kernels_) {
      kernel.name = name.c_str();
      sorted_.push_back(&kernel);
    }
  }

  Kernels kernels() const { return {{sorted_.data(), sorted_.size()}, declarations_.c_str()}; }

 private:
  struct Shape {
    std::vector<ArgSpec> specs;
    bool writes = false;   // Some argument.
    size_t fresh = 0;      // Slots of new results.
    bool declared = true;  // Whether exir/ops/declare.h can state it.
  };

  static std::optional<Shape> shape_of(const c10::FunctionSchema& schema, Given given) {
    Shape shape;
    for (const c10::Argument& argument : schema.arguments()) {
      if (given == Given::kWithoutDefaults && argument.default_value()) continue;
      std::optional<ArgSpec> spec = spec_of(argument, is_written(argument), given);
      const bool optional = argument.type()->kind() == c10::TypeKind::OptionalType;
      if (!spec && !optional) return std::nullopt;
      // Where no slot can hold a value, None may stand: no kind fits that is not an argument's.
      shape.specs.push_back(spec.value_or(ArgSpec{ArgKind::kMessage, true}));
      shape.writes = shape.writes || is_written(argument);
    }
    if (!add_results(schema, shape)) return std::nullopt;
    if (schema.is_vararg() || schema.is_varret() || shape.specs.size() > UINT8_MAX) {
      return std::nullopt;
    }
    return shape;
  }

  // Slots of new results; one for all of them if a list is among them. Returns whether they are
  // tensors.
  static bool add_results(const c10::FunctionSchema& schema, Shape& shape) {
    std::vector<ArgSpec> specs;
    bool list = false;
    for (const c10::Argument& result : schema.returns()) {
      if (!is_fresh(result)) continue;
      const std::optional<ArgSpec> spec = spec_of(result, true);
      if (!spec) return false;
      if (spec->kind == ArgKind::kMutableTensorList) {
        list = true;
      } else if (spec->kind != ArgKind::kMutableTensor) {
        return false;
      }
      specs.push_back(*spec);
    }
    shape.declared = !list || specs.size() == 1;
    if (list) specs = {{ArgKind::kMutableTensorList, false, true}};
    shape.fresh = specs.size();
    shape.specs.insert(shape.specs.end(), specs.begin(), specs.end());
    return true;
  }

  // The schema; results that are views are new tensors here.
  static std::string declaration(const c10::FunctionSchema& schema) {
    static const std::regex view("\\([a-z]+\\)");
    return std::regex_replace(c10::toString(schema), view, "");
  }

  // A kernel of the pool; its arguments and results are those of the shape.
  Kernel take(const c10::OperatorHandle& handle, Given given, Shape& shape) {
    const auto& specs = specs_.emplace_back(std::move(shape.specs));
    TORCH_CHECK(pool().size() < kPool, "PyTorch has too many operators");
    const KernelFunction function = kFunctions[pool().size()];
    pool().push_back({handle, given});
    return {nullptr, function, specs.data(), static_cast<uint8_t>(specs.size()), kAllDtypes};
  }

  // Adds the functional form; a name keeps its first kernel.
  void add_form(const c10::OperatorName& name, const Kernel& kernel, const Shape& shape,
                const char* suffix = "") {
    const std::string form = "functional" + std::to_string(kernel.arg_count - shape.fresh);
    if (!shape.writes) kernels_.emplace(with_overload(name, form + suffix), kernel);
  }

  static bool takes_numbers(const c10::FunctionSchema& schema) {
    return std::any_of(schema.arguments().begin(), schema.arguments().end(), [](const auto& each) {
      const auto spec = spec_of(each, false);
      return spec && spec->kind == ArgKind::kScalar;
    });
  }

  // Returns whether it has a kernel by the name that a declaration gives it.
  bool add(const c10::OperatorName& name, const c10::OperatorHandle& handle) {
    std::optional<Shape> shape = shape_of(handle.schema(), Given::kAll);
    if (!shape) return false;
    const Kernel kernel = take(handle, Given::kAll, *shape);
    if (shape->fresh == 0) {
      const bool plain = name.overload_name.empty();
      kernels_[name.name + (plain ? "" : "." + name.overload_name)] = kernel;  // Not a made-up one.
      return true;
    }
    const bool declared = shape->declared;
    if (declared) kernels_.emplace(with_overload(name, "out"), kernel);
    add_form(name, kernel, *shape);
    if (!shape->writes && takes_numbers(handle.schema())) {
      shape = shape_of(handle.schema(), Given::kNumbersAsTensors);
      add_form(name, take(handle, Given::kNumbersAsTensors, *shape), *shape, "_of_tensors");
    }
    shape = shape_of(handle.schema(), Given::kWithoutDefaults);
    if (shape->writes || shape->specs.size() == kernel.arg_count) return declared;
    add_form(name, take(handle, Given::kWithoutDefaults, *shape), *shape);
    return declared;
  }

  std::deque<std::vector<ArgSpec>> specs_;
  std::map<std::string, Kernel> kernels_;
  std::vector<const Kernel*> sorted_;
  std::string declarations_;
};

}  // namespace
}  // namespace taper::aten

extern "C" [[gnu::visibility("default")]] const char* taper_aten_kernels(
    uint64_t layout, taper::Span<const char* const> libraries, taper::aten::Kernels* kernels) {
  if (layout != taper::aten::kLayout) return "it was built for another version of Taper";
  static thread_local std::string problem;
  try {
    static const taper::aten::Table table(libraries);
    *kernels = table.kernels();
    return nullptr;
  } catch (const c10::Error& error) {
    problem = error.what_without_backtrace();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  return problem.c_str();
}
