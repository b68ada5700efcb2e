// taper pack: adds weights, packed for this processor's kernels, to a program.

#include <cstdio>

#include "exir/emit/program_file.h"
#include "signing/signature.h"
#include "taper/module.h"
#include "tools/atomic_file.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/options.h"
#include "tools/packing.h"
#include "tools/program_runner.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  return {"taper pack",
          "Adds a second copy of the weights to a .pte, in the layout that a backend's kernels\n"
          "for this processor need. On this processor the program is then loaded without packing\n"
          "or copying weights; elsewhere, and with another build of the backend, it runs as\n"
          "before. Packing again replaces the packed weights. Pack again if the weights of a\n"
          "packed file are changed by other means.\n",
          "FILE.pte --for this-cpu [OPTIONS]",
          {{"Pack",
            {{"for", "The processor, which must be this-cpu", "CPU"},
             {"o,output", "The file to write; default: replace FILE.pte", "OUT.pte"},
             {"w,external-weights", "The .ptd that belongs to the program", "W.ptd"}}}}};
}

}  // namespace

int pack_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const std::string file = line.file();
  if (line.text("for") != "this-cpu") {
    throw UsageError("--for names the processor; it must be this-cpu");
  }
  const std::string output = line.given("output") ? line.text("output") : file;
  std::string given = read_file(file);
  const Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(given.data()), given.size());
  const size_t unsigned_size = without_signature(bytes).size();
  const bool was_signed = unsigned_size != given.size();
  given.resize(unsigned_size);
  {
    // Refuse a file that is not a program before anything reads it as one.
    const exir::FileInMemory program(given);
    Module module({program.data(), program.size()}, {});
    const Status status = module.load();
    if (!status.ok()) throw InputError(load_problem(module, status, file));
  }
  const PackedProgram packed =
      with_packed_weights(given, file, line.text("external-weights"), output);
  OutputFiles files;
  files.add(output, packed.program);
  files.commit();
  std::printf("%s: %s, of which %s are packed weights for this processor\n", output.c_str(),
              bytes_text(static_cast<double>(packed.program.size())).c_str(),
              bytes_text(static_cast<double>(packed.bytes)).c_str());
  if (was_signed) print_note("the signature is gone, since the file has changed: sign it again");
  return 0;
}

}  // namespace taper::tools
