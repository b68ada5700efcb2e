// Which kernels, of which dtypes, a binary holds: what its programs need, what a list asks for, or
// everything; and whether that is enough.

#pragma once

#include <map>
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
  std::vector<std::string> own;       // Operators whose kernels are the application's own; with
                                      // "=x.cpp", where one lies that is to be compiled.
  std::vector<std::string> backends;  // That the application hands to its methods.
  std::optional<DtypeSet> dtypes;     // The dtypes that are built; empty: those that are needed.
  bool optimized = false;             // Take the fast form of a kernel where there is one.
};

// A line of kernels_portable/ops.def, or of kernels_optimized/ops.def.
struct KernelSource {
  const char* variable;
  const char* file;  // Without folder and ".cpp".
  const char* name;
};
// Null if there is none of that name.
const KernelSource* find_portable_kernel(std::string_view name);
const KernelSource* find_optimized_kernel(std::string_view name);

struct SelectedKernel {
  KernelSource kernel;  // The portable one.
  OperatorNeed need;    // No calls if only the request names it.
  DtypeSet dtypes = 0;  // What it is compiled for.
  bool optimized = false;
};

struct Selection {
  Needs needs;
  std::vector<SelectedKernel> kernels;  // Sorted by name.
  DtypeSet dtypes = 0;                  // What all of them together are compiled for.
  bool optimized = false;
  // Source files with the dtypes of their operators: of kernels_portable, without folder and
  // ".cpp"; and of the application's own.
  std::map<std::string, DtypeSet> files, own_files;
};

// Selects. What a program needs and the selection lacks comes back in `problems`, one line each;
// what needs several programs each once.
Selection select(const Needs& needs, const Request& request, std::vector<std::string>* problems);

// "float32 int64" in the order of the wire's numbers; "all" for the full set.
std::string dtype_names(DtypeSet set);
// The dtype of that name: "float32".
std::optional<ScalarType> dtype_of_name(std::string_view name);

}  // namespace taper::select
