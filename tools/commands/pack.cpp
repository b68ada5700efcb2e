// taper pack: adds weights, packed for this processor's kernels, to a program.

#include <cstdio>
#include <filesystem>
#include <memory>

#include "backends/compilers.h"
#include "exir/emit/program_patch.h"
#include "kernels_portable/kernel_table.h"
#include "signing/signature.h"
#include "taper/module.h"
#include "tools/atomic_file.h"
#include "tools/backends.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/options.h"
#include "tools/program_runner.h"
#include "tools/system.h"
#include "tools/temporary_file.h"
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

std::span<const uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Loads every method of the program, which makes the backend write its packed weights to `path`.
// Returns those bytes; none if the program has no weights that the backend packs.
std::string pack(const exir::FileInMemory& program, const std::string& name,
                 const std::string& weights, const char* backend, const std::string& path) {
  Backends backends({.threads = 1, .packed_paths = {{backend, path}}});
  static const KernelTable tables[] = {portable::portable_kernels()};
  ModuleOptions options;
  options.kernels = tables;
  options.backends = backends.table();
  options.data_path = weights;
  Module module({program.data(), program.size()}, options);
  Status status = module.load();
  for (const std::string& method : module.method_names()) {
    if (status.ok()) status = module.load_method(method);
  }
  if (!status.ok()) throw InputError(load_problem(module, status, name));
  const std::string note = backends.save_packed(name);
  if (std::filesystem::exists(system::as_path(path))) return read_file(path);
  if (note.find("cannot be written") != std::string::npos) throw InputError(note);
  return {};
}

// The devices of this build that can pack weights ahead of time. Throws InputError if there are
// none.
std::vector<const DeviceDescriptor*> packers() {
  std::vector<const DeviceDescriptor*> found;
  for (const DeviceDescriptor* each : backend_devices()) {
    if (each->packed_key != nullptr) found.push_back(each);
  }
  if (!found.empty()) return found;
  std::string remedies;
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    remedies += remedy_for(each->identity.delegate_id);
  }
  throw InputError("no backend of this taper packs weights" + remedies);
}

struct Packed {
  std::string program;
  size_t bytes = 0;  // Size of its packed weights.
};

// Returns the program with the packed weights of each backend.
Packed pack_all(std::string program, const std::string& name, const std::string& weights,
                const TemporaryFile& file) {
  Packed result;
  std::string names;
  for (const DeviceDescriptor* each : packers()) {
    names += (names.empty() ? "" : ",") + std::string(each->identity.name);
    const exir::FileInMemory given(program);
    const std::span<const uint8_t> bytes(given.data(), given.size());
    const exir::FileInMemory plain = exir::with_named_data(bytes, each->packed_key, {}).aligned();
    const std::string packed = pack(plain, name, weights, each->identity.name, file.path);
    system::remove_file(file.path);
    if (packed.empty()) continue;
    result.bytes += packed.size();
    program = exir::with_named_data(bytes, each->packed_key, as_bytes(packed)).joined();
  }
  if (result.bytes == 0) {
    throw InputError("'" + name + "' has no weights to pack: export it with --backend " + names);
  }
  result.program = std::move(program);
  return result;
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
  const Packed packed = pack_all(given, file, line.text("external-weights"), TemporaryFile(output));
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
