// A loaded method: the contents of the method block.
//
// Everything is in one block whose size follows from the file alone. carve() below lays out the
// parts: with a null base to compute the size, with the real one to load, so that the two cannot
// differ.

#pragma once

#include <cstdint>

#include "schema/flatbuffers.h"
#include "schema/program_generated.h"
#include "taper/method.h"

namespace taper::internal {

enum class Step : uint8_t {
  kKernel,
  kJoinedKernels,  // A kernel that computes this instruction and the next one.
  kCheckedKernel,  // A kernel with a tensor that may have no memory yet, which execute() checks.
  kDelegate,
  kMove,
  kJumpFalse,
  kNothing,  // A free instruction: planned memory is not freed.
};

struct DelegateState {
  BackendInterface* backend;
  void* handle;
};

// One step, ready to run: nothing in it is looked up or checked again.
struct Instruction {
  union {
    KernelFunction run;       // kKernel, kJoinedKernels
    const Kernel* kernel;     // kCheckedKernel
    DelegateState* delegate;  // kDelegate
    EValue* from;             // kMove; and the condition of kJumpFalse
  };
  union {
    EValue** args;
    EValue* to;
  };
  union {
    uint32_t arg_count;   // kDelegate
    uint32_t target;      // kJumpFalse
    uint32_t next_alias;  // kCheckedKernel: the next one that rebinds a tensor, or kNoAlias.
  };
  Step step;
};

inline constexpr uint32_t kNoAlias = UINT32_MAX;

struct ChainState {
  Instruction* first;
  uint32_t size;
};

struct InputState {
  EValue* slot;
  Tensor* tensor;    // Null if the input is not a tensor.
  int64_t capacity;  // The declared number of elements.
  bool planned;
  bool set = false;
  bool varies = false;  // A number that was found to be one that the method reads.
};

struct OutputState {
  EValue* slot;
  Tensor* unplanned;  // The tensor if the application provides its memory, otherwise null.
};

// What a slot may hold while the method runs, determined when it is loaded.
enum SlotFlag : uint8_t {
  kMayBeConstant = 1,  // The tensor, or one it aliases, must not be written.
  kMayBeUnbound = 2,   // The tensor may have no memory.
  kIsGrowingView = 4,  // A view of dynamic shape, which could outgrow the tensor it views.
  kIsMoved = 8,        // The target of a move.
  kIsAlias = 16,       // A kernel rebinds its memory.
  kIsInput = 32,
  kHasNone = 64,      // A tensor list with a None among its items.
  kHasComplex = 128,  // A tensor list with a complex tensor among its items.
};
inline constexpr uint8_t kTravelsWithMoves = kMayBeConstant | kMayBeUnbound | kIsGrowingView;

// Where execute() failed; -1 if it did not.
struct FailedAt {
  int64_t chain = -1;
  int64_t instruction = -1;
};

struct MethodState {
  const Program* program;
  const wire::ExecutionPlan* plan;
  const NamedDataMap* external;
  uint64_t max_instructions;
  KernelContext context;
  Span<uint8_t> temp;
  FailedAt failure;
  uint32_t first_alias;
  uint32_t live_delegates;  // How many delegates have been initialised.

  EValue* values;
  Tensor* tensors;
  ChainState* chains;
  Instruction* instructions;
  InputState* inputs;
  OutputState* outputs;
  const Kernel** kernels;  // One per operator.
  DelegateState* delegates;
  EValue** pointers;  // The items of lists, then the arguments of instructions.
  EValue** end_of_pointers;
  Tensor** list_tensors;
  int64_t* list_ints;
  BoxedIntList* int_lists;
  BoxedTensorList* tensor_lists;
  int32_t* dims;   // The strides of every tensor, and the sizes of dynamic ones.
  uint8_t* flags;  // The SlotFlags of every slot.
};

// The number of elements in each part of a method block.
struct Counts {
  uint64_t values = 0, tensors = 0, chains = 0, instructions = 0, inputs = 0, outputs = 0;
  uint64_t operators = 0, delegates = 0, pointers = 0, list_tensors = 0, list_ints = 0;
  uint64_t int_lists = 0, tensor_lists = 0, dims = 0;
};

Counts count_parts(const wire::ExecutionPlan& plan);

// Points the parts of `state` into the block at `base` (null: only computes the size). Returns the
// size of the whole block in bytes, including the MethodState at its start; UINT64_MAX if it is too
// large.
uint64_t carve(const Counts& counts, uint8_t* base, MethodState* state);

// The size of the block on a machine whose pointers have `pointer` bytes, 4 or 8.
uint64_t block_bytes(const Counts& counts, uint64_t pointer);

// Fills values, tensors and lists. `cursor` becomes the first of state.pointers that is not used.
// Reports every problem to `diagnostics` and returns the last one.
Status fill_values(MethodState& state, const HierarchicalAllocator& planned,
                   const Diagnostics& diagnostics, EValue*** cursor);

// Looks up every kernel, checks every argument against it, and fills the instructions.
Status bind_instructions(MethodState& state, const MethodOptions& options, EValue** cursor);

// Fills the descriptions of inputs and outputs. REQUIRES: the slots' flags are final.
void describe_inputs_and_outputs(MethodState& state);

// Whether an instruction, a list or an output refers to a number that nothing writes.
bool is_read(const MethodState& state, const EValue* slot);

// Finds every backend, then initialises every delegate. `spare` is what init() may allocate from.
Status find_backends(MethodState& state, const MethodOptions& options);
Status init_delegates(MethodState& state, const MethodOptions& options, Span<uint8_t> spare);

// Destroys the delegates that have been initialised.
void destroy_delegates(MethodState& state);

// Sets every number and tensor slot back to what it held after loading.
void restore_slots(MethodState& state);

// Copies the saved values of mutable buffers into place.
Status load_saved_values(MethodState& state);

}  // namespace taper::internal
