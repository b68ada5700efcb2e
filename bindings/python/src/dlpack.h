// The structures by which DLPack hands tensors from one library to another, as its ABI (version
// 0.8, which every later one still reads) lays them out; and the table of C functions that version
// 1.3 adds.

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

struct DlVersion {
  uint32_t major;
  uint32_t minor;
};

// What DlManagedTensor has become since version 1.0.
struct DlVersionedTensor {
  DlVersion version;
  void* owner;
  void (*release)(DlVersionedTensor* self);
  uint64_t flags;
  DlTensor tensor;
};

// The functions of a library for objects of one Python type, in a capsule of that type. They return
// 0, or -1 with an exception set, and are called under the interpreter's lock.
struct DlExchange {
  DlVersion version;
  DlExchange* older;
  void* allocate;
  void* hand_over;
  int (*make)(DlVersionedTensor* tensor, void** made);  // Takes the tensor over.
  int (*look_at)(void* object, DlTensor* view);         // The object keeps its sizes. May be null.
  void* stream;
};
inline constexpr char kDlExchangeAttribute[] = "__dlpack_c_exchange_api__";
inline constexpr char kDlExchangeCapsule[] = "dlpack_exchange_api";

}  // namespace taper::python
