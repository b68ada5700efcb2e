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

// What a call reads from. Sizes of types must be known; null and nullopt where nothing is.
struct CallInputs {
  std::function<const TensorData*(const Value*)> data;  // Dense in the dim order of its type.
  std::function<std::optional<TensorType>(const Value*)> type;
  std::function<std::optional<int64_t>(const Value*)> number;
};

enum class CallMode {
  kSample,   // Tensors hold ones; results may be resized within the room for 64 elements.
  kRun,      // Results have their sizes.
  kProbe,    // Results have other sizes and stay so: the kernel checks its arguments and stops.
  kScratch,  // Of a block: memory of any contents, for the time of a call.
};

// Memory for one tensor, aligned as on the device; zeros for a sample, of any contents else, as the
// kernel writes all of it. A probe touches none of it, so only addresses are reserved: any size
// costs nothing. Throws std::bad_alloc.
struct CallBlock {
  CallBlock(size_t size, CallMode mode);
  std::shared_ptr<unsigned char[]> bytes;
  unsigned char* data = nullptr;
};

// Deques keep the addresses of what slots point to.
class KernelCall {
 public:
  // `node` may be functional; its schema and that of the kernel share argument names.
  KernelCall(const Node& node, const CallInputs& inputs, CallMode mode)
      : node_(node), inputs_(inputs), mode_(mode) {}

  // False if something is not known. `schema` is that of the kernel.
  bool prepare(const Schema& schema);
  // nullopt if the kernel takes other kinds of arguments. REQUIRES: prepare() returned true.
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
  EValue* sample_out(const TensorType& type);
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
  const CallMode mode_;
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
