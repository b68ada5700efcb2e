// Holds every call of a payload against its row.

#include "backends/vulkan/aot/executorch_payload.h"
#include "backends/vulkan/aot/executorch_rules.h"
#include "backends/vulkan/planner/payload_header.h"

namespace taper::vulkan {
namespace {

// How a tensor says that it is stored; none if it does not say it.
Storages storage_of(const wire::Tensor& tensor) {
  const auto packed = static_cast<int>(tensor.memory_layout());
  if (packed > 2) return kNoStorage;
  if (tensor.storage_type() == wire::StorageType::Buffer) {
    return static_cast<Storages>(kBufferWidth << packed);
  }
  if (tensor.storage_type() != wire::StorageType::Texture3D) return kNoStorage;
  return static_cast<Storages>(kTextureWidth << packed);
}

class Checker {
 public:
  explicit Checker(const wire::Graph& graph) : graph_(graph), facts_(graph) {}

  std::string problem() const {
    for (const wire::Call* call : *graph_.chain()) {
      const std::string name = call->name()->str();
      const ExecutorchOperator* row = find_executorch_operator(name);
      if (row == nullptr) return name + ": it is not there";
      const std::string found =
          check({row, std::vector<int32_t>(call->args()->begin(), call->args()->end())});
      if (!found.empty()) return name + ": " + found;
    }
    return "";
  }

 private:
  std::string check(const ExecutorchCall& call) const {
    std::string problem = call_problem(facts_, call);
    if (!problem.empty() || (call.row->traits & kIsSymbolic) != 0) return problem;
    if (call.row->name == "et_vk.prepack.default") {
      return facts_.is_constant(call.args[0]) ? "" : "what it stores is not a constant";
    }
    const int primary = primary_argument(facts_, call);
    const Storages first = primary_storages(facts_, call);
    Storages shared = kNoStorage;  // Of the first tensor, with which others agree.
    for (size_t i = 0; i + 1 < call.args.size(); ++i) {
      const bool is_first = static_cast<int>(i) == primary;
      const Storages others = call.row->others_storage;
      for (const int32_t id : facts_.tensors(call.args[i])) {
        const bool stays = !is_first && (call.row->traits & kStoresOwn) != 0;
        if (facts_.is_constant(id)) {
          if (!stays) return "a constant is not stored before";
          continue;
        }
        const Storages own = storage_of(*facts_.tensor(id));
        const Storages allowed = is_first || others == kNoStorage ? first : others;
        if ((own & allowed) == 0) return "a tensor is stored in a way that it does not take";
        const bool agrees = is_first || others == kNoStorage;
        if (agrees && shared != kNoStorage && own != shared) {
          return "its tensors are stored in different ways";
        }
        if (agrees) shared = own;
      }
    }
    return check_results(call, shared);
  }

  std::string check_results(const ExecutorchCall& call, Storages shared) const {
    const std::vector<int32_t> results = facts_.tensors(call.args.back());
    for (size_t k = 0; k < results.size(); ++k) {
      const Storages own = storage_of(*facts_.tensor(results[k]));
      Storages allowed = call.row->results_storage;
      if (allowed == kNoStorage) allowed = shared != kNoStorage ? shared : call.row->storage;
      if (k > 0 && call.row->later_results != kNoStorage) allowed = call.row->later_results;
      if ((fitting(facts_.sizes(results[k]), own) & allowed) == 0) {
        return "a result is stored in a way that it does not give";
      }
    }
    return "";
  }

  const wire::Graph& graph_;
  const PayloadFacts facts_;
};

}  // namespace

std::string executorch_problem(std::span<const uint8_t> payload) {
  const uint8_t* at = payload.data() + kPaddedHeaderBytes;
  return Checker(*wire::GetGraph(at)).problem();
}

std::string executorch_resize_problem(std::span<const uint8_t> payload) {
  const wire::Graph& graph = *wire::GetGraph(payload.data() + kPaddedHeaderBytes);
  for (const wire::Call* call : *graph.chain()) {
    const ExecutorchOperator* row = find_executorch_operator(call->name()->str());
    if (row == nullptr || (row->traits & kResizes) == 0) {
      return "ExecuTorch's Vulkan runtime runs " + call->name()->str() + " for one size alone";
    }
  }
  return "";
}

}  // namespace taper::vulkan
