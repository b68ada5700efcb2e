// The mean and the variance of elements by two passes. The second pass sums the deviations, too:
// what they are off zero corrects the mean, so that a small spread around a large mean is exact.
//
//     MOMENTS(element, n, begin, mean, rest, squares)
//
// `element` is an expression of k. The mean is `mean` + `rest`, `squares` the sum of the squared
// deviations from it; a deviation is exact as (x - mean) - rest.

#define MOMENTS(element, n, begin, mean, rest, squares)   \
  {                                                       \
    float sum = 0.0;                                      \
    for (uint k = begin; k < n; k += LANES) sum += element; \
    mean = sum_of_lanes(sum) / float(n);                  \
    vec2 sums = vec2(0.0);                                \
    for (uint k = begin; k < n; k += LANES) {             \
      float d = element - mean;                           \
      sums += vec2(d, d * d);                             \
    }                                                     \
    sums = sum_of_lanes(sums);                            \
    rest = sums.x / float(n);                             \
    squares = max(sums.y - sums.x * rest, 0.0);           \
    if (is_nan(sums.y)) squares = sums.y;                 \
  }
