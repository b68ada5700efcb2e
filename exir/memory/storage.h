// Decides which values share memory, and when that memory is alive.
//
// A value gets a storage of its own unless
//   it is a view       of a value of static size: view, unsqueeze, squeeze, a slice of the
//                      outermost dimension; the copy is elided, the value is an offset
//   it is in place     the result of an element-wise operator on a value of the same size that dies
//                      there
//   it is a write-back the new value of a state whose old value is not read any more: the operator
//                      writes straight into the state
//   it is outside      an input or output for which the application provides the memory
//
// Lifetimes count steps of the schedule; a value that is defined before a loop and used inside it
// lives until the loop ends. Dynamic values are planned with their upper bounds.

#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exir/memory/plan.h"
#include "exir/memory/schedule.h"

namespace taper::exir {

// Where a value's bytes are: in a storage, or part of a constant (storage < 0).
struct Place {
  int64_t storage = -1;
  uint64_t offset = 0;
  const Value* constant = nullptr;
};

struct Storages {
  std::unordered_map<const Value*, Place> places;
  std::vector<PlanRow> rows;                      // One per storage.
  std::unordered_set<size_t> elided;              // Steps that need no instruction.
  std::unordered_set<const Value*> written_back;  // States in which their new value already lies.
};

// The largest sizes that a type can have, and its largest number of bytes. Throws Failure naming a
// size that has no upper bound.
std::vector<int64_t> upper_sizes(const TensorType& type, const SymRanges& ranges);
uint64_t upper_bytes(const TensorType& type, const SymRanges& ranges);

// Whose memory inputs and outputs lie in: that of the plan, into which inputs are copied, or the
// application's own buffers.
enum class IoMemory : uint8_t { kPlanned, kApplication };

Storages assign_storages(const Graph& graph, const Schedule& schedule,
                         IoMemory io = IoMemory::kPlanned);

// Inputs that the program mutates: they are bound to the caller's memory, not planned.
std::unordered_set<const Value*> mutated_inputs(const Graph& graph);

// The outputs that a kernel can write straight into memory of the application: those that a call
// outside every loop computes, and that are not the new value of a state.
std::unordered_set<const Value*> bindable_outputs(const Graph& graph, const Schedule& schedule);

}  // namespace taper::exir
