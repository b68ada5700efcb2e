// One class per graph keeps what was packed, since layers may share weights.

#include "exir/passes/kernels/pack_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "exir/ir/number_nodes.h"
#include "exir/ir/rewrite.h"
#include "exir/ir/scales.h"
#include "exir/passes/kernels/packed_bytes.h"
#include "exir/passes/kernels/row_quantisation.h"
#include "exir/passes/kernels/run_kernel.h"

namespace taper::exir {
namespace {

// Constants up to this size become floats rather than being dequantised at each call: that call
// would take as many bytes of the file.
constexpr size_t kSmall = size_t{1} << 10;
constexpr size_t kSmallFloats = size_t{1} << 20;  // The same for those cast from float16.
constexpr size_t kSmallCodes = size_t{1} << 12;   // And for codes, which have a table.

bool is_matrix_of_integers(const Value* value) {
  return value->scales != nullptr && value->type.rank() == 2 &&
         group_of(*value->scales, value->type) != 0;
}

class WeightPacker {
 public:
  using HasKernel = std::function<bool(std::string_view name, const Node& call)>;

  WeightPacker(Graph& graph, const HasKernel& has_kernel)
      : graph_(graph), has_kernel_(has_kernel) {}

  bool visit(Node& node, Rewriter& rewriter) {
    if (node.is("aten::linear") && pack_linear(node, rewriter)) return true;
    if (node.is("aten::embedding") && pack_embedding(node, rewriter)) return true;
    if (node.is("aten::permute_copy") && node.arg(0).value()->scales != nullptr) {
      return fold(node, rewriter);
    }
    for (Argument& arg : node.args) make_floats(arg, node, rewriter);
    return false;
  }

  void finish() {
    const auto spell = [](Value* value) { become_floats(*value); };
    for (const Argument& output : graph_.outputs) for_each_value(output, spell);
    for (const Mutation& mutation : graph_.mutations) spell(mutation.source);
  }

 private:
  Value* constant(const Value* from, const char* what, TensorType type, TensorData data) {
    Value* made = graph_.new_constant(from->name + "_" + what, std::move(type), std::move(data));
    if (!from->fqn.empty()) made->fqn = from->fqn + "." + what;
    return made;
  }

  // The constant that `make` makes of a weight, once for each `what`.
  template <typename Make>
  Value* once(const Value* weight, const char* what, const Make& make) {
    const auto [found, is_new] = made_.try_emplace({weight, what}, nullptr);
    if (is_new) found->second = make();
    return found->second;
  }

  Value* scales_of(const Value* weight, bool as_table) {
    return once(weight, as_table ? "table_scales" : "scales", [&] {
      const std::vector<Sym> sizes = sizes_of_scales(*weight, as_table);
      const std::vector<float> scales = repeated(weight->scales->items, sizes);
      if (!as_table && fit_bfloat16(scales)) {
        return constant(weight, "scales", {ScalarType::kBFloat16, sizes}, as_bfloat16(scales));
      }
      return constant(weight, "scales", {ScalarType::kFloat, sizes}, as_floats(scales));
    });
  }

  // None if they are all 0.
  Argument zero_points_of(const Value* weight, bool as_table, int64_t bits) {
    const std::vector<float> points = packed_zero_points(*weight->scales, bits);
    if (points.empty()) return {};
    return once(weight, as_table ? "table_zero_points" : "zero_points", [&] {
      const std::vector<Sym> sizes = sizes_of_scales(*weight, as_table);
      const std::vector<float> each = repeated(points, sizes);
      if (!as_table && fit_bytes(each)) {
        return constant(weight, "zero_points", {ScalarType::kChar, sizes}, as_bytes(each));
      }
      return constant(weight, "zero_points", {ScalarType::kFloat, sizes}, as_floats(each));
    });
  }

  Value* packed(const Value* weight, int64_t bits, bool as_table) {
    return once(weight, as_table ? "table" : "packed", [&] {
      const ScalarType dtype = bits == 8 ? weight->scales->dtype : ScalarType::kByte;
      const int64_t rows = weight->type.sizes[0].as_int(), columns = weight->type.sizes[1].as_int();
      const int64_t row_bytes = (columns * bits + 7) / 8;
      return constant(weight, "packed", {dtype, {Sym(rows), Sym(row_bytes)}},
                      packed_rows(*weight->scales, rows, columns, bits,
                                  as_table ? NibbleOrder::kHighFirst : NibbleOrder::kLowFirst));
    });
  }

  bool pack_linear(Node& node, Rewriter& rewriter) {
    const Value *x = node.arg(0).value(), *weight = node.arg(1).value();
    if (!is_matrix_of_integers(weight) || !is_computed(x->type.dtype)) return false;
    if (!has_kernel_("taper::packed_linear.out", node)) return false;
    const int64_t bits = bits_in_groups(*weight);
    const Argument bias = in_floats(node.arg(2), rewriter);
    if (const auto rows = row_quantisation_of(x)) {
      const std::vector<Value*>& bytes = quantised(*rows, rewriter);
      std::vector<Argument> args(bytes.begin(), bytes.end());
      const std::vector<Argument> rest = {packed(weight, bits, false), scales_of(weight, false),
                                          zero_points_of(weight, false, bits), bias, bits};
      args.insert(args.end(), rest.begin(), rest.end());
      rewriter.replace(node.outputs[0], rewriter.emit("taper::packed_linear_rows", args,
                                                      {node.outputs[0]->type})[0]);
      return true;
    }
    Value* y =
        rewriter.emit("taper::packed_linear",
                      {in_floats(node.arg(0), rewriter), packed(weight, bits, false),
                       scales_of(weight, false), zero_points_of(weight, false, bits), bias, bits},
                      {{ScalarType::kFloat, node.outputs[0]->type.sizes}})[0];
    rewriter.replace(node.outputs[0], cast(y, node.outputs[0]->type.dtype, rewriter));
    return true;
  }

  // The kernel computes in float32, which rounds less than 16 bits.
  static bool is_computed(ScalarType dtype) {
    return dtype == ScalarType::kFloat || dtype == ScalarType::kHalf ||
           dtype == ScalarType::kBFloat16;
  }

  static Value* cast(Value* value, ScalarType to, Rewriter& rewriter) {
    if (value->type.dtype == to) return value;
    Argument::List order;
    for (const uint8_t d : contiguous_order(value->type.rank())) order.push_back(int64_t{d});
    return rewriter.emit("dim_order_ops::_to_dim_order_copy",
                         {value, to, Argument(), Argument(), Argument(), false, order},
                         {TensorType(to, value->type.sizes)})[0];
  }
  static Argument in_floats(const Argument& arg, Rewriter& rewriter) {
    return arg.is_value() ? Argument(cast(arg.value(), ScalarType::kFloat, rewriter)) : arg;
  }

  // The integers, scales and zero points of a tensor, once for all layers that read it.
  const std::vector<Value*>& quantised(const RowQuantisation& rows, Rewriter& rewriter) {
    std::vector<Value*>& made = rows_[{rows.input, {{rows.symmetric, rows.is_whole}, rows.eps}}];
    if (!made.empty()) return made;
    const std::vector<Sym> flat = {Sym(1), rows.input->type.numel()};
    Value* x = rows.is_whole ? with_sizes(rows.input, flat, rewriter) : rows.input;
    std::vector<Sym> each = x->type.sizes;
    each.back() = Sym(1);
    made =
        rewriter.emit("taper::quantize_rows", {x, rows.symmetric, rows.eps},
                      {TensorType(ScalarType::kChar, x->type.sizes),
                       TensorType(ScalarType::kFloat, each), TensorType(ScalarType::kChar, each)});
    if (rows.is_whole) made[0] = with_sizes_of(rows.input, made[0], rewriter);
    return made;
  }

  bool pack_embedding(Node& node, Rewriter& rewriter) {
    const Value* weight = node.arg(0).value();
    if (has_large_codes(*weight, node) && look_up_rows(node, rewriter)) return true;
    if (!is_matrix_of_integers(weight)) return false;
    const int64_t bits = bits_in_rows(*weight);
    const std::string target =
        std::string("quantized_decomposed::embedding_") + (bits == 8   ? "byte"
                                                           : bits == 4 ? "4bit"
                                                                       : "2bit");
    if (!has_kernel_(target + ".out", node)) return false;
    const bool is_unsigned = bits == 8 && weight->scales->dtype == ScalarType::kByte;
    const int64_t least = is_unsigned ? 0 : -(int64_t{1} << (bits - 1));
    Value* y = rewriter.emit(
        target,
        {packed(weight, bits, true), scales_of(weight, true), zero_points_of(weight, true, bits),
         least, least + (int64_t{1} << bits) - 1, node.arg(1)},
        {{ScalarType::kFloat, node.outputs[0]->type.sizes}})[0];
    rewriter.replace(node.outputs[0], cast(y, node.outputs[0]->type.dtype, rewriter));
    return true;
  }

  // Only the rows of codes that are read become numbers. REQUIRES: has_large_codes().
  bool look_up_rows(Node& node, Rewriter& rewriter) {
    const Value& weight = *node.arg(0).value();
    const Scales& codes = *weight.codes;
    const Sym rows = weight.type.sizes[0];
    const size_t width = codes.integers.bytes / static_cast<size_t>(rows.as_int());
    const bool is_whole = codes.items.size() == 1;
    if (node.arg(1).value()->type.rank() == 0) return false;  // The kernel takes rows.
    const bool has_whole_bytes = width % static_cast<size_t>(8 / codes.bits) == 0;
    if (codes.span % width != 0 || (is_whole ? !has_whole_bytes : codes.span != width)) {
      return false;
    }
    Coded coded = coded_constants(weight, {rows, Sym(static_cast<int64_t>(width))});
    const auto read = [&](Value* table) {
      std::vector<Sym> sizes = node.arg(1).value()->type.sizes;
      sizes.push_back(table->type.sizes[1]);
      std::vector<Argument> args = node.args;
      args[0] = table;
      return rewriter.emit("aten::embedding", args, {TensorType(table->type.dtype, sizes)})[0];
    };
    const TensorType type(ScalarType::kFloat, node.outputs[0]->type.sizes);
    const auto floats = [&](const char* what, std::vector<Sym> sizes,
                            const std::vector<float>& numbers) {
      return constant(&weight, what, {ScalarType::kFloat, std::move(sizes)}, as_floats(numbers));
    };
    Value* scale = is_whole ? coded.scales : floats("one", {Sym(1)}, {1});
    Value* y = rewriter.emit("taper::look_up", {read(coded.bytes), coded.table, scale}, {type})[0];
    if (!is_whole) {
      Value* of_rows = read(floats("row_scales", {rows, Sym(1)}, codes.items));
      y = rewriter.emit("aten::mul.Tensor", {y, of_rows}, {type})[0];
    }
    rewriter.replace(node.outputs[0], cast(y, node.outputs[0]->type.dtype, rewriter));
    return true;
  }

  static void become_floats(Value& constant) {
    if (constant.scales == nullptr) return;
    constant.data = elements_of(constant);
    constant.scales = nullptr;
  }

  bool fold(Node& node, Rewriter& rewriter) {
    become_floats(*node.arg(0).value());
    const auto results = run_kernel(node, [](const Value* value) { return &value->data; });
    if (!results) return false;
    rewriter.replace(node.outputs[0], graph_.new_constant(node.outputs[0]->name,
                                                          node.outputs[0]->type, (*results)[0]));
    return true;
  }

  void make_floats(Argument& arg, const Node& reader, Rewriter& rewriter) {
    if (arg.is_list()) {
      for (Argument& item : arg.list()) make_floats(item, reader, rewriter);
    } else if (arg.is_value() && has_large_codes(*arg.value(), reader)) {
      Value*& floats = floats_[arg.value()];
      if (floats == nullptr) floats = from_codes(*arg.value(), rewriter);
      arg = floats;
    } else if (arg.is_value() && is_large_and_from_half(*arg.value())) {
      Value*& floats = floats_[arg.value()];
      if (floats == nullptr) floats = cast_again(*arg.value(), rewriter);
      arg = floats;
    } else if (arg.is_value() && arg.value()->scales != nullptr) {
      Value* value = arg.value();
      if (value->data.bytes <= kSmall || rounds_of(*value->scales) == 0)
        return become_floats(*value);
      Value*& floats = floats_[value];
      if (floats == nullptr) floats = dequantised(*value, reader, rewriter);
      arg = floats;
    }
  }

  bool has_large_codes(const Value& value, const Node& reader) const {
    return value.codes != nullptr && value.data.bytes > kSmallCodes &&
           rounds_of(*value.codes) != 0 && has_kernel_("taper::look_up.out", reader);
  }

  Value* from_codes(const Value& value, Rewriter& rewriter) {
    const std::vector<Sym> sizes = sizes_of_runs(*value.codes);
    const Coded coded = coded_constants(value, sizes);
    Value* made = rewriter.emit("taper::look_up", {coded.bytes, coded.table, coded.scales},
                                {TensorType(ScalarType::kFloat, sizes)})[0];
    return with_sizes(cast(made, value.type.dtype, rewriter), value.type.sizes, rewriter);
  }

  struct Coded {
    Value *bytes, *table, *scales;
  };
  // The operands of taper::look_up for numbers of these sizes, of which runs are whole rows.
  Coded coded_constants(const Value& value, std::vector<Sym> sizes) {
    const CodedBytes coded = coded_bytes(*value.codes);
    sizes.back() = Sym(sizes.back().as_int() / coded.each);
    const auto runs = static_cast<int64_t>(value.codes->items.size());
    return {constant(&value, "codes", {ScalarType::kByte, std::move(sizes)}, coded.bytes),
            constant(&value, "numbers", {ScalarType::kFloat, {Sym(256), Sym(coded.each)}},
                     as_floats(coded.table)),
            constant(&value, "scales", {ScalarType::kFloat, {Sym(runs)}},
                     as_floats(value.codes->items))};
  }

  // [runs, span], or [rounds, runs, span] if the scales repeat.
  static std::vector<Sym> sizes_of_runs(const Scales& scales) {
    const auto rounds = static_cast<int64_t>(rounds_of(scales));
    std::vector<Sym> sizes = {Sym(static_cast<int64_t>(scales.items.size())),
                              Sym(static_cast<int64_t>(scales.span))};
    if (rounds > 1) sizes.insert(sizes.begin(), Sym(rounds));
    return sizes;
  }

  // At most one of the sizes may be dynamic.
  static Value* with_sizes(Value* value, const std::vector<Sym>& sizes, Rewriter& rewriter) {
    if (value->type.sizes == sizes) return value;
    Argument::List dims;
    for (const Sym& size : sizes) dims.push_back(size.is_int() ? size.as_int() : -1);
    return rewriter.emit("aten::view_copy", {value, dims}, {{value->type.dtype, sizes}})[0];
  }
  static Value* with_sizes_of(Value* other, Value* value, Rewriter& rewriter) {
    const TensorSizes& sizes = other->type.sizes;
    if (value->type.sizes == sizes) return value;
    return rewriter.emit("aten::view_copy", {value, size_arguments(rewriter, sizes, other)},
                         {{value->type.dtype, sizes}})[0];
  }

  static bool is_large_and_from_half(const Value& value) {
    return value.halves.data != nullptr && value.data.bytes > kSmallFloats;
  }

  Value* cast_again(const Value& value, Rewriter& rewriter) {
    Value* halves = constant(&value, "halves", {ScalarType::kHalf, value.type.sizes}, value.halves);
    return cast(halves, ScalarType::kFloat, rewriter);
  }

  Value* dequantised(const Value& value, const Node& reader, Rewriter& rewriter) {
    const std::string table = table_for(*value.scales, reader);
    Value* floats =
        cast(table.empty() ? from_bytes(value, rewriter) : looked_up(value, table, rewriter),
             value.type.dtype, rewriter);
    return with_sizes(floats, value.type.sizes, rewriter);
  }

  // The operator that looks up rows of a table as narrow as the integers; empty if they need all
  // bits, there is no kernel, or the numbers of the rows take what is saved.
  std::string table_for(const Scales& scales, const Node& reader) const {
    const int64_t bits = bits_in_runs(scales);
    const size_t saved = scales.span * static_cast<size_t>(8 - bits) / 8;
    if (saved < 2 * sizeof(int64_t)) return "";
    std::string name = "quantized_decomposed::embedding_" + std::to_string(bits) + "bit";
    return has_kernel_(name + ".out", reader) ? name : "";
  }

  // Every row of a table whose rows have a scale each.
  Value* looked_up(const Value& value, const std::string& table, Rewriter& rewriter) {
    const Scales& scales = *value.scales;
    const int64_t bits = bits_in_runs(scales);
    const auto span = static_cast<int64_t>(scales.span);
    const auto rows = static_cast<int64_t>(scales.items.size() * rounds_of(scales));
    const auto each_row = [&](const char* what, const std::vector<float>& round) {
      std::vector<float> numbers;
      while (numbers.size() < static_cast<size_t>(rows)) {
        numbers.insert(numbers.end(), round.begin(), round.end());
      }
      return constant(&value, what, {ScalarType::kFloat, {Sym(rows)}}, as_floats(numbers));
    };
    Value* packed =
        constant(&value, "packed", {ScalarType::kByte, {Sym(rows), Sym(span * bits / 8)}},
                 packed_rows(scales, rows, span, bits, NibbleOrder::kHighFirst));
    const std::vector<float> points = packed_zero_points(scales, bits);
    const Argument zero_points =
        points.empty() ? Argument() : Argument(each_row("zero_points", points));
    std::vector<float> numbers(static_cast<size_t>(rows));
    std::iota(numbers.begin(), numbers.end(), 0.0F);
    Value* indices = constant(&value, "rows", {ScalarType::kLong, {Sym(rows)}}, as_longs(numbers));
    const int64_t least = -(int64_t{1} << (bits - 1));
    return rewriter.emit(
        table, {packed, each_row("scales", scales.items), zero_points, least, -least - 1, indices},
        {TensorType(ScalarType::kFloat, {Sym(rows), Sym(span)})})[0];
  }

  // A matrix of bytes whose rows have a scale each, or several of them.
  Value* from_bytes(const Value& value, Rewriter& rewriter) {
    const Scales& scales = *value.scales;
    const auto runs = static_cast<int64_t>(scales.items.size());
    const std::vector<Sym> sizes = sizes_of_runs(scales);
    Value* integers = constant(&value, "integers", {scales.dtype, sizes}, scales.integers);
    Value* items =
        constant(&value, "scales", {ScalarType::kFloat, {Sym(runs)}}, as_floats(scales.items));
    Argument points;
    if (!scales.zero_points.empty()) {
      const bool whole = fit_longs(scales.zero_points);
      points = constant(&value, "zero_points",
                        {whole ? ScalarType::kLong : ScalarType::kFloat, {Sym(runs)}},
                        whole ? as_longs(scales.zero_points) : as_floats(scales.zero_points));
    }
    const bool is_unsigned = scales.dtype == ScalarType::kByte;
    return rewriter.emit("quantized_decomposed::dequantize_per_channel",
                         {integers, items, points, sizes.size() > 2 ? 1 : 0, is_unsigned ? 0 : -128,
                          is_unsigned ? 255 : 127, scales.dtype},
                         {TensorType(ScalarType::kFloat, sizes)})[0];
  }

  Graph& graph_;
  const HasKernel& has_kernel_;
  std::map<std::pair<const Value*, std::string>, Value*> made_;
  std::map<const Value*, Value*> floats_;
  using Parameters = std::pair<std::pair<bool, bool>, double>;  // Symmetric, whole; eps.
  std::map<std::pair<const Value*, Parameters>, std::vector<Value*>> rows_;
};

}  // namespace

int pack_weights(Graph& graph,
                 const std::function<bool(std::string_view name, const Node& call)>& has_kernel) {
  const bool any =
      std::any_of(graph.constants.begin(), graph.constants.end(), [](const Value* constant) {
        return constant->scales != nullptr || constant->halves.data != nullptr ||
               constant->codes != nullptr;
      });
  if (!any) return 0;
  WeightPacker packer(graph, has_kernel);
  const int count =
      rewrite(graph, [&](Node& node, Rewriter& rewriter) { return packer.visit(node, rewriter); });
  packer.finish();
  erase_dead(graph);
  for (Value* constant : graph.constants) {
    if (constant->scales == nullptr) continue;
    constant->data = elements_of(*constant);
    constant->scales = nullptr;
  }
  return std::max(count, 1);
}

}  // namespace taper::exir
