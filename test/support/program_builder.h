// Builds .pte and .ptd files by hand, valid or invalid, for tests and fuzz seeds.
//
//   ProgramBuilder builder;
//   MethodSpec& m = builder.method("forward");
//   const int x = m.tensor({.sizes = {2}});                        // an unplanned input
//   const int y = m.tensor({.sizes = {2}, .memory_id = 1});        // planned at offset 0
//   m.buffer_sizes = {0, 8};
//   m.call("test::double", "out", {x, y, y});
//   m.inputs = {x};
//   m.outputs = {y};
//   Bytes file = builder.finish();
//
// Nothing is checked: invalid fields are written as given, and a field that is std::nullopt is left
// out of the file.

#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schema/extended_header.h"
#include "schema/program_generated.h"
#include "test/support/aligned_bytes.h"

namespace taper::test {

struct TensorSpec {
  int8_t scalar_type = 6;  // float32
  std::optional<std::vector<int32_t>> sizes = std::vector<int32_t>{};
  std::optional<std::vector<uint8_t>> dim_order =
      std::nullopt;  // 0, 1, 2, ... unless no_dim_order.
  bool no_dim_order = false;
  int32_t storage_offset = 0;
  int8_t layout = 0;
  int8_t dynamism = 0;  // 1 is dynamic with an upper bound.
  uint32_t data_buffer_idx = 0;
  std::optional<uint32_t> memory_id = std::nullopt;  // Planned if given.
  uint64_t offset = 0;                               // In its planned buffer.
  // Extra tensor info is written if any of these differs from its default.
  std::string name = {};
  int8_t location = 0;  // 1 is external.
  int8_t device = 0;
  uint64_t mutable_segment = 0;
};

struct ValueSpec {
  wire::KernelTypes type = wire::KernelTypes::Null;
  int64_t integer = 0;
  double real = 0;
  std::optional<std::string> text = std::nullopt;
  std::optional<std::vector<int64_t>> ints = std::nullopt;
  std::optional<std::vector<double>> reals = std::nullopt;
  std::optional<std::vector<uint8_t>> bools = std::nullopt;
  std::optional<std::vector<int32_t>> tensors = std::nullopt;
  TensorSpec tensor = {};
  bool absent = false;  // Whether the union has a type but no value.
};

struct InstructionSpec {
  wire::InstructionArguments type = wire::InstructionArguments::KernelCall;
  int32_t a = 0;  // The operator, delegate, source of a move, condition of a jump, or freed value.
  int32_t b = 0;  // The target of a move or jump.
  std::optional<std::vector<int32_t>> args = std::nullopt;
  bool absent = false;
};

struct DelegateSpec {
  std::optional<std::string> id = std::nullopt;
  bool no_payload = false;
  int8_t location = 0;  // 1 is a segment.
  uint32_t index = 0;
  std::vector<std::pair<std::optional<std::string>, std::optional<Bytes>>> specs = {};
};

struct MethodSpec {
  std::optional<std::string> name = std::nullopt;
  std::vector<ValueSpec> values = {};
  std::vector<int32_t> inputs = {};
  std::vector<int32_t> outputs = {};
  std::vector<std::vector<InstructionSpec>> chains = {{}};
  std::vector<std::pair<std::optional<std::string>, std::string>> operators = {};
  std::vector<DelegateSpec> delegates = {};
  std::vector<int64_t> buffer_sizes = {0};
  std::vector<std::pair<int32_t, int8_t>> buffer_devices = {};  // Buffer index, device type.
  bool no_values = false;
  bool no_chains = false;
  bool no_instructions = false;

  // Each of these adds a value and returns its index.
  int none() { return add({}); }
  int integer(int64_t value);
  int boolean(bool value);
  int real(double value);
  int string(std::string value);
  int tensor(TensorSpec tensor);
  int int_list(std::vector<int64_t> slots);
  int real_list(std::vector<double> items);
  int bool_list(std::vector<uint8_t> items);
  int tensor_list(std::vector<int32_t> slots, bool optional = false);
  int add(ValueSpec value);

  // Each of these adds an instruction to the last chain.
  void call(const std::string& op, const std::string& overload, std::vector<int32_t> args);
  void delegate(int32_t index, std::vector<int32_t> args);
  void move(int32_t from, int32_t to);
  void jump_false(int32_t condition, int32_t target);
  void free(int32_t value);
};

class ProgramBuilder {
 public:
  // Adds a method; the reference stays valid.
  MethodSpec& method(std::string name);

  // Adds bytes to the constant or the mutable segment; returns their data_buffer_idx.
  uint32_t constant(Bytes bytes, size_t alignment = 16);
  uint32_t mutable_data(Bytes bytes);
  // Adds a segment and returns its index. The segments of constants and of mutable data follow all
  // segments that are added here.
  uint32_t segment(Bytes bytes);

  // Returns the file. The fields below may be changed before.
  Bytes finish() const;

  uint32_t version = 0;
  const char* identifier = "ET12";
  bool no_plans = false;
  bool no_inline_data = false;
  std::vector<std::optional<Bytes>> inline_data = {};
  std::vector<std::pair<std::optional<std::string>, uint32_t>> named_data = {};
  // Overrides for fields that finish() would compute.
  std::optional<uint64_t> header_program_size = std::nullopt;
  std::optional<uint64_t> header_segment_base = std::nullopt;
  std::optional<uint64_t> header_segment_bytes = std::nullopt;
  std::optional<uint32_t> header_length = std::nullopt;
  std::optional<std::vector<uint64_t>> constant_offsets = std::nullopt;
  std::optional<std::vector<uint64_t>> mutable_offsets = std::nullopt;
  std::optional<std::pair<uint64_t, uint64_t>> constant_segment_place = std::nullopt;

 private:
  struct Pool {
    Bytes bytes;
    std::vector<uint64_t> offsets = {0};
  };

  std::list<MethodSpec> methods_;
  std::vector<Bytes> segments_;
  Pool constants_;
  Pool mutables_;
};

struct ExternalTensor {
  std::optional<std::string> key = std::nullopt;
  uint32_t segment = 0;
  bool has_layout = true;
  int8_t scalar_type = 6;
  std::optional<std::vector<int32_t>> sizes = std::nullopt;
  std::optional<std::vector<uint8_t>> dim_order = std::nullopt;
};

// Builds a .ptd file.
struct PtdBuilder {
  std::vector<Bytes> segments = {};
  std::vector<ExternalTensor> tensors = {};
  uint32_t version = 0;
  const char* identifier = "FT01";
  std::optional<std::vector<std::pair<uint64_t, uint64_t>>> segment_places = std::nullopt;
  std::optional<uint64_t> header_flatbuffer_offset = std::nullopt;
  std::optional<uint64_t> header_flatbuffer_size = std::nullopt;
  std::optional<uint64_t> header_segment_base = std::nullopt;
  std::optional<uint64_t> header_segment_bytes = std::nullopt;

  // Adds a float32 tensor in a separate segment.
  void tensor(std::string key, std::vector<int32_t> sizes, const std::vector<float>& data);

  Bytes finish() const;
};

// The bytes of numbers in memory.
template <typename T>
Bytes bytes_of(const std::vector<T>& items) {
  const uint8_t* first = reinterpret_cast<const uint8_t*>(items.data());
  return Bytes(first, first + items.size() * sizeof(T));
}

}  // namespace taper::test
