// Runs the layers of the front end in order: file, archive, program.

#include "exir/frontend/import.h"

#include "exir/frontend/mapped_file.h"
#include "exir/frontend/program_import.h"
#include "exir/frontend/refuse.h"

namespace taper::exir {
namespace {

// The archive, from memory or from disk.
Blob archive_of(const std::string& path, const Blob& file) {
  return file.bytes.data() == nullptr ? map_file(path) : file;
}

ExportedProgram import_archive(const Blob& file, const ImportOptions& options) {
  Budget budget(file.bytes.size());
  Container container(file, budget);
  container.open(options.model);
  ExportedProgram out;
  try {
    out.graph =
        import_program(container, budget, options.operators, &out.warnings, options.problems);
    const Json root = container.program->root();
    const Json version = json_need(root, "schema_version");
    out.schema_major = static_cast<int>(json_int(json_need(version, "major"), "major"));
    out.schema_minor = static_cast<int>(json_int(json_need(version, "minor"), "minor"));
    out.torch_version = std::string(json_text_or(root, "torch_version", "2.4 or older"));
    if (const std::optional<Json> verifiers = json_find(root, "verifiers")) {
      for (const Json item : json_array(*verifiers, "verifiers")) {
        out.verifiers.emplace_back(json_text(item, "verifier"));
      }
    }
  } catch (const Failure& failure) {
    if (!failure.diagnostics().empty()) {
      const Diagnostic& said = failure.diagnostics()[0];
      if (said.where.empty() && said.id == "bad-json") {
        refuse(said.id, said.message, container.program_name, said.remedy);
      }
    }
    throw;
  }
  out.container = container.form;
  out.models = container.models;
  return out;
}

}  // namespace

ExportedProgram import_pt2(const std::string& path, const ImportOptions& options) {
  return naming(path, [&] { return import_archive(archive_of(path, options.file), options); });
}

std::vector<std::string> model_names(const std::string& path, const Blob& file) {
  return naming(path, [&] {
    const Blob archive = archive_of(path, file);
    Budget budget(archive.bytes.size());
    return Container(archive, budget).models;
  });
}

}  // namespace taper::exir
