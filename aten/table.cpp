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
// The table grows by what is registered later, such as operators that Python defines. An operator
// that is removed takes its kernels along; programs that hold them get an error.

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
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
  std::optional<c10::OperatorHandle> handle;
  Given given = Given::kAll;
  std::atomic<bool> gone = false;
};

std::array<Operator, kPool>& pool() {
  static std::array<Operator, kPool> operators;
  return operators;
}

template <size_t kIndex>
Status run(KernelContext&, EValue* const* slots) {
  const Operator& used = pool()[kIndex];
  TAPER_REQUIRE(!used.gone, Error::kNotFound,
                "PyTorch's operator was removed or defined anew; load the program again");
  return call(*used.handle, used.given, slots);
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
  // Lives as long as the process.
  static Table& of_process() {
    static Table& table = *new Table;
    return table;
  }

  // What there is now, after these libraries are loaded. What was given before stays valid.
  Kernels update(Span<const char* const> libraries) {
    for (const char* library : libraries) {
      TORCH_CHECK(dlopen(library, RTLD_NOW | RTLD_LOCAL) != nullptr, dlerror());
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    bool grown = sorted_.empty();
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
      if (!seen_.insert(name).second) continue;
      grown = true;
      const auto handle = c10::Dispatcher::singleton().findSchema(name);
      if (!handle || !add(name, *handle)) continue;
      if (at_first_.count(name) == 0) declared_ += declaration(handle->schema()) + "\n";
    }
    if (grown) note_what_there_is();
    return {{sorted_.back().data(), sorted_.back().size()}, declarations_.back().c_str()};
  }

  void forget(const c10::OperatorHandle& removed) {
    const std::lock_guard<std::mutex> lock(mutex_);
    seen_.erase(removed.operator_name());
    for (size_t i = 0; i < used_; ++i) {
      if (*pool()[i].handle == removed) pool()[i].gone = true;
    }
  }

 private:
  // Tells the table of operators that are removed.
  struct Listener : c10::OpRegistrationListener {
    explicit Listener(Table* to) : table(to) {}
    void onOperatorRegistered(const c10::OperatorHandle&) override {}
    void onOperatorDeregistered(const c10::OperatorHandle& op) override { table->forget(op); }

    Table* table;
  };

  // A kernel and the number of its operator in the pool.
  struct Entry {
    Kernel kernel;
    size_t number;
  };

  Table() {
    const std::vector<c10::OperatorName> names = c10::Dispatcher::singleton().getAllOpNames();
    at_first_.insert(names.begin(), names.end());
    listening_ =
        c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<Listener>(this));
  }

  // Makes a new list of all kernels whose operators have not been removed.
  void note_what_there_is() {
    std::vector<const Kernel*>& sorted = sorted_.emplace_back();
    for (const auto& [name, entry] : kernels_) {
      if (!pool()[entry->number].gone) sorted.push_back(&entry->kernel);
    }
    declarations_.push_back(declared_);
  }

  // Gives a kernel a name. What has the name keeps it, unless its operator has been removed or
  // `takes` says otherwise.
  void name_kernel(const std::string& name, const Entry& entry, bool takes = false) {
    const auto at = kernels_.try_emplace(name, nullptr).first;
    if (at->second != nullptr && !takes && !pool()[at->second->number].gone) return;
    at->second = &entries_.emplace_back(entry);
    at->second->kernel.name = at->first.c_str();
  }

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
  Entry take(const c10::OperatorHandle& handle, Given given, Shape& shape) {
    const auto& specs = specs_.emplace_back(std::move(shape.specs));
    TORCH_CHECK(used_ < kPool, "PyTorch has too many operators");
    pool()[used_].handle = handle;
    pool()[used_].given = given;
    const KernelFunction function = kFunctions[used_];
    return {{nullptr, function, specs.data(), static_cast<uint8_t>(specs.size()), kAllDtypes},
            used_++};
  }

  // Adds the functional form.
  void add_form(const c10::OperatorName& name, const Entry& entry, const Shape& shape,
                const char* suffix = "") {
    const std::string form = "functional" + std::to_string(entry.kernel.arg_count - shape.fresh);
    if (!shape.writes) name_kernel(with_overload(name, form + suffix), entry);
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
    const Entry entry = take(handle, Given::kAll, *shape);
    if (shape->fresh == 0) {
      const bool plain = name.overload_name.empty();
      // A name that PyTorch has itself goes before those that are made up here.
      name_kernel(name.name + (plain ? "" : "." + name.overload_name), entry, true);
      return true;
    }
    const bool declared = shape->declared;
    if (declared) name_kernel(with_overload(name, "out"), entry);
    add_form(name, entry, *shape);
    if (!shape->writes && takes_numbers(handle.schema())) {
      shape = shape_of(handle.schema(), Given::kNumbersAsTensors);
      add_form(name, take(handle, Given::kNumbersAsTensors, *shape), *shape, "_of_tensors");
    }
    shape = shape_of(handle.schema(), Given::kWithoutDefaults);
    if (shape->writes || shape->specs.size() == entry.kernel.arg_count) return declared;
    add_form(name, take(handle, Given::kWithoutDefaults, *shape), *shape);
    return declared;
  }

  std::mutex mutex_;
  c10::RegistrationHandleRAII listening_{[] {}};
  std::unordered_set<c10::OperatorName> at_first_, seen_;
  size_t used_ = 0;  // Of the pool.
  std::deque<std::vector<ArgSpec>> specs_;
  std::deque<Entry> entries_;
  std::map<std::string, Entry*> kernels_;
  std::string declared_;
  // What update() has given: deques, since those who were given it keep it.
  std::deque<std::vector<const Kernel*>> sorted_;
  std::deque<std::string> declarations_;
};

}  // namespace
}  // namespace taper::aten

extern "C" [[gnu::visibility("default")]] const char* taper_aten_kernels(
    uint64_t layout, taper::Span<const char* const> libraries, taper::aten::Kernels* kernels) {
  if (layout != taper::aten::kLayout) return "it was built for another version of Taper";
  static thread_local std::string problem;
  try {
    *kernels = taper::aten::Table::of_process().update(libraries);
    return nullptr;
  } catch (const c10::Error& error) {
    problem = error.what_without_backtrace();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  return problem.c_str();
}
