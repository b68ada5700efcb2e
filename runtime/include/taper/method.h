// Method: one loaded method, ready to run.
//
//   const MethodMeta meta = *program->method_meta("forward");
//   ... memory as meta.method_bytes() and meta.memory_planned_buffer_size(i) say ...
//   Result<Method> method = Method::load(*program, "forward", memory, {kernel_tables});
//   method->set_input(0, EValue(&image));
//   method->execute();
//   const Tensor& logits = method->get_output(0)->to_tensor();
//
// Three phases, three prices: Program::open looks at every byte once, Method::load at every
// argument once, execute() at nothing: it calls.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "taper/backend.h"
#include "taper/diagnostics.h"
#include "taper/evalue.h"
#include "taper/external_data.h"
#include "taper/kernel.h"
#include "taper/memory.h"
#include "taper/method_meta.h"
#include "taper/program.h"
#include "taper/span.h"
#include "taper/status.h"
#include "taper/thread_pool.h"

namespace taper {

namespace internal {
struct MethodState;
}

struct MethodOptions {
  // Kernel tables, searched in order.
  Span<const KernelTable> kernels;
  BackendTable backends = {};
  // Weights of a .ptd, if the program keeps them outside. Must outlive the Method.
  const NamedDataMap* external_data = nullptr;
  // Told of every missing kernel, backend and key, and where an argument does not fit.
  Diagnostics diagnostics = {};
  // execute() gives up with kInvalidProgram after so many instructions, so that a file whose loop
  // never ends cannot hang the caller.
  uint64_t max_instructions = 10'000'000;
  // Threads for kernels; what it points to outlives the Method.
  ThreadPool pool = {};
};

// Where the last failed execute() stopped.
struct Failure {
  int64_t chain = -1;
  int64_t instruction = -1;  // Within its chain; -1 if no instruction failed.
  OperatorName op;           // Or the delegate's id as `name`; empty for other instructions.
};

// One thread at a time. Methods of one Program may run in parallel when their memory differs.
class Method {
 public:
  // Lays the method out in memory.method, binds every operator and backend, checks the type of
  // every argument, and sets mutable buffers to their saved values. `program`, the memory, tables,
  // backends and external data must outlive the Method; `options` itself need not.
  //
  // Returns kNotFound                 no such method; or a backend or key is missing (all reported)
  //         kOperatorMissing          kernels are missing: each one is reported first, by name
  //         kMemoryAllocationFailed   a block is missing or too small: one byte less than the need
  //         kInvalidArgument          a block is not aligned
  //         kInvalidProgram           an argument is not what its operator takes, or a constant is
  //                                   where the operator writes
  //         kInvalidExternalData      a key's dtype, sizes or dim order differ from the program's
  //         the backend's error       a delegate refused its payload
  static Result<Method> load(const Program& program, std::string_view name,
                             const MemoryManager& memory, const MethodOptions& options);

  Method(Method&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Method& operator=(Method&&) = delete;
  ~Method();

  MethodMeta meta() const;
  size_t num_inputs() const;
  size_t num_outputs() const;

  // Sets one input; all must be set once before the first execute().
  //
  //   tensor   dtype, rank and dim order as declared; sizes equal, or if the shape is dynamic none
  //            larger than declared. A planned input is copied and must be set before every
  //            execute(), since the plan may reuse its memory; another is bound: the memory must be
  //            writable and outlive the executions and the use of outputs that alias it.
  //   others   None, numbers and strings are baked in by export: the value must be the same, a
  //            double within 1e-5 of itself.
  //
  // Returns kInvalidArgument (index, rank, sizes, dim order, value, null data), kInvalidType (tag,
  // dtype). The previous input then still holds.
  Status set_input(size_t i, const EValue& value);
  // All of them at once. kInvalidArgument if the count differs.
  Status set_inputs(Span<const EValue> values);

  // Binds an output that the program did not plan to caller memory of at least the declared bytes.
  // Returns kInvalidState if the output is planned, constant, an input, or an alias of another
  // value; kInvalidArgument if `i` or `bytes` does not fit, kInvalidType if it is no tensor.
  Status set_output_data(size_t i, void* data, size_t bytes);

  // Runs the method once. Never allocates, locks, logs or calls the system (backends may).
  //
  // Returns kInvalidState     an input was never set, or an unplanned output has no memory
  //         kInvalidProgram   the instruction limit was reached, or a value is used before it is made
  //         a kernel's or backend's error
  // After an error the outputs are undefined and the next execute() starts afresh.
  Status execute();

  // Where the last execute() failed.
  Failure last_failure() const;

  // The value of output `i`. A tensor belongs to the Method and holds until the next execute(),
  // set_input() or the end of the Method. kInvalidArgument if there is no such output,
  // kInvalidState if its tensor has no memory.
  Result<EValue> get_output(size_t i) const;

  // Sets mutable buffers back to their saved values. Buffers without saved values keep theirs.
  Status reset_state();

 private:
  explicit Method(internal::MethodState* state) : state_(state) {}

  internal::MethodState* state_;  // Lies at the start of the method block.
};

}  // namespace taper
