// Binding the instructions of a method: looks up kernels, checks arguments against them, and tracks
// what each slot may hold while the method runs.
//
// A slot does not always hold the tensor it was loaded with: a move puts another tensor into it,
// and a view kernel rebinds a tensor to the memory of another. Three facts are propagated along
// those two kinds of edge until nothing changes: the tensor may be a constant; it may have no
// memory yet; it may be a view of dynamic shape, which could outgrow the tensor it views. An
// argument that a kernel writes must not be a constant or such a view. An argument that may have no
// memory makes the instruction a checked one, for which execute() tests it. All else is decided
// here, once.

#include <cstring>
#include <new>

#include "runtime/executor/method_state.h"
#include "runtime/program/plan_access.h"
#include "runtime/program/wire_access.h"

namespace taper::internal {
namespace {

constexpr Error kBadCall = Error::kInvalidProgram;

// The facts need about one pass per level of nested loops. No real program nests this deep.
constexpr int kMaxPasses = 32;

// The limit on the items of tensor lists that are checked in total: in a hostile file, many calls
// that share a long list would make it the product of both.
constexpr uint64_t kMaxListItems = uint64_t{1} << 24;

// Stands for a kernel that no table has.
constexpr Kernel kMissing = {nullptr, nullptr, nullptr, 0, kAllDtypes};

constexpr char kDtypeLeftOut[] = "the kernel was built without the dtype of one of its tensors";

class Binder {
 public:
  Binder(MethodState& state, const MethodOptions& options, EValue** pointers)
      : state_(state), options_(options), pointers_(pointers) {}

  Status run() {
    TAPER_TRY(find_kernels());
    TAPER_TRY(check_dtypes());
    mark_roles();
    TAPER_TRY(for_each_kernel(&Binder::mark_alias));
    TAPER_TRY(follow_facts());
    mark_tensors();
    return fill_chains();
  }

 private:
  // ---- Kernels ----

  Status find_kernels() {
    for (size_t i = 0; i < count(state_.plan->operators()); ++i) state_.kernels[i] = nullptr;
    bool missing = false;
    for (const wire::Chain* chain : *state_.plan->chains()) {
      for (const wire::Instruction* step : *chain->instructions()) {
        const wire::KernelCall* call = step->instr_args_as_KernelCall();
        if (call == nullptr) continue;
        const Kernel*& kernel = state_.kernels[call->op_index()];
        if (kernel == nullptr) kernel = find_one(call->op_index());
        missing = missing || kernel == &kMissing;
      }
    }
    TAPER_REQUIRE(!missing, Error::kOperatorMissing,
                  "the kernel tables lack operators that the method uses");
    return {};
  }

  // Reports all operators whose kernels were built without a dtype they need, each with one tensor.
  Status check_dtypes() {
    bool missing = false;
    for (const wire::Chain* chain : *state_.plan->chains()) {
      instruction_ = 0;
      for (const wire::Instruction* step : *chain->instructions()) {
        if (const wire::KernelCall* call = step->instr_args_as_KernelCall()) {
          TAPER_TRY(check_call(*call, &missing));
        }
        ++instruction_;
      }
    }
    instruction_ = -1;
    TAPER_REQUIRE(!missing, Error::kOperatorMissing,
                  "the kernels were built without dtypes that the method uses");
    return {};
  }

  Status check_call(const wire::KernelCall& call, bool* missing) {
    const Kernel*& kernel = state_.kernels[call.op_index()];
    if (kernel->dtypes == kAllDtypes) return {};
    for (int32_t slot : items(call.args())) {
      bool held = true;
      TAPER_TRY(for_each_tensor(state_.values[slot], [&](const Tensor& tensor) -> Status {
        held = held && holds(kernel->dtypes, tensor.scalar_type());
        return {};
      }));
      if (held) continue;
      char buffer[kMaxOperatorName];
      report(Status(Error::kOperatorMissing, kDtypeLeftOut), joined_name(call.op_index(), buffer),
             slot);
      *missing = true;
      kernel = &kMissing;  // It takes every dtype, so that the operator is reported only once.
      return {};
    }
    return {};
  }

  const Kernel* find_named(std::string_view name) const {
    for (const KernelTable& table : options_.kernels) {
      if (const Kernel* kernel = find_kernel(table, name)) return kernel;
    }
    return nullptr;
  }

  const Kernel* find_one(int32_t op) {
    char buffer[kMaxOperatorName];
    const std::string_view name = joined_name(op, buffer);
    if (const Kernel* kernel = find_named(name)) return kernel;
    report(Status(Error::kOperatorMissing, "no kernel table has a kernel for this operator"), name,
           -1);
    return &kMissing;
  }

  // "name.overload" or "name". The verifier has checked that it fits the buffer.
  std::string_view joined_name(int32_t op, char* buffer) const {
    const wire::Operator& entry = *state_.plan->operators()->Get(static_cast<uint32_t>(op));
    const std::string_view overload = text(entry.overload());
    const std::string_view name = text(entry.name());
    std::memcpy(buffer, name.data(), name.size());
    if (overload.empty()) return {buffer, name.size()};
    buffer[name.size()] = '.';
    std::memcpy(buffer + name.size() + 1, overload.data(), overload.size());
    return {buffer, name.size() + 1 + overload.size()};
  }

  void report(Status status, std::string_view subject, int64_t value) const {
    options_.diagnostics({status, text(state_.plan->name()), subject, value, instruction_});
  }

  Status refuse(const wire::KernelCall& call, Status status, int64_t value) const {
    char buffer[kMaxOperatorName];
    report(status, joined_name(call.op_index(), buffer), value);
    return status;
  }

  // ---- What a slot may hold ----

  bool has(int32_t slot, uint8_t flags) const { return (state_.flags[slot] & flags) != 0; }

  // Sets the flags that follow from the file alone: inputs, outputs, targets of moves, lists with a
  // None.
  void mark_roles() {
    uint8_t* flags = state_.flags;
    // Inputs and outputs have their memory before anything runs: the application provides it.
    for (int32_t slot : items(state_.plan->outputs())) flags[slot] &= ~kMayBeUnbound;
    for (int32_t slot : items(state_.plan->inputs())) {
      flags[slot] = static_cast<uint8_t>((flags[slot] & ~kMayBeUnbound) | kIsInput);
    }
    for (const wire::Chain* chain : *state_.plan->chains()) {
      for (const wire::Instruction* step : *chain->instructions()) {
        if (const wire::MoveCall* call = step->instr_args_as_MoveCall()) mark_move(*call);
      }
    }
    for (uint32_t i = 0; i < state_.plan->values()->size(); ++i) {
      const Tag tag = state_.values[i].tag();
      if (tag != Tag::kTensorList && tag != Tag::kOptionalTensorList) continue;
      has_lists_ = true;
      for (const EValue* item : state_.values[i].list_items()) {
        if (item == nullptr || item->is_none()) {
          flags[i] |= kHasNone;
        } else if (item->is_tensor() && is_complex(item->to_tensor().scalar_type())) {
          flags[i] |= kHasComplex;
        }
      }
    }
  }

  void mark_move(const wire::MoveCall& call) {
    has_moves_ = true;
    state_.flags[call.move_to()] |= kIsMoved | unbound_by_nature(call.move_to());
  }

  // An output that an instruction rebinds gets no memory from the application.
  uint8_t unbound_by_nature(int32_t slot) const {
    const wire::Tensor* tensor = slot_at(*state_.plan, slot).val_as_Tensor();
    const bool unbound =
        tensor != nullptr && storage(*tensor) == Storage::kNone && !has(slot, kIsInput);
    return unbound ? kMayBeUnbound : 0;
  }

  template <typename Visit>
  Status for_each_kernel(Visit visit) {
    for (const wire::Chain* chain : *state_.plan->chains()) {
      instruction_ = 0;
      for (const wire::Instruction* step : *chain->instructions()) {
        if (const wire::KernelCall* call = step->instr_args_as_KernelCall()) {
          TAPER_TRY((this->*visit)(*call, *state_.kernels[call->op_index()]));
        }
        ++instruction_;
      }
    }
    instruction_ = -1;
    return {};
  }

  // Checks the number of arguments, and marks the tensors that view kernels rebind.
  Status mark_alias(const wire::KernelCall& call, const Kernel& kernel) {
    if (count(call.args()) < kernel.arg_count) {
      return refuse(call, Status(kBadCall, "an operator is given too few arguments"), -1);
    }
    for (uint8_t i = 0; i < kernel.arg_count; ++i) {
      if (kernel.args[i].kind != ArgKind::kAliasTensor) continue;
      const int32_t out = call.args()->Get(i);
      const int32_t source = source_of(call, kernel);
      const Status status = check_alias(out, source);
      if (!status.ok()) return refuse(call, status, out);
      has_views_ = true;
      uint8_t& flags = state_.flags[out];
      flags |= kIsAlias | unbound_by_nature(out);
      const wire::Tensor& tensor = *slot_at(*state_.plan, out).val_as_Tensor();
      if (tensor.shape_dynamism() != wire::TensorShapeDynamism::STATIC) flags |= kIsGrowingView;
    }
    return {};
  }

  // The slot of the first tensor argument, or -1.
  static int32_t source_of(const wire::KernelCall& call, const Kernel& kernel) {
    for (uint8_t i = 0; i < kernel.arg_count; ++i) {
      if (kernel.args[i].kind == ArgKind::kTensor) return call.args()->Get(i);
    }
    return -1;
  }

  // The result of a view must be another tensor than its source, and either have no memory or be
  // planned at the same place as its source.
  Status check_alias(int32_t out, int32_t source) const {
    const wire::Tensor* to = slot_at(*state_.plan, out).val_as_Tensor();
    const wire::Tensor* from = source < 0 ? nullptr : slot_at(*state_.plan, source).val_as_Tensor();
    TAPER_REQUIRE(to != nullptr && from != nullptr && out != source, kBadCall,
                  "the source and the result of a view must be two different tensors");
    TAPER_REQUIRE(to->scalar_type() == from->scalar_type(), kBadCall,
                  "a view has another dtype than what it views");
    TAPER_REQUIRE(!has(out, kIsInput | kIsMoved), kBadCall,
                  "a view would rebind an input or a moved value");
    if (storage(*to) == Storage::kNone) return {};
    const wire::AllocationDetails* a = to->allocation_info();
    const wire::AllocationDetails* b = from->allocation_info();
    TAPER_REQUIRE(a != nullptr && b != nullptr && a->memory_id() == b->memory_id() &&
                      planned_offset(*a) == planned_offset(*b) && !has(source, kIsMoved),
                  kBadCall, "a view has memory of its own");
    return {};
  }

  Status follow_facts() {
    changed_ = has_moves_ || has_views_ || has_lists_;
    for (int pass = 0; changed_; ++pass) {
      TAPER_REQUIRE(pass < kMaxPasses, Error::kNotSupported,
                    "the moves and views of the method are nested too deeply");
      changed_ = false;
      if (has_moves_) follow_moves();
      if (has_views_) TAPER_TRY(for_each_kernel(&Binder::follow_view));
      if (has_lists_) follow_lists();
    }
    return {};
  }

  void add(int32_t slot, uint8_t flags) {
    if ((flags & ~state_.flags[slot]) == 0) return;
    state_.flags[slot] |= flags;
    changed_ = true;
  }

  void follow_moves() {
    for (const wire::Chain* chain : *state_.plan->chains()) {
      for (const wire::Instruction* step : *chain->instructions()) {
        const wire::MoveCall* call = step->instr_args_as_MoveCall();
        if (call != nullptr)
          add(call->move_to(), state_.flags[call->move_from()] & kTravelsWithMoves);
      }
    }
  }

  Status follow_view(const wire::KernelCall& call, const Kernel& kernel) {
    for (uint8_t i = 0; i < kernel.arg_count; ++i) {
      if (kernel.args[i].kind != ArgKind::kAliasTensor) continue;
      add(call.args()->Get(i), state_.flags[source_of(call, kernel)] & kMayBeConstant);
    }
    return {};
  }

  void follow_lists() {
    for (uint32_t i = 0; i < state_.plan->values()->size(); ++i) {
      const Tag tag = state_.values[i].tag();
      if (tag != Tag::kTensorList && tag != Tag::kOptionalTensorList) continue;
      for (const EValue* item : state_.values[i].list_items()) {
        if (item == nullptr) continue;
        add(static_cast<int32_t>(i), state_.flags[item - state_.values] & kTravelsWithMoves);
      }
    }
  }

  // Marks tensors that must not be written as constants, which is how delegates see it.
  void mark_tensors() {
    for (uint32_t i = 0; i < state_.plan->values()->size(); ++i) {
      const bool fixed = has(static_cast<int32_t>(i), kMayBeConstant | kIsGrowingView);
      if (fixed && state_.values[i].is_tensor()) state_.values[i].to_tensor().set_constant();
    }
  }

  // ---- Instructions ----

  Status fill_chains() {
    Instruction* next = state_.instructions;
    ChainState* chain_state = state_.chains;
    state_.first_alias = kNoAlias;
    for (const wire::Chain* chain : *state_.plan->chains()) {
      const uint32_t size = chain->instructions()->size();
      new (chain_state++) ChainState{next, size};
      for (uint32_t i = 0; i < size; ++i) {
        instruction_ = i;
        TAPER_TRY(fill(*chain->instructions()->Get(i), new (next) Instruction()));
        if (i > 0) join(*chain->instructions()->Get(i - 1), *chain->instructions()->Get(i), next);
        ++next;
      }
    }
    instruction_ = -1;
    state_.end_of_pointers = pointers_;
    return {};
  }

  Status fill(const wire::Instruction& step, Instruction* out) {
    out->step = Step::kNothing;
    if (const wire::KernelCall* call = step.instr_args_as_KernelCall()) {
      const Kernel& kernel = *state_.kernels[call->op_index()];
      out->args = take_arguments(call->args(), kernel.arg_count);  // A program may repeat results.
      return fill_kernel(*call, kernel, out);
    }
    if (const wire::DelegateCall* call = step.instr_args_as_DelegateCall()) {
      out->step = Step::kDelegate;
      out->delegate = &state_.delegates[call->delegate_index()];
      out->arg_count = static_cast<uint32_t>(count(call->args()));
      out->args = take_arguments(call->args(), out->arg_count);
    }
    if (const wire::MoveCall* call = step.instr_args_as_MoveCall()) {
      out->step = Step::kMove;
      out->from = &state_.values[call->move_from()];
      out->to = &state_.values[call->move_to()];
    }
    if (const wire::JumpFalseCall* call = step.instr_args_as_JumpFalseCall()) {
      out->step = Step::kJumpFalse;
      out->from = &state_.values[call->cond_value_index()];
      out->target = static_cast<uint32_t>(call->destination_instruction());
    }
    return {};
  }

  EValue** take_arguments(const flatbuffers::Vector<int32_t>* args, uint32_t count) {
    EValue** const first = pointers_;
    for (uint32_t i = 0; i < count; ++i) *pointers_++ = &state_.values[args->Get(i)];
    return first;
  }

  Status fill_kernel(const wire::KernelCall& call, const Kernel& kernel, Instruction* out) {
    bool checked = false;
    bool rebinds = false;
    for (uint8_t i = 0; i < kernel.arg_count; ++i) {
      const int32_t slot = call.args()->Get(i);
      const Status status = check_argument(kernel.args[i], slot);
      if (!status.ok()) return refuse(call, status, slot);
      if (kernel.args[i].kind == ArgKind::kAliasTensor) {
        rebinds = rebinds || has(slot, kMayBeUnbound);
      } else {
        checked = checked || has(slot, kMayBeUnbound);
      }
    }
    const Status status = check_overlaps(call, kernel);
    if (!status.ok()) return refuse(call, status, -1);
    if (!checked && !rebinds) {
      out->step = Step::kKernel;
      out->run = kernel.run;
      return {};
    }
    out->step = Step::kCheckedKernel;
    out->kernel = &kernel;
    out->next_alias = kNoAlias;
    if (rebinds) {
      out->next_alias = state_.first_alias;
      state_.first_alias = static_cast<uint32_t>(out - state_.instructions);
    }
    return {};
  }

  // Has the instruction before `second` compute both, if there is a kernel for the two and `second`
  // works in place on the result of the other. It stays an instruction of its own for jumps to it.
  void join(const wire::Instruction& before, const wire::Instruction& after, Instruction* second) {
    Instruction* const first = second - 1;
    if (first->step != Step::kKernel || second->step != Step::kKernel) return;
    const int32_t op = before.instr_args_as_KernelCall()->op_index();
    const int32_t then = after.instr_args_as_KernelCall()->op_index();
    const uint8_t own = state_.kernels[op]->arg_count, others = state_.kernels[then]->arg_count;
    if (own == 0 || second->args != first->args + own || others == 0) return;
    const EValue& result = *second->args[-1];
    const EValue& last = *second->args[others - 1];
    if (second->args[0] != &result || !result.is_tensor() || !last.is_tensor()) return;
    if (result.to_tensor().const_data() != last.to_tensor().const_data()) return;
    char name[2 * kMaxOperatorName + 1];
    const size_t size = joined_name(op, name).size();
    name[size] = '+';
    const Kernel* both = find_named({name, size + 1 + joined_name(then, name + size + 1).size()});
    if (both == nullptr || both->arg_count != own + others) return;
    first->step = Step::kJoinedKernels;
    first->run = both->run;
  }

  static bool is_written(ArgKind kind) {
    return kind == ArgKind::kMutableTensor || kind == ArgKind::kMutableTensorList;
  }

  // A result may occupy exactly the memory of an argument (it is computed in place) or must not
  // overlap with it at all.
  Status check_overlaps(const wire::KernelCall& call, const Kernel& kernel) {
    for (uint8_t i = 0; i < kernel.arg_count; ++i) {
      if (!is_written(kernel.args[i].kind)) continue;
      for (uint8_t j = 0; j < kernel.arg_count; ++j) {
        if (j < i && is_written(kernel.args[j].kind)) continue;  // That pair was checked before.
        const EValue& written = state_.values[call.args()->Get(i)];
        TAPER_TRY(for_each_tensor(written, [&](const Tensor& result) {
          return for_each_tensor(state_.values[call.args()->Get(j)], [&](const Tensor& other) {
            TAPER_REQUIRE(!partly_overlap(result, other), kBadCall,
                          "the planned memory of a result overlaps that of another argument");
            return Status();
          });
        }));
      }
    }
    return {};
  }

  // Memory that is bound later belongs to the application, or to a tensor that is checked itself.
  static bool partly_overlap(const Tensor& a, const Tensor& b) {
    const uintptr_t first = reinterpret_cast<uintptr_t>(a.const_data());
    const uintptr_t second = reinterpret_cast<uintptr_t>(b.const_data());
    return first != 0 && second != 0 && first != second && first < second + b.nbytes() &&
           second < first + a.nbytes();
  }

  template <typename Visit>
  Status for_each_tensor(const EValue& value, Visit visit) {
    if (value.is_tensor()) return visit(value.to_tensor());
    if (value.tag() != Tag::kTensorList && value.tag() != Tag::kOptionalTensorList) return {};
    for (const EValue* item : value.list_items()) {
      TAPER_REQUIRE(++list_items_ <= kMaxListItems, Error::kNotSupported,
                    "the tensor lists of a method are too long");
      if (item != nullptr && item->is_tensor()) TAPER_TRY(visit(item->to_tensor()));
    }
    return {};
  }

  Status check_argument(ArgSpec spec, int32_t slot) const {
    TAPER_REQUIRE(matches(spec, slot), kBadCall,
                  "an argument is not of the kind its operator takes");
    const bool written = is_written(spec.kind);
    TAPER_REQUIRE(!written || !has(slot, kMayBeConstant), kBadCall,
                  "an operator would write a constant");
    TAPER_REQUIRE(!written || !has(slot, kIsGrowingView), kBadCall,
                  "an operator would write a view of dynamic shape");
    return {};
  }

  // Like accepts(), but with flags instead of a loop over the items of tensor lists.
  bool matches(ArgSpec spec, int32_t slot) const {
    const EValue& value = state_.values[slot];
    const bool list = value.tag() == Tag::kTensorList || value.tag() == Tag::kOptionalTensorList;
    if (!list) return accepts(spec, value);
    if (!spec.complex && has(slot, kHasComplex)) return false;
    if (spec.kind == ArgKind::kOptionalTensorList) return true;
    return (spec.kind == ArgKind::kTensorList || spec.kind == ArgKind::kMutableTensorList) &&
           !has(slot, kHasNone);
  }

  MethodState& state_;
  const MethodOptions& options_;
  EValue** pointers_;
  int64_t instruction_ = -1;
  uint64_t list_items_ = 0;
  bool has_moves_ = false;
  bool has_views_ = false;
  bool has_lists_ = false;
  bool changed_ = false;
};

}  // namespace

Status bind_instructions(MethodState& state, const MethodOptions& options, EValue** cursor) {
  return Binder(state, options, cursor).run();
}

}  // namespace taper::internal
