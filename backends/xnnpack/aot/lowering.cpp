#include "backends/xnnpack/aot/lowering.h"

#include <algorithm>
#include <cstring>

#include "exir/ir/failure.h"

namespace taper::xnnpack {
namespace {

using exir::Failure;
using exir::Sym;
using exir::Value;
using wire::NodeContent;

bool is_one(const Sym& size) { return size.is_int() && size.as_int() == 1; }

// A permutation that moves only dimensions of size 1 leaves the bytes where they are.
bool moves_nothing(const Dims& dims, const std::vector<uint32_t>& perm) {
  uint32_t last = 0;
  bool any = false;
  for (const uint32_t d : perm) {
    if (is_one(dims[d])) continue;
    if (any && d < last) return false;
    last = d;
    any = true;
  }
  return true;
}

Dims permuted(const Dims& dims, const std::vector<uint32_t>& perm) {
  Dims out;
  for (const uint32_t d : perm) out.push_back(dims[d]);
  return out;
}

// The bytes of a constant of floats with its dimensions permuted.
exir::TensorData permuted_data(const exir::TensorData& data, const Dims& dims,
                               const std::vector<uint32_t>& perm) {
  const size_t rank = dims.size();
  std::vector<size_t> strides(rank, 1), sizes(rank), steps(rank);
  for (size_t d = rank; d-- > 1;) {
    strides[d - 1] = strides[d] * static_cast<size_t>(dims[d].as_int());
  }
  for (size_t d = 0; d < rank; ++d) {
    sizes[d] = static_cast<size_t>(dims[perm[d]].as_int());
    steps[d] = strides[perm[d]];
  }
  std::vector<uint8_t> bytes(data.bytes);
  std::vector<size_t> index(rank, 0);
  size_t from = 0;
  for (size_t to = 0; to < data.bytes / sizeof(float); ++to) {
    std::memcpy(&bytes[to * sizeof(float)], data.data + from * sizeof(float), sizeof(float));
    for (size_t d = rank; d-- > 0;) {
      from += steps[d];
      if (++index[d] < sizes[d]) break;
      from -= steps[d] * sizes[d];
      index[d] = 0;
    }
  }
  return exir::own_bytes(std::move(bytes));
}

// Nodes that take a range of their results.
bool takes_range(NodeContent kind) {
  switch (kind) {
    case NodeContent::Conv2d:
    case NodeContent::DepthwiseConv2d:
    case NodeContent::ConvTranspose2d:
    case NodeContent::FullyConnected:
    case NodeContent::Add:
    case NodeContent::Subtract:
    case NodeContent::Multiply:
    case NodeContent::Divide:
    case NodeContent::MaxPool2d:
    case NodeContent::AvgPool2d:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<uint32_t> to_image(size_t rank) {
  return rank == 3 ? std::vector<uint32_t>{0, 2, 1} : std::vector<uint32_t>{0, 2, 3, 1};
}
std::vector<uint32_t> to_plain(size_t rank) {
  return rank == 3 ? std::vector<uint32_t>{0, 2, 1} : std::vector<uint32_t>{0, 3, 1, 2};
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims out = a.size() >= b.size() ? a : b;
  const Dims& other = a.size() >= b.size() ? b : a;
  for (size_t d = 0; d < other.size(); ++d) {
    Sym& size = out[out.size() - 1 - d];
    if (is_one(size)) size = other[other.size() - 1 - d];
  }
  return out;
}

Lowering::Lowering(const exir::Part& part) : part_(part), out_(part.graph->ranges) {
  for (const Value* input : part.inputs) {
    Dims dims = input->type.sizes;
    set_plain(input, out_.add_input(std::move(dims)));
  }
  for (const exir::Node* node : part.nodes) {
    exir::for_each_value(*node, [&](const Value* value) { ++uses_[value]; });
  }
  for (const Value* output : part.outputs) ++uses_[output];
}

size_t Lowering::uses(const Value* value) const {
  const auto found = uses_.find(value);
  return found == uses_.end() ? 0 : found->second;
}

Id Lowering::first_form(const Value* value) {
  Forms& forms = forms_[value];
  if (forms.plain == kNone && forms.image == kNone && forms.loose != kNone) {
    forms.plain = repeated(forms.loose, value->type.sizes);
  }
  if (forms.plain == kNone && forms.image == kNone) {
    if (value->role != exir::ValueRole::kConstant) {
      throw Failure("%" + value->name + " is read before it is made");
    }
    forms.plain = out_.add_constant(value->type.sizes, value->data);
  }
  return forms.plain != kNone ? forms.plain : forms.image;
}

Id Lowering::plain(const Value* value) {
  first_form(value);
  Forms& forms = forms_[value];
  if (forms.plain == kNone) forms.plain = transpose(forms.image, to_plain(value->type.rank()));
  return forms.plain;
}

Id Lowering::loose(const Value* value) {
  const auto found = forms_.find(value);
  const bool has = found != forms_.end() && found->second.loose != kNone;
  return has ? found->second.loose : plain(value);
}

// XNNPACK of 2024 has no broadcast of its own.
Id Lowering::repeated(Id x, const Dims& dims) {
  size_t count = 1;
  for (const Sym& size : dims) count *= static_cast<size_t>(size.as_int());
  const std::vector<float> ones(count, 1);
  const auto* bytes = reinterpret_cast<const uint8_t*>(ones.data());
  return binary(NodeContent::Multiply, x,
                out_.add_constant(dims, exir::own_bytes({bytes, bytes + count * sizeof(float)})));
}

Id Lowering::weights(const Value* value) {
  Id& id = forms_[value].weights;
  if (id == kNone) id = out_.add_constant(value->type.sizes, value->data);
  return id;
}

Id Lowering::image(const Value* value) {
  first_form(value);
  Forms& forms = forms_[value];
  if (forms.image == kNone) forms.image = transpose(forms.plain, to_image(value->type.rank()));
  return forms.image;
}

bool Lowering::is_image(const Value* value) const {
  const auto found = forms_.find(value);
  return found != forms_.end() && found->second.image != kNone && found->second.plain == kNone;
}

void Lowering::set_like(const Value* value, bool image, Id id) {
  (image ? forms_[value].image : forms_[value].plain) = id;
  ++holders_[id];
}

Id Lowering::unary(NodeContent kind, Id x) {
  NodeSpec spec;
  spec.kind = kind;
  spec.inputs = {x};
  return out_.add(std::move(spec), out_.dims(x));
}

Id Lowering::binary(NodeContent kind, Id a, Id b) {
  NodeSpec spec;
  spec.kind = kind;
  spec.inputs = {a, b};
  return out_.add(std::move(spec), broadcast(out_.dims(a), out_.dims(b)));
}

Id Lowering::clamp(Id x, float min, float max) {
  NodeSpec spec;
  spec.kind = NodeContent::Clamp;
  spec.inputs = {x};
  spec.min = min;
  spec.max = max;
  return out_.add(std::move(spec), out_.dims(x));
}

Id Lowering::transpose(Id x, const std::vector<uint32_t>& perm) {
  const Dims dims = out_.dims(x);
  if (out_.is_constant(x)) {
    return out_.add_constant(permuted(dims, perm), permuted_data(out_.data(x), dims, perm));
  }
  if (moves_nothing(dims, perm)) return reshape(x, permuted(dims, perm));
  NodeSpec spec;
  spec.kind = NodeContent::Transpose;
  spec.inputs = {x};
  spec.list = perm;
  return out_.add(std::move(spec), permuted(dims, perm));
}

Id Lowering::reshape(Id x, Dims dims) {
  if (dims == out_.dims(x)) return x;
  if (out_.is_constant(x)) return out_.add_constant(std::move(dims), out_.data(x));
  // A reshape of a reshape is one.
  const NodeSpec* maker = out_.maker(x);
  if (maker != nullptr && maker->kind == NodeContent::Reshape) x = maker->inputs[0];
  if (dims == out_.dims(x)) return x;
  NodeSpec spec;
  spec.kind = NodeContent::Reshape;
  spec.inputs = {x};
  for (const Sym& size : dims) {
    spec.list.push_back(size.is_int() ? static_cast<uint32_t>(size.as_int()) : 0);
  }
  if (std::count(spec.list.begin(), spec.list.end(), 0u) > 1) {
    throw Failure("a reshape of XNNPACK leaves more than one size open");
  }
  return out_.add(std::move(spec), std::move(dims));
}

// A product with 1/n, where n is known: means of rows are not what XNNPACK's pools are made for.
Id Lowering::mean_of_rows(Id x) {
  Dims dims = out_.dims(x);
  const int64_t count = dims.back().as_int();
  if (means_.count(count) == 0) {
    const std::vector<float> parts(static_cast<size_t>(count), 1 / static_cast<float>(count));
    const auto* bytes = reinterpret_cast<const uint8_t*>(parts.data());
    means_[count] = out_.add_constant(
        {1, count}, exir::own_bytes({bytes, bytes + parts.size() * sizeof(float)}));
  }
  NodeSpec spec;
  spec.kind = NodeContent::FullyConnected;
  spec.inputs = {x, means_[count], kNone};
  dims.back() = 1;
  return out_.add(std::move(spec), std::move(dims));
}

Id Lowering::mean_of_last(Id x, size_t count) {
  const Dims dims = out_.dims(x);
  if (count == 1 && dims.back().is_int()) return mean_of_rows(x);
  Sym rows = 1, columns = 1;
  Dims result = dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool reduced = d + count >= dims.size();
    (reduced ? columns : rows) = (reduced ? columns : rows) * dims[d];
    if (reduced) result[d] = 1;
  }
  NodeSpec spec;
  spec.kind = NodeContent::GlobalAvgPool2d;
  spec.inputs = {reshape(x, {rows, 1, columns, 1})};
  spec.flags = 64;  // The dimensions stay.
  return reshape(out_.add(std::move(spec), {rows, 1, 1, 1}), std::move(result));
}

Id Lowering::number(float value) {
  const auto found = numbers_.find(value);
  if (found != numbers_.end()) return found->second;
  return numbers_[value] = out_.add_number(value);
}

bool Lowering::clamp_maker(const Value* value, Id id, float min, float max) {
  NodeSpec* maker = out_.maker(id);
  if (maker == nullptr || !takes_range(maker->kind)) return false;
  if (uses(value) != 1 || holders_[id] != 1 || out_.is_read(id)) return false;
  maker->min = std::max(maker->min, min);
  maker->max = std::min(maker->max, max);
  return maker->min < maker->max;
}

void Lowering::finish_outputs() {
  for (const Value* output : part_.outputs) {
    Id id = plain(output);
    if (!out_.may_be_output(id)) id = unary(NodeContent::Copy, id);
    out_.set_output(id);
  }
}

}  // namespace taper::xnnpack
