// Products of rows of int8 and weights of integers, summed as integers, on processors that multiply
// bytes: x86-64 with AVX-512 VNNI.
//
// With q the input's integers, u = q + 128, and w the weights' integers less their zero points,
//
//     sum over k of (q - zero) * scale * w * s  =  scale * (sum of u * w * s - (128 + zero) * sum of w * s)
//
// where s is the scale of the group in which k lies.

#pragma once

#include <cstdint>

#include "kernels_portable/cores/quantized/packed_matrix.h"
#include "taper/thread_pool.h"

namespace taper::optimized {

// Whether the processor and the arguments of taper::packed_linear_rows fit. REQUIRES: a prepared
// layer.
bool takes_byte_products(const portable::PackedLinear& layer);

// The bytes of scratch that the two functions below share, and that each thread needs.
int64_t byte_rows_size(const portable::PackedLinear& layer);
int64_t byte_thread_size(const portable::PackedLinear& layer);

// Arranges rows of the input, and a row of ones behind them, in the order in which the weights of a
// vector come out.
void arrange_byte_rows(const portable::PackedLinear& layer, uint8_t* to);

// Computes columns [begin, end) of the result.
void multiply_byte_rows(const portable::PackedLinear& layer, const uint8_t* arranged, int64_t begin,
                        int64_t end, void* scratch);

}  // namespace taper::optimized
