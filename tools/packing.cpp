// Packs the weights of a program: loads it with each backend and takes the file that it writes.

#include "tools/packing.h"

#include <filesystem>
#include <span>
#include <vector>

#include "backends/compilers.h"
#include "exir/emit/program_patch.h"
#include "kernels_portable/kernel_table.h"
#include "taper/module.h"
#include "tools/atomic_file.h"
#include "tools/backends.h"
#include "tools/error.h"
#include "tools/program_runner.h"
#include "tools/system.h"
#include "tools/temporary_file.h"

namespace taper::tools {
namespace {

std::span<const uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
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

}  // namespace

std::string packed_weights_of(const exir::FileInMemory& program, const std::string& name,
                              const std::string& weights, const char* backend,
                              const std::string& path) {
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

PackedProgram with_packed_weights(std::string program, const std::string& name,
                                  const std::string& weights, const std::string& output) {
  const TemporaryFile file(output);
  PackedProgram result;
  std::string names;
  for (const DeviceDescriptor* each : packers()) {
    names += (names.empty() ? "" : ",") + std::string(each->identity.name);
    const exir::FileInMemory given(program);
    const std::span<const uint8_t> bytes(given.data(), given.size());
    const exir::FileInMemory plain = exir::with_named_data(bytes, each->packed_key, {}).aligned();
    const std::string packed =
        packed_weights_of(plain, name, weights, each->identity.name, file.path);
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

}  // namespace taper::tools
