// Method: one loaded method, ready to run.
//
//   const MethodMeta meta = *program->method_meta("forward");
//   ... allocate meta.method_bytes() and meta.memory_planned_buffer_size(i) bytes ...
//   Result<Method> method = Method::load(*program, "forward", memory, {kernel_tables});
//   method->set_input(0, EValue(&image));
//   method->execute();
//   const Tensor& logits = method->get_output(0)->to_tensor();
//
// There are three phases: Program::open verifies the file once, Method::load checks every argument
// once, and execute() relies on both and only runs.

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

class EventTracer;

namespace internal {
struct MethodState;
}

struct MethodOptions {
  // Kernel tables, searched in order.
  Span<const KernelTable> kernels;
  BackendTable backends = {};
  // The weights, if the program keeps them in a .ptd file. Must outlive the Method.
  const NamedDataMap* external_data = nullptr;
  // Receives every missing kernel, backend and key, and every argument that does not fit.
  Diagnostics diagnostics = {};
  // execute() fails with kInvalidProgram after this many instructions, so that a program with an
  // endless loop cannot hang the caller.
  uint64_t max_instructions = 10'000'000;
  // Threads for kernels. What it points to must outlive the Method.
  ThreadPool pool = {};
};

// Where the last failed execute() stopped.
struct ExecutionFailure {
  int64_t chain = -1;
  int64_t instruction = -1;  // Within its chain; -1 if no instruction failed.
  OperatorName op;           // Or the delegate's id as `name`; empty for other instructions.
  // What the program says of it, such as the message of an assertion; often empty. It comes from
  // the file as it is, and may hold any bytes.
  std::string_view message;
};

// What an instruction does, and with what.
struct InstructionInfo {
  OperatorName op;  // Or the delegate's id as `name`; empty for moves and jumps.
  bool is_delegate = false;
  // Its arguments, the results among them. Between executions they have the types and sizes that
  // they had last; whether their memory still holds what they were depends on the plan.
  Span<EValue* const> args;
};

// Used by one thread at a time. Methods of one Program may run in parallel if they share no memory.
class Method {
 public:
  // Lays the method out in memory.method, binds every operator and backend, checks the type of
  // every argument, and sets mutable buffers to their saved values. `program`, the memory, tables,
  // backends and external data must outlive the Method; `options` itself need not.
  //
  // Returns kNotFound                 no such method; or a backend or key is missing (all reported)
  //         kOperatorMissing          kernels are missing: each one is reported first, by name
  //         kMemoryAllocationFailed   a block is missing or too small
  //         kInvalidArgument          a block is not aligned
  //         kInvalidProgram           an argument does not fit its operator, or an operator would
  //                                   write a constant
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
  //   tensor   The dtype, rank and dim order must be as declared; the sizes equal to the declared
  //            ones, or no larger if the shape is dynamic. A planned input is copied and must be
  //            set before every execute(), because the plan may reuse its memory. Any other input
  //            is bound: its memory must be writable and outlive the executions and the use of
  //            outputs that alias it.
  //   others   None, numbers and strings are fixed by export: the value must be equal, but a
  //            double may differ by 1e-5, relative to its value if that is above 1. A number that
  //            input_varies() may have any value.
  //
  // Returns kInvalidArgument (index, rank, sizes, dim order, value, null data) or kInvalidType
  // (tag, dtype). The previous input then stays set.
  Status set_input(size_t i, const EValue& value);
  // Whether an input is a number that the method reads, instead of one that export has fixed. Looks
  // at every instruction.
  bool input_varies(size_t i) const;
  // Sets all inputs. Returns kInvalidArgument if the number of values differs.
  Status set_inputs(Span<const EValue> values);

  // Binds an output that is not planned to memory of the caller, of at least the declared size.
  // Returns kInvalidState if the output is planned, constant, an input, or an alias of another
  // value; kInvalidArgument if `i` or `bytes` does not fit; kInvalidType if it is not a tensor.
  Status set_output_data(size_t i, void* data, size_t bytes);

  // Runs the method once. It never allocates, locks, logs or makes system calls, but for two: the
  // ThreadPool may, and a backend may allocate where sizes are not those of the last execution, and
  // do whatever its device takes.
  //
  // Returns kInvalidState     an input was never set, or an output that is not planned has no
  // memory
  //         kInvalidProgram   the instruction limit was reached, or a tensor is used before it has
  //                           memory
  //         the error of a kernel or backend
  // After an error the outputs are undefined, and the next execute() starts from the beginning.
  Status execute();

  // The same, but tells `tracer` of each instruction (taper/event_tracer.h).
  Status execute(EventTracer& tracer);

  // Returns kInvalidArgument if there is no such instruction.
  Result<InstructionInfo> instruction(size_t chain, size_t instruction) const;

  // Where the last execute() failed. Its texts live as long as the program.
  ExecutionFailure last_failure() const;

  // The value of output `i`. A tensor belongs to the Method and is valid until the next execute()
  // or set_input() or until the Method is destroyed. Returns kInvalidArgument if there is no such
  // output, kInvalidState if its tensor has no memory.
  Result<EValue> get_output(size_t i) const;

  // Sets mutable buffers back to their saved values. Buffers without saved values stay as they are.
  Status reset_state();

  // The tensor behind MethodMeta::attribute_tensor_meta(i), which may be read and written between
  // executions: so its elements can be saved, and a later process can go on from there. Returns
  // kInvalidArgument if there is no such attribute.
  Result<Tensor*> attribute(size_t i) const;
  // Whether a delegate keeps state, too, which attribute() does not show.
  bool has_state_in_delegates() const;

 private:
  explicit Method(internal::MethodState* state) : state_(state) {}

  internal::MethodState* state_;  // At the start of the method block.
};

}  // namespace taper
