// The structures by which DLPack hands tensors from one library to another, as its ABI (version
// 0.8, which every later one still reads) lays them out.

#pragma once

#include <cstdint>

namespace taper::python {

// On which device the memory is: 1 is the processor.
struct DlDevice {
  int32_t kind;
  int32_t index;
};
inline constexpr int32_t kDlCpu = 1;

struct DlDtype {
  uint8_t kind;  // 0 signed, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool.
  uint8_t bits;
  uint16_t lanes;
};

struct DlTensor {
  void* data;
  DlDevice device;
  int32_t rank;
  DlDtype dtype;
  int64_t* sizes;
  int64_t* strides;  // In elements; null for row-major order.
  uint64_t offset;   // In bytes, from `data`.
};

struct DlManagedTensor {
  DlTensor tensor;
  void* owner;
  void (*release)(DlManagedTensor* self);
};

}  // namespace taper::python
