// Span: a pointer and a count, the view of an array that the runtime's public calls take and
// return.
//
// It owns nothing. Indexing is unchecked; whoever creates a Span is responsible for its size.

#pragma once

#include <cstddef>
#include <type_traits>

namespace taper {

template <typename T>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(T* data, size_t size) : data_(data), size_(size) {}

  // From any contiguous container, and from Span<T> to Span<const T>.
  template <typename Container,
            typename = std::enable_if_t<std::is_convertible_v<
                std::remove_pointer_t<decltype(std::declval<Container&>().data())> (*)[], T (*)[]>>>
  constexpr Span(Container& other) : data_(other.data()), size_(other.size()) {}
  template <
      typename Container,
      typename = std::enable_if_t<std::is_convertible_v<
          std::remove_pointer_t<decltype(std::declval<const Container&>().data())> (*)[], T (*)[]>>,
      typename = void>
  constexpr Span(const Container& other) : data_(other.data()), size_(other.size()) {}
  template <size_t N>
  constexpr Span(T (&array)[N]) : data_(array), size_(N) {}

  constexpr T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](size_t i) const { return data_[i]; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr Span subspan(size_t first, size_t count) const { return {data_ + first, count}; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace taper
