// Method::load: lays out the block, then fills in values, instructions, delegates and saved state.

#include <new>

#include "runtime/executor/method_state.h"
#include "runtime/program/wire_access.h"

namespace taper {
namespace {

using internal::count;
using internal::MethodState;

const wire::ExecutionPlan* find_plan(const Program& program, std::string_view name) {
  for (const wire::ExecutionPlan* plan : *program.wire().execution_plan()) {
    if (internal::text(plan->name()) == name) return plan;
  }
  return nullptr;
}

bool is_aligned(const void* address, size_t alignment) {
  return reinterpret_cast<uintptr_t>(address) % alignment == 0;
}

Status check_memory(const MethodMeta& meta, uint64_t block_bytes, const MemoryManager& memory) {
  TAPER_REQUIRE(memory.method.size() >= block_bytes, Error::kMemoryAllocationFailed,
                "the method block is smaller than MethodMeta::method_bytes()");
  TAPER_REQUIRE(is_aligned(memory.method.data(), kMethodAlignment), Error::kInvalidArgument,
                "the method block is not aligned to 16 bytes");
  const size_t buffers = meta.num_memory_planned_buffers();
  TAPER_REQUIRE(memory.planned.num_buffers() >= buffers, Error::kMemoryAllocationFailed,
                "there are fewer planned buffers than the method needs");
  for (size_t i = 0; i < buffers; ++i) {
    const Span<uint8_t> buffer = memory.planned.buffer(i);
    TAPER_REQUIRE(buffer.size() >= *meta.memory_planned_buffer_size(i),
                  Error::kMemoryAllocationFailed,
                  "a planned buffer is smaller than the method needs");
    TAPER_REQUIRE(is_aligned(buffer.data(), kPlannedAlignment), Error::kInvalidArgument,
                  "a planned buffer is not aligned to 16 bytes");
  }
  return {};
}

// Fills the block that has been laid out.
Status fill(MethodState& state, const MemoryManager& memory, const MethodOptions& options,
            uint64_t block_bytes) {
  EValue** cursor = state.pointers;
  TAPER_TRY(internal::fill_values(state, memory.planned, options.diagnostics, &cursor));
  const Status backends = internal::find_backends(state, options);
  TAPER_TRY(internal::bind_instructions(state, options, cursor));
  TAPER_TRY(backends);
  internal::describe_inputs_and_outputs(state);
  TAPER_TRY(internal::load_saved_values(state));
  const size_t used = static_cast<size_t>(block_bytes);
  return internal::init_delegates(state, options,
                                  memory.method.subspan(used, memory.method.size() - used));
}

}  // namespace

Result<Method> Method::load(const Program& program, std::string_view name,
                            const MemoryManager& memory, const MethodOptions& options) {
  const wire::ExecutionPlan* plan = find_plan(program, name);
  TAPER_REQUIRE(plan != nullptr, Error::kNotFound, "the program has no method of that name");
  const internal::Counts counts = internal::count_parts(*plan);
  const uint64_t bytes = internal::carve(counts, nullptr, nullptr);
  TAPER_TRY(check_memory(MethodMeta(plan), bytes, memory));

  MethodState* state = new (memory.method.data()) MethodState();
  internal::carve(counts, memory.method.data(), state);
  state->program = &program;
  state->plan = plan;
  state->external = options.external_data;
  state->max_instructions = options.max_instructions;
  state->temp = memory.temp;
  state->context = KernelContext(memory.temp, options.pool);
  const Status status = fill(*state, memory, options, bytes);
  if (!status.ok()) {
    internal::destroy_delegates(*state);
    return status;
  }
  return Method(state);
}

Method::~Method() {
  if (state_ != nullptr) internal::destroy_delegates(*state_);
}

MethodMeta Method::meta() const { return MethodMeta(state_->plan); }
size_t Method::num_inputs() const { return count(state_->plan->inputs()); }
size_t Method::num_outputs() const { return count(state_->plan->outputs()); }

}  // namespace taper
