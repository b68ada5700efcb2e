// taper quantize: a .pt2 and samples in, a .pt2 with integers out.

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "exir/bounds.h"
#include "exir/quantize/quantize.h"
#include "tools/atomic_file.h"
#include "tools/backends.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/model_arguments.h"
#include "tools/options.h"
#include "tools/quantize/graph_engine.h"
#include "tools/quantize/report_text.h"
#include "tools/quantize/samples.h"
#include "tools/system.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

std::vector<Option> options_of_model() {
  std::vector<Option> options = model_options();
  options[0].help =
      "Of an archive with several models: the one to quantise; the result holds it alone";
  return options;
}

CommandLine describe() {
  return {"taper quantize",
          "Quantises a PyTorch .pt2. The result is a .pt2 with the nodes that PyTorch's own tools\n"
          "write: PyTorch loads it, and taper export, check and inspect take it.\n\n"
          "By default activations and weights become int8, with scales found on samples: a .npz,\n"
          "a .npy or a folder of them, with one array for each input whose first dimension counts\n"
          "the samples, or with a file or a folder for each sample. A few dozen are enough.\n",
          "MODEL.pt2 -o OUT.pt2 [--calibrate SAMPLES] [OPTIONS]",
          {{"Quantise",
            {{"o,output", "Where to write the .pt2", "OUT.pt2"},
             {"c,calibrate",
              "Samples; needed unless --dynamic, --weights or --float16 is given; with them, the "
              "report has times of layers",
              "PATH"},
             {"dynamic", "Linear layers choose the scales of their inputs in each run"},
             {"weights",
              "Only weights: int8, int4, or int4:32 with a scale for 32 elements; with "
              "--dynamic, the weights of linear layers",
              "FORMAT"},
             {"float16",
              "Only weights, each of them: stored as float16, computed with as float32; needs no "
              "samples"},
             {"embeddings", "Tables of embeddings, too: int8, int4 or int4:32", "FORMAT"},
             {"target",
              "What runs the result, here and in the end: " + backend_names() +
                  "; default: the first backend that this build has",
              "NAME"},
             {"keep", "Leave these layers in float; nodes or modules, as the report names them",
              "A,B"}}},
           {"Model", options_of_model()},
           {"Accuracy",
            {{"max-drop",
              "Leave the most sensitive layers in float until at most this part of the "
              "rows has another first choice: 0.5%",
              "PERCENT"},
             {"labels", "A .npy with the right class of each row: --max-drop is then of accuracy",
              "FILE"},
             {"sensitivity", "Measure what each layer does to the outputs by itself"},
             {"ranges", "minmax, percentile, entropy, mse; default: the best for each tensor",
              "METHOD"},
             {"without", "Methods not to try: equalise, smooth, bias, feedback", "A,B"}}},
           {"Report",
            {{"json", "Write the report as JSON", "FILE"},
             {"html", "Write the report as a page", "FILE"},
             {"quiet", "Print one line"}}}}};
}

exir::WeightFormat format_of(const std::string& text, const char* option) {
  if (text == "int8") return {8, 0};
  if (text == "int4") return {4, 0};
  if (text.rfind("int4:", 0) == 0) {
    const std::string digits = text.substr(5);
    const bool number = !digits.empty() && digits.size() < 6 &&
                        digits.find_first_not_of("0123456789") == std::string::npos;
    const int group = number ? std::stoi(digits) : 0;
    if (group >= 1) return {4, group};
  }
  throw UsageError(std::string("--") + option + " must be int8, int4 or int4:GROUP, not '" + text +
                   "'");
}

double drop_of(std::string text) {
  if (!text.empty() && text.back() == '%') text.pop_back();
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !(percent >= 0 && percent <= 100)) {
    throw UsageError("--max-drop must be a percentage such as 0.5%, not '" + text + "'");
  }
  return percent / 100;
}

void set_methods(const CommandLine& line, exir::QuantizeRequest& request) {
  if (line.given("ranges")) {
    using exir::RangeMethod;
    const std::string wanted = line.text("ranges");
    for (const RangeMethod method : {RangeMethod::kMinMax, RangeMethod::kPercentile,
                                     RangeMethod::kEntropy, RangeMethod::kSquaredError}) {
      if (wanted == exir::to_text(method)) request.ranges = method;
    }
    if (!request.ranges) {
      throw UsageError("--ranges must be minmax, percentile, entropy or mse, not '" + wanted + "'");
    }
  }
  for (const std::string& name : line.list("without")) {
    bool* method = name == "equalise"   ? &request.equalise
                   : name == "smooth"   ? &request.smooth
                   : name == "bias"     ? &request.correct_bias
                   : name == "feedback" ? &request.feedback
                                        : nullptr;
    if (method == nullptr) {
      throw UsageError("--without takes equalise, smooth, bias and feedback, not '" + name + "'");
    }
    *method = false;
  }
}

// Refuses what has no meaning beside --float16, which rounds neither activations nor to integers.
void check_float16(const CommandLine& line) {
  for (const char* other : {"dynamic", "weights", "ranges", "without"}) {
    if (!line.given(other)) continue;
    throw UsageError(std::string("--float16 and --") + other +
                     " exclude each other: with float16 only weights change, and none become "
                     "integers");
  }
}

// Kernels have no static int8: there, weights alone pay.
void set_scheme(const CommandLine& line, bool kernels_only, exir::QuantizeRequest& request) {
  const bool float16 = line.given("float16");
  if (float16) {
    check_float16(line);
    request.weights = {exir::kHalfBits, 0};
    request.embeddings = request.weights;
  }
  if (line.given("weights")) request.weights = format_of(line.text("weights"), "weights");
  if (line.given("embeddings")) {
    request.embeddings = format_of(line.text("embeddings"), "embeddings");
  }
  if (line.given("dynamic")) {
    request.activations = exir::Activations::kDynamic;
  } else if (line.given("weights") || float16 || kernels_only) {
    request.activations = exir::Activations::kFloat;
  }
  if (request.activations == exir::Activations::kStatic && !line.given("calibrate")) {
    throw UsageError(
        "--calibrate is missing: samples, such as a folder of .npy or .npz files; --dynamic, "
        "--weights and --float16 need none");
  }
  const bool measures = line.given("max-drop") || line.given("sensitivity");
  if (measures && !line.given("calibrate")) {
    throw UsageError("--max-drop and --sensitivity need samples: --calibrate");
  }
}

void write_all(const CommandLine& line, const std::string& from,
               const exir::QuantizeResult& result) {
  QuantizedFile file;
  file.from = from;
  file.to = line.text("output");
  file.bytes_before = static_cast<size_t>(std::filesystem::file_size(system::as_path(file.from)));
  file.bytes_after = static_cast<size_t>(result.file.pieces.size());
  Progress progress;
  OutputFiles files([&](uint64_t done, uint64_t total) { progress.show("writing", done, total); });
  files.add(file.to, result.file.pieces.pieces());
  if (line.given("json")) files.add(line.text("json"), report_json(result.report, file));
  if (line.given("html")) files.add(line.text("html"), report_html(result.report, file));
  files.commit();
  if (!line.given("quiet")) std::printf("%s", report_text(result.report, file).c_str());
}

exir::ExportRequest model_to_quantise(const CommandLine& line) {
  exir::ExportRequest model = model_request(line);
  if (model.methods.size() != 1) {
    throw UsageError("the result holds one model: give one file, and one name after --model");
  }
  return model;
}

// Reads the samples, and holds the bounds against the program's symbols.
void read_calibration(const CommandLine& line, const exir::ExportRequest& model,
                      exir::QuantizeRequest& request) {
  if (!line.given("calibrate") && model.bounds.empty()) return;
  const exir::ExportedProgram program =
      exir::import_pt2(request.path, {.model = request.model, .operators = request.operators});
  try {
    std::vector<std::string> warnings;
    exir::bound_symbols(*program.graph, model.bounds, warnings);
    exir::check_symbols(model.bounds, exir::symbols_of(*program.graph));
  } catch (const exir::Failure& failure) {
    throw naming_the_file(model, failure);
  }
  if (line.given("calibrate")) {
    request.samples = read_samples(line.text("calibrate"), *program.graph);
  }
}

}  // namespace

int quantize_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const auto start = std::chrono::steady_clock::now();
  exir::QuantizeRequest request;
  const exir::ExportRequest model = model_to_quantise(line);
  request.path = model.methods[0].path;
  request.model = model.methods[0].model;
  request.operators = model.operators;
  if (!line.given("output")) throw UsageError("-o is missing: where to write the .pt2");
  std::string target = line.given("target") ? line.text("target") : first_backend();
  compilers_of(target, exir::Numerals::kFloat32,
               "--target");  // Throws if there is no such backend.
  if (target == "portable") target.clear();
  set_scheme(line, target.empty(), request);
  set_methods(line, request);
  if (line.given("max-drop")) request.largest_drop = drop_of(line.text("max-drop"));
  request.sensitivity = line.given("sensitivity");
  request.keep = line.list("keep");
  EngineOptions engine{target.empty() ? "portable" : target, 1};
  engine.bounds = model.bounds;
  request.engine = graph_engine(engine);
  engine.timed = true;
  request.timed_engine = graph_engine(engine);
  std::optional<Progress> progress(std::in_place);
  request.progress = [&](const char* what, size_t done, size_t total) {
    progress->show(what, done, total);
  };
  read_calibration(line, model, request);
  if (line.given("labels")) request.labels = read_labels(line.text("labels"));
  const exir::QuantizeResult result = exir::quantize_program(request);
  progress.reset();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  std::printf("%s  %s  in %s\n", line.text("output").c_str(),
              bytes_text(static_cast<double>(result.file.pieces.size())).c_str(),
              time_text(passed.count()).c_str());
  write_all(line, request.path, result);
  return 0;
}

}  // namespace taper::tools
