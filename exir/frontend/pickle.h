// Reads the pickles that torch.save makes of plain tensors, and nothing else.
//
// A pickle is a program for a stack machine that may call any Python function. This machine knows
// the few that rebuild tensors and containers by name and refuses all others, so no code of the
// file runs. The result is data: numbers, strings, containers and descriptions of tensors.

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "exir/frontend/blob.h"
#include "exir/frontend/refuse.h"
#include "taper/scalar_type.h"

namespace taper::exir {

// One tensor as a strided window into a storage; sizes and strides count elements.
struct TensorView {
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  std::string storage;  // The member that holds the bytes, relative to the archive's root.
  int64_t float8 = 0;   // The code of the dtype if the bytes are 8-bit floats.
  bool pairs = false;   // Complex: the last dimension holds the real and the imaginary part.
};

// Says what the elements of a view are, from the code of their dtype. Sizes, strides and the offset
// of complex numbers become those of their parts. Throws Failure if the dtype is not supported.
void set_elements(TensorView& view, int64_t dtype);

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kFloat,
  kText,
  kTuple,
  kList,
  kDict,
  kGlobal,
  kStorage,
  kTensor,
  kObject,
  kMark,
};

// What is done with objects of classes that are not known: refused, or described by the names of
// their classes and, if they are tensors, what they hold.
enum class Objects : uint8_t { kRefused, kDescribed };

struct PickleObject {
  PickleKind kind = PickleKind::kNone;
  int64_t dtype = 0;      // kStorage, kGlobal if it names an element type: its code.
  int64_t number = 0;     // kBool, kInt; kGlobal: which one; kTensor: index into tensors_.
  double real = 0;        // kFloat
  std::string_view text;  // kText; kStorage: its key; kObject: its class. Points into the pickle.
  std::vector<uint32_t> items;  // kTuple, kList; kDict, kObject: key, value, key, value ...
};

class Pickle {
 public:
  // Runs the whole program. Throws Failure naming the first thing it does not accept.
  Pickle(Blob program, Budget& budget, std::string_view name, Objects objects = Objects::kRefused);

  const PickleObject& root() const { return objects_[root_]; }
  const PickleObject& operator[](uint32_t id) const { return objects_[id]; }
  const TensorView& tensor(const PickleObject& object) const { return tensors_[object.number]; }

 private:
  friend class PickleMachine;
  Blob program_;
  std::deque<PickleObject> objects_;
  std::vector<TensorView> tensors_;
  uint32_t root_ = 0;
};

}  // namespace taper::exir
