// Selects kernels and the dtypes that they are compiled for; see selection.h.

#include "selective_build/selection.h"

#include <algorithm>

#include "kernels_portable/engine/promote.h"

namespace taper::select {
namespace {

#define TAPER_OP(variable, file, schema, memory, dtypes) {#variable, "ops/" #file, schema},
constexpr KernelSource kPortable[] = {
#include "kernels_portable/ops.def"
};
#undef TAPER_OP
#define TAPER_OP(variable, file, schema) {#variable, "ops/" #file, schema},
constexpr KernelSource kOptimized[] = {
#include "kernels_optimized/ops.def"
};
#undef TAPER_OP

template <size_t kCount>
const KernelSource* find(const KernelSource (&kernels)[kCount], std::string_view name) {
  const auto* found = std::lower_bound(std::begin(kernels), std::end(kernels), name,
                                       [](const KernelSource& kernel, std::string_view key) {
                                         return key.compare(kernel.name) > 0;
                                       });
  return found != std::end(kernels) && found->name == name ? found : nullptr;
}

constexpr int kDtypeNumbers = 32;

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::string joined(const std::set<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

class Selector {
 public:
  Selector(const Needs& needs, const Request& request, std::vector<std::string>* problems)
      : needs_(needs), request_(request), problems_(*problems) {}

  Selection run() {
    selection_.needs = needs_;
    selection_.optimized = request_.optimized;
    for (const auto& [name, need] : needs_.operators) take_needed(name, need);
    for (const std::string& name : request_.names) take_named(name);
    if (request_.all) {
      for (const KernelSource& kernel : kPortable) take(kernel, {});
    }
    for (const std::string& name : request_.without) {
      if (find_portable_kernel(name) != nullptr || needs_.operators.count(name) != 0) continue;
      problems_.push_back("operator " + name +
                          ", which is excluded, does not exist; `taper ops` lists all");
    }
    for (const auto& [name, need] : needs_.backends) {
      if (contains(request_.backends, name)) continue;
      problems_.push_back("backend " + name + " is not linked; needed by " + joined(need.models));
    }
    take_joined();
    choose_dtypes();
    list_files();
    std::sort(selection_.kernels.begin(), selection_.kernels.end(),
              [](const auto& a, const auto& b) {
                return std::string_view(a.kernel.name) < std::string_view(b.kernel.name);
              });
    return std::move(selection_);
  }

 private:
  void take_needed(const std::string& name, const OperatorNeed& need) {
    needed_ |= need.dtypes;
    if (take_own(name, need)) return;
    const KernelSource* kernel = find_portable_kernel(name);
    if (contains(request_.without, name)) {
      problems_.push_back("operator " + name + " is excluded; needed by " + joined(need.models));
    } else if (kernel == nullptr) {
      problems_.push_back("operator " + name + " has no portable kernel; needed by " +
                          joined(need.models) + " (a kernel of yours is named by --own)");
    } else {
      take(*kernel, need);
    }
  }

  void take_named(const std::string& name) {
    if (take_own(name, {})) return;
    const KernelSource* kernel = find_portable_kernel(name);
    if (kernel == nullptr) {
      problems_.push_back("operator " + name +
                          ", which the list names, has no portable kernel; `taper ops` lists all");
    } else {
      take(*kernel, {});
    }
  }

  void take(const KernelSource& kernel, const OperatorNeed& need) {
    if (contains(request_.without, kernel.name) || !taken_.insert(kernel.name).second) return;
    const bool fast = request_.optimized && find_optimized_kernel(kernel.name) != nullptr;
    selection_.kernels.push_back({kernel, need, 0, fast});
  }

  // The fast kernels of two operators in a row, where both are fast ones.
  void take_joined() {
    const auto fast = [this](std::string_view name) -> const SelectedKernel* {
      for (const SelectedKernel& each : selection_.kernels) {
        if (each.kernel.name == name) return each.optimized ? &each : nullptr;
      }
      return nullptr;
    };
    for (const KernelSource& kernel : kOptimized) {
      const std::string_view name = kernel.name;
      const size_t plus = name.find('+');
      if (plus == name.npos || fast(name.substr(0, plus)) == nullptr) continue;
      const SelectedKernel* second = fast(name.substr(plus + 1));
      if (second != nullptr) selection_.kernels.push_back({kernel, second->need, 0, true});
    }
  }

  // Handles "my::op.out", or "my::op.out=x.cpp", whose file is compiled for the operator's dtypes.
  bool take_own(const std::string& name, const OperatorNeed& need) {
    for (const std::string& own : request_.own) {
      const size_t equals = own.find('=');
      if (own.substr(0, equals) != name) continue;
      if (equals != own.npos) {
        selection_.own_files[own.substr(equals + 1)] |= dtypes_for(need);
      }
      return true;
    }
    return false;
  }

  // The dtypes to compile a kernel for: all of them if no program uses it.
  DtypeSet dtypes_for(const OperatorNeed& need) const {
    if (request_.dtypes.has_value()) return portable::closed_under_promotion(*request_.dtypes);
    return need.calls == 0 ? kAllDtypes : portable::closed_under_promotion(need.dtypes);
  }

  // Each kernel is compiled for its own dtypes; the code that they share, for those of all kernels.
  void choose_dtypes() {
    selection_.dtypes = portable::closed_under_promotion(needed_);
    for (SelectedKernel& each : selection_.kernels) {
      each.dtypes = dtypes_for(each.need);
      selection_.dtypes |= each.dtypes;
    }
    if (!request_.dtypes.has_value()) return;
    selection_.dtypes = portable::closed_under_promotion(*request_.dtypes);
    for (const SelectedKernel& each : selection_.kernels) {
      const DtypeSet lacking = each.need.dtypes & ~selection_.dtypes;
      if (lacking == 0) continue;
      problems_.push_back("operator " + std::string(each.kernel.name) + " is called with " +
                          dtype_names(lacking) + ", which is not built; needed by " +
                          joined(each.need.models));
    }
  }

  // All kernels in a file of fast kernels are compiled for the same dtypes, so the portable kernels
  // that they fall back to must be compiled for these too.
  void list_files() {
    for (SelectedKernel& each : selection_.kernels) {
      if (each.optimized) each.dtypes = selection_.dtypes;
      if (find_portable_kernel(each.kernel.name) == nullptr)
        continue;  // Of two operators in a row.
      selection_.files[each.kernel.file] |= each.dtypes;
    }
    if (!request_.optimized) return;
    for (const KernelSource& fast : kOptimized) {
      const KernelSource* portable = find_portable_kernel(fast.name);
      if (portable != nullptr) selection_.files[portable->file] = selection_.dtypes;
    }
  }

  const Needs& needs_;
  const Request& request_;
  std::vector<std::string>& problems_;
  Selection selection_;
  std::set<std::string> taken_;
  DtypeSet needed_ = 0;
};

}  // namespace

const KernelSource* find_portable_kernel(std::string_view name) { return find(kPortable, name); }
const KernelSource* find_optimized_kernel(std::string_view name) { return find(kOptimized, name); }

Selection select(const Needs& needs, const Request& request, std::vector<std::string>* problems) {
  return Selector(needs, request, problems).run();
}

std::string dtype_names(DtypeSet set) {
  if (set == kAllDtypes) return "all";
  std::string text;
  for (int i = 0; i < kDtypeNumbers; ++i) {
    const ScalarType type = static_cast<ScalarType>(i);
    if (!is_valid(type) || !holds(set, type)) continue;
    text += (text.empty() ? "" : " ") + std::string(to_string(type));
  }
  return text;
}

std::optional<ScalarType> dtype_of_name(std::string_view name) {
  for (int i = 0; i < kDtypeNumbers; ++i) {
    const ScalarType type = static_cast<ScalarType>(i);
    if (is_valid(type) && name == to_string(type)) return type;
  }
  return std::nullopt;
}

}  // namespace taper::select
