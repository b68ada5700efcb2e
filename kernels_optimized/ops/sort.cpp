// sort, argsort and the general form of topk, by keys: each element is mapped to an unsigned number
// with the same order, which is combined with its position to an entry, so that no two entries are
// equal and any algorithm keeps the order of equal elements.
//
// Rows are sorted by radix: by eight bits of the key at a time, from the lowest on, each time
// stably. Rows that are too long for temp memory are sorted in the memory of the result. If few
// elements are wanted, entries that may be among the first are collected until there is no room,
// and the others are dropped. Short rows are sorted several at a time, in vectors.

#include "kernels_optimized/cores/sort.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>

#include "kernels_optimized/cores/sort_keys.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_portable/engine/dims.h"

namespace taper::optimized {
namespace {

constexpr int64_t kFewElements = 48;  // For shorter rows the portable kernel's heap is as fast.
constexpr int kBits = 8;
constexpr size_t kBuckets = size_t{1} << kBits;

template <typename Entry>
using Counts = uint32_t[sizeof(typename Entry::Key)][kBuckets];

template <typename Entry>
size_t digit_of(const Entry& entry, size_t digit) {
  return static_cast<size_t>(entry.key() >> (kBits * digit)) & (kBuckets - 1);
}

// Sorts `entries`, which are in the order of their positions, with `other` as scratch. Returns
// which of the two holds the result.
template <typename Entry>
Entry* sort_by_radix(Entry* entries, Entry* other, int64_t length) {
  Counts<Entry> counts;
  std::memset(&counts, 0, sizeof(counts));
  for (int64_t i = 0; i < length; ++i) {
    for (size_t d = 0; d < std::size(counts); ++d) ++counts[d][digit_of(entries[i], d)];
  }
  for (size_t d = 0; d < std::size(counts); ++d) {
    if (counts[d][digit_of(entries[0], d)] == length) continue;  // All digits are equal.
    uint32_t first = 0;
    for (uint32_t& count : counts[d]) first += std::exchange(count, first);
    for (int64_t i = 0; i < length; ++i) other[counts[d][digit_of(entries[i], d)]++] = entries[i];
    std::swap(entries, other);
  }
  return entries;
}

// Sorts entries without other memory: exchanges them into one bucket for each value of a digit, the
// highest first, and sorts the buckets.
template <typename Entry>
void sort_by_exchange(Entry* entries, int64_t length, size_t digits) {
  constexpr int64_t kFewEntries = 256;
  if (length < kFewEntries || digits == 0) return std::sort(entries, entries + length);
  int64_t next[kBuckets] = {}, end[kBuckets];
  for (int64_t i = 0; i < length; ++i) ++next[digit_of(entries[i], digits - 1)];
  int64_t sum = 0;
  for (size_t b = 0; b < kBuckets; ++b) {
    end[b] = sum + next[b];
    next[b] = std::exchange(sum, end[b]);
  }
  for (size_t b = 0; b < kBuckets; ++b) {
    while (next[b] < end[b]) {
      const size_t home = digit_of(entries[next[b]], digits - 1);
      if (home == b) {
        ++next[b];
      } else {
        std::swap(entries[next[b]], entries[next[home]++]);
      }
    }
  }
  int64_t first = 0;
  for (const int64_t last : end) {
    if (last > first + 1) sort_by_exchange(entries + first, last - first, digits - 1);
    first = last;
  }
}

struct Rows {
  portable::AroundDim around;
  bool descending;
  int64_t count;  // How many elements of each row are wanted.

  int64_t lines() const { return around.outer * around.inner; }
  // Where a line begins in a tensor that has `size` elements along the dimension.
  int64_t start(int64_t line, int64_t size) const {
    return line / around.inner * size * around.inner + line % around.inner;
  }
};

// A row of a tensor of T, as entries.
template <typename T, typename Entry>
struct Row {
  const T* data;
  int64_t length;
  int64_t step;
  bool descending;

  Entry entry(int64_t i) const {
    const auto key = static_cast<typename Entry::Key>(key_of(data[i * step]));
    return Entry(descending ? static_cast<typename Entry::Key>(~key) : key, i);
  }
};

// Leaves the first `count` entries of the row in `entries`, in order; there is room for `room`.
template <typename T, typename Entry>
void select(const Row<T, Entry>& row, int64_t count, Entry* entries, int64_t room) {
  int64_t held = 0;
  bool bounded = false;
  typename Entry::Key bound = 0;
  const auto drop = [&] {
    std::nth_element(entries, entries + count - 1, entries + held);
    held = count;
    bound = entries[count - 1].key();
    bounded = true;
  };
  for (int64_t i = 0; i < row.length; ++i) {
    const Entry entry = row.entry(i);
    if (bounded && entry.key() >= bound) continue;  // Of equal elements the first counts.
    entries[held++] = entry;
    if (held == room) drop();
  }
  if (held > count) drop();
  std::sort(entries, entries + count);
}

// The ways to sort a row, and the entries of temp memory that each needs.
enum class Way { kRadix, kSelect, kInPlace, kColumns };
struct Plan {
  Way way;
  int64_t entries;
};

Plan plan_of(const Rows& rows, size_t entry_size) {
  constexpr int64_t kMostBytes = int64_t{1} << 20;  // What applications usually provide.
  const int64_t length = rows.around.size, count = rows.count;
  const auto size = static_cast<int64_t>(entry_size);
  const int64_t some = count + std::max<int64_t>(count, 256);
  if (some < length) return {Way::kSelect, some};
  // A network compares more than a radix sort moves, if rows are long or lanes are empty.
  const int64_t lines = rows.lines();
  const int64_t longest = lines < 3 ? kFewElements : lines < kSortColumns ? 128 : 512;
  if (entry_size == sizeof(uint64_t) && length <= longest && find_sort_columns() != nullptr) {
    return {Way::kColumns, kSortColumns * length};
  }
  if (2 * length * size <= kMostBytes) return {Way::kRadix, 2 * length};
  return {Way::kInPlace, 0};
}

// Sorts the whole row into its contiguous indices: the entries themselves lie there at first, or,
// if they are larger, positions whose elements are compared.
template <typename T, typename Entry>
void sort_in_place(const Row<T, Entry>& row, int64_t* indices) {
  if constexpr (sizeof(Entry) == sizeof(int64_t)) {
    auto* entries = reinterpret_cast<Entry*>(indices);
    for (int64_t i = 0; i < row.length; ++i) entries[i] = row.entry(i);
    sort_by_exchange(entries, row.length, sizeof(typename Entry::Key));
    for (int64_t i = 0; i < row.length; ++i) indices[i] = entries[i].position();
  } else {
    for (int64_t i = 0; i < row.length; ++i) indices[i] = i;
    std::sort(indices, indices + row.length,
              [&](int64_t a, int64_t b) { return row.entry(a) < row.entry(b); });
  }
}

// Writes the entries of a row to a column of those that are sorted at once.
template <typename T>
void fill_column(const void* row, int64_t step, int64_t length, NarrowEntry::Key flipped,
                 NarrowEntry* column) {
  const T* from = static_cast<const T*>(row);
  for (int64_t i = 0; i < length; ++i) {
    const auto key = static_cast<NarrowEntry::Key>(key_of(from[i * step]));
    column[i * kSortColumns] = NarrowEntry(key ^ flipped, i);
  }
}

// Writes the elements at `count` positions; both the elements and the results are `step` apart.
template <typename Bits>
void copy_chosen(const void* row, int64_t step, const int64_t* positions, int64_t count, void* to) {
  for (int64_t i = 0; i < count; ++i) {
    static_cast<Bits*>(to)[i * step] = static_cast<const Bits*>(row)[positions[i * step] * step];
  }
}

// What differs between dtypes.
struct ColumnType {
  size_t size;
  void (*fill)(const void*, int64_t, int64_t, NarrowEntry::Key, NarrowEntry*);
  void (*copy)(const void*, int64_t, const int64_t*, int64_t, void*);
};

template <typename T>
constexpr ColumnType column_type() {
  using Bits =
      std::conditional_t<sizeof(T) == 8, uint64_t,
                         std::conditional_t<sizeof(T) == 4, uint32_t,
                                            std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
  return {sizeof(T), fill_column<T>, copy_chosen<Bits>};
}

// Sorts kSortColumns rows at a time; the last time some are taken more than once.
void sort_by_columns(const Rows& rows, const ColumnType& type, const void* x, NarrowEntry* entries,
                     void* values, int64_t* indices) {
  const SortColumns sort = find_sort_columns();
  const int64_t length = rows.around.size, step = rows.around.inner, lines = rows.lines();
  const NarrowEntry::Key flipped = rows.descending ? ~NarrowEntry::Key{0} : 0;
  const auto row = [&](int64_t line) {
    return static_cast<const char*>(x) + rows.start(line, length) * static_cast<int64_t>(type.size);
  };
  for (int64_t first = 0; first < lines; first += kSortColumns) {
    for (int64_t k = 0; k < kSortColumns; ++k) {
      type.fill(row(std::min(first + k, lines - 1)), step, length, flipped, entries + k);
    }
    sort(reinterpret_cast<uint64_t*>(entries), length);
    for (int64_t k = 0; k < std::min(kSortColumns, lines - first); ++k) {
      const int64_t to = rows.start(first + k, rows.count);
      for (int64_t i = 0; i < rows.count; ++i) {
        indices[to + i * step] = entries[i * kSortColumns + k].position();
      }
      if (values == nullptr) continue;
      type.copy(row(first + k), step, indices + to, rows.count,
                static_cast<char*>(values) + to * static_cast<int64_t>(type.size));
    }
  }
}

template <typename T, typename Entry>
void sort_as(const Rows& rows, const Plan& plan, const T* x, Entry* entries, T* values,
             int64_t* indices) {
  const int64_t length = rows.around.size, step = rows.around.inner;
  if constexpr (sizeof(Entry) == sizeof(uint64_t)) {
    if (plan.way == Way::kColumns) {
      return sort_by_columns(rows, column_type<T>(), x, entries, values, indices);
    }
  }
  for (int64_t line = 0; line < rows.lines(); ++line) {
    const Row<T, Entry> row = {x + rows.start(line, length), length, step, rows.descending};
    const int64_t to = rows.start(line, rows.count);
    const Entry* sorted = entries;
    if (plan.way == Way::kInPlace) {
      sort_in_place(row, indices + to);
    } else if (plan.way == Way::kSelect) {
      select(row, rows.count, entries, plan.entries);
    } else {
      for (int64_t i = 0; i < length; ++i) entries[i] = row.entry(i);
      sorted = sort_by_radix(entries, entries + length, length);
    }
    for (int64_t i = 0; i < rows.count; ++i) {
      int64_t& at = indices[to + i * step];
      if (plan.way != Way::kInPlace) at = sorted[i].position();
      if (values != nullptr) values[to + i * step] = row.data[at * step];
    }
  }
}

// The operands of a call.
struct Call {
  KernelContext& context;
  const Rows& rows;
  const Tensor& self;
  Tensor* values;
  Tensor& indices;

  template <typename T, typename Entry>
  bool sort() const {
    const Plan plan = plan_of(rows, sizeof(Entry));
    if (plan.way != Way::kColumns && rows.around.size < kFewElements) return false;
    if (plan.way == Way::kInPlace && (rows.around.inner != 1 || rows.count != rows.around.size)) {
      return false;
    }
    Entry* entries = nullptr;
    if (plan.entries != 0) {
      entries = static_cast<Entry*>(
          context.allocate_temp(static_cast<size_t>(plan.entries) * sizeof(Entry)));
      if (entries == nullptr) return false;
    }
    sort_as<T, Entry>(rows, plan, static_cast<const T*>(self.const_data()), entries,
                      values != nullptr ? static_cast<T*>(values->mutable_data()) : nullptr,
                      indices.mutable_data_ptr<int64_t>());
    return true;
  }
};

bool sort_typed(const Call& call) {
  switch (call.self.scalar_type()) {
    case ScalarType::kFloat:
      return call.sort<float, NarrowEntry>();
    case ScalarType::kHalf:
      return call.sort<HalfBits, NarrowEntry>();
    case ScalarType::kBFloat16:
      return call.sort<BFloat16Bits, NarrowEntry>();
    case ScalarType::kInt:
      return call.sort<int32_t, NarrowEntry>();
    case ScalarType::kBool:
    case ScalarType::kByte:
      return call.sort<uint8_t, NarrowEntry>();
    case ScalarType::kDouble:
      return call.sort<double, WideEntry>();
    case ScalarType::kLong:
      if (fit_int32(call.self.const_data_ptr<int64_t>(), call.self.numel())) {
        return call.sort<SmallLong, NarrowEntry>();
      }
      return call.sort<int64_t, WideEntry>();
    default:
      return false;
  }
}

}  // namespace

bool sort_rows(KernelContext& context, const Tensor& self, int64_t dim, bool descending,
               int64_t count, Tensor* values, Tensor& indices) {
  if (self.dim() == 0 || !self.is_contiguous() || !indices.is_contiguous() ||
      indices.scalar_type() != ScalarType::kLong ||
      (values != nullptr &&
       (values->scalar_type() != self.scalar_type() || !values->is_contiguous())) ||
      !portable::wrap_dim(dim, self.dim(), &dim).ok()) {
    return false;
  }
  const Rows rows = {portable::around_dim(self, dim), descending, count};
  if (self.numel() == 0 || rows.around.size > INT32_MAX || count < 1 || count > rows.around.size) {
    return false;
  }
  portable::Sizes sizes;
  for (int64_t d = 0; d < self.dim(); ++d) sizes.push(d == dim ? count : self.size(d));
  return indices.resize(sizes).ok() && (values == nullptr || values->resize(sizes).ok()) &&
         sort_typed({context, rows, self, values, indices});
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
