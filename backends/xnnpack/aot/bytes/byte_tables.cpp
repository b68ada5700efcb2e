// Walks the nodes in order and computes, for each tensor of floats that is a function of one tensor
// of bytes, the results for all 256 bytes; see byte_tables.h.

#include "backends/xnnpack/aot/bytes/byte_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
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

// A tensor as a function of a tensor of bytes: its numbers, or what its own bytes stand for.
struct Known {
  Id bytes = kNone;
  bool is_computed = false;  // False for the bytes themselves.
  std::shared_ptr<const Numbers> numbers;
};

class TableMaker {
 public:
  explicit TableMaker(NodeList& list) : list_(list), known_(list.values.size()) {}

  void run() {
    count_readers();
    for (size_t i = 0; i < list_.nodes.size(); ++i) {
      NodeSpec& node = list_.nodes[i];
      const Id x = node.inputs[0], y = node.output;
      if (node.kind != NodeContent::Convert) {
        known_[y] = result_of(node);
        if (is_bytes(y)) take_bytes(node);
      } else if (!is_bytes(y)) {
        if (is_bytes(x)) known_[y] = known_of(x);
      } else if (is_bytes(x)) {
        take_steps(node);
      } else {
        take_floats(node);
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

  // What is known of a value; bytes of which nothing is known are functions of themselves.
  Known known_of(Id id) const {
    if (id < known_.size() && known_[id].bytes != kNone) return known_[id];
    if (!is_bytes(id) || value(id).constant != 0) return {};
    const Quantization& how = value(id).quantization;
    auto numbers = std::make_shared<Numbers>();
    for (int byte = kLeast; byte <= kMost; ++byte)
      (*numbers)[place_of(byte)] = number_of(byte, how);
    return {id, false, std::move(numbers)};
  }

  static size_t place_of(int byte) { return static_cast<size_t>(byte - kLeast); }
  static float number_of(int byte, const Quantization& how) {
    return static_cast<float>(byte - how.zero_point) * how.scale;
  }

  // The number that is the only element of a constant.
  std::optional<float> only_number(Id id) const {
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
    const Known operand = known_of(id);
    if (operand.bytes != kNone) {
      if (known.bytes != kNone && known.bytes != operand.bytes) return nullptr;
      known.bytes = operand.bytes;
      return operand.numbers;
    }
    const std::optional<float> number = only_number(id);
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
  void take_floats(NodeSpec& node) {
    const Id floats = node.inputs[0];
    const Known known = known_of(floats);
    if (!known.is_computed) return;
    const std::vector<int8_t> bytes = bytes_of(known, node.output);
    known_[node.output] = in_steps(known, bytes, node.output);
    if (is_read_as_floats_[floats] || value(floats).is_output) return;
    if (!make_table(node, known.bytes, bytes)) return;
    node.origin = list_.nodes[static_cast<size_t>(value(floats).maker)].origin;
  }

  // A Convert between two scales becomes a table unless one is a multiple of the other: XNNPACK's
  // factor has eight bits behind the point, and XNNPACK rounds halves up, not to even numbers.
  void take_steps(NodeSpec& node) {
    const Known known = known_of(node.inputs[0]);
    if (known.bytes == kNone) return;
    const std::vector<int8_t> bytes = bytes_of(known, node.output);
    known_[node.output] = in_steps(known, bytes, node.output);
    const auto scale = [&](Id id) { return value(id).quantization.scale; };
    const float factor = scale(node.inputs[0]) / scale(node.output);
    const bool is_exact = factor == std::nearbyint(factor);
    if (!is_exact || known.is_computed) make_table(node, known.bytes, bytes);
  }

  // An int8 node of two operands that are functions of the same bytes becomes a table, too, and one
  // behind a function becomes part of that. One by itself is fast enough.
  void take_bytes(NodeSpec& node) {
    const Known known = known_[node.output];
    if (!known.is_computed) return;
    const std::vector<int8_t> bytes = bytes_of(known, node.output);
    known_[node.output] = in_steps(known, bytes, node.output);
    const bool is_behind_one = known_of(node.inputs[0]).is_computed;
    if (node.inputs.size() == 2 || is_behind_one) make_table(node, known.bytes, bytes);
  }

  // The results in the steps of the tensor `id`.
  std::vector<int8_t> bytes_of(const Known& known, Id id) const {
    const Quantization& how = value(id).quantization;
    std::vector<int8_t> bytes;
    bytes.reserve(kBytes);
    for (const float number : *known.numbers) {
      const float steps = std::nearbyint(number * how.inverse) + static_cast<float>(how.zero_point);
      const bool is_number = !std::isnan(steps);  // NaN becomes the least, as in our kernels.
      const float bound = std::clamp(steps, float{kLeast}, float{kMost});
      bytes.push_back(static_cast<int8_t>(is_number ? static_cast<int>(bound) : kLeast));
    }
    return bytes;
  }

  // The same function, rounded to these bytes of the tensor `id`.
  Known in_steps(const Known& known, const std::vector<int8_t>& bytes, Id id) const {
    auto numbers = std::make_shared<Numbers>();
    for (size_t i = 0; i < kBytes; ++i) (*numbers)[i] = number_of(bytes[i], value(id).quantization);
    return {known.bytes, true, std::move(numbers)};
  }

  bool make_table(NodeSpec& node, Id from, const std::vector<int8_t>& bytes) {
    if (count_ == kMostTables) return false;
    const Id table = list_.add_constant({exir::Sym(int64_t{kBytes})},
                                        exir::own_bytes({bytes.begin(), bytes.end()}));
    list_.values[table].quantization.type = DataType::QINT8;
    list_.values[table].quantization.scale = 1;
    node.kind = NodeContent::ByteTable;
    node.inputs = {from, table};
    node.min = -std::numeric_limits<float>::infinity();
    node.max = std::numeric_limits<float>::infinity();
    ++count_;
    return true;
  }

  NodeList& list_;
  std::vector<Known> known_;  // By the values.
  std::vector<bool> is_read_as_floats_;
  size_t count_ = 0;
};

}  // namespace

void use_byte_tables(NodeList& list) { TableMaker(list).run(); }

}  // namespace taper::xnnpack
