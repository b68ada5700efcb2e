// The steps of a running softmax; see running_attention.h.

#include "kernels_portable/cores/running_attention.h"

#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {

template <typename T>
bool RunningAttention<T>::weigh(T* scores, int64_t count) {
  T largest = maximum_;
  for (int64_t i = 0; i < count && !std::isnan(largest); ++i) {
    if (!(scores[i] <= largest)) largest = scores[i];
  }
  if (largest == -INFINITY) return false;
  scale(std::exp(maximum_ - largest));
  maximum_ = largest;
  for (int64_t i = 0; i < count; ++i) scores[i] = exp_of(scores[i] - largest);
  for (int64_t i = 0; i < count; ++i) total_ += scores[i];
  return true;
}

// Four keys at a time, since the sums are in memory.
template <typename T>
void RunningAttention<T>::add(const T* weights, int64_t count, const T* values, int64_t stride) {
  T* const sums = sums_;
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const T w[] = {weights[i], weights[i + 1], weights[i + 2], weights[i + 3]};
    const T *a = values + i * stride, *b = a + stride, *c = b + stride, *e = c + stride;
    for (int64_t d = 0; d < length_; ++d) {
      sums[d] += (w[0] * a[d] + w[1] * b[d]) + (w[2] * c[d] + w[3] * e[d]);
    }
  }
  for (; i < count; ++i) {
    const T* row = values + i * stride;
    for (int64_t d = 0; d < length_; ++d) sums[d] += weights[i] * row[d];
  }
}

template <typename T>
bool RunningAttention<T>::finish() {
  if (total_ == T{0}) return false;
  scale(1 / total_);
  return true;
}

template <typename T>
void RunningAttention<T>::scale(T factor) {
  total_ *= factor;
  for (int64_t d = 0; d < length_; ++d) sums_[d] *= factor;
}

template class RunningAttention<float>;
template class RunningAttention<double>;

}  // namespace taper::portable
