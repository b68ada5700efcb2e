// Finds the parts of an exported program in whichever archive form it was saved. The form is
// recognised by the members of the archive, never by a file name or version:
//
//   raw       2.9 and later  <root>/models/M.json, data/weights/M_weights_config.json, a file each
//   pickled   2.8            <root>/models/M.json, data/weights/M.pt
//   old zip   2.6, 2.7       serialized_exported_program.json, serialized_state_dict.pt

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exir/frontend/json.h"
#include "exir/frontend/tensor_store.h"
#include "exir/frontend/zip_archive.h"

namespace taper::exir {

struct Container {
  // Opens an archive and finds the names of its models. Throws Failure.
  Container(const Blob& file, Budget& budget);

  // Finds the parts of a model; empty selects the only one. Throws Failure.
  void open(std::string_view model);

  std::string form;                 // "pt2 archive, raw weights", ...
  std::vector<std::string> models;  // Names of all models in the archive.
  std::string program_name;         // The program's JSON member, for messages.
  std::unique_ptr<ZipArchive> archive;
  std::unique_ptr<JsonDocument> program;
  TensorStore weights;    // Parameters and persistent buffers.
  TensorStore constants;  // Lifted constants and other buffers.

 private:
  void open_pt2(const std::string& name);
  void open_old_zip();
  // Returns whether the tensors are pickled.
  bool open_store(TensorStore& store, const std::string& stem, const char* config);
  void check_markers() const;
  void find_models();
  std::string choose_model(std::string_view wanted) const;

  std::string root_;  // The folder of all members; empty in an old zip.
  bool is_old_ = false;
};

}  // namespace taper::exir
