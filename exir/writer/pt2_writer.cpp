// Lays out the members of the archive: weights, their lists, the program, and what is copied.

#include "exir/writer/pt2_writer.h"

#include <map>

#include "exir/frontend/container.h"
#include "exir/frontend/import.h"
#include "exir/frontend/mapped_file.h"
#include "exir/frontend/refuse.h"
#include "exir/writer/json_text.h"
#include "exir/writer/node_text.h"
#include "exir/writer/program_text.h"
#include "exir/writer/zip_writer.h"

namespace taper::exir {
namespace {

struct Original {
  Original(const std::string& path, std::string_view model)
      : file(naming(path, [&] { return map_file(path); })),
        budget(file.bytes.size()),
        container(file, budget) {
    container.open(model);
    text = container.archive->read_text(*container.archive->find(container.program_name));
    name = model.empty() ? container.models[0] : std::string(model);
  }
  Blob file;
  Budget budget;
  Container container;
  Blob text;  // The program's.
  std::string name;
};

// Adds the tensors that lie under one folder and the list that names them.
class Store {
 public:
  Store(ZipWriter& zip, std::string folder, std::string stem)
      : zip_(zip), folder_(std::move(folder)), stem_(std::move(stem)) {}

  void add(const SavedWeight& saved) {
    const std::string quoted = json_quote(saved.fqn);
    const std::string meta = tensor_meta_text(saved.value->type, saved.float8);
    const std::string path = json_quote(path_of(*saved.value));
    if (!list_.empty()) list_ += ", ";
    list_ += quoted + ": ";
    list_ += object_text({{"path_name", path},
                          {"is_param", saved.parameter ? "true" : "false"},
                          {"use_pickle", "false"},
                          {"tensor_meta", meta}});
  }

  void finish(const std::string& config) {
    zip_.add_text(folder_ + config, "{\"config\": {" + list_ + "}}");
  }

 private:
  // Tied tensors share a file.
  const std::string& path_of(const Value& value) {
    const auto key = std::make_pair(value.data.data, value.data.bytes);
    std::string& path = paths_[key];
    if (!path.empty() && value.data.bytes != 0) return path;
    path = stem_ + std::to_string(count_++);
    zip_.add(folder_ + path, {value.data.data, value.data.bytes});
    return path;
  }

  ZipWriter& zip_;
  std::string folder_, stem_;
  std::map<std::pair<const uint8_t*, size_t>, std::string> paths_;
  size_t count_ = 0;
  std::string list_;
};

// Copies the sample inputs and the user's own files, whichever form the archive has.
void copy_rest(const Original& from, const std::string& root, ZipWriter& zip) {
  const std::string samples = "data/sample_inputs/" + from.name + ".pt";
  for (const ZipMember& member : from.container.archive->members()) {
    const std::string name(member.name);
    std::string to;
    if (name == root + samples || name == "serialized_example_inputs.pt") to = samples;
    if (name.starts_with(root + "extra/")) to = name.substr(root.size());
    if (root == "model/" && name.starts_with("extra_files/")) to = "extra/" + name.substr(12);
    if (!to.empty()) zip.add_text(root + to, from.container.archive->read(member).text());
  }
}

}  // namespace

Pt2File write_pt2(const std::string& path, std::string_view model, const Graph& graph) {
  const auto original = std::make_shared<Original>(path, model);
  ImportOptions options;
  options.model = model;
  options.operators = graph.operators();
  const std::unique_ptr<Graph> imported = import_pt2(path, options).graph;
  const ProgramText program = changed_program(original->text.text(), *imported, graph);
  const std::string models = "models/" + original->name + ".json";
  const std::string& member = original->container.program_name;
  std::string root = "model/";
  if (member.ends_with(models)) root = member.substr(0, member.size() - models.size());
  ZipWriter zip;
  Store weights(zip, root + "data/weights/", "weight_");
  Store constants(zip, root + "data/constants/", "tensor_");
  for (const SavedWeight& saved : program.saved) {
    (saved.with_weights ? weights : constants).add(saved);
  }
  weights.finish(original->name + "_weights_config.json");
  constants.finish(original->name + "_constants_config.json");
  zip.add_text(root + models, program.text);
  copy_rest(*original, root, zip);
  zip.add_text(root + "archive_format", "pt2");
  zip.add_text(root + "archive_version", "0");
  zip.add_text(root + "byteorder", "little");
  zip.add_text(root + ".data/version", "6\n");
  return {zip.finish(), original};
}

}  // namespace taper::exir
