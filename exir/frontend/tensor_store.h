// The saved tensors of a program by name, whichever way the archive stores them. A tensor is handed
// out as bytes that are dense in some order of dimensions: in place in the mapped file where that
// is possible, else as a copy (a slice, an expanded tensor, a misaligned address).
//
// Tied weights stay tied: the same window into the same storage gives the same pointer.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "exir/frontend/json.h"
#include "exir/frontend/pickle.h"
#include "exir/frontend/zip_archive.h"
#include "exir/ir/graph.h"

namespace taper::exir {

class TensorStore {
 public:
  explicit TensorStore(Budget& budget) : budget_(&budget) {}

  // Opens the form of PyTorch 2.9 and later: `config` lists the tensors, and beside it lies one raw
  // file per storage. `archive` must outlive the store.
  void open_config(const ZipArchive& archive, const ZipMember& config);
  // Opens the form up to 2.8: `member` is itself an archive, written by torch.save.
  void open_pickle(const ZipArchive& archive, const ZipMember& member);

  bool has(std::string_view name) const { return entries_.count(name) != 0; }

  struct Tensor {
    TensorType type;  // Static sizes.
    TensorData data;
  };
  // REQUIRES has(name). Throws Failure naming the tensor if its bytes are not there.
  Tensor load(std::string_view name);

 private:
  struct Entry {
    Json config;           // open_config: its PayloadMeta, which load() reads.
    uint32_t pickled = 0;  // open_pickle: the object's id.
  };

  TensorView view_of(const Entry& entry) const;
  const Blob& storage(const std::string& path);
  TensorData copy_dense(const TensorView& view, const Blob& storage, uint64_t numel);

  Budget* budget_;
  std::string folder_;                   // Folder of the storages, with a slash at its end.
  const ZipArchive* archive_ = nullptr;  // The archive that holds the storages.
  std::unique_ptr<ZipArchive> inner_;    // open_pickle: the archive in the archive.
  std::unique_ptr<JsonDocument> config_;
  std::unique_ptr<Pickle> pickle_;
  std::unordered_map<std::string_view, Entry> entries_;
  std::unordered_map<std::string, Blob> storages_;
  std::map<std::string, TensorData> copies_;  // By window_key().
};

}  // namespace taper::exir
