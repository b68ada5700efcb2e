#include "exir/refusals.h"

namespace taper::exir {
namespace {

struct Reason {
  const char* part;  // Of the name; the first line that fits counts.
  const char* text;
};

constexpr Reason kReasons[] = {
    {"torchvision::", "of a library's own namespace: declare it (--ops) and hand in its kernel"},
    {"_batch_dim", "torch.vmap in training IR: call run_decompositions() before saving"},
    {"batch_norm", "the model is in training mode: call model.eval() before torch.export.export"},
    {"flash_attention", "made for one device: export scaled_dot_product_attention itself"},
    {"attention_math", "export scaled_dot_product_attention itself"},
    {"backward", "of training; programs here are for inference"},
    {"observer", "of quantisation while training: convert the model first"},
    {"fused_moving_avg", "of quantisation while training: convert the model first"},
    {"fake_quantize", "of quantisation while training: convert the model first"},
    {"choose_qparams", "of quantising weights: convert the model before torch.export.export"},
    {"_saturate_weight", "of quantising weights: convert the model before torch.export.export"},
    {"fbgemm", "opaque packed weights: quantise with quantized_decomposed operators (PT2E)"},
    {"int4pack", "opaque packed weights: quantise with quantized_decomposed operators (PT2E)"},
    {"int8pack", "opaque packed weights: quantise with quantized_decomposed operators (PT2E)"},
    {"4bit", "opaque packed weights: quantise with quantized_decomposed operators (PT2E)"},
    {"moe_ffn", "opaque packed weights: write the experts with matrix products"},
    {"_scaled_mm", "of eight-bit floats, which the format does not have"},
    {"quantized_",
     "eager quantisation's cells: quantise with quantized_decomposed operators (PT2E)"},
    {"sparse", "sparse tensors: make them dense, or use index_add and scatter_add"},
    {"coalesce", "sparse tensors: make them dense, or use index_add and scatter_add"},
    {"to_dense", "sparse tensors: make them dense, or use index_add and scatter_add"},
    {"smm", "sparse tensors: make them dense, or use index_add and scatter_add"},
    {"sspaddmm", "sparse tensors: make them dense, or use index_add and scatter_add"},
    {"nested", "nested tensors: pad the sequences"},
    {"_pad_packed", "packed sequences: give nn.LSTM and nn.GRU padded ones"},
    {"_pack_padded", "packed sequences: give nn.LSTM and nn.GRU padded ones"},
    {".data", "packed sequences: give nn.LSTM and nn.GRU padded ones"},
    {"cudnn", "of one vendor's library"},
    {"cufft", "of one vendor's library"},
    {"vulkan", "of one backend"},
    {"mkldnn", "of one backend"},
    {"nnpack", "of one backend"},
    {"xla", "of one backend"},
    {"autocast", "a switch of the tracer: export without autocast"},
    {"_test_", "of PyTorch's own tests"},
    {"retain", "of automatic differentiation"},
    {"_unpack_dual", "of automatic differentiation"},
    {"is_leaf", "of automatic differentiation"},
    {"output_nr", "of automatic differentiation"},
    {"_version", "of automatic differentiation"},
    {"set_", "puts other memory under a tensor: write with copy_"},
    {"aten::data", "of automatic differentiation: use detach"},
    {"is_", "answered when the program is traced; it does not reach an exported one"},
    {"result_type", "answered when the program is traced; it does not reach an exported one"},
    {"promote_types", "answered when the program is traced; it does not reach an exported one"},
    {"can_cast", "answered when the program is traced; it does not reach an exported one"},
    {"compatible_shallow",
     "answered when the program is traced; it does not reach an exported one"},
    {"internal_overlap", "answered when the program is traced; it does not reach an exported one"},
    {"_validate_", "answered when the program is traced; it does not reach an exported one"},
    {"stride", "memory layout is the compiler's own: compute with sizes"},
    {"storage_offset", "memory layout is the compiler's own: compute with sizes"},
    {"contiguous", "memory layout is the compiler's own: compute with sizes"},
    {"eigvals", "eigenvalues of a general matrix: linalg.eigh takes symmetric ones"},
    {"linalg_l", "use linalg.solve, linalg.lu, linalg.pinv or linalg.cholesky"},

    {"histogramdd", "as many results as the edges say: use histc, or bucketize and scatter_add"},
    {"ctc_loss", "a loss of training"},
    {"_thnn_fused", "made for one device: export lstm or gru itself"},
    {"conv", "export conv1d, conv2d or conv3d itself"},
    {"_pad_", "export pad itself"},
    {"_to_cpu", "of devices: programs here have one"},
    {"chalf", "half-precision complex numbers: use complex64"},
    {"cov", "its checks need values while it is exported: subtract the mean and multiply"},
    {"corrcoef", "its checks need values while it is exported: subtract the mean and multiply"},
    {"flatten_dense", "of gradients in one buffer"},
    {"_rowwise_prune", "of pruning: prune before torch.export.export"},
    {"_sobol", "of drawing quasi-random points: give them as an input"},
    {"norm_except_dim", "export _weight_norm, or linalg.vector_norm"},
    {"log_sigmoid_forward", "export log_sigmoid itself"},
    {"bmm.dtype", "convert the operands, then multiply"},
    {"narrow.Tensor", "sizes by a tensor's values: take item(), or index_select"},
    {"tensor_split", "sizes by a tensor's values: give a list"},
    {"_dim_arange", "of an older exporter: use arange"},
    {"_shape_as", "of an older exporter: use the sizes themselves"},
    {"_reshape_from", "of an older exporter: use the sizes themselves"},
    {"size.int", "read as sym_size.int in an exported program"},
    {"resize", "only a resize_ to the sizes that a tensor has, or to fewer elements"},
    {"_copy", "of PyTorch's own functionalisation; exported programs have the view"},
    {"random", "random integers without bounds: use randint"},
};

}  // namespace

const char* refusal_reason(std::string_view name) {
  for (const Reason& reason : kReasons) {
    if (name.find(reason.part) != name.npos) return reason.text;
  }
  return nullptr;
}

}  // namespace taper::exir
