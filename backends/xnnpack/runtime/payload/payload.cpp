// Finds the parts of a payload by its header and verifies the FlatBuffers part. Old files have no
// header; there the whole payload is FlatBuffers.

#include "backends/xnnpack/runtime/payload/payload.h"

#include <cstring>

#include "backends/xnnpack/payload_format.h"
#include "backends/xnnpack/runtime/graph/subgraph.h"

namespace taper::xnnpack {
namespace {

constexpr size_t kHeaderBytes = 30;
constexpr size_t kAlignment = 8;  // The size of the widest field in the schema.
constexpr uint32_t kMaxTables = 1000000;

template <typename T>
T read_at(Span<const uint8_t> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

bool has_magic(Span<const uint8_t> bytes) {
  return bytes.size() >= kHeaderBytes && std::memcmp(bytes.data() + 4, "XH00", 4) == 0;
}

bool has_identifier(Span<const uint8_t> graph, const char* identifier) {
  return graph.size() >= 8 && std::memcmp(graph.data() + 4, identifier, 4) == 0;
}

bool within(uint64_t offset, uint64_t size, size_t whole) {
  return offset <= whole && size <= whole - offset;
}

}  // namespace

Result<Payload> open_payload(Span<const uint8_t> bytes) {
  Span<const uint8_t> graph = bytes;
  Payload payload;
  if (has_magic(bytes)) {
    const uint32_t offset = read_at<uint32_t>(bytes, 10);
    const uint32_t size = read_at<uint32_t>(bytes, 14);
    const uint32_t data_offset = read_at<uint32_t>(bytes, 18);
    const uint64_t data_size = read_at<uint64_t>(bytes, 22);
    TAPER_XNNPACK_REQUIRE(offset >= kHeaderBytes && within(offset, size, bytes.size()),
                          "the graph lies outside the XNNPACK payload");
    TAPER_XNNPACK_REQUIRE(
        data_offset >= offset + uint64_t{size} && within(data_offset, data_size, bytes.size()),
        "the constants lie outside the XNNPACK payload");
    graph = bytes.subspan(offset, size);
    payload.constants = bytes.subspan(data_offset, static_cast<size_t>(data_size));
  }
  payload.is_taper = has_identifier(graph, kTaperIdentifier);
  TAPER_XNNPACK_REQUIRE(
      payload.is_taper || has_identifier(graph, "XN01") || has_identifier(graph, "XN00"),
      "the payload is not an XNNPACK payload");
  TAPER_XNNPACK_REQUIRE(reinterpret_cast<uintptr_t>(graph.data()) % kAlignment == 0,
                        "the XNNPACK payload is not aligned");
  flatbuffers::Verifier verifier(graph.data(), graph.size(), 64, kMaxTables);
  TAPER_XNNPACK_REQUIRE(verifier.VerifyBuffer<wire::XNNGraph>(nullptr),
                        "the XNNPACK payload is damaged");
  payload.graph = wire::GetXNNGraph(graph.data());
  payload.description = graph;
  return payload;
}

}  // namespace taper::xnnpack
