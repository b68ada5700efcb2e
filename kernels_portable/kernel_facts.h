// What ops.def says of each kernel beside its name and place: where its results may lie, and which
// dtypes it takes. The compiler and the tests read it; no program on a device does.
//
// The dtypes are a rule such as
//
//   "fi= fi= -> fi="               two tensors and a result of one dtype, a float or an integer
//   "fiub+ fiub+ # -> fiub<"       two tensors that are promoted, a number, a result to which what
//                                  they are promoted to can be cast
//
// It has one word for each tensor, list of tensors and number (Scalar) among the arguments, in
// schema order, an arrow, and one word for each result:
//
//   set     f float16, bfloat16, float32, float64;  i uint8, int8, int16, int32, int64;  u uint16,
//           uint32;  w uint64;  b bool;  any all of them;  f32|i64 these;  # a number
//   =       has the dtype of every other word with this mark
//   +       takes part in type promotion, as PyTorch does it; a number counts only with this mark
//   <       what is computed can be cast to it: the promoted dtype, or the one that an argument
//           called dtype gives, which may be bool although the set has none
//   ~       a tensor without elements may have any dtype
//   @       an operand: has the dtype that the argument dtype gives; a result: the one that the
//           argument out_dtype gives (float32 if it is None), or dtype if there is no out_dtype
//   in f    after all words: what is computed is of this set
//   unless x float   integers are computed as float32 if the argument x is None
//
// Complex dtypes are not spoken of: the compiler writes none. An empty rule says nothing.

#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace taper::portable {

// Where the first result of a kernel may lie, in this runtime and in ExecuTorch's, which runs the
// same programs. Whoever plans memory may put it into an operand's memory if both have the same
// dtype, sizes and dim order, and as far as this allows it.
enum class Memory : uint8_t {
  kOwn,          // Not in that of an operand.
  kElementwise,  // In that of any operands: element i depends on their elements i alone.
  kUpdate,       // In that of the first operand, of which it is a copy with some elements changed.
  // The result holds elements of the first operand as they are, so it may be a view of it.
  kSame,       // all of them in their order
  kPermute,    // in another order of dimensions
  kTranspose,  // with two dimensions exchanged
  kExpand,     // repeated along some dimensions
  kSlice,      // a range of one dimension
  kSelect,     // one index of one dimension
  kSplit,      // results that are ranges of one dimension
};

struct KernelFacts {
  std::string_view name;
  Memory memory;
  std::string_view dtypes;
};

inline constexpr KernelFacts kKernelFacts[] = {
#define TAPER_OP(variable, file, schema, memory, dtypes) {schema, Memory::memory, dtypes},
#include "kernels_portable/ops.def"
#undef TAPER_OP
};

// Null if there is no portable kernel of that name.
inline const KernelFacts* find_kernel_facts(std::string_view kernel) {
  const auto* found = std::lower_bound(
      std::begin(kKernelFacts), std::end(kKernelFacts), kernel,
      [](const KernelFacts& facts, std::string_view name) { return facts.name < name; });
  return found != std::end(kKernelFacts) && found->name == kernel ? found : nullptr;
}

}  // namespace taper::portable
