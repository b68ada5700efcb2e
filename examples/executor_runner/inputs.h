// Input tensors for a method, from files or filled with ones.

#pragma once

#include <deque>
#include <string>
#include <vector>

#include "memory.h"
#include "taper/evalue.h"
#include "taper/method_meta.h"
#include "taper/tensor.h"

namespace taper::example {

class Inputs {
 public:
  // Prepares the inputs of a method. Returns an empty text, or what is wrong and with which file.
  std::string prepare(const MethodMeta& meta, const std::vector<std::string>& files);
  Span<const EValue> values() const { return {values_.data(), values_.size()}; }

 private:
  struct Held {
    std::vector<int32_t> sizes, strides;
    std::vector<uint8_t> dim_order;
    Block block;
    Tensor tensor;
  };

  // `header` is that of a .npy, or empty.
  Held& add_tensor(const TensorInfo& info, const std::string& header);

  std::deque<Held> tensors_;
  std::vector<EValue> values_;
};

}  // namespace taper::example
