// The conversion loops behind loader() and storer(): one per compute type and dtype.

#include "kernels_portable/engine/convert.h"

namespace taper {

#ifdef TAPER_SEEN_DTYPES
DtypeSet seen_dtypes = 0;
#endif

}  // namespace taper

namespace taper::portable {
namespace {

template <typename C, typename T>
void load_run(const void* from, int64_t stride, int64_t count, C* to) {
  const T* source = static_cast<const T*>(from);
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = convert<C>(source[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = convert<C>(source[i * stride]);
  }
}

// A bool is read as a byte: what a file or a caller stores there may be neither 0 nor 1.
template <typename C>
void load_bool_run(const void* from, int64_t stride, int64_t count, C* to) {
  const uint8_t* source = static_cast<const uint8_t*>(from);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<C>(source[i * stride] != 0);
}

template <typename C, typename T>
void store_run(const C* from, int64_t count, void* to, int64_t stride) {
  T* target = static_cast<T*>(to);
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) target[i] = convert<T>(from[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) target[i * stride] = convert<T>(from[i]);
  }
}

}  // namespace

template <typename C>
LoadFunction<C> loader(ScalarType type) {
  if (!is_valid(type) || is_complex(type)) return nullptr;
  return with_type(type, [](auto example) -> LoadFunction<C> {
    using T = decltype(example);
    if constexpr (std::is_same_v<T, bool>) {
      return load_bool_run<C>;
    } else {
      return load_run<C, T>;
    }
  });
}

template <typename C>
StoreFunction<C> storer(ScalarType type) {
  if (!is_valid(type) || is_complex(type)) return nullptr;
  return with_type(
      type, [](auto example) -> StoreFunction<C> { return store_run<C, decltype(example)>; });
}

template LoadFunction<float> loader<float>(ScalarType);
template LoadFunction<double> loader<double>(ScalarType);
template LoadFunction<int64_t> loader<int64_t>(ScalarType);
template StoreFunction<float> storer<float>(ScalarType);
template StoreFunction<double> storer<double>(ScalarType);
template StoreFunction<int64_t> storer<int64_t>(ScalarType);

}  // namespace taper::portable
