// Attention over a cache, in one pass over the keys (running_attention.h). Besides the inputs only
// one output row is kept.

#include "kernels_portable/cores/attention.h"

#include <algorithm>
#include <cmath>

#include "kernels_portable/cores/running_attention.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/lanes.h"

namespace taper::portable {
namespace {

constexpr int64_t kMaxElements = 512;  // The largest head; rows of that length fit on the stack.

struct Row {
  int64_t batch;
  int64_t position;
  int64_t head;
};

// How the rows of a four-dimensional tensor are ordered in memory.
struct RowLayout {
  RowLayout(const Tensor& tensor, bool by_head)
      : positions(tensor.size(by_head ? 2 : 1)),
        heads(tensor.size(by_head ? 1 : 2)),
        elements(tensor.size(3)),
        heads_first(by_head) {}

  int64_t index(const Row& row) const {
    if (heads_first) return (row.batch * heads + row.head) * positions + row.position;
    return (row.batch * positions + row.position) * heads + row.head;
  }

  int64_t positions;
  int64_t heads;
  int64_t elements;
  bool heads_first;
};

// One row: in place if it is of type T, otherwise converted or dequantized into `buffer`.
template <typename T>
const T* read_row(const HeadRows& rows, const RowLayout& layout, const Row& row, T* buffer) {
  const ScalarType type = rows.data.scalar_type();
  const int64_t index = layout.index(row);
  const void* from = element(rows.data.const_data(), index * layout.elements, type);
  if (type == native_type<T>()) return static_cast<const T*>(from);
  loader<T>(type)(from, 1, layout.elements, buffer);
  if (rows.scales != nullptr) {
    const T zero_point = static_cast<T>(rows.zero_points->const_data_ptr<int8_t>()[index]);
    const T scale = static_cast<T>(rows.scales->const_data_ptr<float>()[index]);
    for (int64_t d = 0; d < layout.elements; ++d) buffer[d] = (buffer[d] - zero_point) * scale;
  }
  return buffer;
}

template <typename T>
void attend_query(const Attention& a, const Row& at, T scale, Tensor& out) {
  const RowLayout queries(a.query.data, a.heads_first);
  const RowLayout cache(a.key.data, a.heads_first);
  const int64_t length = queries.elements;
  const int64_t key_head = at.head / (queries.heads / cache.heads);
  const int64_t visible = a.start + (a.causal ? at.position + 1 : queries.positions);
  const int64_t keys = a.mask == nullptr ? visible : cache.positions;
  constexpr int64_t kKeys = RunningAttention<T>::kKeys;
  T query_buffer[kMaxElements], buffer[kMaxElements], scores[kKeys], masks[kKeys];
  const T* query = read_row(a.query, queries, at, query_buffer);
  T sums[kMaxElements] = {};
  RunningAttention<T> running(sums, length);
  for (int64_t first = 0; first < keys; first += kKeys) {
    const int64_t count = std::min(kKeys, keys - first);
    const auto key_row = [&](const HeadRows& rows, int64_t i) {
      return read_row<T>(rows, cache, {at.batch, first + i, key_head}, buffer);
    };
    for (int64_t i = 0; i < count; ++i) scores[i] = scale * dot(query, key_row(a.key, i), length);
    if (a.mask != nullptr) {
      const ScalarType mask_type = a.mask->scalar_type();
      const int64_t offset = at.position * keys + first;
      loader<T>(mask_type)(element(a.mask->const_data(), offset, mask_type), 1, count, masks);
      for (int64_t i = 0; i < count; ++i) scores[i] += masks[i];
    }
    if (!running.weigh(scores, count)) continue;
    for (int64_t i = 0; i < count; ++i) running.add(&scores[i], 1, key_row(a.value, i), length);
  }
  running.finish();
  const ScalarType type = out.scalar_type();
  storer<T>(type)(sums, length, element(out.mutable_data(), queries.index(at) * length, type), 1);
}

Status check_rows(const HeadRows& rows, ScalarType type) {
  TAPER_REQUIRE(rows.data.scalar_type() == type, Error::kInvalidType,
                "attention: query, key and value must share one dtype");
  TAPER_REQUIRE(rows.data.dim() == 4, Error::kInvalidArgument,
                "attention: query, key and value must have four dimensions");
  TAPER_REQUIRE(rows.data.is_contiguous(), Error::kNotSupported,
                "attention: tensors must be contiguous");
  if (is_floating(type)) return {};
  TAPER_REQUIRE(type == ScalarType::kChar && rows.zero_points != nullptr && rows.scales != nullptr,
                Error::kInvalidType,
                "attention: rows must be floats, or int8 with zero points and scales");
  for (const Tensor* each : {rows.zero_points, rows.scales}) {
    bool fits = each->dim() == 4 && each->size(3) == 1 && each->is_contiguous();
    for (int64_t d = 0; fits && d < 3; ++d) fits = each->size(d) == rows.data.size(d);
    TAPER_REQUIRE(fits, Error::kInvalidArgument,
                  "attention: there must be one zero point and one scale for each row");
  }
  TAPER_REQUIRE(rows.zero_points->scalar_type() == ScalarType::kChar &&
                    rows.scales->scalar_type() == ScalarType::kFloat,
                Error::kInvalidType, "attention: zero points must be int8 and scales float32");
  return {};
}

Status check_mask(const Attention& a, int64_t queries, int64_t keys) {
  if (a.mask == nullptr) {
    TAPER_REQUIRE(a.start >= 0 && a.start <= keys - queries, Error::kInvalidArgument,
                  "attention: start_pos + positions of query exceeds the cache");
    return {};
  }
  TAPER_REQUIRE(!a.causal, Error::kInvalidArgument,
                "attention: causal and a mask exclude each other");
  TAPER_REQUIRE(is_floating(a.mask->scalar_type()), Error::kInvalidType,
                "attention: the mask must be floating point");
  TAPER_REQUIRE(a.mask->dim() == 2 && a.mask->size(0) == queries && a.mask->size(1) == keys &&
                    a.mask->is_contiguous(),
                Error::kInvalidArgument,
                "attention: the mask must be contiguous, [positions of query, positions of cache]");
  return {};
}

Status check_attention(const Attention& a, const Tensor& out) {
  const ScalarType type = a.query.data.scalar_type();
  for (const HeadRows* rows : {&a.query, &a.key, &a.value}) TAPER_TRY(check_rows(*rows, type));
  TAPER_REQUIRE(out.scalar_type() == (is_floating(type) ? type : ScalarType::kFloat),
                Error::kInvalidType, "attention: out must have query's dtype, float32 for int8");
  TAPER_REQUIRE(out.is_contiguous(), Error::kNotSupported, "attention: out must be contiguous");
  TAPER_REQUIRE(same_sizes(a.key.data, a.value.data), Error::kInvalidArgument,
                "attention: key and value differ in size");
  const RowLayout query(a.query.data, a.heads_first), key(a.key.data, a.heads_first);
  TAPER_REQUIRE(a.key.data.size(0) == a.query.data.size(0) && key.elements == query.elements,
                Error::kInvalidArgument, "attention: query and key differ in batch or head size");
  TAPER_REQUIRE(key.heads > 0 && query.heads % key.heads == 0, Error::kInvalidArgument,
                "attention: heads of query must be a multiple of heads of key");
  TAPER_REQUIRE(query.elements > 0 && query.elements <= kMaxElements, Error::kNotSupported,
                "attention: heads may have up to 512 elements");
  return check_mask(a, query.positions, key.positions);
}

}  // namespace

Status attend(const Attention& a, Tensor& out) {
  TAPER_TRY(check_attention(a, out));
  TAPER_TRY(out.resize(a.query.data.sizes()));
  return with_float_type(out.scalar_type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const RowLayout rows(a.query.data, a.heads_first);
    const double scale = a.scale.value_or(1.0 / std::sqrt(static_cast<double>(rows.elements)));
    for (int64_t batch = 0; batch < out.size(0); ++batch) {
      for (int64_t head = 0; head < rows.heads; ++head) {
        for (int64_t position = 0; position < rows.positions; ++position) {
          attend_query(a, {batch, position, head}, static_cast<T>(scale), out);
        }
      }
    }
    return {};
  });
}

}  // namespace taper::portable
