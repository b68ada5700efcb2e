// Builds payloads for tests, right and wrong ones.

#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "backends/vulkan/planner/payload_graph.h"
#include "backends/vulkan/planner/payload_header.h"
#include "backends/vulkan/schema_generated.h"

namespace taper::vulkan {

class PayloadBuilder {
 public:
  using Id = int32_t;
  using Sizes = std::vector<uint32_t>;

  std::vector<uint32_t> inputs, outputs;
  std::vector<float> data;  // Of constants.

  Id tensor(const Sizes& dims, wire::DataType dtype = wire::DataType::Float32,
            int32_t constant = -1) {
    return add(wire::Kind::Tensor,
               wire::CreateTensorDirect(fbb_, dtype, &dims, constant, -1).Union());
  }
  Id input(const Sizes& dims) {
    const Id id = tensor(dims);
    inputs.push_back(static_cast<uint32_t>(id));
    return id;
  }
  // The constant lies behind those before it; `bytes` may be wrong.
  Id constant(const Sizes& dims, const std::vector<float>& values) {
    return constant(dims, values, values.size() * sizeof(float));
  }
  Id constant(const Sizes& dims, const std::vector<float>& values, uint64_t bytes) {
    constants_.push_back(wire::CreateBytes(fbb_, data.size() * sizeof(float), bytes));
    data.insert(data.end(), values.begin(), values.end());
    return tensor(dims, wire::DataType::Float32, static_cast<int32_t>(constants_.size() - 1));
  }
  template <typename T>  // Of one byte.
  Id bytes(const Sizes& dims, wire::DataType dtype, const std::vector<T>& values) {
    const size_t at = data.size();
    const Id id = constant_bytes(dims, dtype, values.size());
    if (!values.empty()) std::memcpy(&data[at], values.data(), values.size());
    return id;
  }
  Id signed_bytes(const Sizes& dims, const std::vector<int8_t>& values) {
    return bytes(dims, wire::DataType::Int8, values);
  }
  // Of zeros.
  Id constant_bytes(const Sizes& dims, wire::DataType dtype, uint64_t bytes) {
    constants_.push_back(wire::CreateBytes(fbb_, data.size() * sizeof(float), bytes));
    data.resize(data.size() + (bytes + 3) / 4);
    return tensor(dims, dtype, static_cast<int32_t>(constants_.size() - 1));
  }
  Id none() { return add(wire::Kind::Null, wire::CreateNull(fbb_).Union()); }
  Id integer(int64_t value) { return add(wire::Kind::Int, wire::CreateInt(fbb_, value).Union()); }
  Id real(double value) { return add(wire::Kind::Double, wire::CreateDouble(fbb_, value).Union()); }
  Id text(const char* value) {
    return add(wire::Kind::String, wire::CreateStringDirect(fbb_, value).Union());
  }
  Id flag(bool value) { return add(wire::Kind::Bool, wire::CreateBool(fbb_, value).Union()); }
  Id size(int32_t value) {
    return add(wire::Kind::SymInt, wire::CreateSymInt(fbb_, value).Union());
  }
  Id integers(const std::vector<int64_t>& items) {
    return add(wire::Kind::IntList, wire::CreateIntListDirect(fbb_, &items).Union());
  }
  Id list(const std::vector<Id>& items) {
    return add(wire::Kind::ValueList, wire::CreateValueListDirect(fbb_, &items).Union());
  }
  // The arguments, then the result.
  void call(const char* name, const std::vector<Id>& args) {
    calls_.push_back(wire::CreateCallDirect(fbb_, 0, name, &args));
  }
  void output(Id id) { outputs.push_back(static_cast<uint32_t>(id)); }

  std::vector<uint8_t> finish() {
    wire::FinishGraphBuffer(fbb_, wire::CreateGraphDirect(fbb_, "0", &calls_, &values_, &inputs,
                                                          &outputs, &constants_));
    const size_t graph = fbb_.GetSize(), after = (kPaddedHeaderBytes + graph + 15) / 16 * 16;
    const size_t constants = data.size() * sizeof(float);
    std::vector<uint8_t> bytes(after + constants);
    std::memcpy(&bytes[4], kMagic, 4);
    put(bytes, 8, kHeaderBytes, 2);
    put(bytes, 10, kPaddedHeaderBytes, 4);
    put(bytes, 14, graph, 4);
    put(bytes, 18, after, 4);
    std::memcpy(&bytes[kPaddedHeaderBytes], fbb_.GetBufferPointer(), graph);
    if (constants != 0) std::memcpy(&bytes[after], data.data(), constants);
    return bytes;
  }

  static void put(std::vector<uint8_t>& bytes, size_t at, uint64_t value, size_t count) {
    for (size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<uint8_t>(value >> (8 * i));
  }

 private:
  Id add(wire::Kind kind, flatbuffers::Offset<void> item) {
    values_.push_back(wire::CreateValue(fbb_, kind, item));
    return static_cast<Id>(values_.size() - 1);
  }

  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<flatbuffers::Offset<wire::Value>> values_;
  std::vector<flatbuffers::Offset<wire::Call>> calls_;
  std::vector<flatbuffers::Offset<wire::Bytes>> constants_;
};

inline uint32_t number_at(const std::vector<uint8_t>& bytes, size_t at) {
  uint32_t value;
  std::memcpy(&value, &bytes[at], sizeof(value));
  return value;
}

// The payloads of the programs in test/compat/data, which ExecuTorch exported. Their constants are
// not inside them.
inline std::vector<std::vector<uint8_t>> exported_payloads() {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(TAPER_SOURCE_DIR "/test/compat/data")) {
    if (entry.path().extension() == ".pte") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::vector<uint8_t>> payloads;
  for (const std::string& path : paths) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<uint8_t> file{std::istreambuf_iterator<char>(in), {}};
    for (size_t at = 0; at + kPaddedHeaderBytes < file.size(); at += 4) {
      if (std::memcmp(&file[at + 4], kMagic, 4) != 0) continue;
      const size_t bytes = number_at(file, at + 10) + number_at(file, at + 14);
      if (bytes > file.size() - at) continue;
      const auto begin = file.begin() + static_cast<ptrdiff_t>(at);
      payloads.emplace_back(begin, begin + static_cast<ptrdiff_t>((bytes + 15) / 16 * 16));
    }
  }
  return payloads;
}

// Named data of no name.
class NoConstants final : public ConstantSource {
 public:
  Result<Span<const uint8_t>> find(std::string_view) const override {
    return Status(Error::kNotFound, "there is no data of that name");
  }
};

// What read() says of a payload; empty if it takes it.
inline std::string read_problem(const std::vector<uint8_t>& bytes) {
  PayloadGraph graph;
  const NoConstants none;
  return graph.read({bytes.data(), bytes.size()}, &none).message();
}

}  // namespace taper::vulkan
