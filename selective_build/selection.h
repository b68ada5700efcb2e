// The selection of the kernels and dtypes that a binary contains: those that its programs need,
// that a list names, or all of them; and whether they suffice.

#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "selective_build/needs.h"
#include "taper/dtypes.h"

namespace taper::select {

// What the application requests besides its programs.
struct Request {
  bool all = false;                  // Every portable kernel.
  std::vector<std::string> names;    // Additional operators, which no program needs to use.
  std::vector<std::string> without;  // Operators that must not be included.
  std::vector<std::string> own;  // Operators for which the application has its own kernels, with
                                 // "=x.cpp" if that file is to be compiled.
  std::vector<std::string> backends;  // The backends that the application provides.
  std::optional<DtypeSet> dtypes;  // The dtypes to compile for; by default those that are needed.
  bool optimized = false;          // Use the fast kernel of an operator if there is one.
};

// A line of kernels_portable/ops.def, or of kernels_optimized/ops.def.
struct KernelSource {
  const char* variable;
  const char* file;  // Relative to the folder of the kernels, without ".cpp": "ops/binary/op_add".
  const char* name;
};
// Look up a kernel by name; null if there is none.
const KernelSource* find_portable_kernel(std::string_view name);
const KernelSource* find_optimized_kernel(std::string_view name);

struct SelectedKernel {
  KernelSource kernel;  // The portable kernel; of two operators in a row, the fast one.
  OperatorNeed need;    // Has no calls if only the request names the operator.
  DtypeSet dtypes = 0;  // The dtypes that it is compiled for.
  bool optimized = false;
};

struct Selection {
  Needs needs;
  std::vector<SelectedKernel> kernels;  // Sorted by name.
  DtypeSet dtypes = 0;                  // The dtypes of all kernels together.
  bool optimized = false;
  // The source files with the dtypes that they are compiled for: `files` in kernels_portable,
  // without folder and ".cpp"; `own_files` of the application.
  std::map<std::string, DtypeSet> files, own_files;
};

// Makes the selection. Whatever a program needs and the selection lacks is added to `problems`, one
// line for each, which names all programs that need it.
Selection select(const Needs& needs, const Request& request, std::vector<std::string>* problems);

// "float32 int64" in the order of the wire's numbers; "all" for the full set.
std::string dtype_names(DtypeSet set);
// The dtype of that name: "float32".
std::optional<ScalarType> dtype_of_name(std::string_view name);

}  // namespace taper::select
