// The decompositions: composite operators in terms of simpler ones, one rule each.
//
// Each table below lies in the file of its family. A rule may emit composite operators: the pass
// `decompose` applies the tables until nothing changes. Semantics are those of the PyTorch operator
// of the same name.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exir/decompose/builder.h"

namespace taper::exir {

struct Decomposition {
  const char* target;  // Without "aten::"; other namespaces are spelled out.
  void (*rule)(Builder&);
  Precision precision = Precision::kSame;
  bool (*applies)(const Node&) = nullptr;  // If set, calls for which it is false are kept.
};
inline constexpr Precision kWide = Precision::kWide;
using Decompositions = std::vector<Decomposition>;

const Decompositions& alias_rules();  // Operators with several names.
const Decompositions& activation_rules();
const Decompositions& arithmetic_rules();
const Decompositions& attention_rules();
const Decompositions& bag_rules();
const Decompositions& bessel_rules();
const Decompositions& random_rules();
const Decompositions& convolution_rules();
const Decompositions& encoder_rules();
const Decompositions& factory_rules();
const Decompositions& factor_rules();
const Decompositions& gamma_rules();
const Decompositions& float8_rules();
const Decompositions& grid_rules();
const Decompositions& index_rules();
const Decompositions& linalg_rules();
const Decompositions& linear_rules();
const Decompositions& loss_rules();
const Decompositions& lu_rules();
const Decompositions& matrix_rules();
const Decompositions& norm_rules();
const Decompositions& number_rules();
const Decompositions& order_rules();
const Decompositions& piece_rules();
const Decompositions& polynomial_rules();
const Decompositions& pool_rules();
const Decompositions& affine_rules();
const Decompositions& quantized_rules();
const Decompositions& prim_rules();
const Decompositions& recurrent_rules();
const Decompositions& reduce_rules();
const Decompositions& resample_rules();
const Decompositions& segment_rules();
const Decompositions& shape_rules();
const Decompositions& special_rules();

// Of taper::fft_r2c and its like into products with matrices, for runtimes that lack them.
const Decompositions& fourier_product_rules();
// What ExecuTorch's kernels refuse into what they take.
const Decompositions& executorch_rules();
// Of taper::look_up into an index, for runtimes that lack it.
const Decompositions& look_up_rules();
// Into operators that only this runtime has; they take precedence.
const Decompositions& attention_operator_rules();
const Decompositions& scan_rules();
const Decompositions& scattered_bag_rules();

// The operator that this one is another name of; itself if it is none.
std::string main_name(std::string_view target);
// The rule for "aten::silu", or null.
const Decomposition* find_decomposition(std::string_view target);
// The rule that decomposes this call; null if the call is kept.
const Decomposition* find_decomposition(const Node& node);
// The same in one short table, which is searched linearly.
const Decomposition* find_decomposition(const Decompositions& table, const Node& node);

}  // namespace taper::exir
