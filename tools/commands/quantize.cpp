// taper quantize: a .pt2 and samples in, a .pt2 with integers out.

#include <chrono>
#include <cstdio>

#include "exir/quantize/quantize.h"
#include "tools/atomic_file.h"
#include "tools/backends.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/graph_engine.h"
#include "tools/model_arguments.h"
#include "tools/options.h"
#include "tools/samples.h"
#include "tools/terminal.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  return {"taper quantize",
          "Quantises a PyTorch .pt2: writes a .pt2 with the nodes that PyTorch's own tools write.\n"
          "taper export, check and inspect take it, and PyTorch loads it.\n\n"
          "Samples are a .npz or a folder of .npy files: one array for each input whose first\n"
          "dimension counts the samples, or a file or folder for each sample. A few dozen do.\n",
          "MODEL.pt2 -o OUT.pt2 --calibrate SAMPLES [OPTIONS]",
          {{"Quantise",
            {{"o,output", "Where to write the .pt2", "OUT.pt2"},
             {"c,calibrate", "A .npz, .npy or folder of samples", "SAMPLES"}}}}};
}

void show_progress(const char* what, size_t done, size_t total) {
  if (!is_terminal(stderr)) return;
  std::fprintf(stderr, "\r\x1b[K%s %zu/%zu", what, done, total);
  if (done == total) std::fputs("\r\x1b[K", stderr);
}

}  // namespace

int quantize_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  exir::QuantizeRequest request;
  request.path = line.file();
  if (!line.given("output")) throw UsageError("-o is missing: where to write the .pt2");
  request.engine = graph_engine({"xnnpack", 1});
  request.progress = show_progress;
  {
    const exir::ExportedProgram program = exir::import_pt2(request.path);
    request.samples = read_samples(line.text("calibrate"), *program.graph);
  }
  const exir::QuantizeResult result = exir::quantize_program(request);
  OutputFiles files;
  files.add(line.text("output"), result.file.pieces.pieces());
  files.commit();
  for (const auto& layer : result.report.layers) {
    std::printf("%s %s %.1f dB\n", layer.name.c_str(), layer.op.c_str(), layer.weight_decibels);
  }
  for (const auto& m : result.report.methods) std::printf("%s\n", m.c_str());
  std::printf("SNR %.1f dB agreement %.3f\n", result.report.difference.decibels(),
              result.report.difference.agreement);
  return 0;
}

}  // namespace taper::tools
