// Lowers, plans, emits to memory, and loads what came out.

#include "tools/quantize/graph_engine.h"

#include <algorithm>
#include <chrono>
#include <deque>

#include "exir/bounds.h"
#include "exir/export.h"
#include "taper/module.h"
#include "tools/backends.h"
#include "tools/error.h"
#include "tools/npy.h"
#include "tools/profile/recorder.h"
#include "tools/profile/row_times.h"
#include "tools/program_runner.h"
#include "tools/tensor_bytes.h"

namespace taper::tools {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 36;  // Of one input.

exir::FileInMemory compile(exir::Graph& graph, const EngineOptions& options) {
  exir::LowerOptions lowering;
  lowering.backends = compilers_of(options.backend);
  lowering.from = options.from;
  std::vector<std::string> warnings;
  exir::bound_symbols(graph, options.bounds, warnings);
  exir::lower(graph, lowering);
  exir::PlannedMethod method = exir::plan_method("forward", graph);
  for (const auto& each : lowering.backends) {
    method.specs[std::string(each->delegate_id())] = each->specs();
  }
  exir::EmitOptions emission;
  if (options.timed) emission.debug = exir::DebugLevel::kFull;
  return exir::emit_program({&method}, emission).pte.aligned();
}

class CompiledProgram final : public exir::LoadedProgram {
 public:
  CompiledProgram(exir::Graph& graph, const EngineOptions& options)
      : file_(compile(graph, options)),
        timed_(options.timed),
        backends_(BackendOptions{options.threads, {}, options.timed ? &recorder_ : nullptr}),
        module_({file_.data(), file_.size()}, module_options(options)) {
    Status status = module_.load();
    if (status.ok()) status = module_.load_method("forward");
    if (!status.ok()) fail(status);
    method_ = module_.method("forward");
  }

  void run(const exir::Sample& sample) override {
    prepare(sample);
    execute();
  }

  exir::RunTimes times(const exir::Sample& sample) override {
    using Clock = std::chrono::steady_clock;
    constexpr double kEnough = 0.3;  // Seconds.
    constexpr size_t kFewest = 5, kMost = 100;
    for (int warm_up = 0; warm_up < 2; ++warm_up) run(sample);
    std::vector<double> seconds;
    double sum = 0;
    while (seconds.size() < kFewest || (sum < kEnough && seconds.size() < kMost)) {
      prepare(sample);
      if (timed_) recorder_.start_run();
      const auto start = Clock::now();
      execute();
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
      sum += seconds.back();
    }
    return {value_at(std::move(seconds), 0.5), node_times()};
  }

  exir::SampleTensor output(size_t place) override {
    const EValue value = method_->get_output(place).value();
    if (!value.is_tensor()) return {ScalarType::kLong, {}, ""};
    const Tensor& tensor = value.to_tensor();
    return {tensor.scalar_type(), shape_of(tensor.sizes()), row_major_bytes(tensor)};
  }

 private:
  // Sets the inputs. Every sample is a run by itself: states start anew.
  void prepare(const exir::Sample& sample) {
    const MethodMeta meta = module_.method_meta("forward").value();
    tensors_.clear();
    inputs_.clear();
    size_t next = 0;
    for (size_t i = 0; i < meta.num_inputs(); ++i) {
      if (meta.input_tag(i).value() != Tag::kTensor) {
        inputs_.push_back(meta.input_value(i).value());
        continue;
      }
      const exir::SampleTensor& given = sample.at(next++);
      const TensorInfo info = meta.input_tensor_meta(i).value();
      const std::vector<int32_t> sizes(given.sizes.begin(), given.sizes.end());
      HeldTensor& held = tensors_.emplace_back(given.dtype, sizes, info.dim_order(), kMostBytes);
      held.set_row_major(given.bytes);
      inputs_.emplace_back(&held.tensor());
    }
    Status status = module_.reset_state();
    if (status.ok()) status = method_->set_inputs(inputs_);
    if (!status.ok()) fail(status);
  }

  void execute() {
    const Status status = timed_ ? method_->execute(recorder_) : method_->execute();
    if (!status.ok()) fail(status);
  }

  // What the recorded runs spent on nodes, by their names.
  std::map<std::string, double> node_times() const {
    std::map<std::string, double> nodes;
    if (!timed_) return nodes;
    const exir::DebugInfo origins = origins_in(*module_.program(), "forward");
    RowTimes<std::string> rows;
    for (size_t run = 0; run < recorder_.runs().size(); ++run) {
      for (const RecordedEvent& event : recorder_.runs()[run]) {
        const std::string name = name_of(event, origins);
        if (!name.empty()) rows.add(run, name, event.seconds());
      }
    }
    for (const auto& row : rows.rows()) nodes[row.key] = value_at(row.seconds, 0.5);
    return nodes;
  }

  // Empty for a call whose steps are told of.
  std::string name_of(const RecordedEvent& event, const exir::DebugInfo& origins) const {
    const auto found = event.chain == 0 ? origins.find(event.instruction) : origins.end();
    const std::vector<StepName>& steps = recorder_.steps_of({event.chain, event.instruction});
    if (event.step == RecordedEvent::kWhole) {
      if (!steps.empty()) return "";
      return found == origins.end() ? "(unknown)" : found->second.node.name;
    }
    const int64_t node = steps[event.step].node;
    const bool is_known = found != origins.end() && node >= 0 &&
                          static_cast<size_t>(node) < found->second.parts.size();
    return is_known ? found->second.parts[static_cast<size_t>(node)].name : "(unknown)";
  }

  ModuleOptions module_options(const EngineOptions& engine) const {
    ModuleOptions options;
    options.max_memory_bytes = engine.max_memory_bytes;
    options.max_instructions = engine.max_instructions;
    options.kernels = kernel_tables(engine.optimized);
    options.backends = backends_.table();
    options.pool = backends_.thread_pool();
    options.temp_bytes *= options.pool.threads == 0 ? 1 : options.pool.threads;
    return options;
  }

  [[noreturn]] void fail(const Status& status) const {
    std::string text = module_.last_error_text();
    if (method_ != nullptr && !method_->last_failure().message.empty()) {
      text = std::string(method_->last_failure().message);
    }
    throw InputError("the program does not run on a sample: " +
                     (text.empty() ? std::string(status.message()) : text));
  }

  const exir::FileInMemory file_;
  const bool timed_;
  Recorder recorder_;  // Before what writes to it.
  Backends backends_;
  Module module_;
  Method* method_ = nullptr;
  std::deque<HeldTensor> tensors_;
  std::vector<EValue> inputs_;
};

}  // namespace

exir::Engine graph_engine(const EngineOptions& options) {
  return
      [options](exir::Graph& graph) { return std::make_unique<CompiledProgram>(graph, options); };
}

}  // namespace taper::tools
