// One call of a kernel at compile time: slots for arguments and results, as the device would have
// them.

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exir/ir/graph.h"
#include "taper/kernel.h"

namespace taper::exir {

// Where a call reads its arguments from: null or nullopt for what is not known. Types have static
// sizes.
struct CallInputs {
  std::function<const TensorData*(const Value*)> data;  // Dense in the dim order of its type.
  std::function<std::optional<TensorType>(const Value*)> type;
  std::function<std::optional<int64_t>(const Value*)> number;
};

// Uninitialised memory for one tensor, aligned as on the device. Throws std::bad_alloc.
struct CallBlock {
  explicit CallBlock(size_t size);
  std::shared_ptr<unsigned char[]> bytes;
  unsigned char* data = nullptr;
};

// Builds the slots of one call and runs it. Deques keep the addresses of what slots point to.
class KernelCall {
 public:
  // `node` may be functional; its schema and that of the kernel share argument names.
  KernelCall(const Node& node, const CallInputs& inputs) : node_(node), inputs_(inputs) {}

  // Builds the slots; false if an argument or a size is not known. `schema` is the kernel's.
  bool prepare(const Schema& schema);
  // Runs the kernel; nullopt if it takes other kinds of arguments. REQUIRES: prepare() returned
  // true.
  std::optional<Status> run(const Kernel& kernel);
  std::vector<TensorData> results() const;

 private:
  // A tensor with the arrays that it views.
  struct TensorSlot {
    std::vector<int32_t> sizes, strides;
    std::vector<uint8_t> order;
    Tensor tensor;
  };

  bool add(const SchemaArg& arg);
  bool add_out(const SchemaArg& arg);
  EValue* next_out();
  EValue* tensor(const TensorType& type, void* data);
  EValue* constant(const Value* value);
  EValue* single(const Argument& arg);
  EValue* list(const Argument& arg, const ArgType& type);
  EValue* ints(std::vector<EValue*> items);
  EValue* tensor_list(std::vector<EValue*> items, Tag tag);
  EValue* doubles(const Argument& arg);
  EValue* bools(const Argument& arg);

  const Node& node_;
  const CallInputs& inputs_;
  std::vector<EValue*> args_;
  std::vector<const CallBlock*> outs_;
  std::vector<size_t> out_bytes_;
  std::deque<EValue> slots_;
  std::deque<TensorSlot> tensors_;
  std::deque<CallBlock> blocks_;
  std::deque<std::string> texts_;
  std::deque<std::vector<EValue*>> pointers_;
  std::deque<std::vector<int64_t>> numbers_;
  std::deque<std::vector<Tensor*>> scratch_;
  std::deque<BoxedIntList> int_lists_;
  std::deque<BoxedTensorList> tensor_lists_;
  std::deque<std::vector<double>> doubles_;
  std::deque<std::unique_ptr<bool[]>> bools_;
};

}  // namespace taper::exir
