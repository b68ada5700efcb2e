// Convolutions become aten::convolution over a batch with symmetric padding; 1-d and 2-d resizing
// becomes the .vec form of the 2-d operators.

#include <string>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

// A list of `n` numbers; a single one is repeated.
Argument sized(const Argument& arg, size_t n) {
  std::vector<int64_t> list = arg.is_list() ? to_ints(arg) : std::vector<int64_t>{arg.to_int()};
  if (list.size() == 1) list.resize(n, list[0]);
  if (list.size() != n) throw Failure("a convolution parameter has the wrong number of entries");
  return int_list(list);
}

Value* bias_or_null(Builder& b) { return b.has("bias") ? b.in("bias") : nullptr; }

// Emits aten::convolution; an unbatched input gets a batch dimension for it.
void convolve(Builder& b, Value* x, const Argument& padding, bool transposed,
              const Argument& output_padding) {
  Value* weight = b.in("weight");
  const size_t spatial = weight->type.rank() - 2;
  const bool unbatched = x->type.rank() == spatial + 1;
  if (unbatched) x = b.unsqueeze(x, 0);
  Value* bias = bias_or_null(b);
  Value* y = b.op("convolution",
                  {x, weight, bias ? Argument(bias) : Argument(), sized(b.arg("stride"), spatial),
                   sized(padding, spatial), sized(b.arg("dilation"), spatial), transposed,
                   sized(output_padding, spatial), b.arg("groups")});
  b.result(unbatched ? b.squeeze(y, 0) : y);
}

void conv(Builder& b) { convolve(b, b.in("input"), b.arg("padding"), false, 0); }
void conv_transpose(Builder& b) {
  convolve(b, b.in("input"), b.arg("padding"), true, b.arg("output_padding"));
}

// padding "valid" or "same". "same" pads by d (k - 1) in total; if that is odd, one more on the
// right.
void conv_named_padding(Builder& b) {
  if (b.arg("padding").text() == "valid") return convolve(b, b.in("input"), 0, false, 0);
  Value* x = b.in("input");
  const TensorSizes& weight = b.in("weight")->type.sizes;
  const size_t spatial = weight.size() - 2;
  const std::vector<int64_t> dilation = to_ints(sized(b.arg("dilation"), spatial));
  std::vector<int64_t> even(spatial), extra(2 * spatial);
  bool uneven = false;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t total = dilation[i] * (weight[i + 2].as_int() - 1);
    even[i] = total / 2;
    extra[2 * (spatial - 1 - i) + 1] = total % 2;
    uneven |= total % 2 != 0;
  }
  if (uneven) x = b.op("constant_pad_nd", {x, int_list(extra), 0.0});
  convolve(b, x, int_list(even), false, 0);
}

void convolution_with_flags(Builder& b) {
  convolve(b, b.in("input"), b.arg("padding"), b.arg("transposed").to_bool(),
           b.arg("output_padding"));
}

// The overload with an output size and scales: if there are scales, sampling positions follow from
// them.
void upsample_size(Builder& b, std::string_view op, bool align) {
  const bool scaled = b.has("scales_h") && b.has("scales_w");
  if (scaled != (b.has("scales_h") || b.has("scales_w"))) throw Failure("one scale of two");
  std::vector<Argument> args = {b.in("self"), scaled ? Argument() : b.arg("output_size")};
  if (align) args.push_back(b.arg("align_corners"));
  args.push_back(scaled ? Argument::List{b.arg("scales_h"), b.arg("scales_w")} : Argument());
  b.result(b.op(op, args));
}
void upsample_nearest(Builder& b) { upsample_size(b, "upsample_nearest2d.vec", false); }
void upsample_bilinear(Builder& b) { upsample_size(b, "upsample_bilinear2d.vec", true); }

// Resizes a sequence as an image of height 1.
void upsample1d(Builder& b, std::string_view op, bool align) {
  std::vector<Argument> args = {b.unsqueeze(b.args()[0].value(), 2), Argument()};
  if (align) args.push_back(b.arg("align_corners"));
  args.push_back(Argument());
  const char* scale = b.knows("scales") ? "scales" : "scale_factors";
  if (b.has(scale)) {
    const Argument& factor = b.arg(scale);
    args.back() = Argument::List{1.0, factor.is_list() ? factor.list().at(0) : factor};
  } else {
    args[1] = Argument::List{1, b.arg("output_size").list().at(0)};
  }
  b.result(b.squeeze(b.op(op, args), 2));
}
void upsample_nearest1d(Builder& b) { upsample1d(b, "upsample_nearest2d.vec", false); }
void upsample_linear1d(Builder& b) { upsample1d(b, "upsample_bilinear2d.vec", true); }

// Convolves a sequence in the layout [time, batch, channels].
void conv_tbc(Builder& b) {
  Value* x = b.permute(b.in("self"), {1, 2, 0});
  Value* weight = b.permute(b.in("weight"), {2, 1, 0});
  const Argument pad = int_list({b.arg("pad").to_int()});
  Value* y = b.op("convolution", {x, weight, b.in("bias"), int_list({1}), pad, int_list({1}), false,
                                  int_list({0}), 1});
  b.result(b.permute(y, {2, 0, 1}));
}

}  // namespace

const Decompositions& convolution_rules() {
  static const Decompositions table = {
      {"conv_tbc", conv_tbc},
      {"conv1d", conv},
      {"conv2d", conv},
      {"conv3d", conv},
      {"conv1d.padding", conv_named_padding},
      {"conv2d.padding", conv_named_padding},
      {"conv3d.padding", conv_named_padding},
      {"conv_transpose1d", conv_transpose},
      {"conv_transpose2d.input", conv_transpose},
      {"conv_transpose3d.input", conv_transpose},
      {"_convolution", convolution_with_flags},
      {"upsample_nearest2d", upsample_nearest},
      {"upsample_bilinear2d", upsample_bilinear},
      {"upsample_nearest1d", upsample_nearest1d},
      {"upsample_linear1d", upsample_linear1d},
      {"upsample_nearest1d.vec", upsample_nearest1d},
      {"upsample_linear1d.vec", upsample_linear1d},
  };
  return table;
}

}  // namespace taper::exir
