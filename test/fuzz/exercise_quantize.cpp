// Exercises the quantiser with an archive and one small sample: what it writes must be an archive
// that the front end reads.

#include <cstdlib>
#include <string>
#include <vector>

#include "exir/frontend/import.h"
#include "exir/quantize/quantize.h"
#include "test/fuzz/backend_hooks.h"
#include "test/fuzz/exercise.h"
#include "test/fuzz/method_run.h"
#include "test/fuzz/random.h"
#include "test/fuzz/scratch_file.h"
#include "tools/error.h"
#include "tools/quantize/graph_engine.h"

namespace taper::fuzz {
namespace {

constexpr uint64_t kMaxInstructions = 2000;
constexpr int64_t kLargestSample = 1 << 14;  // Elements of one input.

// A tensor for an input, with 2 for each size that may change; without bytes if it is too large.
exir::SampleTensor sample_for(const exir::TensorType& type, Random& random) {
  exir::SampleTensor sample;
  sample.dtype = type.dtype;
  int64_t count = 1;
  for (const exir::Sym& size : type.sizes) {
    sample.sizes.push_back(size.is_int() ? size.as_int() : 2);
    const int64_t last = sample.sizes.back();
    if (last < 0 || last > kLargestSample || (count *= last) > kLargestSample) return {};
  }
  sample.bytes.resize(static_cast<size_t>(count) * element_size(type.dtype));
  // The top byte of a float stays small, so that no sample is NaN or huge.
  for (char& byte : sample.bytes) byte = static_cast<char>(random.below(64));
  return sample;
}

// Throws tools::InputError if an input is too large.
exir::Sample sample_of(const exir::Graph& graph, Random& random) {
  exir::Sample sample;
  for (const exir::Argument& input : graph.inputs) {
    if (!input.is_value() || input.value()->kind != exir::ValueKind::kTensor) continue;
    sample.push_back(sample_for(input.value()->type, random));
    if (sample.back().sizes.size() == input.value()->type.rank()) continue;
    throw tools::InputError("an input is too large for a mutant's sample");
  }
  return sample;
}

void draw_scheme(Random& random, exir::QuantizeRequest& request) {
  switch (random.below(4)) {
    case 0:
      request.activations = exir::Activations::kStatic;
      break;
    case 1:
      request.activations = exir::Activations::kDynamic;
      request.weights = {4, 8};
      break;
    case 2:
      request.activations = exir::Activations::kFloat;
      request.embeddings = exir::WeightFormat{8, 0};
      break;
    default:
      request.activations = exir::Activations::kFloat;
      request.weights = {exir::kHalfBits, 0};
      request.embeddings = request.weights;
  }
  request.equalise = random.one_in(2);
  request.smooth = random.one_in(2);
  request.correct_bias = random.one_in(2);
  request.feedback = random.one_in(2);
  request.sensitivity = random.one_in(8);
}

// What is written can be read.
void check_written(const std::string& file) {
  exir::ImportOptions options;
  options.file.bytes = {reinterpret_cast<const uint8_t*>(file.data()), file.size()};
  static_cast<void>(exir::import_pt2("quantised", options));
}

}  // namespace

bool exercise_quantize(std::string_view file) {
  const ScratchFile scratch("taper_fuzz.pt2", file);
  Random random = drawn_from(file);
  exir::QuantizeRequest request;
  request.path = scratch.path();
  draw_scheme(random, request);
  tools::EngineOptions engine{"portable", 1};
  const std::span<const BackendHooks* const> backends = backend_hooks();
  if (!backends.empty() && random.one_in(2)) {
    engine.backend = backends[random.below(backends.size())]->name;
  }
  engine.max_memory_bytes = MethodRun::kMaxBytes;
  engine.max_instructions = kMaxInstructions;
  request.engine = tools::graph_engine(engine);
  std::string written;
  try {
    const exir::ExportedProgram program = exir::import_pt2(request.path);
    request.samples = {sample_of(*program.graph, random)};
    const exir::QuantizeResult result = exir::quantize_program(request);
    written = result.file.pieces.joined();
  } catch (const exir::Failure&) {
    return false;
  } catch (const tools::InputError&) {  // It does not run on the sample.
    return false;
  }
  check_written(written);  // What it throws ends the fuzzer.
  return true;
}

}  // namespace taper::fuzz
