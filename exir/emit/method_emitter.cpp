// Values and literals get a slot when they are first used; steps become instructions in order.

#include "exir/emit/method_emitter.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "exir/delegate/number.h"
#include "exir/emit/pytree_text.h"
#include "exir/ops/variants.h"

namespace taper::exir {
namespace {

using flatbuffers::Offset;
using Ids = std::vector<int32_t>;

class MethodEmitter {
 public:
  MethodEmitter(const PlannedMethod& method, Pools& pools, flatbuffers::FlatBufferBuilder& builder,
                DebugInfo& debug)
      : method_(method), graph_(*method.graph), pools_(pools), fbb_(builder), debug_(debug) {
    for (const Value* value : method.schedule.grown) grown_.insert(value);
  }

  Offset<wire::ExecutionPlan> run() {
    Ids inputs, outputs;
    for (const Argument& input : graph_.inputs) inputs.push_back(slot(input, {}));
    literals_.clear();  // An input that export fixed is one that no instruction reads.
    emit_steps();
    emit_write_backs();
    emit_states();
    for (const Argument& output : graph_.outputs) outputs.push_back(slot(output, {}));
    std::vector<int64_t> buffers = {0};
    if (!method_.storages.rows.empty()) {
      for (const uint64_t bytes : method_.plan.buffer_bytes) {
        buffers.push_back(static_cast<int64_t>(bytes));
      }
    }
    const auto chain = wire::CreateChainDirect(fbb_, nullptr, nullptr, &instructions_, nullptr);
    const std::vector<Offset<wire::Chain>> chains = {chain};
    const std::vector<Offset<wire::BackendDelegate>> delegates = emit_delegates();
    const auto structure = wire::CreateContainerMetadataDirect(
        fbb_, pytree_text(graph_.in_spec).c_str(), pytree_text(graph_.out_spec).c_str());
    return wire::CreateExecutionPlanDirect(fbb_, method_.name.c_str(), structure, &values_, &inputs,
                                           &outputs, &chains, &operators_, &delegates, &buffers,
                                           nullptr);
  }

 private:
  // ---- slots ----

  template <typename Table>
  int32_t add(wire::KernelTypes type, Offset<Table> table) {
    values_.push_back(wire::CreateEValue(fbb_, type, table.Union()));
    return static_cast<int32_t>(values_.size()) - 1;
  }

  // The slot of a literal, created at its first use. `key` starts with a letter for the kind.
  template <typename Make>
  int32_t intern(const std::string& key, const Make& make) {
    const auto found = literals_.find(key);
    if (found != literals_.end()) return found->second;
    const int32_t id = make();
    literals_.emplace(key, id);
    return id;
  }

  int32_t null_slot() {
    return intern("n", [&] { return add(wire::KernelTypes::Null, wire::CreateNull(fbb_)); });
  }
  int32_t int_slot(int64_t value) {
    return intern("i" + std::to_string(value),
                  [&] { return add(wire::KernelTypes::Int, wire::CreateInt(fbb_, value)); });
  }
  int32_t double_slot(double value) {
    std::string key(1 + sizeof value, 'd');
    std::memcpy(&key[1], &value, sizeof value);
    return intern(key, [&] {
      return add(wire::KernelTypes::Double, create_number(fbb_, value, wire::CreateDouble));
    });
  }
  int32_t bool_slot(bool value) {
    return intern(value ? "b1" : "b0",
                  [&] { return add(wire::KernelTypes::Bool, wire::CreateBool(fbb_, value)); });
  }
  int32_t string_slot(const std::string& value) {
    return intern("s" + value, [&] {
      return add(wire::KernelTypes::String, wire::CreateStringDirect(fbb_, value.c_str()));
    });
  }

  static std::string list_key(char kind, const Ids& ids) {
    std::string key(1, kind);
    for (int32_t id : ids) key += std::to_string(id) + ",";
    return key;
  }

  int32_t int_list_slot(const Argument::List& items) {
    Ids ids;
    for (const Argument& item : items) ids.push_back(slot(item, {TypeBase::kInt}));
    return intern(list_key('I', ids), [&] {
      const std::vector<int64_t> wide(ids.begin(), ids.end());
      return add(wire::KernelTypes::IntList, wire::CreateIntListDirect(fbb_, &wide));
    });
  }
  int32_t double_list_slot(const Argument::List& items) {
    std::vector<double> values;
    for (const Argument& item : items) values.push_back(item.to_double());
    return add(wire::KernelTypes::DoubleList, wire::CreateDoubleListDirect(fbb_, &values));
  }
  int32_t bool_list_slot(const Argument::List& items) {
    std::vector<uint8_t> values;
    for (const Argument& item : items) values.push_back(item.to_bool());
    return add(wire::KernelTypes::BoolList, wire::CreateBoolListDirect(fbb_, &values));
  }
  int32_t tensor_list_slot(const Ids& ids) {
    return intern(list_key('T', ids), [&] {
      return add(wire::KernelTypes::TensorList, wire::CreateTensorListDirect(fbb_, &ids));
    });
  }
  int32_t optional_list_slot(const Argument::List& items) {
    Ids ids;
    for (const Argument& item : items) ids.push_back(item.is_none() ? -1 : slot(item, {}));
    return intern(list_key('O', ids), [&] {
      return add(wire::KernelTypes::OptionalTensorList,
                 wire::CreateOptionalTensorListDirect(fbb_, &ids));
    });
  }

  int32_t list_slot(const Argument::List& items, const ArgType& type) {
    switch (type.base) {
      case TypeBase::kFloat:
        return double_list_slot(items);
      case TypeBase::kBool:
        return bool_list_slot(items);
      case TypeBase::kTensor: {
        if (type.optional_item) return optional_list_slot(items);
        Ids ids;
        for (const Argument& item : items) ids.push_back(slot(item, {}));
        return tensor_list_slot(ids);
      }
      default:
        return int_list_slot(items);
    }
  }

  int32_t slot(const Argument& arg, const ArgType& type) {
    if (arg.is_none()) return null_slot();
    if (arg.is_value()) return value_slot(arg.value());
    if (arg.is_list()) return list_slot(arg.list(), type);
    if (type.list) return list_slot({arg}, type);
    if (arg.is<int64_t>()) {
      if (type.base == TypeBase::kFloat) return double_slot(arg.to_double());
      if (type.base == TypeBase::kBool) return bool_slot(arg.to_int() != 0);
      return int_slot(arg.to_int());
    }
    if (arg.is<double>()) return double_slot(std::get<double>(arg.v));
    if (arg.is<bool>()) return bool_slot(std::get<bool>(arg.v));
    if (arg.is<std::string>()) return string_slot(arg.text());
    if (arg.is<ScalarType>()) return int_slot(static_cast<int64_t>(std::get<ScalarType>(arg.v)));
    if (arg.is<Layout>()) return int_slot(0);
    return null_slot();  // Device and memory format have a single value.
  }

  int32_t value_slot(const Value* value) {
    const auto found = ids_.find(value);
    if (found != ids_.end()) return found->second;
    const int32_t id = make_value(value);
    ids_.emplace(value, id);
    return id;
  }

  // What an input has unless the caller sets it: its only value, or that at the sample inputs if it
  // is known.
  int64_t sample_of(const Value* value) const {
    if (value->sym.is_int()) return value->sym.as_int();
    if (value->role != ValueRole::kInput || !value->sym.is_symbol()) return 0;
    const auto hint = graph_.hints.find(value->sym.name());
    return hint == graph_.hints.end() ? 0 : hint->second;
  }

  int32_t make_value(const Value* value) {
    switch (value->kind) {
      case ValueKind::kInt:
        return add(wire::KernelTypes::Int, wire::CreateInt(fbb_, sample_of(value)));
      case ValueKind::kFloat:
        return add(wire::KernelTypes::Double, wire::CreateDouble(fbb_, 0));
      case ValueKind::kBool:
        return add(wire::KernelTypes::Bool, wire::CreateBool(fbb_, false));
      default:
        return add(wire::KernelTypes::Tensor, tensor(value));
    }
  }

  // ---- tensors ----

  Offset<wire::AllocationDetails> allocation(const Value* value) {
    const auto place = method_.storages.places.find(value);
    if (place == method_.storages.places.end() || place->second.storage < 0) return 0;
    const size_t storage = static_cast<size_t>(place->second.storage);
    const uint64_t offset = method_.plan.offsets[storage] + place->second.offset;
    const uint32_t memory_id = static_cast<uint32_t>(method_.plan.buffers[storage]) + 1;
    return wire::CreateAllocationDetails(fbb_, memory_id, static_cast<uint32_t>(offset),
                                         static_cast<uint32_t>(offset >> 32));
  }

  // The constant that the value is or is a view of; null if there is none.
  const Value* constant_of(const Value* value) const {
    if (value->role == ValueRole::kConstant) return value;
    const auto place = method_.storages.places.find(value);
    return place == method_.storages.places.end() ? nullptr : place->second.constant;
  }

  Offset<wire::Tensor> tensor(const Value* value) {
    const std::vector<int64_t> upper = upper_sizes(value->type, graph_.ranges);
    const std::vector<int32_t> sizes(upper.begin(), upper.end());
    const bool dynamic = !value->type.is_static() || grown_.count(value) != 0;
    uint32_t buffer = 0;
    Offset<wire::ExtraTensorInfo> extra = 0;
    if (const Value* constant = constant_of(value)) {
      if (pools_.weights_outside) {
        const std::string key = pools_.external.add(constant->fqn, value->type, constant->data);
        extra = wire::CreateExtraTensorInfoDirect(fbb_, 0, key.c_str(),
                                                  wire::TensorDataLocation::EXTERNAL);
      } else {
        buffer = pools_.constants.add(constant->data);
      }
    } else if (value->role == ValueRole::kState && value->data.bytes > 0) {
      buffer = pools_.mutable_data.add(value->data);
    }
    if (value->role == ValueRole::kState && !value->fqn.empty()) {
      extra = wire::CreateExtraTensorInfoDirect(fbb_, 0, value->fqn.c_str());
    }
    const auto plan = allocation(value);
    return wire::CreateTensorDirect(
        fbb_, static_cast<wire::ScalarType>(value->type.dtype), 0, &sizes, &value->type.dim_order,
        false, buffer, plan, 0,
        dynamic ? wire::TensorShapeDynamism::DYNAMIC_BOUND : wire::TensorShapeDynamism::STATIC,
        extra);
  }

  // ---- instructions ----

  int32_t operator_index(const std::string& target) {
    const auto found = operator_ids_.find(target);
    if (found != operator_ids_.end()) return found->second;
    const size_t dot = target.find('.', target.find("::"));
    const std::string overload = dot == std::string::npos ? "" : target.substr(dot + 1);
    operators_.push_back(
        wire::CreateOperatorDirect(fbb_, target.substr(0, dot).c_str(), overload.c_str()));
    const auto index = static_cast<int32_t>(operators_.size()) - 1;
    operator_ids_.emplace(target, index);
    return index;
  }

  template <typename Table>
  void add_instruction(wire::InstructionArguments type, Offset<Table> table) {
    instructions_.push_back(wire::CreateInstruction(fbb_, type, table.Union()));
  }

  void call(const std::string& target, const Ids& args) {
    add_instruction(wire::InstructionArguments::KernelCall,
                    wire::CreateKernelCallDirect(fbb_, operator_index(target), &args));
  }

  // True if the argument and the result have the same place, so that the kernel updates it in
  // place.
  bool lies_in_argument(const Node& node, const WrittenResult& written) const {
    const auto& places = method_.storages.places;
    const auto from = places.find(node.args[written.arg].value());
    const auto to = places.find(node.outputs[written.output]);
    return from != places.end() && to != places.end() && from->second.storage >= 0 &&
           from->second.storage == to->second.storage && from->second.offset == to->second.offset;
  }

  // The number of instructions of a step: the call, and a copy for each argument that the kernel
  // writes in another place.
  int32_t instructions_of(size_t step) const {
    if (method_.storages.elided.count(step) != 0) return 0;
    int32_t count = 1;
    if (step < method_.schedule.steps.size() && method_.schedule.steps[step].node != nullptr) {
      const Node& node = *method_.schedule.steps[step].node;
      for (const WrittenResult& each : written_results(node))
        count += !lies_in_argument(node, each);
    }
    return count;
  }

  // Payloads are numbered within the file: program_file.cpp makes them its first segments.
  std::vector<Offset<wire::BackendDelegate>> emit_delegates() {
    std::vector<Offset<wire::BackendDelegate>> out;
    for (const auto& delegate : graph_.delegates) {
      for (const Delegate::Data& data : delegate->data) pools_.named.add(data.name, data.bytes);
      const auto index = static_cast<uint32_t>(pools_.payloads.size());
      pools_.payloads.push_back(delegate->payload);
      const auto place =
          wire::CreateBackendDelegateDataReference(fbb_, wire::DataLocation::SEGMENT, index);
      std::vector<Offset<wire::CompileSpec>> specs;
      const auto known = method_.specs.find(delegate->id);
      if (known != method_.specs.end()) {
        for (const OwnedCompileSpec& spec : known->second) {
          specs.push_back(wire::CreateCompileSpecDirect(fbb_, spec.key.c_str(), &spec.value));
        }
      }
      out.push_back(wire::CreateBackendDelegateDirect(fbb_, delegate->id.c_str(), place, &specs));
    }
    return out;
  }

  void emit_delegate_call(const Node& node) {
    Ids args;
    for (const Argument& input : node.args.at(1).list()) args.push_back(slot(input, {}));
    for (const Value* value : node.outputs) args.push_back(value_slot(value));
    note_results(node, args, -1);
    add_instruction(wire::InstructionArguments::DelegateCall,
                    wire::CreateDelegateCallDirect(
                        fbb_, static_cast<int32_t>(node.args.at(0).to_int()), &args));
  }

  void emit_call(const Node& node) {
    note_origin(node);
    if (node.is("delegate::call")) return emit_delegate_call(node);
    Ids args, results;
    const Schema& schema = *node.schema;
    size_t outs = 0;
    bool list_out = false;
    for (const SchemaArg& arg : schema.args) {
      if (!is_out_argument(arg)) continue;
      ++outs;
      list_out = list_out || arg.type.list;
    }
    for (size_t i = 0; i < node.args.size(); ++i) {
      args.push_back(slot(node.args[i], schema.args[i].type));
    }
    for (const Value* value : node.outputs) results.push_back(value_slot(value));
    const std::vector<WrittenResult> written = written_results(node);
    for (const WrittenResult& each : written) {
      const int32_t target = results[each.output];
      if (!lies_in_argument(node, each)) {
        call("aten::copy_", {target, args[each.arg], bool_slot(false), target});
      }
      args[each.arg] = target;
    }
    if (outs == 0 && schema.returns.size() == 1 && !written.empty()) args.push_back(results[0]);
    results.resize(results.size() - written.size());
    if (list_out) {
      const int32_t list = tensor_list_slot(results);
      args.insert(args.end(), {list, list});
    } else {
      args.insert(args.end(), results.begin(), results.end());
      if (outs == 1) args.push_back(results.at(0));
      if (outs > 1) args.push_back(tensor_list_slot(results));
    }
    note_origin(node);
    note_results(node, args, list_out ? static_cast<int>(args.size()) - 2 : -1);
    call(schema.name, args);
  }

  // Of the next instruction.
  void note_origin(const Node& node) {
    InstructionOrigin& origin = debug_[static_cast<uint32_t>(instructions_.size())];
    origin.node = origin_of(node.name, node.target(), node.source.get());
    if (!node.is("delegate::call")) return;
    const auto index = static_cast<size_t>(node.args.at(0).to_int());
    for (const Delegate::Part& part : graph_.delegates.at(index)->parts) {
      origin.parts.push_back(origin_of(part.name, part.op, part.source.get()));
      origin.parts.back().type = part.type;
    }
  }

  // Of a node whose call, with these arguments, is the next instruction. `list` is the argument
  // that lists its results; negative if there is none.
  void note_results(const Node& node, const Ids& args, int list) {
    InstructionOrigin& origin = debug_[static_cast<uint32_t>(instructions_.size())];
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Value& value = *node.outputs[i];
      if (value.holds.empty()) continue;
      const auto found = std::find(args.begin(), args.end(), value_slot(&value));
      const auto argument = static_cast<uint32_t>(found - args.begin());
      if (found != args.end()) {
        origin.results.push_back({argument, 0, value.holds});
      } else if (list >= 0) {
        origin.results.push_back(
            {static_cast<uint32_t>(list), static_cast<uint32_t>(i), value.holds});
      }
    }
  }

  // Maps steps, in which jumps count, to instructions, in which elided steps are left out.
  std::vector<int32_t> instruction_of_step() const {
    std::vector<int32_t> index;
    int32_t next = 0;
    for (size_t i = 0; i <= method_.schedule.steps.size(); ++i) {
      index.push_back(next);
      next += instructions_of(i);
    }
    return index;
  }

  void emit_steps() {
    const std::vector<int32_t> index = instruction_of_step();
    for (size_t i = 0; i < method_.schedule.steps.size(); ++i) {
      if (method_.storages.elided.count(i) != 0) continue;
      const Step& step = method_.schedule.steps[i];
      switch (step.kind) {
        case StepKind::kCall:
          emit_call(*step.node);
          break;
        case StepKind::kMove: {
          const int32_t from = move_source(step), to = value_slot(step.to);
          add_instruction(wire::InstructionArguments::MoveCall,
                          wire::CreateMoveCall(fbb_, from, to));
          break;
        }
        case StepKind::kJumpFalse:
          add_instruction(wire::InstructionArguments::JumpFalseCall,
                          wire::CreateJumpFalseCall(fbb_, slot(step.from, {TypeBase::kBool}),
                                                    index[step.target]));
          break;
      }
    }
  }

  // A literal gets the kind of its destination, since the tag of a slot never changes at run time.
  int32_t move_source(const Step& step) {
    const TypeBase base = step.to->kind == ValueKind::kFloat  ? TypeBase::kFloat
                          : step.to->kind == ValueKind::kBool ? TypeBase::kBool
                                                              : TypeBase::kInt;
    return slot(step.from, {base});
  }

  void emit_write_backs() {
    for (const Mutation& mutation : graph_.mutations) {
      if (method_.storages.written_back.count(mutation.target) != 0) continue;
      const int32_t target = value_slot(mutation.target);
      call("aten::copy_", {target, value_slot(mutation.source), bool_slot(false), target});
    }
  }

  // A state that only elided views read, and whose new value is computed in place, is named by no
  // instruction. Its slot still says where it lies, what it holds at first and what it is called.
  void emit_states() {
    for (const Value* value : graph_.constants) {
      if (value->role == ValueRole::kState) value_slot(value);
    }
  }

  const PlannedMethod& method_;
  const Graph& graph_;
  Pools& pools_;
  flatbuffers::FlatBufferBuilder& fbb_;
  DebugInfo& debug_;
  std::unordered_set<const Value*> grown_;
  std::vector<Offset<wire::EValue>> values_;
  std::vector<Offset<wire::Operator>> operators_;
  std::vector<Offset<wire::Instruction>> instructions_;
  std::map<std::string, int32_t> operator_ids_;
  std::unordered_map<std::string, int32_t> literals_;
  std::unordered_map<const Value*, int32_t> ids_;
};

}  // namespace

Offset<wire::ExecutionPlan> emit_method(const PlannedMethod& method, Pools& pools,
                                        flatbuffers::FlatBufferBuilder& builder, DebugInfo& debug) {
  return MethodEmitter(method, pools, builder, debug).run();
}

}  // namespace taper::exir
