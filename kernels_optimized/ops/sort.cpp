// sort and argsort of float32, int32, and int64 whose values fit int32, by radix sort: each element
// is mapped to an unsigned 32-bit key with the same order, with its index in the lower half of a
// 64-bit entry; the entries are sorted by eight bits of the key at a time, from the lowest on, each
// time stably.

#include "kernels_optimized/cores/sort.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_portable/engine/dims.h"

namespace taper::optimized {
namespace {

constexpr int64_t kFewElements = 48;  // For shorter rows the portable kernel's heap is as fast.
constexpr int kBits = 8, kDigits = 4;
constexpr size_t kBuckets = size_t{1} << kBits;

uint32_t key_of(float x) {
  uint32_t bits;
  const float value = x == 0 ? 0.0f : x;  // -0 and +0 are equal.
  std::memcpy(&bits, &value, sizeof(bits));
  return value != value ? UINT32_MAX : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
uint32_t key_of(int32_t x) { return static_cast<uint32_t>(x) ^ 0x80000000u; }
// REQUIRES: have_keys().
uint32_t key_of(int64_t x) { return key_of(static_cast<int32_t>(x)); }

// Whether every element has such a key.
template <typename T>
bool have_keys(const T*, int64_t) {
  return true;
}
bool have_keys(const int64_t* x, int64_t count) {
  return std::all_of(x, x + count, [](int64_t i) { return static_cast<int32_t>(i) == i; });
}

using Counts = uint32_t[kDigits][kBuckets];

size_t digit_of(uint64_t entry, int digit) {
  return static_cast<size_t>(entry >> (32 + kBits * digit)) & (kBuckets - 1);
}

// Writes the entries of a row and counts their digits.
template <typename T>
void read_row(const T* row, int64_t length, int64_t step, bool descending, uint64_t* entries,
              Counts& counts) {
  std::memset(&counts, 0, sizeof(counts));
  for (int64_t i = 0; i < length; ++i) {
    const uint32_t key = descending ? ~key_of(row[i * step]) : key_of(row[i * step]);
    entries[i] = static_cast<uint64_t>(key) << 32 | static_cast<uint64_t>(i);
    for (int d = 0; d < kDigits; ++d) ++counts[d][digit_of(entries[i], d)];
  }
}

// Sorts `entries`, with `other` as scratch. Returns which of the two holds the result.
uint64_t* sort_entries(uint64_t* entries, uint64_t* other, int64_t length, Counts& counts) {
  for (int d = 0; d < kDigits; ++d) {
    if (counts[d][digit_of(entries[0], d)] == length) continue;  // All digits are equal.
    uint32_t first = 0;
    for (uint32_t& count : counts[d]) first += std::exchange(count, first);
    for (int64_t i = 0; i < length; ++i) other[counts[d][digit_of(entries[i], d)]++] = entries[i];
    std::swap(entries, other);
  }
  return entries;
}

struct Rows {
  portable::AroundDim around;
  bool descending;
  int64_t count;  // How many elements of each row are wanted.
};

template <typename T>
void sort_as(const Rows& rows, const T* x, uint64_t* entries, T* values, int64_t* indices) {
  const int64_t length = rows.around.size, step = rows.around.inner;
  Counts counts;
  for (int64_t line = 0; line < rows.around.outer * step; ++line) {
    const T* row = x + line / step * length * step + line % step;
    read_row(row, length, step, rows.descending, entries, counts);
    const uint64_t* sorted = sort_entries(entries, entries + length, length, counts);
    const int64_t to = line / step * rows.count * step + line % step;
    for (int64_t i = 0; i < rows.count; ++i) {
      const auto at = static_cast<int64_t>(sorted[i] & UINT32_MAX);
      indices[to + i * step] = at;
      if (values != nullptr) values[to + i * step] = row[at * step];
    }
  }
}

template <typename T>
bool sort_typed(const Rows& rows, const Tensor& self, uint64_t* entries, Tensor* values,
                Tensor& indices) {
  const T* x = self.const_data_ptr<T>();
  T* to = values != nullptr ? values->mutable_data_ptr<T>() : nullptr;
  if (!have_keys(x, self.numel())) return false;
  sort_as<T>(rows, x, entries, to, indices.mutable_data_ptr<int64_t>());
  return true;
}

}  // namespace

bool sort_rows(KernelContext& context, const Tensor& self, int64_t dim, bool descending,
               int64_t count, Tensor* values, Tensor& indices) {
  const ScalarType type = self.scalar_type();
  const bool has_type =
      type == ScalarType::kFloat || type == ScalarType::kInt || type == ScalarType::kLong;
  if (!has_type || self.dim() == 0 || !self.is_contiguous() || !indices.is_contiguous() ||
      indices.scalar_type() != ScalarType::kLong ||
      (values != nullptr && (values->scalar_type() != type || !values->is_contiguous())) ||
      !portable::wrap_dim(dim, self.dim(), &dim).ok()) {
    return false;
  }
  Rows rows = {portable::around_dim(self, dim), descending, count};
  if (self.numel() == 0 || rows.around.size < kFewElements || rows.around.size > INT32_MAX ||
      count < 0 || count > rows.around.size) {
    return false;
  }
  portable::Sizes sizes;
  for (int64_t d = 0; d < self.dim(); ++d) sizes.push(d == dim ? count : self.size(d));
  const size_t bytes = 2 * static_cast<size_t>(rows.around.size) * sizeof(uint64_t);
  auto* entries = static_cast<uint64_t*>(context.allocate_temp(bytes));
  if (entries == nullptr || !indices.resize(sizes).ok() ||
      (values != nullptr && !values->resize(sizes).ok())) {
    return false;
  }
  if (type == ScalarType::kFloat) return sort_typed<float>(rows, self, entries, values, indices);
  if (type == ScalarType::kInt) return sort_typed<int32_t>(rows, self, entries, values, indices);
  return sort_typed<int64_t>(rows, self, entries, values, indices);
}

namespace {

// The size of `dim`; -1 if there is no such dimension.
int64_t length_of(const Tensor& self, int64_t dim) {
  return self.dim() > 0 && portable::wrap_dim(dim, self.dim(), &dim).ok() ? self.size(dim) : -1;
}

bool fast_sort(KernelContext& context, const Tensor& self, int64_t dim, bool descending,
               Tensor& values, Tensor& indices) {
  return sort_rows(context, self, dim, descending, length_of(self, dim), &values, indices);
}

bool fast_sort_stable(KernelContext& context, const Tensor& self, std::optional<bool>, int64_t dim,
                      bool descending, Tensor& values, Tensor& indices) {
  return fast_sort(context, self, dim, descending, values, indices);
}

bool fast_argsort(KernelContext& context, const Tensor& self, bool, int64_t dim, bool descending,
                  Tensor& indices) {
  return sort_rows(context, self, dim, descending, length_of(self, dim), nullptr, indices);
}

}  // namespace

extern const Kernel kSortValues, kSortValuesStable, kArgsortStableOut;
const Kernel kSortValues = overlay<fast_sort, portable::kSortValues>("aten::sort.values");
const Kernel kSortValuesStable =
    overlay<fast_sort_stable, portable::kSortValuesStable>("aten::sort.values_stable");
const Kernel kArgsortStableOut =
    overlay<fast_argsort, portable::kArgsortStableOut>("aten::argsort.stable_out");

}  // namespace taper::optimized
