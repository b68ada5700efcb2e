// For tests: writes zip archives, well-formed and malformed, and small exported programs in them.

#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "exir/frontend/blob.h"
#include "exir/ir/failure.h"

namespace taper::exir::test {

inline void put(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(i < 8 ? value >> (8 * i) : 0);
}

inline std::string deflate_raw(std::string_view text) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// One member. The fields after `deflated` let a test write headers that contradict the data.
struct Member {
  std::string name;
  std::string data;
  bool deflated = false;
  int64_t claimed_size = -1;   // Stated size of the unpacked data; -1: the true one.
  int64_t header_offset = -1;  // Offset stated in the directory; -1: the true one.
  uint32_t crc_error = 0;      // Flips bits of the checksum.
  uint16_t flags = 0;
  uint16_t method = 0xffff;
  std::string local_name = {};  // Name in the local header; empty: `name`.
};

struct ZipOptions {
  size_t alignment = 64;  // Of each member's data, in bytes.
  bool zip64 = false;
  int64_t count = -1;             // Stated in the end record; -1: the true one.
  int64_t directory_offset = -1;  // The same for the directory's offset.
};

inline std::string zip_of(const std::vector<Member>& members, const ZipOptions& options = {}) {
  std::string out, directory;
  for (const Member& m : members) {
    const std::string packed = m.deflated ? deflate_raw(m.data) : m.data;
    const uint64_t size =
        m.claimed_size < 0 ? m.data.size() : static_cast<uint64_t>(m.claimed_size);
    const uint64_t stored = m.deflated || m.claimed_size < 0 ? packed.size() : size;
    const uint32_t crc = static_cast<uint32_t>(crc32_z(
                             0, reinterpret_cast<const Bytef*>(m.data.data()), m.data.size())) ^
                         m.crc_error;
    const uint16_t method = m.method != 0xffff ? m.method : m.deflated ? 8 : 0;
    const std::string local = m.local_name.empty() ? m.name : m.local_name;
    const uint64_t header =
        m.header_offset < 0 ? out.size() : static_cast<uint64_t>(m.header_offset);
    const size_t extra =
        (options.alignment - (out.size() + 30 + local.size()) % options.alignment) %
        options.alignment;
    put(out, 0x04034b50, 4);
    for (uint64_t field : {uint64_t{20}, uint64_t{m.flags}, uint64_t{method}}) put(out, field, 2);
    put(out, 0, 4);
    put(out, crc, 4);
    put(out, stored, 4);
    put(out, size, 4);
    put(out, local.size(), 2);
    put(out, extra, 2);
    out += local + std::string(extra, '\0') + packed;

    put(directory, 0x02014b50, 4);
    for (uint64_t field : {uint64_t{0}, uint64_t{20}, uint64_t{m.flags}, uint64_t{method}}) {
      put(directory, field, 2);
    }
    put(directory, 0, 4);
    put(directory, crc, 4);
    put(directory, options.zip64 ? 0xffffffff : stored, 4);
    put(directory, options.zip64 ? 0xffffffff : size, 4);
    put(directory, m.name.size(), 2);
    put(directory, options.zip64 ? 28 : 0, 2);
    put(directory, 0, 2 + 2 + 2 + 4);
    put(directory, options.zip64 ? 0xffffffff : header, 4);
    directory += m.name;
    if (!options.zip64) continue;
    put(directory, 1, 2);
    put(directory, 24, 2);
    for (uint64_t field : {size, stored, header}) put(directory, field, 8);
  }
  const uint64_t start =
      options.directory_offset < 0 ? out.size() : static_cast<uint64_t>(options.directory_offset);
  const uint64_t count = options.count < 0 ? members.size() : static_cast<uint64_t>(options.count);
  out += directory;
  const uint64_t end64 = out.size();
  if (options.zip64) {
    put(out, 0x06064b50, 4);
    put(out, 44, 8);
    put(out, 45, 4);
    put(out, 0, 8);
    for (uint64_t field : {count, count, uint64_t{directory.size()}, start}) put(out, field, 8);
    put(out, 0x07064b50, 4);
    put(out, 0, 4);
    put(out, end64, 8);
    put(out, 1, 4);
  }
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, options.zip64 ? 0xffff : count, 2);
  put(out, options.zip64 ? 0xffff : count, 2);
  put(out, options.zip64 ? 0xffffffff : directory.size(), 4);
  put(out, options.zip64 ? 0xffffffff : start, 4);
  put(out, 0, 2);
  return out;
}

// A copy at an address that is a multiple of 64, as a mapped file has.
inline Blob blob_of(std::string_view bytes) {
  const size_t room = bytes.size() + 64;
  auto* start = static_cast<uint8_t*>(::operator new (room, std::align_val_t{64}));
  std::copy(bytes.begin(), bytes.end(), start);
  std::shared_ptr<const void> owner(start,
                                    [](void* p) { ::operator delete (p, std::align_val_t{64}); });
  return {{start, bytes.size()}, owner, 0};
}

inline std::string write_file(const std::string& name, std::string_view bytes) {
  std::string path = ::testing::TempDir() + "taper_frontend_" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

// what() of the Failure that `run` throws; empty if it throws none.
template <typename Run>
std::string failure_of(const Run& run) {
  try {
    run();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

// A program y = relu(x + w), x and w float32[2, 3]; w is parameter "fc.w" in weight_0.
inline std::string small_program() {
  const std::string meta =
      R"({"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}], "requires_grad": false, )"
      R"("device": {"type": "cpu", "index": null}, "strides": [{"as_int": 3}, {"as_int": 1}], )"
      R"("storage_offset": {"as_int": 0}, "layout": 7})";
  return R"({"graph_module": {"graph": {"inputs": [{"as_tensor": {"name": "p_w"}}, )"
         R"({"as_tensor": {"name": "x"}}], "outputs": [{"as_tensor": {"name": "relu"}}], "nodes": [)"
         R"({"target": "torch.ops.aten.add.Tensor", "inputs": [)"
         R"({"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}, )"
         R"({"name": "other", "arg": {"as_tensor": {"name": "p_w"}}, "kind": 1}], )"
         R"("outputs": [{"as_tensor": {"name": "add"}}], "metadata": {"stack_trace": )"
         R"j("File \"net.py\", line 7, in forward\n    return (x + self.w).relu()"}, "name": "add"}, )j"
         R"({"target": "torch.ops.aten.relu.default", "inputs": [)"
         R"({"name": "self", "arg": {"as_tensor": {"name": "add"}}, "kind": 1}], )"
         R"("outputs": [{"as_tensor": {"name": "relu"}}], "metadata": {}, "name": "relu"}], )"
         R"("tensor_values": {"p_w": )" +
         meta + R"(, "x": )" + meta + R"(, "add": )" + meta + R"(, "relu": )" + meta +
         R"(}, "sym_int_values": {}, "sym_bool_values": {}, )"
         R"("is_single_tensor_return": false}, "signature": {"input_specs": [)"
         R"({"parameter": {"arg": {"name": "p_w"}, "parameter_name": "fc.w"}}, )"
         R"({"user_input": {"arg": {"as_tensor": {"name": "x"}}}}], "output_specs": [)"
         R"({"user_output": {"arg": {"as_tensor": {"name": "relu"}}}}]}, "module_call_graph": []}, )"
         R"("opset_version": {"aten": 10}, "range_constraints": {}, )"
         R"("schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"], )"
         R"("torch_version": "2.13.0"})";
}

inline std::string small_config() {
  return R"({"config": {"fc.w": {"path_name": "weight_0", "is_param": true, "use_pickle": false, )"
         R"("tensor_meta": {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}], )"
         R"("strides": [{"as_int": 3}, {"as_int": 1}], "storage_offset": {"as_int": 0}, )"
         R"("layout": 7}}}})";
}

// The members of an archive that holds small_program().
inline std::vector<Member> small_archive(std::string program = small_program(),
                                         std::string config = small_config()) {
  return {{"m/data/weights/weight_0", std::string(24, '\1')},
          {"m/data/weights/model_weights_config.json", std::move(config)},
          {"m/data/constants/model_constants_config.json", R"({"config": {}})"},
          {"m/models/model.json", std::move(program)},
          {"m/archive_format", "pt2"},
          {"m/archive_version", "0"},
          {"m/byteorder", "little"}};
}

}  // namespace taper::exir::test
