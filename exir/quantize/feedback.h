// Rounds the columns of a matrix one after another and lets the columns that follow make up for
// each error, as GPTQ does: what counts is the error of the products with the inputs seen.

#pragma once

#include "exir/quantize/weights.h"

namespace taper::exir {

// `elements` is [rows, columns], `squares` is X^T X of its inputs: [columns, columns].
QuantisedWeight round_with_feedback(const std::vector<float>& elements, size_t rows, size_t columns,
                                    const std::vector<double>& squares, const WeightFormat& format);

}  // namespace taper::exir
