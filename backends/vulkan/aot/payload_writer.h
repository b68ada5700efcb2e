// Writes a partition as a payload: a list of operators in the order of the nodes, over values that
// stand for tensors, numbers and lists.

#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/vulkan/aot/quantised_weights.h"
#include "backends/vulkan/schema_generated.h"
#include "exir/delegate/backend_compiler.h"

namespace taper::vulkan {

// What a payload is for.
enum class Purpose : uint8_t {
  kRun,
  // To ask whether it can be planned. Constants have no names, since naming reads all their bytes;
  // sizes that the tensors of the payload do not say are inputs. To run it, these are refused.
  kPlan,
};

class PayloadWriter {
 public:
  PayloadWriter(const exir::Graph& graph, const std::vector<exir::Value*>& inputs,
                Purpose purpose = Purpose::kRun);

  // Writes weights that are packed otherwise as floats.
  void write_floats() { packs_ = false; }
  // The group's states, and which nodes write one in place; before the nodes are added.
  void add_states(const exir::Part& part);
  // What is added next computes that node of the group, counted from 0.
  void set_origin(size_t node) { origin_ = static_cast<uint32_t>(node) + 1; }
  // Adds a call, after those that compute its sizes. Throws Failure naming an argument that a
  // payload cannot have.
  void add(const exir::Node& node);
  size_t num_calls() const { return calls_.size(); }
  // The states that finish() writes, by a call each.
  const std::vector<exir::Mutation>& copied() const { return copied_; }
  // The payload and the data of its constants.
  exir::Delegate finish(const std::vector<exir::Value*>& outputs);

 private:
  using Id = int32_t;
  using Item = flatbuffers::Offset<void>;

  Id add_value(wire::Kind kind, Item item);
  Id tensor(const exir::Value* value);
  Id dequantised(const exir::Value* value);
  Id constant(const exir::TensorData& bytes);
  Id argument(const exir::Argument& arg, const exir::ArgType& type);
  Id list(const exir::Argument::List& items, const exir::ArgType& type);
  Id results(const exir::Node& node);
  // Adds the call of a node whose weights are packed, if they are; otherwise returns false.
  bool add_packed(const exir::Node& node);
  bool add_packed_convolution(const exir::Node& node);
  Id packed_tensor(wire::DataType dtype, const std::vector<uint32_t>& dims,
                   const exir::TensorData& bytes);
  Id packed_weights(const exir::Value* weight, const WeightPacking& packing);
  Id packed_scales_of(const exir::Value* weight, const WeightPacking& packing, bool by_column);
  Id none();
  Id integer(int64_t value);
  void call(const std::string& name, const std::vector<Id>& args);

  // A number that depends on sizes: a size of a tensor that is known by now, or what add, sub, mul
  // and floordiv make of such.
  Id size(const exir::Sym& size);
  Id computed(const char* name, const exir::Sym& size, Id a, Id b);
  Id read_off(const exir::Sym& size);
  Id new_size(const exir::Sym& size);

  const exir::Graph& graph_;
  const Purpose purpose_;
  bool packs_ = true;
  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<flatbuffers::Offset<wire::Value>> values_;
  std::vector<flatbuffers::Offset<wire::Call>> calls_;
  uint32_t origin_ = 0;
  std::vector<flatbuffers::Offset<wire::Bytes>> constants_;
  std::vector<exir::Delegate::Data> data_;
  std::unordered_map<const exir::Value*, Id> tensors_;
  std::map<std::pair<const exir::Value*, int>, Id> packed_;  // Weights, and scales in two orders.
  std::set<const exir::Value*> states_;
  std::vector<const exir::Value*> measured_;  // Tensors whose sizes may be read, in order.
  std::map<std::string, Id> sizes_;           // By their texts.
  std::vector<uint32_t> inputs_;
  std::vector<exir::Mutation> copied_;  // States that are written when all nodes have run.
};

// The name of an operator in payloads: "aten.relu.default" for "aten::relu".
std::string payload_name(std::string_view target);

}  // namespace taper::vulkan
