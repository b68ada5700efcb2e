// Writes a partition as a payload: a list of operators in the order of the nodes, over values that
// stand for tensors, numbers and lists.

#pragma once

#include <unordered_map>
#include <vector>

#include "backends/vulkan/schema_generated.h"
#include "exir/delegate/backend_compiler.h"

namespace taper::vulkan {

class PayloadWriter {
 public:
  // The inputs and outputs of the payload, in order.
  PayloadWriter(const exir::Graph& graph, const std::vector<exir::Value*>& inputs);

  // Adds a call. Throws Failure naming an argument that a payload cannot have.
  void add(const exir::Node& node);
  // The payload and the data of its constants.
  exir::Delegate finish(const std::vector<exir::Value*>& outputs);

 private:
  using Id = int32_t;
  using Item = flatbuffers::Offset<void>;

  Id add_value(wire::Kind kind, Item item);
  Id tensor(const exir::Value* value);
  Id constant(const exir::Value* value);
  Id argument(const exir::Argument& arg, const exir::ArgType& type);
  Id list(const exir::Argument::List& items, const exir::ArgType& type);
  Id results(const exir::Node& node);
  Id none();
  Id integer(int64_t value);

  const exir::Graph& graph_;
  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<flatbuffers::Offset<wire::Value>> values_;
  std::vector<flatbuffers::Offset<wire::Call>> calls_;
  std::vector<flatbuffers::Offset<wire::Bytes>> constants_;
  std::vector<exir::Delegate::Data> data_;
  std::unordered_map<const exir::Value*, Id> tensors_;
  std::vector<uint32_t> inputs_;
};

// The name of an operator in payloads: "aten.relu.default" for "aten::relu".
std::string payload_name(std::string_view target);

}  // namespace taper::vulkan
