// Finds the program and the saved tensors by the names of archive members, form by form.

#include "exir/frontend/container.h"

#include <algorithm>

#include "exir/frontend/file_kind.h"

namespace taper::exir {
namespace {

constexpr std::string_view kOldProgram = "serialized_exported_program.json";
constexpr std::string_view kMarker = "archive_format";

std::string_view strip(std::string_view text) {
  const size_t end = text.find_last_not_of(" \r\n");
  return end == text.npos ? std::string_view() : text.substr(0, end + 1);
}

// The member `archive_format`, which lies in the root folder of a .pt2; null if there is none.
const ZipMember* find_marker(const ZipArchive& archive) {
  for (const ZipMember& member : archive.members()) {
    if (member.name == kMarker || member.name.ends_with("/archive_format")) return &member;
  }
  return nullptr;
}

}  // namespace

Container::Container(const Blob& file, Budget& budget) : weights(budget), constants(budget) {
  if (!looks_like_zip(file.bytes)) refuse_by_content(file.bytes);
  archive = std::make_unique<ZipArchive>(file, budget);
  if (const ZipMember* marker = find_marker(*archive)) {
    if (strip(archive->read(*marker).text()) != "pt2") refuse_by_members(*archive);
    root_ = marker->name.substr(0, marker->name.size() - kMarker.size());
    check_markers();
    find_models();
  } else if (archive->find(kOldProgram)) {
    is_old_ = true;
    models = {"model"};
  } else {
    refuse_by_members(*archive);
  }
}

void Container::open(std::string_view model) {
  const std::string chosen = choose_model(model);
  is_old_ ? open_old_zip() : open_pt2(chosen);
}

void Container::check_markers() const {
  const ZipMember* version = archive->find(root_ + "archive_version");
  if (version && strip(archive->read(*version).text()) != "0") {
    refuse("unknown-version", "has archive version " +
                                  in_quotes(strip(archive->read(*version).text())) +
                                  "; version 0 can be read");
  }
  const ZipMember* order = archive->find(root_ + "byteorder");
  if (order && strip(archive->read(*order).text()) != "little") {
    refuse("big-endian", "was written on a big-endian machine, which cannot be read");
  }
}

void Container::find_models() {
  const std::string folder = root_ + "models/";
  for (const ZipMember& member : archive->members()) {
    if (!member.name.starts_with(folder) || !member.name.ends_with(".json")) continue;
    const size_t size = member.name.size() - folder.size() - 5;
    models.emplace_back(member.name.substr(folder.size(), size));
  }
  std::sort(models.begin(), models.end());
  if (models.empty()) refuse_by_members(*archive);
}

std::string Container::choose_model(std::string_view wanted) const {
  if (wanted.empty() && models.size() == 1) return models[0];
  if (std::find(models.begin(), models.end(), wanted) != models.end()) return std::string(wanted);
  std::string list;
  for (const std::string& name : models) list += (list.empty() ? "" : ", ") + in_quotes(name);
  if (wanted.empty()) {
    refuse("several-models", "holds several models: " + list, {}, "name one with --model");
  }
  refuse("no-such-model", "holds no model " + in_quotes(wanted) + ", only " + list);
}

void Container::open_pt2(const std::string& name) {
  program_name = root_ + "models/" + name + ".json";
  program = std::make_unique<JsonDocument>(archive->read_text(*archive->find(program_name)),
                                           program_name);
  const bool pickled_weights =
      open_store(weights, root_ + "data/weights/" + name, "_weights_config.json");
  const bool pickled_constants =
      open_store(constants, root_ + "data/constants/" + name, "_constants_config.json");
  form = pickled_weights || pickled_constants ? "pt2 archive, pickled weights"
                                              : "pt2 archive, raw weights";
}

bool Container::open_store(TensorStore& store, const std::string& stem, const char* config) {
  if (const ZipMember* listed = archive->find(stem + config)) {
    store.open_config(*archive, *listed);
    return false;
  }
  const ZipMember* pickled = archive->find(stem + ".pt");
  if (pickled) store.open_pickle(*archive, *pickled);
  return pickled != nullptr;
}

void Container::open_old_zip() {
  form = "zip of PyTorch 2.6 and 2.7";
  program_name = kOldProgram;
  program =
      std::make_unique<JsonDocument>(archive->read_text(*archive->find(kOldProgram)), program_name);
  if (archive->find("serialized_state_dict.json")) {
    refuse("unknown-version", "was saved by a PyTorch older than 2.3", {},
           "export it again with PyTorch 2.6 or later");
  }
  if (const ZipMember* member = archive->find("serialized_state_dict.pt")) {
    weights.open_pickle(*archive, *member);
  }
  if (const ZipMember* member = archive->find("serialized_constants.pt")) {
    constants.open_pickle(*archive, *member);
  }
}

}  // namespace taper::exir
