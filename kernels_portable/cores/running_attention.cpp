// The steps of a running softmax; see running_attention.h.

#include "kernels_portable/cores/running_attention.h"

namespace taper::portable {

template <typename T>
bool RunningAttention<T>::begin(const T* scores, int64_t count) {
  T largest = maximum_;
  for (int64_t i = 0; i < count && !std::isnan(largest); ++i) {
    if (!(scores[i] <= largest)) largest = scores[i];
  }
  if (largest == -INFINITY) return false;
  scale(std::exp(maximum_ - largest));
  maximum_ = largest;
  return true;
}

template <typename T>
void RunningAttention<T>::add(T score, const T* row) {
  const T weight = std::exp(score - maximum_);
  total_ += weight;
  for (int64_t d = 0; d < length_; ++d) sums_[d] += weight * row[d];
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
