// The saved tensors of a program by name, whichever way the archive stores them. A tensor is handed
// out as bytes that are dense in some order of dimensions: in place in the mapped file where that
// is possible, else as a copy (a slice, an expanded tensor, a misaligned address).
//
// Tied weights stay tied: the same window into the same storage gives the same pointer.

#pragma once

#include <map>
#include <memory>
#include <optional>
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

  // A tensor that is saved as an object of a class of its own, such as torchao's, as a store of the
  // tensors that it holds. REQUIRES is_object(name). Throws Failure.
  bool is_object(std::string_view name) const;
  std::unique_ptr<TensorStore> open_object(std::string_view name) const;
  // Of such a store: the name of the class, whether an attribute is there and not None, one that is
  // a number.
  std::string_view class_name() const;
  bool has_attribute(std::string_view name) const;
  std::optional<int64_t> number(std::string_view name) const;

  bool has(std::string_view name) const { return entries_.count(name) != 0; }

  struct Tensor {
    TensorType type;  // Static sizes.
    TensorData data;
    int64_t float8 = 0;  // The code of the dtype if the bytes are 8-bit floats.
  };
  // REQUIRES has(name). Throws Failure naming the tensor if its bytes are not there.
  Tensor load(std::string_view name);

 private:
  struct Entry {
    Json config;           // open_config: its PayloadMeta, which load() reads.
    uint32_t pickled = 0;  // open_pickle: the object's id.
  };

  const PickleObject& open_archive(const ZipArchive& archive, const ZipMember& member,
                                   Objects objects);
  const PickleObject* attribute(std::string_view name) const;
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
