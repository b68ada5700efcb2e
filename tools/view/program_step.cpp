// Reads a verified program's instructions. A value has as many writers as instructions name its
// slot as a result: moves in both arms of a condition, for example. A view has none, since it costs
// nothing: what it views is what was written last where it lies.

#include "tools/view/program_step.h"

#include <optional>
#include <set>

#include "exir/emit/debug_info.h"
#include "exir/ir/registry.h"
#include "exir/ops/builtin.h"
#include "schema/program_generated.h"
#include "tools/error.h"
#include "tools/memory/memory_map.h"
#include "tools/npy.h"
#include "tools/program_runner.h"
#include "tools/text/payload_text.h"
#include "tools/text/wire_text.h"
#include "tools/view/graph_step.h"

namespace taper::tools {
namespace {

using flatbuffers::Vector;

exir::DebugInfo origins_of(const Program& program, const std::string& method) {
  const auto text = program.named_data(std::string(exir::kDebugKey) + method);
  if (!text.ok()) return {};
  return exir::read_debug_text({reinterpret_cast<const char*>(text->data()), text->size()});
}

// The fast table, if that has the kernel.
std::string table_of(const std::string& op) {
  const Span<const KernelTable> tables = kernel_tables(true);
  for (size_t i = 0; i + 1 < tables.size(); ++i) {
    if (find_kernel(tables[i], op) != nullptr) return "optimized";
  }
  return "portable";
}

template <typename T>
std::string list_text(const Vector<T>* items) {
  std::string text = "[";
  for (unsigned i = 0; i < count_of(items); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(items->Get(i));
  }
  return text + "]";
}

// A slot that is no tensor, as text.
std::string literal_text(const wire::EValue& slot) {
  switch (slot.val_type()) {
    case wire::KernelTypes::Int:
      return std::to_string(slot.val_as_Int()->int_val());
    case wire::KernelTypes::Bool:
      return slot.val_as_Bool()->bool_val() ? "True" : "False";
    case wire::KernelTypes::Double:
      return exir::Sym::from_float(slot.val_as_Double()->double_val()).text();
    case wire::KernelTypes::String:
      return "\"" + text_of(slot.val_as_String()->string_val()) + "\"";
    case wire::KernelTypes::DoubleList:
      return list_text(slot.val_as_DoubleList()->items());
    case wire::KernelTypes::BoolList:
      return list_text(slot.val_as_BoolList()->items());
    default:
      return "None";
  }
}

std::string note_of(const wire::BackendDelegate& delegate, const Program& program) {
  const auto* data = delegate.processed();
  if (data == nullptr || data->location() != wire::DataLocation::SEGMENT) return "";
  const CompileSpecs specs(delegate.compile_specs());
  return payload_text(text_of(delegate.id()), data->index(), specs, program);
}

// Instructions may share long lists, so that a small file could make a page of any size.
constexpr size_t kMostShown = 4'000'000;

class MethodReader {
 public:
  MethodReader(const Program& program, const wire::ExecutionPlan& plan,
               const std::map<std::string, std::string>& notes, const DelegateInside& inside,
               ViewDocument& document)
      : program_(program),
        plan_(plan),
        notes_(notes),
        inside_(inside),
        document_(document),
        origins_(origins_of(program, text_of(plan.name()))),
        names_(count_of(plan.values())) {}

  ViewStep read() {
    ViewStep step;
    step.title = "program";
    step.method = text_of(plan_.name());
    step.note = "The instructions that the device executes.";
    step.is_program = true;
    name_values();
    step.inputs = numbers_of(plan_.inputs());
    for (const int32_t index : known_at_first_) note_write(index);
    for (unsigned c = 0; c < count_of(plan_.chains()); ++c) {
      const auto* steps = plan_.chains()->Get(c)->instructions();
      for (unsigned i = 0; i < count_of(steps); ++i) {
        read_instruction(*steps->Get(i), i, c == 0 ? find(i) : nullptr, step);
      }
    }
    for (unsigned i = 0; i < count_of(plan_.outputs()); ++i)
      note_read(plan_.outputs()->Get(i), step);
    step.outputs = numbers_of(plan_.outputs());
    return step;
  }

  ViewMemory memory(const MethodMemory& found) {
    ViewMemory memory;
    memory.method = found.name;
    memory.instructions = found.instructions;
    for (const BufferUse& use : found.buffers) {
      memory.buffers.push_back({use.bytes, use.peak, use.peak_at});
    }
    for (const MemoryRow& row : found.rows) {
      memory.places.push_back(
          {number_of(row.slot), row.buffer, row.offset, row.bytes, row.first, row.last});
    }
    return memory;
  }

 private:
  const wire::EValue& slot(int32_t index) const {
    return *plan_.values()->Get(static_cast<unsigned>(index));
  }

  const exir::InstructionOrigin* find(uint32_t instruction) const {
    const auto found = origins_.find(instruction);
    return found == origins_.end() ? nullptr : &found->second;
  }

  // A tensor, or a number that instructions write.
  bool is_value(int32_t index) const {
    return slot(index).val_type() == wire::KernelTypes::Tensor || written_.count(index) != 0;
  }

  // Lists of slots, which are their items.
  static const Vector<int32_t>* tensor_items(const wire::EValue& slot) {
    if (const auto* list = slot.val_as_TensorList()) return list->items();
    if (const auto* list = slot.val_as_OptionalTensorList()) return list->items();
    return nullptr;
  }

  template <typename Visit>
  void for_each_slot(int32_t index, const Visit& visit) const {
    const Vector<int32_t>* items = tensor_items(slot(index));
    if (items == nullptr) return visit(index);
    for (unsigned i = 0; i < count_of(items); ++i) {
      if (items->Get(i) >= 0) visit(items->Get(i));
    }
  }

  // Which arguments a kernel writes. That of an operator which nobody knows writes its last one, as
  // out variants do.
  std::vector<bool> writes_of(const std::string& op, size_t args) const {
    std::vector<bool> writes(args);
    const auto schema = exir::builtin_operators()->find(op);
    if (schema == nullptr && args > 0) writes.back() = true;
    for (size_t i = 0; schema != nullptr && i < args; ++i) {
      // Out variants that return a list name it twice.
      writes[i] = i < schema->args.size() ? schema->args[i].written() : true;
    }
    return writes;
  }

  std::string op_of(const wire::KernelCall& call) const {
    return operator_name(*plan_.operators()->Get(static_cast<unsigned>(call.op_index())));
  }

  // A value is called after what writes it first.
  void name_values() {
    for (unsigned i = 0; i < count_of(plan_.inputs()); ++i) {
      note_known(plan_.inputs()->Get(i), "input " + std::to_string(i));
    }
    for (size_t i = 0; i < names_.size(); ++i) {
      const wire::Tensor* tensor = slot(static_cast<int32_t>(i)).val_as_Tensor();
      if (tensor != nullptr && (tensor->data_buffer_idx() != 0 || tensor->extra_tensor_info())) {
        known_.insert(static_cast<int32_t>(i));
      }
    }
    known_at_first_ = known_;
    for (unsigned c = 0; c < count_of(plan_.chains()); ++c) {
      const auto* steps = plan_.chains()->Get(c)->instructions();
      for (unsigned i = 0; i < count_of(steps); ++i) {
        name_results(*steps->Get(i), c == 0 ? find(i) : nullptr);
      }
    }
  }

  // What the program says that the results of an instruction hold.
  void note_held(const Vector<int32_t>* args, const exir::InstructionOrigin& origin) {
    for (const exir::HeldResult& result : origin.results) {
      if (result.argument >= count_of(args)) continue;
      int32_t index = args->Get(result.argument);
      if (const Vector<int32_t>* items = tensor_items(slot(index))) {
        if (result.item >= items->size()) continue;
        index = items->Get(result.item);
      }
      if (index >= 0) holds_[index] = result.names;
    }
  }

  void note_known(int32_t index, const std::string& name) {
    known_.insert(index);
    names_[static_cast<size_t>(index)] = name;
  }

  void name_results(const wire::Instruction& instruction, const exir::InstructionOrigin* origin) {
    size_t count = 0;
    const auto write = [&](int32_t index) {
      written_.insert(index);
      std::string& name = names_[static_cast<size_t>(index)];
      if (!known_.insert(index).second || !name.empty() || origin == nullptr) return;
      name = origin->node.name + (count == 0 ? "" : "." + std::to_string(count));
      ++count;
    };
    if (const auto* call = instruction.instr_args_as_KernelCall()) {
      const std::vector<bool> writes = writes_of(op_of(*call), count_of(call->args()));
      for (unsigned i = 0; i < writes.size(); ++i) {
        if (writes[i]) for_each_slot(call->args()->Get(i), write);
      }
      if (origin != nullptr) note_held(call->args(), *origin);
    } else if (const auto* call = instruction.instr_args_as_DelegateCall()) {
      const size_t inputs = input_count(*call, origin);
      for (unsigned i = 0; i < count_of(call->args()); ++i) {
        const int32_t index = call->args()->Get(i);
        if (i < inputs || slot(index).val_type() != wire::KernelTypes::Tensor) continue;
        write(index);
        delegate_results_.insert(index);
      }
      if (origin != nullptr) note_held(call->args(), *origin);
    } else if (const auto* move = instruction.instr_args_as_MoveCall()) {
      write(move->move_to());
    }
  }

  // Where a planned tensor lies.
  struct Extent {
    uint32_t buffer = 0;
    uint64_t begin = 0, end = 0;
    int32_t slot = -1;
  };

  std::optional<Extent> extent_of(int32_t index) const {
    const wire::Tensor* tensor = slot(index).val_as_Tensor();
    if (tensor == nullptr || tensor->allocation_info() == nullptr) return std::nullopt;
    const wire::AllocationDetails& place = *tensor->allocation_info();
    const uint64_t begin = place.memory_offset_low() | uint64_t{place.memory_offset_high()} << 32;
    return Extent{place.memory_id(), begin, begin + bytes_of(*tensor), index};
  }

  void note_write(int32_t index) {
    if (const std::optional<Extent> extent = extent_of(index)) last_writes_.push_back(*extent);
  }

  // Adds a view before the first instruction that reads a slot which none writes.
  void note_read(int32_t index, ViewStep& step) {
    if (known_.count(index) != 0) return;
    const std::optional<Extent> extent = extent_of(index);
    if (!extent) return;
    for (size_t i = last_writes_.size(); i-- > 0;) {
      const Extent& last = last_writes_[i];
      if (last.buffer != extent->buffer || last.begin > extent->begin ||
          last.end <= extent->begin) {
        continue;
      }
      known_.insert(index);
      const std::string& of = names_[static_cast<size_t>(last.slot)];
      std::string& name = names_[static_cast<size_t>(index)];
      if (name.empty()) name = (of.empty() ? "slot " + std::to_string(last.slot) : of) + " viewed";
      ViewCall view;
      view.name = name;
      view.op = "(view)";
      view.note = "It shares the memory of what it views: no instruction runs.";
      view.boxes = boxes_of_writers_[last.slot];
      view.args.push_back({"of", {number_of(last.slot)}});
      view.results.push_back(number_of(index));
      boxes_of_writers_[index] = view.boxes;
      step.calls.push_back(document_.add(std::move(view)));
      note_write(index);
      return;
    }
  }

  void note_reads(const Vector<int32_t>* args, ViewStep& step) {
    for (unsigned i = 0; i < count_of(args); ++i) {
      for_each_slot(args->Get(i), [&](int32_t index) { note_read(index, step); });
    }
  }

  // Of a delegate's arguments, inputs come first. If nothing says how many, those at the end that
  // nothing has written are taken for results.
  size_t input_count(const wire::DelegateCall& call, const exir::InstructionOrigin* origin) const {
    if (origin != nullptr) {
      const std::optional<size_t> count = inside_.input_count(origin->node.name);
      if (count) return *count;
    }
    size_t count = count_of(call.args());
    while (count > 0 && known_.count(call.args()->Get(static_cast<unsigned>(count - 1))) == 0) {
      --count;
    }
    return count;
  }

  std::string type_of(const wire::EValue& slot) const {
    const wire::Tensor* tensor = slot.val_as_Tensor();
    if (tensor == nullptr) return wire::EnumNameKernelTypes(slot.val_type());
    std::vector<int64_t> sizes;
    for (unsigned i = 0; i < count_of(tensor->sizes()); ++i) {
      sizes.push_back(tensor->sizes()->Get(i));
    }
    const bool dynamic = tensor->shape_dynamism() != wire::TensorShapeDynamism::STATIC;
    return std::string(to_string(static_cast<ScalarType>(tensor->scalar_type()))) + " " +
           shape_text(sizes) + (dynamic ? " at most" : "");
  }

  static uint64_t bytes_of(const wire::Tensor& tensor) {
    uint64_t bytes = element_size(static_cast<ScalarType>(tensor.scalar_type()));
    for (unsigned i = 0; i < count_of(tensor.sizes()); ++i) {
      bytes *= static_cast<uint64_t>(tensor.sizes()->Get(i));
    }
    return bytes;
  }

  size_t number_of(int32_t index) {
    ViewValue value;
    value.name = names_[static_cast<size_t>(index)];
    if (value.name.empty()) value.name = "slot " + std::to_string(index);
    value.scope = text_of(plan_.name());
    value.type = type_of(slot(index));
    value.slot = index;
    value.role = "result";
    if (const wire::Tensor* tensor = slot(index).val_as_Tensor()) {
      value.bytes = bytes_of(*tensor);
      const wire::ExtraTensorInfo* extra = tensor->extra_tensor_info();
      if (extra != nullptr) value.from = text_of(extra->fully_qualified_name());
      if (tensor->data_buffer_idx() != 0 || extra != nullptr) {
        value.role = tensor->allocation_info() != nullptr ? "state" : "constant";
      }
    }
    if (value.name.rfind("input ", 0) == 0) value.role = "input";
    const auto held = holds_.find(index);
    if (held != holds_.end()) value.holds = held->second;
    return document_.add(std::move(value));
  }

  std::vector<size_t> numbers_of(const Vector<int32_t>* slots) {
    std::vector<size_t> numbers;
    for (unsigned i = 0; i < count_of(slots); ++i) {
      if (is_value(slots->Get(i))) numbers.push_back(number_of(slots->Get(i)));
    }
    return numbers;
  }

  void append(ViewArgument& out, int32_t index) {
    if (++shown_ > kMostShown) {
      throw InputError("the program has more than " + std::to_string(kMostShown) +
                       " arguments, which is too many for a page");
    }
    if (is_value(index)) {
      out.pieces.emplace_back(number_of(index));
    } else if (const Vector<int32_t>* items = tensor_items(slot(index))) {
      append_list(out, *items);
    } else if (const auto* ints = slot(index).val_as_IntList()) {
      append_ints(out, *ints);
    } else {
      out.pieces.emplace_back(literal_text(slot(index)));
    }
  }

  void append_list(ViewArgument& out, const Vector<int32_t>& items) {
    out.pieces.emplace_back("[");
    for (unsigned i = 0; i < items.size(); ++i) {
      if (i != 0) out.pieces.emplace_back(", ");
      items.Get(i) < 0 ? void(out.pieces.emplace_back("None")) : append(out, items.Get(i));
    }
    out.pieces.emplace_back("]");
  }

  // The items of a list of integers are slots, too.
  void append_ints(ViewArgument& out, const wire::IntList& ints) {
    shown_ += count_of(ints.items());
    std::string text = "[";
    for (unsigned i = 0; i < count_of(ints.items()); ++i) {
      const auto index = static_cast<int32_t>(ints.items()->Get(i));
      text += i == 0 ? "" : ", ";
      if (written_.count(index) != 0) {
        out.pieces.emplace_back(text);
        out.pieces.emplace_back(number_of(index));
        text.clear();
      } else {
        text += literal_text(slot(index));
      }
    }
    out.pieces.emplace_back(text + "]");
  }

  void read_instruction(const wire::Instruction& instruction, unsigned number,
                        const exir::InstructionOrigin* origin, ViewStep& step) {
    ViewCall out;
    out.place = std::to_string(number);
    if (origin != nullptr) {
      out.name = origin->node.name;
      out.module = origin->node.module;
      out.line = origin->node.line;
      out.boxes = boxes_of_module(out.module);
      const auto note = notes_.find(out.name);
      if (note != notes_.end()) out.note = note->second;
    }
    if (const auto* call = instruction.instr_args_as_KernelCall()) {
      note_reads(call->args(), step);
      read_kernel(*call, out);
    } else if (const auto* delegate = instruction.instr_args_as_DelegateCall()) {
      note_reads(delegate->args(), step);
      read_delegate(*delegate, origin, out, step);
    } else if (const auto* move = instruction.instr_args_as_MoveCall()) {
      note_read(move->move_from(), step);
      out.op = "(move)";
      out.args.push_back(argument("from", move->move_from()));
      add_result(move->move_to(), out);
    } else if (const auto* jump = instruction.instr_args_as_JumpFalseCall()) {
      out.op = "(jump if false)";
      out.args.push_back(argument("condition", jump->cond_value_index()));
      out.args.push_back({"to instruction", {std::to_string(jump->destination_instruction())}});
    } else {
      out.op = "(free)";
    }
    if (out.name.empty()) out.name = out.op;
    step.calls.push_back(document_.add(std::move(out)));
  }

  void add_result(int32_t index, ViewCall& out) {
    out.results.push_back(number_of(index));
    note_write(index);
    boxes_of_writers_[index] = out.boxes;
  }

  ViewArgument argument(const std::string& name, int32_t index) {
    ViewArgument out{name, {}};
    append(out, index);
    return out;
  }

  void read_kernel(const wire::KernelCall& call, ViewCall& out) {
    out.op = op_of(call);
    out.runs_on = table_of(out.op);
    const std::vector<bool> writes = writes_of(out.op, count_of(call.args()));
    const auto schema = exir::builtin_operators()->find(out.op);
    std::set<int32_t> results;
    for (unsigned i = 0; i < writes.size(); ++i) {
      const bool known = schema != nullptr && i < schema->args.size();
      const int32_t index = call.args()->Get(i);
      if (!writes[i]) {
        out.args.push_back(argument(known ? schema->args[i].name : "", index));
        continue;
      }
      for_each_slot(index, [&](int32_t each) {
        if (is_value(each) && results.insert(each).second) add_result(each, out);
      });
    }
  }

  void read_delegate(const wire::DelegateCall& call, const exir::InstructionOrigin* origin,
                     ViewCall& out, ViewStep& step) {
    const wire::BackendDelegate& delegate =
        *plan_.delegates()->Get(static_cast<unsigned>(call.delegate_index()));
    out.op = out.runs_on = text_of(delegate.id());
    if (out.name.empty()) out.name = "delegate_" + std::to_string(call.delegate_index());
    out.note = note_of(delegate, program_);
    out.boxes.clear();  // It may hold nodes of many modules.
    out.module.clear();
    for (unsigned i = 0; i < count_of(call.args()); ++i) {
      const int32_t index = call.args()->Get(i);
      if (delegate_results_.count(index) != 0) {
        add_result(index, out);
      } else {
        out.args.push_back(argument("", index));
      }
    }
    if (origin == nullptr || origin->parts.empty()) return;
    out.opens = out.name;
    for (size_t i = 0; i < origin->parts.size(); ++i) add_part(origin->parts[i], i, out, step);
  }

  void add_part(const exir::Origin& origin, size_t number, const ViewCall& delegate,
                ViewStep& step) {
    ViewCall part;
    part.name = origin.name;
    part.op = origin.op;
    part.module = origin.module;
    part.line = origin.line;
    part.runs_on = delegate.runs_on;
    part.place = delegate.place + "." + std::to_string(number);
    part.boxes = boxes_of_module(origin.module);
    part.boxes.insert(part.boxes.begin(), delegate.opens);
    inside_.connect(delegate, number, part);
    if (part.results.empty() && !origin.type.empty()) {
      part.results.push_back(
          document_.add(ViewValue{origin.name, part.place, origin.type, "result", "", 0, -1}));
    }
    step.calls.push_back(document_.add(std::move(part)));
  }

  const Program& program_;
  const wire::ExecutionPlan& plan_;
  const std::map<std::string, std::string>& notes_;
  const DelegateInside& inside_;
  ViewDocument& document_;
  const exir::DebugInfo origins_;
  std::vector<std::string> names_;                     // By slot; empty if there is none.
  std::map<int32_t, std::vector<std::string>> holds_;  // The exporter's names, by slot.
  // Slots that instructions or views write, or that hold something at first.
  std::set<int32_t> known_, known_at_first_;
  std::set<int32_t> written_;           // Those that instructions write,
  std::set<int32_t> delegate_results_;  // and those of them that are results of delegates.
  std::vector<Extent> last_writes_;     // In the order of execution.
  std::map<int32_t, std::vector<std::string>> boxes_of_writers_;
  size_t shown_ = 0;  // Arguments, and items of lists.
};

}  // namespace

void add_program(const Program& program, const std::map<std::string, std::string>& notes,
                 const DelegateInside& inside, ViewDocument& document) {
  const std::vector<MethodMemory> memory = read_memory(program.wire());
  size_t next = 0;
  for (const wire::ExecutionPlan* plan : *program.wire().execution_plan()) {
    MethodReader reader(program, *plan, notes, inside, document);
    document.steps.push_back(reader.read());
    document.memory.push_back(reader.memory(memory[next++]));
  }
}

}  // namespace taper::tools
