// The packed weights of all graphs of a backend: what a file or the program holds of them, and the
// file that is written.

#pragma once

#include <mutex>
#include <optional>

#include "backends/xnnpack/runtime/packed/packed_weights.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "taper/file_data_loader.h"

namespace taper::xnnpack {

// Threads: all may be called at once.
class PackedCache {
 public:
  // `path` may be null: nothing is read or written. It must outlive this.
  explicit PackedCache(const char* path) : path_(path) {}

  // A list item: packed weights that the cache knows of.
  struct User {
    PackedWeights weights;
    PackedFile embedded;
    User* next = nullptr;
  };

  // Before XNNPACK makes a graph of the method.
  Status begin(User& user, const Subgraph& graph, const BackendInitContext& context);
  // Afterwards, if it could; remove() when the graph goes.
  void add(User& user);
  void remove(User& user);

  Status save();
  PackedReport report() const;

 private:
  // What the program holds; no entries if it holds nothing of use.
  PackedFile open_embedded(const BackendInitContext& context);
  void open_file();
  uint64_t program_version() const;
  bool is_kept(const PackedSection& section) const;
  bool is_all_found() const;

  const char* const path_;
  mutable std::mutex mutex_;  // Guards all members below.
  bool is_opened_ = false;
  std::optional<MmapDataLoader> loader_;
  PackedFile file_;
  User* users_ = nullptr;
  PackedReport report_;
  bool is_complete_ = true;  // Nothing has been packed that is not written.
};

}  // namespace taper::xnnpack
