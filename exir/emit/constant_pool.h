// The constants of a program, deduplicated by content regardless of names, dtypes and shapes.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

class ConstantPool {
 public:
  // The index of these bytes, from 1; index 0 is reserved by the format.
  uint32_t add(const TensorData& data);
  uint32_t find(const TensorData& data) const;  // 0 if the bytes are not there.
  bool empty() const { return blobs_.empty(); }
  const std::vector<TensorData>& blobs() const { return blobs_; }

 private:
  std::vector<TensorData> blobs_;
  std::unordered_multimap<uint64_t, uint32_t> by_sample_;
};

// Named data, each name with its bytes.
class NamedPool {
 public:
  // Throws Failure if the name has other bytes already.
  void add(const std::string& name, const TensorData& data);
  const std::map<std::string, TensorData>& entries() const { return entries_; }

 private:
  std::map<std::string, TensorData> entries_;
};

// Weights that go into a .ptd, by name.
struct ExternalWeight {
  std::string key;
  ScalarType dtype;
  std::vector<int32_t> sizes;
  TensorData data;
};

class ExternalWeights {
 public:
  // Returns the key under which these bytes are stored: `fqn`, or one derived from the content if
  // it is empty or another tensor has it.
  std::string add(const std::string& fqn, const TensorType& type, const TensorData& data);
  // Sorted by key.
  std::vector<ExternalWeight> sorted() const;

 private:
  std::unordered_map<std::string, ExternalWeight> by_key_;
};

}  // namespace taper::exir
