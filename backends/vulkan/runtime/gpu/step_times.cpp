// Timestamps before the first dispatch and after each.

#include "backends/vulkan/runtime/gpu/step_times.h"

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/runtime/gpu/pipelines.h"

namespace taper::vulkan {
namespace {

std::string sizes_of(const Dispatch& dispatch, const PayloadGraph& graph) {
  std::string text;
  const int32_t result = graph.calls[dispatch.call].result();
  const PayloadValue& value = graph.values[static_cast<size_t>(result)];
  if (value.kind == Kind::kTensor) {
    for (size_t i = 0; i < value.dims.rank; ++i) {
      text += (i == 0 ? "" : "x") + std::to_string(value.dims[i]);
    }
  }
  text += " in";
  for (const uint32_t groups : dispatch.groups) text += " " + std::to_string(groups);
  return text + " groups";
}

const PayloadValue& value_of(const PayloadGraph& graph, int32_t id) {
  return graph.values[static_cast<size_t>(id)];
}

// Of products with factors in floats: a result is a sum of as many products as a row of the first
// factor has elements, or as a filter has.
double multiplications(const PayloadCall& call, const PayloadGraph& graph) {
  const std::string_view name = call.op->name;
  const double results = static_cast<double>(value_of(graph, call.result()).dims.numel());
  if (name == "aten.convolution.default") {
    const PayloadValue& image = value_of(graph, call.args[0]);
    const Dims& filter = value_of(graph, call.args[1]).dims;
    const bool is_transposed = value_of(graph, call.args[6]).integer != 0;
    const double times = is_transposed ? static_cast<double>(image.dims.numel()) : results;
    return times * static_cast<double>(filter.product(1, filter.rank));
  }
  for (const char* product : {"aten.linear.default", "aten.mm.default", "aten.bmm.default",
                              "aten.addmm.default", "aten.baddbmm.default"}) {
    if (name != product) continue;
    const Dims& factor = value_of(graph, call.args[call.op->factors]).dims;
    return factor.rank == 0 ? 0 : results * static_cast<double>(factor[factor.rank - 1]);
  }
  return 0;
}

// Of the tensors that are bound; 0 where one is not of the graph.
double bytes_of(const Dispatch& dispatch, const PayloadGraph& graph) {
  double bytes = 0;
  for (size_t i = 0; i < dispatch.num_bindings; ++i) {
    const ValueId id = dispatch.bindings[i].value;
    bool is_repeated = false;
    for (size_t k = 0; k < i; ++k) is_repeated = is_repeated || dispatch.bindings[k].value == id;
    if (is_repeated) continue;
    if (id >= graph.values.size()) return 0;
    const PayloadValue& value = graph.values[id];
    const bool is_byte = value.is_constant && element_size(value.dtype) == 1;
    bytes += static_cast<double>(value.dims.numel()) * (is_byte ? 1 : 4);
  }
  return bytes;
}

}  // namespace

StepTimes::~StepTimes() {
  if (device_.is_stuck()) return;
  device_.vk().vkDestroyQueryPool(device_.handle(), queries_, nullptr);
}

Status StepTimes::open(size_t count) {
  device_.vk().vkDestroyQueryPool(device_.handle(), queries_, nullptr);
  queries_ = VK_NULL_HANDLE;
  steps_.clear();
  ticks_.resize(count + 1);
  VkQueryPoolCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = static_cast<uint32_t>(ticks_.size());
  return device_.check(device_.vk().vkCreateQueryPool(device_.handle(), &info, nullptr, &queries_),
                       "there is no memory for timestamps");
}

void StepTimes::begin(VkCommandBuffer commands) const {
  const VolkDeviceTable& vk = device_.vk();
  vk.vkCmdResetQueryPool(commands, queries_, 0, static_cast<uint32_t>(ticks_.size()));
  vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_, 0);
}

void StepTimes::end_step(VkCommandBuffer commands, const Dispatch& dispatch,
                         const PayloadGraph& graph) {
  const PayloadCall& call = graph.calls[dispatch.call];
  steps_.push_back({call.op->name, name_of(dispatch.shader), sizes_of(dispatch, graph),
                    int64_t{call.node_id} - 1, dispatch.call, 2 * multiplications(call, graph),
                    bytes_of(dispatch, graph)});
  device_.vk().vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_,
                                   static_cast<uint32_t>(steps_.size()));
}

Status StepTimes::report(Profiler& profiler, const void* delegate) {
  TAPER_TRY(
      device_.check(device_.vk().vkGetQueryPoolResults(
                        device_.handle(), queries_, 0, static_cast<uint32_t>(steps_.size() + 1),
                        ticks_.size() * sizeof(uint64_t), ticks_.data(), sizeof(uint64_t),
                        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                    "the GPU does not tell its timestamps"));
  const uint32_t bits = device_.timestamp_bits();
  const uint64_t mask = bits < 64 ? (uint64_t{1} << bits) - 1 : UINT64_MAX;
  const double period = static_cast<double>(device_.properties().limits.timestampPeriod) * 1e-9;
  double begin = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const auto ticks = static_cast<double>((ticks_[i + 1] - ticks_[i]) & mask);
    ProfiledStep step = {};
    step.delegate = delegate;
    step.index = static_cast<uint32_t>(i);
    step.op = steps_[i].op;
    step.kernel = steps_[i].kernel;
    step.sizes = steps_[i].sizes;
    step.node = steps_[i].node;
    step.begin = begin;
    step.seconds = ticks * period;
    begin += step.seconds;
    const auto is_of_call = [&](size_t k) {
      return k < steps_.size() && steps_[k].call == steps_[i].call;
    };
    const bool is_whole_call = !(i > 0 && is_of_call(i - 1)) && !is_of_call(i + 1);
    step.operations = is_whole_call ? steps_[i].operations : 0;
    step.bytes = steps_[i].bytes;
    profiler.add(step);
  }
  return {};
}

}  // namespace taper::vulkan
