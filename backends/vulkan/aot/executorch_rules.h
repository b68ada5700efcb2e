// What ExecuTorch's runtime asks of one call: its row, and what that cannot say.

#pragma once

#include <string>
#include <vector>

#include "backends/vulkan/aot/executorch_ops.h"

namespace taper::vulkan {

// The values of a payload by id.
class PayloadFacts {
 public:
  explicit PayloadFacts(const wire::Graph& graph) : graph_(graph) {}

  const wire::Value& value(int32_t id) const {
    return *graph_.values()->Get(static_cast<uint32_t>(id));
  }
  const wire::Tensor* tensor(int32_t id) const { return value(id).value_as_Tensor(); }
  bool is_constant(int32_t id) const {
    return tensor(id) != nullptr && tensor(id)->constant_id() >= 0;
  }
  // The ids of the tensors that a value is: itself, or the items of a list.
  std::vector<int32_t> tensors(int32_t id) const;
  std::vector<int64_t> sizes(int32_t id) const;
  // A list of integers, or one; empty for none.
  std::vector<int64_t> integers(int32_t id) const;
  bool flag(int32_t id) const;

 private:
  const wire::Graph& graph_;
};

// A call with its row.
struct ExecutorchCall {
  const ExecutorchOperator* row;
  std::vector<int32_t> args;  // With the result.
};

// The number of the argument that is the first tensor; -1: none.
int primary_argument(const PayloadFacts& facts, const ExecutorchCall& call);

// How the first tensor of a call, and with it its result, may be stored: what its row says, without
// what does not fit into a texture. Empty if there is no way.
Storages primary_storages(const PayloadFacts& facts, const ExecutorchCall& call);

// The ways in which a tensor fits.
Storages fitting(const std::vector<int64_t>& sizes, Storages storages);

// Why ExecuTorch's runtime cannot run a call, however its tensors are stored; empty if it can.
std::string call_problem(const PayloadFacts& facts, const ExecutorchCall& call);

}  // namespace taper::vulkan
