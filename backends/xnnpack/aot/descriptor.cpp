// The compiler half of the backend's descriptor: its options, and the description of a payload.

#include "backends/xnnpack/descriptor.h"

#include <cstring>
#include <map>

#include "backends/xnnpack/aot/xnnpack_compiler.h"
#include "backends/xnnpack/schema_generated.h"
#include "exir/delegate/compiler_descriptor.h"

namespace taper::xnnpack {
namespace {

using exir::CompileOption;

constexpr CompileOption kOptions[] = {
    {.key = kMinElements,
     .kind = CompileOption::Kind::kInteger,
     .most = INT32_MAX,
     .standard = 4096,
     .help = "Least number of elements for which a call of plain arithmetic pays"},
    {.key = kWidenFloat16,
     .standard = 1,
     .help = "Computes float16 as float32; with 0, kernels compute it"},
    {.key = kSplitWeights,
     .standard = 1,
     .help = "Convolutions of int8 whose weights have zero points multiply integers, in two parts; "
             "with 0 floats, in half the file"},
    {.key = kShareWorkspace,
     .reader = CompileOption::Reader::kDevice,
     .help = "Shares memory for intermediate results with all delegates that set this flag"},
    {.key = kPreferHalf,
     .reader = CompileOption::Reader::kDevice,
     .help = "Processors that can compute in float16 do; as --precision f16"},
    {.key = kPreferBfloat,
     .reader = CompileOption::Reader::kDevice,
     .help = "Processors with products of bfloat16 use them; as --precision bf16"},
};

std::shared_ptr<const exir::BackendCompiler> make(const exir::CompileOptions& options) {
  return std::make_shared<XnnpackCompiler>(options);
}

// The FlatBuffers part of a payload; null if it is missing or damaged.
const wire::XNNGraph* find_graph(std::span<const uint8_t> payload) {
  constexpr size_t kHeaderBytes = 30, kOffsetAt = 10;
  if (payload.size() >= kHeaderBytes && std::memcmp(payload.data() + 4, "XH00", 4) == 0) {
    uint32_t place[2];  // The start and the size of the part.
    std::memcpy(place, payload.data() + kOffsetAt, sizeof(place));
    if (place[0] > payload.size() || place[1] > payload.size() - place[0]) return nullptr;
    payload = payload.subspan(place[0], place[1]);
  }
  if (reinterpret_cast<uintptr_t>(payload.data()) % alignof(uint64_t) != 0) return nullptr;
  flatbuffers::Verifier verifier(payload.data(), payload.size());
  return verifier.VerifyBuffer<wire::XNNGraph>(nullptr) ? wire::GetXNNGraph(payload.data())
                                                        : nullptr;
}

// Describes a payload: "3 nodes: 2 Conv2d, 1 Add".
std::string inspect(std::span<const uint8_t> payload, CompileSpecs) {
  const wire::XNNGraph* graph = find_graph(payload);
  if (graph == nullptr) return "damaged";
  std::map<std::string, size_t> kinds;
  const size_t count = graph->nodes() == nullptr ? 0 : graph->nodes()->size();
  for (size_t i = 0; i < count; ++i) {
    const wire::XNode* node = graph->nodes()->Get(static_cast<flatbuffers::uoffset_t>(i));
    ++kinds[wire::EnumNameNodeContent(node->content_type())];
  }
  std::string text = std::to_string(count) + (count == 1 ? " node" : " nodes");
  const char* separator = ": ";
  for (const auto& [name, number] : kinds) {
    text += separator + std::to_string(number) + " " + name;
    separator = ", ";
  }
  return text;
}

constexpr std::string_view kLibraries[] = {"libXNNPACK", "libmicrokernels", "libpthreadpool",
                                           "libcpuinfo"};

}  // namespace

XnnpackCompiler::XnnpackCompiler() : XnnpackCompiler(exir::CompileOptions(kOptions)) {}

extern const exir::CompilerDescriptor kCompiler;
const exir::CompilerDescriptor kCompiler = {kIdentity,
                                            kOptions,
                                            make,
                                            inspect,
                                            "run scripts/deps.sh xnnpack, then build",
                                            kLibraries,
                                            /*parts=*/nullptr,
                                            /*link_parts=*/nullptr,
                                            kPreferHalf,
                                            kPreferBfloat};

}  // namespace taper::xnnpack
