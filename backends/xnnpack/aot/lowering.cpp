// Adds the nodes that rules request and keeps track of layouts; see lowering.h.

#include "backends/xnnpack/aot/lowering.h"

#include <algorithm>
#include <cstring>

#include "backends/xnnpack/aot/moved_reshape.h"
#include "backends/xnnpack/aot/size_sources.h"
#include "backends/xnnpack/payload_format.h"
#include "exir/ir/failure.h"
#include "exir/ir/scales.h"

namespace taper::xnnpack {
namespace {

using exir::Failure;
using exir::Sym;
using exir::Value;
using wire::NodeContent;

constexpr uint32_t kTransposedB = 1;
constexpr uint32_t kKeepDims = 64;  // A flag of global pools: they keep the rank.

bool is_one(const Sym& size) { return size.is_int() && size.as_int() == 1; }

// True if a permutation moves only dimensions of size 1, so that the bytes stay in place.
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

// The product of the sizes [first, last).
Sym count_of(const Dims& dims, size_t first, size_t last) {
  Sym count = 1;
  for (size_t d = first; d < last; ++d) count = count * dims[d];
  return count;
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

bool is_convolution(NodeContent kind) {
  return kind == NodeContent::Conv2d || kind == NodeContent::DepthwiseConv2d ||
         kind == NodeContent::ConvTranspose2d;
}

// Whether a kind of node can clamp its results.
bool takes_range(NodeContent kind) {
  if (is_convolution(kind)) return true;
  switch (kind) {
    case NodeContent::FullyConnected:
    case NodeContent::Add:
    case NodeContent::Subtract:
    case NodeContent::Multiply:
    case NodeContent::Divide:
    case NodeContent::MaxPool2d:
    case NodeContent::AvgPool2d:
    case NodeContent::BatchNorm:
    case NodeContent::ImageGroupNorm:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool has_scales(const Value* value, size_t dim) {
  return value->scales != nullptr && exir::is_symmetric(*value->scales) &&
         exir::is_along(*value->scales, value->type, dim);
}

std::vector<uint32_t> to_image(size_t rank) {
  if (rank == 5) return {0, 2, 3, 4, 1};
  return rank == 3 ? std::vector<uint32_t>{0, 2, 1} : std::vector<uint32_t>{0, 2, 3, 1};
}
std::vector<uint32_t> to_plain(size_t rank) {
  if (rank == 5) return {0, 4, 1, 2, 3};
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

Lowering::Lowering(const exir::Part& part)
    : part_(part), out_(part.graph->ranges, part.for_executorch) {
  for (const Value* input : part.inputs) {
    Dims dims = input->type.sizes;
    set_plain(input, out_.add_input(std::move(dims)));
  }
  for (const exir::Node* node : part.nodes) {
    exir::for_each_value(*node, [&](const Value* value) { ++uses_[value]; });
  }
  for (const Value* output : part.outputs) ++uses_[output];
}

bool Lowering::is_read_by(const Value* value, std::string_view target) const {
  return std::any_of(part_.nodes.begin(), part_.nodes.end(), [&](const exir::Node* node) {
    bool reads = false;
    exir::for_each_value(*node, [&](const Value* each) { reads = reads || each == value; });
    return reads && node->is(target);
  });
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
      throw Failure("%" + value->name + " is used before it is defined");
    }
    forms.plain =
        out_.add_constant(value->type.sizes, exir::elements_of(*value), exir::bytes_of(*value));
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

bool Lowering::repeats_openly(const Value* value) const {
  const auto found = forms_.find(value);
  if (found == forms_.end() || found->second.loose == kNone) return false;
  return found->second.plain == kNone && found->second.image == kNone &&
         count_open(value->type.sizes) > 0;
}

// XNNPACK of 2024 has no broadcast node.
Id Lowering::repeated(Id x, const Dims& dims) {
  if (count_open(dims) > 0) throw Failure("a tensor is expanded to a dynamic size");
  size_t count = 1;
  for (const Sym& size : dims) count *= static_cast<size_t>(size.as_int());
  return binary(NodeContent::Multiply, x, constant(dims, std::vector<float>(count, 1)));
}

Id Lowering::copies(Id x, size_t dim, int64_t times) {
  const Dims& dims = out_.dims(x);
  const Sym before = count_of(dims, 0, dim), after = count_of(dims, dim, dims.size());
  const std::vector<float> ones(static_cast<size_t>(times), 1);
  const Id once = reshape(x, {before, 1, after});
  return binary(NodeContent::Multiply, once, constant({times, 1}, ones));
}

Id Lowering::weights(const Value* value) {
  Id& id = forms_[value].weights;
  if (id != kNone) return id;
  id = out_.add_constant(value->type.sizes, value->data, exir::bytes_of(*value));
  out_.set_made_from(id, value->scales);
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

// A program may state a rank that its call does not have, and rules rely on ranks. An image of a
// signal has one dimension more.
void Lowering::set_like(const Value* value, bool image, Id id) {
  const size_t rank = out_.dims(id).size();
  if (!image && rank != value->type.rank() && value->type.rank() + rank > 1) {
    throw Failure("%" + value->name + " is stated with " + std::to_string(value->type.rank()) +
                  " dimensions and has " + std::to_string(rank));
  }
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

Id Lowering::taper_node(NodeContent kind, std::vector<Id> inputs, std::vector<uint32_t> list,
                        float number) {
  NodeSpec spec;
  spec.kind = kind;
  spec.inputs = std::move(inputs);
  spec.list = std::move(list);
  spec.number = number;
  const Dims dims = out_.dims(spec.inputs[0]);
  return out_.add(std::move(spec), dims);
}

Id Lowering::transpose(Id x, const std::vector<uint32_t>& perm) {
  const Dims dims = out_.dims(x);
  if (perm.size() != dims.size()) {
    throw Failure("a tensor of " + std::to_string(dims.size()) + " dimensions is read as one of " +
                  std::to_string(perm.size()));
  }
  if (out_.is_constant(x)) {
    return out_.add_constant(permuted(dims, perm), permuted_data(out_.data(x), dims, perm),
                             out_.integers(x));
  }
  if (count_open(dims) <= 1 && moves_nothing(dims, perm)) return reshape(x, permuted(dims, perm));
  if (const auto earlier = joined_transpose(x, perm)) return *earlier;
  NodeSpec spec;
  spec.kind = NodeContent::Transpose;
  spec.inputs = {x};
  spec.list = perm;
  return out_.add_move(std::move(spec), permuted(dims, perm));
}

// A transpose of a transpose is a single one, or none, also if a reshape is between them.
std::optional<Id> Lowering::joined_transpose(Id x, const std::vector<uint32_t>& perm) {
  const NodeSpec* maker = out_.maker(x);
  if (maker == nullptr) return std::nullopt;
  MovedReshape moved{out_.dims(x), {}};
  if (maker->kind == NodeContent::Reshape) {
    maker = out_.maker(maker->inputs[0]);
    if (maker == nullptr || maker->kind != NodeContent::Transpose) return std::nullopt;
    const auto found = reshape_before(out_.dims(maker->inputs[0]), maker->list, moved.dims);
    if (!found || found->dims.size() > kMaxRank || !may_be_sizes(found->dims)) return std::nullopt;
    moved = *found;
  } else if (maker->kind == NodeContent::Transpose) {
    moved = {out_.dims(maker->inputs[0]), maker->list};
  } else {
    return std::nullopt;
  }
  const std::vector<uint32_t> both = composed(moved.perm, perm);
  const Id from = reshape(maker->inputs[0], moved.dims);
  return std::is_sorted(both.begin(), both.end()) ? from : transpose(from, both);
}

// Whether a node can reshape to these sizes.
bool Lowering::may_be_sizes(const Dims& dims) const {
  return count_open(dims) <= 1 || (!for_executorch() && out_.knows_sizes(dims));
}

Id Lowering::reshape(Id x, Dims dims) {
  if (dims == out_.dims(x)) return x;
  if (out_.is_constant(x)) {
    return out_.add_constant(std::move(dims), out_.data(x), out_.integers(x));
  }
  // A reshape of a reshape is a single reshape.
  const NodeSpec* maker = out_.maker(x);
  if (maker != nullptr && maker->kind == NodeContent::Reshape) x = maker->inputs[0];
  if (dims == out_.dims(x)) return x;
  NodeSpec spec;
  spec.kind = NodeContent::Reshape;
  spec.inputs = {x};
  for (const Sym& size : dims) {
    spec.list.push_back(size.is_int() ? static_cast<uint32_t>(size.as_int()) : 0);
  }
  if (count_open(dims) > 1) {
    if (for_executorch()) throw Failure("a reshape in ExecuTorch has at most one dynamic size");
    if (!out_.knows_sizes(dims)) throw Failure("several dynamic sizes of a reshape have no source");
  }
  if (!out_.fits_upper_bounds(x, dims)) {
    throw Failure("the upper bounds of its sizes make another number of elements");
  }
  return out_.add_move(std::move(spec), std::move(dims));
}

Id Lowering::slice(Id x, size_t dim, int64_t start, int64_t size) {
  Dims dims = out_.dims(x);
  if (start == 0 && dims[dim] == Sym(size)) return x;
  NodeSpec spec;
  spec.kind = NodeContent::Slice;
  spec.inputs = {x};
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t all = dims[d].is_int() ? dims[d].as_int() : 0;  // 0 means all.
    spec.list.push_back(d == dim ? static_cast<uint32_t>(start) : 0);
    spec.list2.push_back(static_cast<uint32_t>(d == dim ? size : all));
  }
  dims[dim] = size;
  return out_.add(std::move(spec), std::move(dims));
}

Id Lowering::product(Id a, Id b, bool is_transposed) {
  const Dims &x = out_.dims(a), &y = out_.dims(b);
  Dims dims = broadcast({x.begin(), x.end() - 2}, {y.begin(), y.end() - 2});
  dims.push_back(x[x.size() - 2]);
  dims.push_back(y[y.size() - (is_transposed ? 2 : 1)]);
  NodeSpec spec;
  spec.kind = NodeContent::BatchMatrixMultiply;
  spec.inputs = {a, b};
  spec.flags = is_transposed ? kTransposedB : 0;
  return out_.add(std::move(spec), std::move(dims));
}

// XNNPACK concatenates up to five tensors. Groups of five are concatenated, then groups of those,
// so that no element is copied often.
Id Lowering::concatenated(const std::vector<Id>& ids, size_t dim) {
  if (ids.size() == 1) return ids[0];
  std::vector<Id> groups;
  constexpr size_t kMost = kMostConcatenated;
  for (size_t first = 0; ids.size() > kMost && first < ids.size(); first += kMost) {
    const auto begin = ids.begin() + static_cast<ptrdiff_t>(first);
    const auto count = std::min<ptrdiff_t>(kMost, ids.end() - begin);
    groups.push_back(concatenated({begin, begin + count}, dim));
  }
  if (!groups.empty()) return concatenated(groups, dim);
  NodeSpec spec;
  spec.kind = concatenation_of(ids.size());
  spec.inputs = ids;
  spec.list = {static_cast<uint32_t>(dim)};
  Dims dims = out_.dims(ids[0]);
  for (size_t i = 1; i < ids.size(); ++i) dims[dim] = dims[dim] + out_.dims(ids[i])[dim];
  return out_.add(std::move(spec), std::move(dims));
}

Id Lowering::connected(Id x, Id weights, Id bias) {
  Dims dims = out_.dims(x);
  dims.back() = out_.dims(weights)[0];
  NodeSpec spec;
  spec.kind = NodeContent::FullyConnected;
  spec.inputs = {x, weights, bias};
  return out_.add(std::move(spec), std::move(dims));
}

// Computes weighted sums of rows as a product with a vector: XNNPACK's pools are not made for means
// of rows, and it has no sums.
Id Lowering::weighted_rows(Id x, float weight) {
  const int64_t count = out_.dims(x).back().as_int();
  Id& weights = row_weights_.try_emplace({count, weight}, kNone).first->second;
  if (weights == kNone) {
    weights = constant({1, count}, std::vector<float>(static_cast<size_t>(count), weight));
  }
  return connected(x, weights, kNone);
}
Id Lowering::mean_of_rows(Id x) {
  return weighted_rows(x, 1 / static_cast<float>(out_.dims(x).back().as_int()));
}

Id Lowering::mean_of_last(Id x, size_t count) {
  Dims dims = out_.dims(x);
  Dims result = dims;
  std::fill(result.end() - static_cast<ptrdiff_t>(count), result.end(), Sym(1));
  const size_t first = dims.size() - count;
  if (!std::all_of(dims.begin() + static_cast<ptrdiff_t>(first), dims.end(),
                   [](const Sym& size) { return size.is_int(); })) {
    const Sym rows = count_of(dims, 0, first), columns = count_of(dims, first, dims.size());
    return reshape(pooled(x, {rows, 1, columns, 1}, kKeepDims), std::move(result));
  }
  // Multiplies by vectors, each for as many dimensions as keep the vector short.
  constexpr int64_t kLongestRow = 4096;
  while (dims.size() > first) {
    int64_t columns = 1;
    do {
      columns *= dims.back().as_int();
      dims.pop_back();
    } while (dims.size() > first && columns * dims.back().as_int() <= kLongestRow);
    Dims rows = dims;
    rows.push_back(columns);
    x = mean_of_rows(reshape(x, std::move(rows)));
  }
  return reshape(x, std::move(result));
}

// Applies a global pool to the elements, reshaped to images of the given sizes.
Id Lowering::pooled(Id x, const Dims& image, uint32_t flags) {
  NodeSpec spec;
  spec.kind = NodeContent::GlobalAvgPool2d;
  spec.inputs = {reshape(x, image)};
  spec.flags = flags;
  return out_.add(std::move(spec), {image[0], 1, 1, image[3]});
}

// Computes the mean over dimensions [first, last) that are followed by others: these dimensions are
// the rows of images, and the dimensions after them are the channels.
Id Lowering::mean_between(Id x, size_t first, size_t last) {
  Dims dims = out_.dims(x);
  const Sym before = count_of(dims, 0, first), channels = count_of(dims, last, dims.size());
  const bool is_image = dims.size() == 4 && first == 1 && last == 3;
  const Dims image = is_image ? dims : Dims{before, count_of(dims, first, last), 1, channels};
  const Id mean = pooled(x, image, kKeepDims);
  std::fill(dims.begin() + static_cast<ptrdiff_t>(first),
            dims.begin() + static_cast<ptrdiff_t>(last), Sym(1));
  return reshape(mean, std::move(dims));
}

// Computes sums as products with ones, so that sums of whole numbers are exact.
Id Lowering::sum_between(Id x, size_t first, size_t last) {
  Dims dims = out_.dims(x);
  const Sym before = count_of(dims, 0, first), count = count_of(dims, first, last);
  const Sym after = count_of(dims, last, dims.size());
  std::fill(dims.begin() + static_cast<ptrdiff_t>(first),
            dims.begin() + static_cast<ptrdiff_t>(last), Sym(1));
  if (!count.is_int()) {
    if (for_executorch()) throw Failure("the number of elements to add is dynamic");
    return reshape(pooled(x, {before, count, 1, after}, kKeepDims | kSumFlag), std::move(dims));
  }
  if (after == Sym(1)) {
    return reshape(weighted_rows(reshape(x, {before, count}), 1), std::move(dims));
  }
  const std::vector<float> ones(static_cast<size_t>(count.as_int()), 1);
  const Id row = constant({1, 1, count}, ones);
  const Id sum = product(row, reshape(x, {before, count, after}), false);
  return reshape(sum, std::move(dims));
}

// A pool whose window is all rows of an image, whose channels are the dimensions after them.
Id Lowering::largest_between(Id x, size_t first, size_t last) {
  Dims dims = out_.dims(x);
  const Sym before = count_of(dims, 0, first), count = count_of(dims, first, last);
  const Sym after = count_of(dims, last, dims.size());
  std::fill(dims.begin() + static_cast<ptrdiff_t>(first),
            dims.begin() + static_cast<ptrdiff_t>(last), Sym(1));
  if (count == Sym(1)) return reshape(x, std::move(dims));
  NodeSpec pool;
  pool.kind = NodeContent::MaxPool2d;
  pool.inputs = {reshape(x, {before, count, 1, after})};
  pool.window.kernel[0] = pool.window.stride[0] = static_cast<uint32_t>(count.as_int());
  pool.window.kernel[1] = pool.window.stride[1] = 1;
  pool.window.dilation[0] = pool.window.dilation[1] = 1;
  return reshape(out_.add(std::move(pool), {before, 1, 1, after}), std::move(dims));
}

// Folds adjacent dimensions together, starting with the last.
template <typename Fold>
Id Lowering::in_turns(Id x, const std::vector<size_t>& dims, const Fold& fold) {
  for (size_t end = dims.size(); end > 0;) {
    size_t begin = end - 1;
    while (begin > 0 && dims[begin - 1] + 1 == dims[begin]) --begin;
    x = fold(x, dims[begin], dims[end - 1] + 1);
    end = begin;
  }
  return x;
}

Id Lowering::mean(Id x, const std::vector<size_t>& dims) {
  return in_turns(x, dims, [&](Id id, size_t first, size_t last) {
    const bool are_last = last == out_.dims(id).size();
    return are_last ? mean_of_last(id, last - first) : mean_between(id, first, last);
  });
}

Id Lowering::sum(Id x, const std::vector<size_t>& dims) {
  return in_turns(x, dims,
                  [&](Id id, size_t first, size_t last) { return sum_between(id, first, last); });
}

Id Lowering::largest(Id x, const std::vector<size_t>& dims) {
  return in_turns(
      x, dims, [&](Id id, size_t first, size_t last) { return largest_between(id, first, last); });
}

Id Lowering::constant(Dims dims, const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return out_.add_constant(std::move(dims),
                           exir::own_bytes({bytes, bytes + values.size() * sizeof(float)}));
}

Id Lowering::number(float value) {
  const auto found = numbers_.find(value);
  if (found != numbers_.end()) return found->second;
  return numbers_[value] = out_.add_number(value);
}

bool Lowering::clamp_maker(const Value* value, Id id, float min, float max) {
  NodeSpec* maker = out_.maker(id);
  // What a convolution of signals or volumes makes is reshaped; it is itself no tensor.
  if (maker != nullptr && maker->kind == NodeContent::Reshape) {
    const Id images = maker->inputs[0];
    maker = holders_[images] == 0 ? out_.maker(images) : nullptr;
    const bool is_part =
        maker != nullptr && (is_convolution(maker->kind) || maker->kind == NodeContent::Add);
    if (!is_part) return false;
  }
  if (maker == nullptr || !takes_range(maker->kind)) return false;
  if (uses(value) != 1 || holders_[id] != 1 || out_.is_read(id)) return false;
  maker->min = std::max(maker->min, min);
  maker->max = std::min(maker->max, max);
  return maker->min < maker->max;
}

void Lowering::leave_out(const exir::Node& node) {
  for (const Value* output : node.outputs) {
    Dims dims = output->type.sizes;
    set_plain(output, out_.add_input(std::move(dims)));
  }
}

void Lowering::finish_outputs() {
  for (const Value* output : part_.outputs) {
    Id id = plain(output);
    if (!out_.may_be_output(id)) id = unary(NodeContent::Copy, id);
    out_.set_output(id);
  }
}

}  // namespace taper::xnnpack
