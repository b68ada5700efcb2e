// Builds a payload: each tensor and each argument of a call becomes a value.

#pragma once

#include <unordered_map>
#include <vector>

#include "exir/delegate/backend_compiler.h"
#include "test/support/backends/understudy/schema_generated.h"

namespace taper::understudy {

class PayloadWriter {
 public:
  explicit PayloadWriter(const exir::Part& part);

  // Appends a call of the kernel that computes the node.
  void add(const exir::Node& node);
  // Returns the payload, and the constants by content name.
  exir::Delegate finish();

 private:
  using Index = uint32_t;

  Index add_value(flatbuffers::Offset<wire::Value> value);
  Index tensor(const exir::Value* value);
  Index argument(const exir::Argument& arg, const exir::ArgType& type);
  Index integer(wire::Kind kind, int64_t value);
  Index real(double value);
  Index list(const exir::Argument::List& items, const exir::ArgType& type);
  Index integers(wire::Kind kind, const std::vector<int64_t>& items);
  Index results(const exir::Node& node);

  const exir::Part& part_;
  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<flatbuffers::Offset<wire::Value>> values_;
  std::vector<flatbuffers::Offset<wire::Call>> calls_;
  std::unordered_map<const exir::Value*, Index> tensors_;
  std::unordered_map<const exir::Value*, int32_t> places_;  // In the delegate call's arguments.
  std::vector<exir::Delegate::Data> data_;
};

}  // namespace taper::understudy
