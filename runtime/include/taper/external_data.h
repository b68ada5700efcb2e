// Named tensors and blobs outside the program: NamedDataMap is the interface that a Method uses,
// ExternalData implements it for a .ptd file.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "taper/data_loader.h"
#include "taper/diagnostics.h"
#include "taper/scalar_type.h"
#include "taper/span.h"
#include "taper/status.h"

namespace taper {

namespace wire::ptd {
struct FlatTensor;
}

// Named bytes, with a layout if they are a tensor. The views are valid as long as the map.
struct NamedData {
  Span<const uint8_t> bytes;
  bool is_tensor = false;
  ScalarType scalar_type = ScalarType::kByte;
  Span<const int32_t> sizes;
  Span<const uint8_t> dim_order;
  bool is_in_program = false;  // True if it is from the program file, not from a map.
};

// Derive from it to merge several files or to fetch weights from elsewhere. The bytes that find()
// returns for a tensor must be at least as many as its sizes require, aligned to its element size.
//
// Threads: find() may be called from several threads at once.
class NamedDataMap {
 public:
  // Returns kNotFound if there is no such key.
  virtual Result<NamedData> find(std::string_view key) const = 0;

 protected:
  ~NamedDataMap() = default;
};

// A .ptd file, verified whole when it is opened. Immutable after build_index().
class ExternalData final : public NamedDataMap {
 public:
  // Verifies the file. `loader` must outlive the result.
  // Returns kInvalidExternalData, with a text that names the rule, if a rule of the format is
  // broken; otherwise the loader's errors.
  static Result<ExternalData> open(DataLoader& loader, Diagnostics diagnostics = {});

  size_t num_keys() const;
  // REQUIRES: i < num_keys().
  std::string_view key(size_t i) const;
  Result<NamedData> find(std::string_view key) const override;

  // Makes find() a binary search. A file whose keys are sorted needs no index and leaves `index`
  // unused. `index` has num_keys() entries and must outlive this.
  // Returns kInvalidExternalData if a key occurs twice, kInvalidArgument if `index` is too short.
  Status build_index(Span<uint32_t> index);

 private:
  ExternalData() = default;
  size_t position(std::string_view key) const;
  std::string_view sorted_key(size_t i) const;

  const wire::ptd::FlatTensor* root_ = nullptr;
  Span<const uint8_t> segments_;  // The bytes from the segment base on.
  Span<const uint32_t> index_;
  bool sorted_ = false;
};

}  // namespace taper
