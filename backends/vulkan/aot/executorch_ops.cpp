#include "backends/vulkan/aot/executorch_ops.h"

namespace taper::vulkan {
namespace {

constexpr DtypeKinds kNumbers = kFloats | kIntegers, kAll = kFloats | kIntegers | kBooleans;
constexpr OperatorTraits kPlain = kResizes, kWide = kResizes | kManyDims;

constexpr ExecutorchOperator same(std::string_view name, DtypeKinds kinds, OperatorTraits traits,
                                  Storages storage = kAnyStorage) {
  return {name, kinds, kinds, kinds, traits, storage};
}
constexpr ExecutorchOperator test(std::string_view name) {
  return {name, kNumbers, kNumbers, kBooleans, kWide};
}
constexpr ExecutorchOperator symbolic(std::string_view name) {
  return {name, kAnyKind, kAnyKind, kAnyKind, kWide | kIsSymbolic};
}

constexpr ExecutorchOperator kOperators[] = {
    symbolic("sym_size.int"),
    symbolic("add"),
    symbolic("sub"),
    symbolic("mul"),
    symbolic("floordiv"),
    symbolic("et_vk.select_as_symint.default"),
    same("et_vk.prepack.default", kAnyKind, kWide),
    same("aten.copy.default", kAnyKind, kResizes),
    same("aten.abs.default", kFloats, kPlain),
    same("aten.cos.default", kFloats, kPlain),
    same("aten.exp.default", kFloats, kPlain),
    same("aten.gelu.default", kFloats, kPlain),
    same("aten.hardshrink.default", kFloats, kPlain),
    same("aten.hardswish.default", kFloats, kPlain),
    same("aten.hardtanh.default", kFloats, kPlain),
    same("aten.neg.default", kFloats, kPlain),
    same("aten.relu.default", kFloats, kPlain),
    same("aten.sigmoid.default", kFloats, kPlain),
    same("aten.sin.default", kFloats, kPlain),
    same("aten.sqrt.default", kFloats, kPlain),
    same("aten.rsqrt.default", kFloats, kPlain),
    same("aten.tanh.default", kFloats, kPlain),
    same("aten.round.default", kFloats, kPlain),
    same("aten.leaky_relu.default", kFloats, kPlain),
    same("aten.log10.default", kFloats, kPlain),
    same("aten.clamp.default", kNumbers, kPlain),
    same("aten.add.Tensor", kNumbers, kWide),
    same("aten.sub.Tensor", kNumbers, kWide),
    same("aten.minimum.default", kNumbers, kWide),
    same("aten.mul.Tensor", kNumbers, kWide),
    same("aten.div.Tensor", kNumbers, kWide),
    same("aten.div.Tensor_mode", kNumbers, kWide),
    same("aten.pow.Tensor_Tensor", kNumbers, kWide),
    test("aten.eq.Tensor"),
    test("aten.lt.Tensor"),
    test("aten.le.Tensor"),
    test("aten.gt.Tensor"),
    test("aten.ge.Tensor"),
    test("aten.eq.Scalar"),
    test("aten.ne.Scalar"),
    test("aten.lt.Scalar"),
    test("aten.le.Scalar"),
    test("aten.gt.Scalar"),
    test("aten.ge.Scalar"),
    same("aten.bitwise_and.Tensor", kBooleans, kWide),
    same("aten.bitwise_or.Tensor", kBooleans, kWide),
    same("aten.bitwise_not.default", kBooleans, kWide),
    same("aten.logical_and.default", kBooleans, kWide),
    same("aten.logical_or.default", kBooleans, kWide),
    same("aten.pow.Tensor_Scalar", kFloats, kWide),
    same("aten._to_copy.default", kAll, kPlain, kBufferWidth),
    same("dim_order_ops._to_dim_order_copy.default", kAll, kWide, kAnyBuffer),
    same("aten._log_softmax.default", kFloats, kPlain),
    same("aten._softmax.default", kFloats, kPlain),
    same("aten.bmm.default", kFloats, kPlain | kStoresOwn, kContiguous),
    same("aten.mm.default", kFloats, kPlain | kStoresOwn, kContiguous),
    same("aten.addmm.default", kFloats, kPlain | kStoresOwn, kContiguous),
    same("aten.linear.default", kFloats, kPlain | kStoresOwn, kContiguous),
    same("aten.mean.dim", kFloats, kWide | kIsReduction, kAnyTexture),
    same("aten.sum.dim_IntList", kFloats, kWide | kIsReduction, kAnyTexture),
    same("aten.amax.default", kFloats, kWide | kIsReduction, kAnyTexture),
    same("aten.amin.default", kFloats, kWide | kIsReduction, kAnyTexture),
    {"aten.argmax.default", kFloats, kFloats, kIntegers, kWide | kIsReduction, kAnyTexture},
    {"aten.argmin.default", kFloats, kFloats, kIntegers, kWide | kIsReduction, kAnyTexture},
    same("aten.avg_pool2d.default", kFloats, kPlain, kTextureChannels),
    same("aten.max_pool2d.default", kFloats, kPlain, kTextureChannels),
    {"aten.max_pool2d_with_indices.default", kFloats, kFloats, kNumbers, kPlain, kTextureChannels},
    same("aten.convolution.default", kFloats, kPlain | kStoresOwn | kIsConvolution,
         kTextureChannels),
    same("et_vk.conv_with_clamp.default", kFloats, kPlain | kStoresOwn | kIsConvolution,
         kTextureChannels),
    same("et_vk.sdpa.default", kFloats, kPlain, kContiguous),
    same("et_vk.rms_norm.default", kFloats, kPlain | kStoresOwn, kContiguous),
    same("et_vk.linear_dW.default", kFloats, kStoresOwn, kContiguous),
    same("et_vk.grid_priors.default", kFloats, 0, kTextureChannels),
    same("aten.permute.default", kAll, kPlain, kAnyTexture),
    same("aten.permute_copy.default", kAll, kWide),
    same("aten.view_copy.default", kAll, kWide),
    same("aten.squeeze_copy.dims", kAll, kWide),
    same("aten.unsqueeze_copy.default", kAll, kWide),
    // A clone may change how its tensor is stored.
    {"aten.clone.default", kAll, kAll, kAll, kWide, kAnyStorage, kNoStorage, kAnyStorage},
    {"dim_order_ops._clone_dim_order.default", kAll, kAll, kAll, kWide, kAnyStorage, kNoStorage,
     kAnyStorage},
    same("aten.alias_copy.default", kAll, kWide),
    same("aten.unfold_copy.default", kFloats, kWide, kAnyBuffer),
    same("aten.gather.default", kAll, kWide),
    same("aten.expand_copy.default", kAll, kManyDims),
    same("aten.cat.default", kNumbers, kPlain),
    same("aten.select_copy.int", kAll, kWide),
    same("aten.slice_copy.Tensor", kAll, kWide),
    same("aten.split_with_sizes_copy.default", kAll, kWide),
    same("aten.flip.default", kAll, 0, kTextureChannels),
    same("aten.index_select.default", kAll, 0, kTextureChannels),
    {"aten.where.self", kBooleans, kFloats, kFloats, kPlain},
    same("aten.index.Tensor", kNumbers, kPlain),
    same("aten.arange.start_step", kNumbers, 0),
    same("aten.constant_pad_nd.default", kAll, kPlain),
    same("aten.full.default", kAll, 0),
    same("aten.full_like.default", kAll, 0),
    same("aten.ones.default", kAll, 0),
    same("aten.ones_like.default", kAll, 0),
    same("aten.zeros.default", kAll, 0),
    same("aten.zeros_like.default", kAll, 0),
    same("aten.scalar_tensor.default", kNumbers, kPlain, kTextureChannels),
    same("aten.upsample_nearest2d.vec", kFloats, 0, kTextureChannels),
    same("aten.upsample_bilinear2d.vec", kFloats, 0, kTextureChannels),
    same("aten.pixel_shuffle.default", kFloats, kPlain),
    {"aten.grid_sampler_2d.default", kFloats, kFloats, kFloats, kPlain, kTextureChannels,
     kBufferWidth},
    same("aten.repeat.default", kAll, 0),
    {"aten.embedding.default", kIntegers, kFloats, kFloats, kPlain | kStoresOwn | kIsTable},
    same("aten._native_batch_norm_legit_no_training.default", kFloats, kPlain | kStoresOwn,
         kTextureChannels),
    {"aten.native_group_norm.default", kFloats, kFloats, kFloats, kStoresOwn, kTextureChannels,
     kNoStorage, kNoStorage, kBufferWidth},
    same("aten.native_layer_norm.default", kFloats, kPlain | kStoresOwn),
};

}  // namespace

const ExecutorchOperator* find_executorch_operator(std::string_view name) {
  for (const ExecutorchOperator& each : kOperators) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

}  // namespace taper::vulkan
