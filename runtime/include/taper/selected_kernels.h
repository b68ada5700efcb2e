// The result of a selective build: a table of the kernels that the application's programs use, and
// a manifest. `taper select` writes the definitions; taper_selected_kernels() in CMake links them.
//
//   const KernelTable tables[] = {selected_kernels()};
//   options.kernels = tables;

#pragma once

#include "taper/dtypes.h"
#include "taper/kernel.h"
#include "taper/span.h"

namespace taper {

// The selected kernels, sorted by name as find_kernel() requires. Constant data.
KernelTable selected_kernels();

// One operator of the table, as the programs call it.
struct SelectedOperator {
  const char* name;
  DtypeSet dtypes;  // The dtypes that the programs pass to it; 0 if no program uses it.
};

// What the binary was built for. Linked only if the application uses it.
struct SelectionManifest {
  Span<const SelectedOperator> operators;
  Span<const char* const> instructions;  // Kinds: "KernelCall", "DelegateCall", ...
  Span<const char* const> backends;      // Those that the application must provide.
  Span<const char* const> own;           // Operators for which the application has own kernels.
  DtypeSet dtypes;                       // The dtypes that the kernels are compiled for.
};
const SelectionManifest& selection_manifest();

namespace internal {

constexpr int compare_names(const char* a, const char* b) {
  for (; *a != 0 && *a == *b; ++a) ++b;
  return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}

// True if the names are in the order that find_kernel() requires, each only once.
template <size_t kCount>
constexpr bool is_kernel_order(const SelectedOperator (&operators)[kCount]) {
  for (size_t i = 1; i < kCount; ++i) {
    if (compare_names(operators[i - 1].name, operators[i].name) >= 0) return false;
  }
  return true;
}

}  // namespace internal
}  // namespace taper
