// One function for each class; see weight_object.h.

#include "exir/frontend/weight_object.h"

#include "exir/frontend/refuse.h"
#include "exir/ir/registry.h"
#include "exir/ops/float8.h"

namespace taper::exir {
namespace {

class WeightWriter {
 public:
  WeightWriter(Graph& graph, Value* weight, TensorStore& object)
      : graph_(graph), weight_(weight), object_(object) {}

  bool run() {
    if (object_.has_attribute("act_quant_kwargs")) return false;
    const std::string_view type = object_.class_name();
    if (type == "NVFP4Tensor" || type == "ExportableNVFP4Tensor") {
      nvfp4();
    } else if (type == "ExportableMXTensor") {
      mx();
    } else if (type == "Float8Tensor") {
      float8();
    } else {
      return false;
    }
    return true;
  }

 private:
  Value* constant(std::string_view field, TensorStore::Tensor tensor) {
    Value* made = graph_.new_constant(weight_->name + "_" + std::string(field),
                                      std::move(tensor.type), std::move(tensor.data));
    if (!weight_->fqn.empty()) made->fqn = weight_->fqn + "." + std::string(field);
    return made;
  }

  TensorStore::Tensor load(std::string_view field) {
    if (!object_.has_attribute(field)) {
      refuse("bad-weights", "lacks its " + std::string(field));
    }
    return object_.load(field);
  }

  Node* call(const char* target, std::vector<Argument> args, Value* result) {
    Node* node = graph_.append(graph_.operators()->find(target), std::move(args));
    node->name = result->name;
    node->outputs.push_back(result);
    result->producer = node;
    return node;
  }
  Value* call(const char* target, std::vector<Argument> args, const TensorType& type) {
    Value* result = graph_.new_tensor(weight_->name + "_part", type);
    call(target, std::move(args), result);
    return result;
  }

  // The constant, as the numbers of its 8-bit floats if it has such.
  Value* numbers(std::string_view field) {
    TensorStore::Tensor tensor = load(field);
    const int64_t code = tensor.float8;
    Value* codes = constant(field, std::move(tensor));
    if (code == 0) return codes;
    TensorType type = codes->type;
    type.dtype = ScalarType::kFloat;
    return call("taper::decode_float8", {codes, code}, type);
  }

  void finish(const char* target, std::vector<Argument> args) {
    weight_->role = ValueRole::kResult;
    call(target, std::move(args), weight_);
  }

  int64_t block_size() const {
    const std::optional<int64_t> block = object_.number("block_size");
    if (!block || *block < 1) refuse("bad-weights", "has blocks of an impossible size");
    return *block;
  }

  void nvfp4() {
    const int64_t block = block_size();
    TensorStore::Tensor scale = load("scale");
    if (object_.number("is_swizzled_scales") == 1) in_rows(scale, block);
    Value* scales = constant("scale", std::move(scale));
    Value* whole = object_.has_attribute("per_tensor_scale")
                       ? constant("per_tensor_scale", load("per_tensor_scale"))
                       : one();
    finish("torchao::dequantize_nvfp4",
           {constant("qdata", load("qdata")), scales, whole, block, weight_->type.dtype});
  }

  Value* one() {
    const float number = 1;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&number);
    return constant(
        "one", {TensorType(ScalarType::kFloat, {}), own_bytes({bytes, bytes + sizeof number})});
  }

  // Scales lie in tiles of 128 rows and 4 columns, of which every 32nd row follows the one before.
  void in_rows(TensorStore::Tensor& scale, int64_t block) const {
    const TensorSizes& sizes = weight_->type.sizes;
    if (sizes.size() != 2 || !weight_->type.is_static() || !scale.type.is_contiguous()) {
      refuse("bad-weights", "has scales in tiles, but is no matrix");
    }
    const auto rows = static_cast<size_t>(sizes[0].as_int());
    const auto columns = static_cast<size_t>(sizes[1].as_int() / block);
    const size_t tiles = (columns + 3) / 4;
    if (scale.data.bytes / 512 < (rows + 127) / 128 * tiles) {
      refuse("bad-weights", "has too few scales");
    }
    std::vector<uint8_t> out(rows * columns);
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t row = i / columns, column = i % columns;
      const size_t tile = row / 128 * tiles + column / 4;
      out[i] = scale.data.data[tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4];
    }
    scale.type = TensorType(ScalarType::kByte,
                            {Sym(static_cast<int64_t>(rows)), Sym(static_cast<int64_t>(columns))});
    scale.data = own_bytes(std::move(out));
  }

  void mx() {
    const int64_t block = block_size();
    Value* elements = numbers("qdata");
    Value* scales = numbers("scale");
    finish("torchao::dequantize_mx",
           {elements, scales, ScalarType::kByte, block, weight_->type.dtype});
  }

  // One scale for all, for each row or for each column.
  void float8() {
    Value* elements = numbers("qdata");
    Value* scales = numbers("scale");
    const std::vector<Sym>&sizes = elements->type.sizes, &each = scales->type.sizes;
    bool fits = scales->type.dtype == ScalarType::kFloat &&
                elements->type.dtype == ScalarType::kFloat && each.size() <= sizes.size() &&
                sizes == weight_->type.sizes;
    for (size_t d = 0; fits && d < each.size(); ++d) {
      fits = each[each.size() - 1 - d] == Sym(1) ||
             each[each.size() - 1 - d] == sizes[sizes.size() - 1 - d];
    }
    if (!fits) refuse("bad-weights", "has scales that do not fit its 8-bit floats");
    TensorType type(ScalarType::kFloat, sizes);
    Value* product = call("aten::mul.Tensor", {elements, scales}, type);
    finish("aten::to.dtype", {product, weight_->type.dtype, false, false, Argument()});
  }

  Graph& graph_;
  Value* weight_;
  TensorStore& object_;
};

}  // namespace

bool define_weight(Graph& graph, Value* weight, TensorStore& object) {
  return WeightWriter(graph, weight, object).run();
}

}  // namespace taper::exir
