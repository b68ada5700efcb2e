// What a selective build made: the kernels that the application's programs use, and what else is
// known of them. `taper select` writes the definitions; taper_selected_kernels() in CMake links
// them.
//
//   const KernelTable tables[] = {selected_kernels()};
//   options.kernels = tables;

#pragma once

#include "taper/dtypes.h"
#include "taper/kernel.h"
#include "taper/span.h"

namespace taper {

// Sorted by name, as find_kernel() wants it; constant data.
KernelTable selected_kernels();

// One operator of the table, as the programs call it.
struct SelectedOperator {
  const char* name;
  DtypeSet dtypes;  // Of the tensors that the programs hand it; 0 if none names it.
};

// What the binary was built for. Linked only where it is asked for.
struct SelectionManifest {
  Span<const SelectedOperator> operators;
  Span<const char* const> instructions;  // Kinds: "KernelCall", "DelegateCall", ...
  Span<const char* const> backends;      // That the application must hand to its methods.
  Span<const char* const> own;           // Operators whose kernels the application has.
  DtypeSet dtypes;                       // That the kernels are compiled for.
};
const SelectionManifest& selection_manifest();

namespace internal {

constexpr int compare_names(const char* a, const char* b) {
  for (; *a != 0 && *a == *b; ++a) ++b;
  return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}

// False if a name stands twice, or where find_kernel() would not find it.
template <size_t kCount>
constexpr bool is_kernel_order(const SelectedOperator (&operators)[kCount]) {
  for (size_t i = 1; i < kCount; ++i) {
    if (compare_names(operators[i - 1].name, operators[i].name) >= 0) return false;
  }
  return true;
}

}  // namespace internal
}  // namespace taper
