// The packed weights of all graphs of a backend: finds them in a file or in the program, and writes
// the file.

#pragma once

#include <mutex>
#include <optional>

#include "backends/xnnpack/runtime/packed/packed_weights.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "taper/file_data_loader.h"

namespace taper::xnnpack {

// Threads: all functions may be called at the same time.
class PackedCache {
 public:
  // If `path` is null, no file is read or written. It must outlive this.
  explicit PackedCache(const char* path) : path_(path) {}

  // A list item: the packed weights of a graph.
  struct User {
    PackedWeights weights;
    PackedFile embedded;
    User* next = nullptr;
  };

  // To be called before XNNPACK builds a graph.
  Status begin(User& user, const Subgraph& graph, const BackendInitContext& context,
               uint64_t packing);
  // To be called after it has been built, and remove() before it is deleted.
  void add(User& user);
  void remove(User& user);

  Status save();
  PackedReport report() const;

 private:
  // The packed weights in the program; without entries if there are none that can be used.
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
  bool is_complete_ = true;  // Everything that has been packed has been written.
};

}  // namespace taper::xnnpack
