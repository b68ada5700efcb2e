// Which kernels, of which dtypes, a binary holds: what its programs need, what a list asks for, or
// everything; and whether that is enough.

#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "selective_build/needs.h"
#include "taper/dtypes.h"

namespace taper::select {

// What the application asks for beside its programs.
struct Request {
  bool all = false;                   // Every portable kernel.
  std::vector<std::string> names;     // Operators that no program here names.
  std::vector<std::string> without;   // Operators that must stay out.
  std::vector<std::string> own;       // Operators whose kernels are the application's own.
  std::vector<std::string> backends;  // That the application hands to its methods.
  std::optional<DtypeSet> dtypes;     // The dtypes that are built; empty: those that are needed.
};

// A line of kernels_portable/ops.def.
struct PortableKernel {
  const char* variable;
  const char* file;  // Without folder and ".cpp".
  const char* name;
};
// Sorted by name. Null if there is none of that name.
const PortableKernel* find_portable_kernel(std::string_view name);

struct SelectedKernel {
  PortableKernel kernel;
  OperatorNeed need;  // No calls if only the request names it.
};

struct Selection {
  Needs needs;
  std::vector<SelectedKernel> kernels;  // Sorted by name.
  std::set<std::string> files;          // Of the kernels.
  DtypeSet dtypes = 0;                  // What the kernels are compiled for.
};

// Selects. What a program needs and the selection lacks comes back in `problems`, one line each;
// what needs several programs each once.
Selection select(const Needs& needs, const Request& request, std::vector<std::string>* problems);

// "float32 int64" in the order of the wire's numbers; "all" for the full set.
std::string dtype_names(DtypeSet set);
// The dtype of that name: "float32".
std::optional<ScalarType> dtype_of_name(std::string_view name);

}  // namespace taper::select
