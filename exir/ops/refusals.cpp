// Reasons by parts of operators' names; the first part that occurs in a name counts.

#include "exir/ops/refusals.h"

namespace taper::exir {
namespace {

struct Reason {
  const char* part;  // A part of the operator's name.
  const char* text;
};

constexpr Reason kReasons[] = {
    {"torchvision::",
     "an operator of another library: declare it (--ops) and pass its kernel to the runtime"},
    {"_batch_dim", "torch.vmap in training IR: call run_decompositions() before saving"},
    {"batch_norm", "the model is in training mode: call model.eval() before torch.export.export"},
    {"flash_attention", "specific to one device: export scaled_dot_product_attention itself"},
    {"attention_math", "export scaled_dot_product_attention itself"},
    {"backward", "for training only; programs here are for inference"},
    {"observer", "for quantisation-aware training: convert the model first"},
    {"fused_moving_avg", "for quantisation-aware training: convert the model first"},
    {"fake_quantize", "for quantisation-aware training: convert the model first"},
    {"choose_qparams", "for quantising weights: convert the model before torch.export.export"},
    {"_saturate_weight", "for quantising weights: convert the model before torch.export.export"},
    {"fbgemm", "opaque packed weights: quantise with quantized_decomposed operators (PT2E)"},
    {"int4pack", "opaque packed weights: quantise with quantized_decomposed operators (PT2E)"},
    {"int8pack", "opaque packed weights: quantise with quantized_decomposed operators (PT2E)"},
    {"4bit", "opaque packed weights: quantise with quantized_decomposed operators (PT2E)"},
    {"moe_ffn", "opaque packed weights: write the experts with matrix products"},
    {"quantized_",
     "a cell of eager-mode quantisation: quantise with quantized_decomposed operators (PT2E)"},
    {"sparse", "sparse tensors: make them dense, or use index_add and scatter_add"},
    {"coalesce", "sparse tensors: make them dense, or use index_add and scatter_add"},
    {"to_dense", "sparse tensors: make them dense, or use index_add and scatter_add"},
    {"smm", "sparse tensors: make them dense, or use index_add and scatter_add"},
    {"sspaddmm", "sparse tensors: make them dense, or use index_add and scatter_add"},
    {"nested", "nested tensors: pad the sequences"},
    {"_pad_packed", "packed sequences: pass padded ones to nn.LSTM and nn.GRU"},
    {"_pack_padded", "packed sequences: pass padded ones to nn.LSTM and nn.GRU"},
    {".data", "packed sequences: pass padded ones to nn.LSTM and nn.GRU"},
    {"cudnn", "specific to one vendor's library"},
    {"cufft", "specific to one vendor's library"},
    {"vulkan", "specific to one backend"},
    {"mkldnn", "specific to one backend"},
    {"nnpack", "specific to one backend"},
    {"xla", "specific to one backend"},
    {"autocast", "part of autocast: export without it"},
    {"_test_", "used only by PyTorch's own tests"},
    {"retain", "for automatic differentiation only"},
    {"_unpack_dual", "for automatic differentiation only"},
    {"is_leaf", "for automatic differentiation only"},
    {"output_nr", "for automatic differentiation only"},
    {"_version", "for automatic differentiation only"},
    {"set_", "replaces the memory of a tensor: write with copy_"},
    {"aten::data", "for automatic differentiation only: use detach"},
    {"is_", "evaluated during export: it does not occur in an exported program"},
    {"result_type", "evaluated during export: it does not occur in an exported program"},
    {"promote_types", "evaluated during export: it does not occur in an exported program"},
    {"can_cast", "evaluated during export: it does not occur in an exported program"},
    {"compatible_shallow", "evaluated during export: it does not occur in an exported program"},
    {"internal_overlap", "evaluated during export: it does not occur in an exported program"},
    {"_validate_", "evaluated during export: it does not occur in an exported program"},
    {"stride", "memory layout is up to the compiler: compute with sizes"},
    {"storage_offset", "memory layout is up to the compiler: compute with sizes"},
    {"contiguous", "memory layout is up to the compiler: compute with sizes"},
    {"eigvals", "eigenvalues of a general matrix: linalg.eigh takes symmetric ones"},
    {"linalg_l", "use linalg.solve, linalg.lu, linalg.pinv or linalg.cholesky"},

    {"histogramdd",
     "the number of results depends on the edges: use histc, or bucketize and scatter_add"},
    {"ctc_loss", "a loss function for training"},
    {"_thnn_fused", "specific to one device: export lstm or gru itself"},
    {"conv", "export conv1d, conv2d or conv3d itself"},
    {"_pad_", "export pad itself"},
    {"_to_cpu", "copies between devices: programs here have only one"},
    {"chalf", "half-precision complex numbers: use complex64"},
    {"cov", "its checks are data-dependent during export: subtract the mean and multiply"},
    {"corrcoef", "its checks are data-dependent during export: subtract the mean and multiply"},
    {"flatten_dense", "flattens gradients into one buffer: for training only"},
    {"_rowwise_prune", "for pruning: prune before torch.export.export"},
    {"_sobol", "draws quasi-random points: pass them as an input"},
    {"norm_except_dim", "export _weight_norm, or linalg.vector_norm"},
    {"log_sigmoid_forward", "export log_sigmoid itself"},
    {"bmm.dtype", "convert the operands, then multiply"},
    {"narrow.Tensor", "data-dependent sizes: use item() or index_select"},
    {"tensor_split", "data-dependent sizes: pass a list"},
    {"_dim_arange", "from an older exporter: use arange"},
    {"_shape_as", "from an older exporter: use the sizes themselves"},
    {"_reshape_from", "from an older exporter: use the sizes themselves"},
    {"size.int", "read as sym_size.int in an exported program"},
    {"resize", "only a resize_ to the sizes that a tensor has, or to fewer elements"},
    {"_copy", "from PyTorch's functionalization: exported programs have the view"},
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
