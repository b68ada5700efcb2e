// Two tracers: one finds out what reads what, the other copies tensors when they have been made,
// since their memory is used again later.

#include "tools/compare/observed_program.h"

#include <algorithm>

#include "tools/error.h"

namespace taper::tools {
namespace {

// The tensors of a result; null if the argument holds none there.
const Tensor* tensor_at(const InstructionInfo& info, uint32_t argument, uint32_t item) {
  if (argument >= info.args.size()) return nullptr;
  const EValue& value = *info.args[argument];
  if (value.is_tensor()) return &value.to_tensor();
  if (value.tag() != Tag::kTensorList) return nullptr;
  const auto items = value.list_items();
  if (item >= items.size() || items[item] == nullptr || !items[item]->is_tensor()) return nullptr;
  return &items[item]->to_tensor();
}

template <typename Visit>
void each_tensor(const EValue& value, const Visit& visit) {
  if (value.is_tensor()) {
    visit(value.to_tensor());
  } else if (value.tag() == Tag::kTensorList || value.tag() == Tag::kOptionalTensorList) {
    for (const EValue* item : value.list_items()) {
      if (item != nullptr && item->is_tensor()) visit(item->to_tensor());
    }
  }
}

// Tells instructions of the first chain, to which origins refer, from others.
class InstructionTracer : public EventTracer {
 public:
  explicit InstructionTracer(Method& method) : method_(method) {}
  virtual ~InstructionTracer() = default;

  void begin(uint32_t chain, uint32_t instruction) override {
    end();  // Of the instruction before it.
    is_known_ = chain == 0;
    instruction_ = instruction;
    if (is_known_) starts(instruction, method_.instruction(chain, instruction).value());
  }
  void end() override {
    if (is_known_) ended(instruction_, method_.instruction(0, instruction_).value());
    is_known_ = false;
  }

 protected:
  virtual void starts(uint32_t, const InstructionInfo&) {}
  virtual void ended(uint32_t instruction, const InstructionInfo& info) = 0;

 private:
  Method& method_;
  uint32_t instruction_ = 0;
  bool is_known_ = false;
};

using ByInstruction = std::multimap<uint32_t, size_t>;

ByInstruction by_instruction(const std::vector<ObservedTensor>& tensors) {
  ByInstruction found;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].instruction >= 0) {
      found.emplace(static_cast<uint32_t>(tensors[i].instruction), i);
    }
  }
  return found;
}

// Which tensors the memory that an instruction reads goes back to.
class Flow final : public InstructionTracer {
 public:
  Flow(Method& method, std::vector<ObservedTensor>& tensors)
      : InstructionTracer(method), tensors_(tensors), places_(by_instruction(tensors)) {}

 private:
  void starts(uint32_t, const InstructionInfo& info) override {
    sources_.clear();
    for (const EValue* arg : info.args) {
      each_tensor(*arg, [&](const Tensor& tensor) {
        const auto found = held_.find(tensor.const_data());
        if (found != held_.end()) sources_.insert(found->second.begin(), found->second.end());
      });
    }
  }

  void ended(uint32_t instruction, const InstructionInfo& info) override {
    const auto [first, last] = places_.equal_range(instruction);
    std::set<size_t> made;
    for (auto at = first; at != last; ++at) made.insert(at->second);
    for (const size_t i : made) {
      ObservedTensor& tensor = tensors_[i];
      for (const size_t source : sources_) {
        if (made.count(source) == 0) tensor.reads.insert(source);
      }
      const Tensor* found = tensor_at(info, tensor.argument, tensor.item);
      if (found == nullptr) continue;
      tensor.dtype = found->scalar_type();
      tensor.bytes = found->nbytes();
      held_[found->const_data()] = {i};
    }
    if (!made.empty()) return;
    const void* result = nullptr;  // Arguments end with it.
    for (const EValue* arg : info.args) {
      each_tensor(*arg, [&](const Tensor& tensor) { result = tensor.const_data(); });
    }
    if (result != nullptr) held_[result] = sources_;
  }

  std::vector<ObservedTensor>& tensors_;
  const ByInstruction places_;
  std::map<const void*, std::set<size_t>> held_;
  std::set<size_t> sources_;
};

NpyArray array_of(const Tensor& tensor) {
  return {tensor.scalar_type(), shape_of(tensor.sizes()), row_major_bytes(tensor)};
}

class Capture final : public InstructionTracer {
 public:
  Capture(Method& method, const std::vector<ObservedTensor>& tensors,
          const std::set<size_t>& wanted)
      : InstructionTracer(method), tensors_(tensors), wanted_(wanted) {
    places_ = by_instruction(tensors);
  }

  std::map<size_t, NpyArray> arrays;

 private:
  void ended(uint32_t instruction, const InstructionInfo& info) override {
    const auto [first, last] = places_.equal_range(instruction);
    for (auto at = first; at != last; ++at) {
      if (wanted_.count(at->second) == 0) continue;
      const ObservedTensor& wanted = tensors_[at->second];
      const Tensor* tensor = tensor_at(info, wanted.argument, wanted.item);
      if (tensor != nullptr && (tensor->const_data() != nullptr || tensor->nbytes() == 0)) {
        arrays[at->second] = array_of(*tensor);
      }
    }
  }

  const std::vector<ObservedTensor>& tensors_;
  const std::set<size_t>& wanted_;
  ByInstruction places_;
};

// That of the node in a delegate which has the result's name, else that of the instruction.
exir::Origin origin_of(const exir::HeldResult& result, const exir::InstructionOrigin& origin) {
  for (size_t i = origin.parts.size(); i-- > 0;) {
    if (origin.parts[i].name == result.names[0]) return origin.parts[i];
  }
  return origin.node;
}

std::string table_of(const ProgramRunner& runner, const OperatorName& op) {
  std::string name(op.name);
  if (!op.overload.empty()) name += "." + std::string(op.overload);
  const Span<const KernelTable> tables = runner.kernels();
  for (size_t i = 0; i + 1 < tables.size(); ++i) {
    if (find_kernel(tables[i], name) != nullptr) return "optimized";
  }
  return "portable";
}

}  // namespace

ObservedProgram::ObservedProgram(const RunnerOptions& options,
                                 const std::vector<std::string>& files)
    : runner_(std::make_unique<ProgramRunner>(options)), origins_(runner_->origins()) {
  if (files.empty()) {
    runner_->set_ones();
  } else {
    runner_->set_inputs(read_all(files), files);
  }
  for (const HeldTensor& input : runner_->inputs()) inputs_.push_back(array_of(input.tensor()));
  list_tensors();
  look_at_flow();
}

void ObservedProgram::list_tensors() {
  has_names_ = !origins_.empty();
  for (const auto& [instruction, origin] : origins_) {
    const Result<InstructionInfo> info = runner_->method().instruction(0, instruction);
    if (!info.ok()) throw InputError("the debug information is not of this program");
    for (const exir::HeldResult& result : origin.results) {
      ObservedTensor tensor;
      tensor.names = result.names;
      tensor.instruction = instruction;
      tensor.argument = result.argument;
      tensor.item = result.item;
      tensor.origin = origin_of(result, origin);
      tensor.parts = origin.parts;
      tensor.runs_on =
          info->is_delegate ? std::string(info->op.name) : table_of(*runner_, info->op);
      for (const std::string& name : tensor.names) by_name_[name] = tensors_.size();
      tensors_.push_back(std::move(tensor));
    }
  }
}

void ObservedProgram::look_at_flow() {
  Flow flow(runner_->method(), tensors_);
  runner_->execute(&flow);
}

int64_t ObservedProgram::find(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) return static_cast<int64_t>(found->second);
  }
  return -1;
}

void ObservedProgram::name_output(size_t output, const std::vector<std::string>& names) {
  if (names.empty() || find(names) >= 0) return;
  ObservedTensor tensor;
  tensor.names = names;
  tensor.output = output;
  for (const std::string& name : names) by_name_[name] = tensors_.size();
  tensors_.push_back(std::move(tensor));
}

std::map<size_t, NpyArray> ObservedProgram::read(const std::set<size_t>& wanted) {
  const Status status = runner_->module().reset_state();
  if (!status.ok()) throw InputError(status.message());
  Capture capture(runner_->method(), tensors_, wanted);
  // A run may write its inputs.
  for (size_t i = 0; i < inputs_.size(); ++i) runner_->overwrite_input(i, inputs_[i].data);
  runner_->execute(&capture);
  std::vector<Output> outputs = runner_->outputs();
  for (const size_t i : wanted) {
    const ObservedTensor& tensor = tensors_.at(i);
    if (tensor.instruction >= 0 || tensor.output >= outputs.size()) continue;
    if (outputs[tensor.output].is_tensor) capture.arrays[i] = outputs[tensor.output].array;
  }
  return std::move(capture.arrays);
}

}  // namespace taper::tools
