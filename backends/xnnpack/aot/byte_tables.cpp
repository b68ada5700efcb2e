// Walks the nodes in order and computes, for each tensor of floats that is a function of one tensor
// of bytes, the results for all 256 bytes; see byte_tables.h.

#include "backends/xnnpack/aot/byte_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

namespace taper::xnnpack {
namespace {

using wire::DataType;
using wire::NodeContent;

constexpr size_t kBytes = 256;
constexpr int kLeast = -128, kMost = 127;
// Each table is a stage of its own on the device, which limits their number.
constexpr size_t kMostTables = 256;

// What a node computes of an element, or of two; nullopt if it computes something else. Operands
// and results are float32; what is between them has more digits.
std::optional<double> function(const NodeSpec& node, double x) {
  constexpr double kRootOfHalf = 0.70710678118654752;
  constexpr double kRootOfTwoByPi = 0.79788456080286536;
  switch (node.kind) {
    case NodeContent::Abs:
      return std::abs(x);
    case NodeContent::Ceiling:
      return std::ceil(x);
    case NodeContent::Clamp:  // The range of the node does it.
    case NodeContent::Copy:
      return x;
    case NodeContent::Cos:
      return std::cos(x);
    case NodeContent::Elu:
      return x > 0 ? x : static_cast<double>(node.number) * std::expm1(x);
    case NodeContent::Exp:
      return std::exp(x);
    case NodeContent::Floor:
      return std::floor(x);
    case NodeContent::Gelu:
      return 0.5 * x * (1 + std::erf(x * kRootOfHalf));
    case NodeContent::GeluTanh:
      return 0.5 * x * (1 + std::tanh(kRootOfTwoByPi * (x + 0.044715 * x * x * x)));
    case NodeContent::Hardswish:
      return x * std::clamp(x + 3, 0.0, 6.0) / 6;
    case NodeContent::LeakyRelu:
      return x >= 0 ? x : x * static_cast<double>(node.number);
    case NodeContent::Log:
      return std::log(x);
    case NodeContent::Negate:
      return -x;
    case NodeContent::ReciprocalSquareRoot:
      return 1 / std::sqrt(x);
    case NodeContent::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case NodeContent::Sin:
      return std::sin(x);
    case NodeContent::Square:
      return x * x;
    case NodeContent::SquareRoot:
      return std::sqrt(x);
    case NodeContent::Swish:
      return x / (1 + std::exp(-x));
    case NodeContent::Tanh:
      return std::tanh(x);
    default:
      return std::nullopt;
  }
}

std::optional<double> function(const NodeSpec& node, double a, double b) {
  switch (node.kind) {
    case NodeContent::Add:
      return a + b;
    case NodeContent::Divide:
      return a / b;
    case NodeContent::Maximum:
      return std::isnan(a) || a > b ? a : b;
    case NodeContent::Minimum:
      return std::isnan(a) || a < b ? a : b;
    case NodeContent::Multiply:
      return a * b;
    case NodeContent::PRelu:
      return a >= 0 ? a : a * b;
    case NodeContent::Subtract:
      return a - b;
    default:
      return std::nullopt;
  }
}

// Results for all bytes, from the least to the greatest.
using Numbers = std::array<float, kBytes>;

// A tensor of floats as a function of a tensor of bytes.
struct Known {
  Id bytes = kNone;
  bool is_computed = false;  // False for the bytes themselves, converted to floats.
  std::shared_ptr<const Numbers> numbers;
};

class TableMaker {
 public:
  explicit TableMaker(NodeList& list) : list_(list), known_(list.values.size()) {}

  void run() {
    count_readers();
    for (size_t i = 0; i < list_.nodes.size(); ++i) {
      NodeSpec& node = list_.nodes[i];
      if (node.kind != NodeContent::Convert) {
        known_[node.output] = result_of(node);
      } else if (is_bytes(node.output)) {
        make_table(node);
      } else if (is_bytes(node.inputs[0])) {
        known_[node.output] = floats_of(node.inputs[0]);
      }
    }
  }

 private:
  const ValueSpec& value(Id id) const { return list_.values[id]; }
  bool is_bytes(Id id) const { return value(id).quantization.type == DataType::QINT8; }

  // Notes what is read by anything but a Convert to bytes.
  void count_readers() {
    is_read_as_floats_.assign(list_.values.size(), false);
    const std::vector<bool> live = list_.live_nodes();
    for (size_t i = 0; i < list_.nodes.size(); ++i) {
      const NodeSpec& node = list_.nodes[i];
      if (!live[i] || (node.kind == NodeContent::Convert && is_bytes(node.output))) continue;
      for (const Id id : node.inputs) {
        if (id != kNone) is_read_as_floats_[id] = true;
      }
    }
  }

  Known floats_of(Id bytes) const {
    const Quantization& how = value(bytes).quantization;
    auto numbers = std::make_shared<Numbers>();
    for (int byte = kLeast; byte <= kMost; ++byte) {
      (*numbers)[static_cast<size_t>(byte - kLeast)] =
          static_cast<float>(byte - how.zero_point) * how.scale;
    }
    return {bytes, false, std::move(numbers)};
  }

  // The number that is the only element of a constant.
  std::optional<float> number_of(Id id) const {
    if (value(id).constant == 0 || value(id).quantization.type != DataType::FP32) return {};
    for (const exir::Sym& size : value(id).dims) {
      if (!(size == exir::Sym(1))) return {};
    }
    const exir::TensorData& data = list_.data(id);
    if (data.bytes != sizeof(float)) return {};
    float number;
    std::memcpy(&number, data.data, sizeof(number));
    return number;
  }

  // The operands for all bytes: a function of the bytes of `known`, which is filled in if it names
  // none yet, or a number. Null if it is neither.
  std::shared_ptr<const Numbers> operand(Id id, Known& known) const {
    if (id < known_.size() && known_[id].bytes != kNone) {
      if (known.bytes != kNone && known.bytes != known_[id].bytes) return nullptr;
      known.bytes = known_[id].bytes;
      return known_[id].numbers;
    }
    const std::optional<float> number = number_of(id);
    if (!number) return nullptr;
    auto numbers = std::make_shared<Numbers>();
    numbers->fill(*number);
    return numbers;
  }

  Known result_of(const NodeSpec& node) const {
    const size_t count = node.inputs.size();
    if (count == 0 || count > 2 || node.inputs[0] == kNone) return {};
    const bool is_one = count == 1 || node.inputs[1] == kNone;
    if (!(is_one ? function(node, 0) : function(node, 0, 0))) return {};
    Known known;
    const auto a = operand(node.inputs[0], known);
    const auto b = is_one ? a : operand(node.inputs[1], known);
    if (a == nullptr || b == nullptr || known.bytes == kNone) return {};
    if (!(value(node.output).dims == value(known.bytes).dims)) return {};
    auto numbers = std::make_shared<Numbers>();
    for (size_t i = 0; i < kBytes; ++i) {
      const auto x = static_cast<double>((*a)[i]), y = static_cast<double>((*b)[i]);
      const float result = static_cast<float>(*(is_one ? function(node, x) : function(node, x, y)));
      const bool is_number = !std::isnan(result);
      (*numbers)[i] = is_number ? std::clamp(result, node.min, node.max) : result;
    }
    known.is_computed = true;
    known.numbers = std::move(numbers);
    return known;
  }

  // A Convert of a function's results to bytes becomes the table, unless the floats are computed
  // for other nodes, too.
  void make_table(NodeSpec& node) {
    const Id floats = node.inputs[0];
    if (floats >= known_.size() || !known_[floats].is_computed || count_ == kMostTables) return;
    if (is_read_as_floats_[floats] || value(floats).is_output) return;
    const Quantization& how = value(node.output).quantization;
    const float factor = 1 / how.scale;
    std::vector<uint8_t> bytes;
    bytes.reserve(kBytes);
    for (const float number : *known_[floats].numbers) {
      const float steps = std::nearbyint(number * factor) + static_cast<float>(how.zero_point);
      const bool is_number = !std::isnan(steps);  // NaN becomes the least, as in our kernels.
      const float bound = std::clamp(steps, float{kLeast}, float{kMost});
      bytes.push_back(static_cast<uint8_t>(is_number ? static_cast<int>(bound) : kLeast));
    }
    const Id table =
        list_.add_constant({exir::Sym(int64_t{kBytes})}, exir::own_bytes(std::move(bytes)));
    list_.values[table].quantization.type = DataType::QINT8;
    list_.values[table].quantization.scale = 1;
    node.kind = NodeContent::ByteTable;
    node.origin = list_.nodes[static_cast<size_t>(value(floats).maker)].origin;
    node.inputs = {known_[floats].bytes, table};
    ++count_;
  }

  NodeList& list_;
  std::vector<Known> known_;  // By the values.
  std::vector<bool> is_read_as_floats_;
  size_t count_ = 0;
};

}  // namespace

void use_byte_tables(NodeList& list) { TableMaker(list).run(); }

}  // namespace taper::xnnpack
