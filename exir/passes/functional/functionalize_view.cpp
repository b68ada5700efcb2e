// What each view operator does to strides and offset, whether it repeats elements, and its inverse.

#include "exir/passes/functional/functionalize_view.h"

#include <algorithm>

#include "exir/ir/number_nodes.h"

namespace taper::exir {
namespace {

// The operator's name without "aten::".
std::string_view short_target(const Schema& schema) {
  std::string_view name = schema.name;
  return name.substr(0, 6) == "aten::" ? name.substr(6) : name;
}

bool is_any(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_identity(std::string_view name) {
  return is_any(name, {"detach", "alias", "lift_fresh", "lift", "positive", "resolve_conj",
                       "resolve_neg", "real", "conj", "_conj", "pin_memory"});
}

// Operators that return an alias if the result would be the same, and a copy otherwise.
bool is_conversion(std::string_view name) {
  return name.substr(0, 3) == "to." ||
         is_any(name, {"contiguous", "type_as", "_autocast_to_full_precision",
                       "_autocast_to_reduced_precision"});
}

bool is_reshape(std::string_view name) {
  return is_any(name, {"reshape", "reshape_as", "flatten.using_ints", "ravel", "unflatten.int"});
}

// Of complex numbers these change the imaginary part, or leave it out.
bool is_conjugate(std::string_view name) { return name == "conj" || name == "_conj"; }
bool is_adjoint(std::string_view name) { return is_any(name, {"mH", "adjoint", "matrix_H"}); }

// How many dimensions a call counts: all but that of the parts of complex numbers.
size_t rank_of(const TensorType& type) { return type.rank() - (type.pairs ? 1 : 0); }
std::vector<Sym> sizes_of(const TensorType& type) {
  return {type.sizes.begin(), type.sizes.begin() + static_cast<ptrdiff_t>(rank_of(type))};
}

bool is_one(const Sym& size) { return size.is_int() && size.as_int() == 1; }

// The strides with which memory of `sizes` and `strides` is viewed as `wanted`; nullopt if it
// cannot be. Walks from the innermost dimension; neighbouring dimensions that are contiguous with
// each other form a run, which must hold a whole number of the wanted dimensions.
std::optional<Strides> view_strides(const std::vector<Sym>& sizes, const Strides& strides,
                                    const std::vector<Sym>& wanted) {
  Strides out(wanted.size(), Sym(1));
  size_t left = wanted.size();  // Wanted dimensions not placed yet.
  Sym run(1), step = strides.empty() ? Sym(1) : strides.back();
  for (size_t d = sizes.size(); d-- > 0;) {
    run = run * sizes[d];
    const bool continues = d > 0 && (is_one(sizes[d - 1]) || strides[d - 1] == run * step);
    if (continues) continue;
    Sym filled(1);
    while (left > 0 && (!(filled == run) || is_one(wanted[left - 1]))) {
      out[--left] = filled * step;
      filled = filled * wanted[left];
    }
    if (!(filled == run)) return std::nullopt;
    if (d > 0) {
      step = strides[d - 1];
      run = Sym(1);
    }
  }
  for (; left > 0; --left) {
    if (!is_one(wanted[left - 1])) return std::nullopt;
  }
  return out;
}

bool same_strides(const TensorType& type, const Strides& a, const Strides& b) {
  for (size_t d = 0; d < type.rank(); ++d) {
    if (!is_one(type.sizes[d]) && !(a[d] == b[d])) return false;
  }
  return true;
}

int64_t wrapped(const Argument& dim, size_t rank) {
  const int64_t d = dim.to_int();
  return d < 0 ? d + static_cast<int64_t>(rank) : d;
}

size_t dim_of(const Argument& arg, size_t rank, const Schema& schema) {
  const int64_t d = wrapped(arg, rank);
  if (d < 0 || d >= static_cast<int64_t>(rank)) {
    throw Failure(schema.name + ": dimension " + std::to_string(d) + " is out of range");
  }
  return static_cast<size_t>(d);
}

const Argument* find_arg(const Node& node, std::string_view name) {
  const int index = node.schema->find(name);
  return index < 0 ? nullptr : &node.args[static_cast<size_t>(index)];
}

bool is_dropout(std::string_view name) {
  return is_any(name, {"dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"});
}
bool is_inactive_dropout(const Node& node) {
  return is_dropout(short_target(*node.schema)) && !node.arg("train").to_bool();
}

ViewEffect conversion_effect(const Node& node, const Placement& placement) {
  const TensorType& from = node.args[0].value()->type;
  const TensorType& to = node.outputs[0]->type;
  const Argument* copy = find_arg(node, "copy");
  if (from.dtype != to.dtype || (copy != nullptr && !copy->is_none() && copy->to_bool())) {
    return {ViewKind::kCopy, {}};
  }
  const Argument* format = find_arg(node, "memory_format");
  const bool any_format = format == nullptr || format->is_none() ||
                          std::get<MemoryFormat>(format->v) == MemoryFormat::kPreserve;
  if (any_format) return {ViewKind::kIdentity, placement};
  if (!placement.strides) return {ViewKind::kUnknown, {}};
  // The result is dense in the asked format; the argument is returned if it is so already.
  const bool same = same_strides(from, *placement.strides, dense_strides(to));
  return {same ? ViewKind::kIdentity : ViewKind::kCopy, placement};
}

// The dimensions that movedim leaves where they are keep their order.
Strides moved(const Node& node, const Strides& strides) {
  const bool list = node.args[1].is_list();
  const Argument::List from = list ? node.args[1].list() : Argument::List{node.args[1]};
  const Argument::List to = list ? node.args[2].list() : Argument::List{node.args[2]};
  const size_t rank = strides.size();
  std::vector<std::optional<Sym>> out(rank);
  std::vector<bool> taken(rank, false);
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t source = dim_of(from[i], rank, *node.schema);
    out[dim_of(to.at(i), rank, *node.schema)] = strides[source];
    taken[source] = true;
  }
  Strides result;
  size_t next = 0;
  for (const std::optional<Sym>& stride : out) {
    while (!stride && next < rank && taken[next]) ++next;
    result.push_back(stride ? *stride : strides.at(next++));
  }
  return result;
}

std::optional<Strides> permuted(const Node& node, const Strides& strides) {
  const std::string_view name = short_target(*node.schema);
  const size_t rank = strides.size();
  Strides out = strides;
  if (name.substr(0, 7) == "movedim" || name.substr(0, 8) == "moveaxis") {
    return moved(node, strides);
  }
  if (name == "numpy_T") return Strides(strides.rbegin(), strides.rend());
  if (name == "permute") {
    const std::vector<int64_t> dims = to_ints(node.args[1]);
    if (dims.size() != rank) return std::nullopt;
    for (size_t i = 0; i < rank; ++i) out[i] = strides[dim_of(dims[i], rank, *node.schema)];
    return out;
  }
  if (is_any(name, {"transpose.int", "swapaxes", "swapdims"}) && rank > 0) {
    std::swap(out[dim_of(node.args[1], rank, *node.schema)],
              out[dim_of(node.args[2], rank, *node.schema)]);
    return out;
  }
  if (is_any(name, {"t", "mT", "mH", "adjoint"}) && rank >= 2) {
    std::swap(out[rank - 1], out[rank - 2]);
    return out;
  }
  return name == "t" ? std::optional(out) : std::nullopt;
}

// The strides of views that repeat elements, or leave some out.
std::optional<Strides> sparse_strides(const Node& node, const Strides& strides) {
  const std::string_view name = short_target(*node.schema);
  const size_t rank = strides.size();
  Strides out = strides;
  if (name == "diagonal") {
    const size_t a = dim_of(node.args[2], rank, *node.schema);
    const size_t b = dim_of(node.args[3], rank, *node.schema);
    out.erase(out.begin() + static_cast<ptrdiff_t>(std::max(a, b)));
    out.erase(out.begin() + static_cast<ptrdiff_t>(std::min(a, b)));
    out.push_back(strides[a] + strides[b]);
    return out;
  }
  if (name == "unfold" && rank > 0) {
    const size_t d = dim_of(node.args[1], rank, *node.schema);
    out[d] = out[d] * Sym(node.args[3].to_int());
    out.push_back(strides[d]);
    return out;
  }
  if (is_any(name, {"expand", "expand_as", "broadcast_to"})) {
    const std::vector<Sym> from = sizes_of(node.args[0].value()->type);
    const std::vector<Sym> to = sizes_of(node.outputs[0]->type);
    const size_t lead = to.size() - rank;
    out.insert(out.begin(), lead, Sym(0));
    for (size_t d = 0; d < rank; ++d) {
      if (!(from[d] == to[lead + d])) out[lead + d] = Sym(0);
    }
    return out;
  }
  return std::nullopt;
}

std::optional<Strides> alias_strides(const Node& node, const Strides& strides) {
  const std::string_view name = short_target(*node.schema);
  const size_t rank = strides.size();
  if (auto out = permuted(node, strides)) return out;
  if (auto out = sparse_strides(node, strides)) return out;
  if (is_any(name, {"view", "view_as", "_unsafe_view", "squeeze", "squeeze.dim", "squeeze.dims",
                    "unsqueeze", "atleast_1d", "atleast_2d", "atleast_3d"})) {
    return view_strides(sizes_of(node.args[0].value()->type), strides,
                        sizes_of(node.outputs[0]->type));
  }
  if (name == "as_strided") {
    Strides given;
    for (const Argument& stride : node.args[2].list()) {
      if (!stride.is_int()) return std::nullopt;
      given.push_back(Sym(stride.to_int()));
    }
    return given;
  }
  Strides out = strides;
  if (name == "slice.Tensor" && rank > 0 && node.args[4].is_int()) {
    const size_t d = dim_of(node.args[1], rank, *node.schema);
    out[d] = out[d] * Sym(node.args[4].to_int());
    return out;
  }
  if (is_any(name, {"select.int", "unbind.int"}) && rank > 0) {
    out.erase(out.begin() + static_cast<ptrdiff_t>(dim_of(node.args[1], rank, *node.schema)));
    return out;
  }
  const bool part =
      is_any(name, {"narrow", "narrow.Tensor", "split.Tensor", "split.sizes", "chunk",
                    "split_with_sizes", "tensor_split.sections", "tensor_split.indices"});
  return part ? std::optional(out) : std::nullopt;
}

// The argument as a size, static or symbolic; nullopt if it is not an integer.
std::optional<Sym> sym_of(const Argument& arg) {
  if (arg.is_int()) return Sym(arg.to_int());
  if (arg.is_value() && arg.value()->kind == ValueKind::kInt) return arg.value()->sym;
  return std::nullopt;
}

// Where the first element of a view lies in its memory.
std::optional<Sym> alias_offset(const Node& node, const Placement& placement) {
  const std::string_view name = short_target(*node.schema);
  const std::vector<Sym> sizes = sizes_of(node.args[0].value()->type);
  const bool takes_part = is_any(name, {"select.int", "slice.Tensor", "narrow"});
  const bool several = node.outputs.size() > 1 || name == "diagonal";
  if (name == "as_strided") return sym_of(node.args[3]);
  if (!placement.offset || several) return std::nullopt;
  if (!takes_part) return placement.offset;
  const size_t d = dim_of(node.args[1], sizes.size(), *node.schema);
  std::optional<Sym> start = node.args[2].is_none() ? Sym(0) : sym_of(node.args[2]);
  if (!start) return std::nullopt;
  if (start->is_int() && start->as_int() < 0) start = *start + sizes[d];
  if (!start->is_int() && !node.args[2].is_int()) return std::nullopt;  // May be negative.
  if (name == "slice.Tensor" && start->is_int()) {  // A slice may start beyond both ends.
    if (!sizes[d].is_int()) {
      if (start->as_int() != 0) return std::nullopt;
    } else {
      start = Sym(std::clamp<int64_t>(start->as_int(), 0, sizes[d].as_int()));
    }
  }
  return *placement.offset + *start * (*placement.strides)[d];
}

}  // namespace

Strides dense_strides(const TensorType& type) {
  Strides out(type.rank(), Sym(1));
  Sym step(1);
  for (size_t i = type.rank(); i-- > 0;) {
    const size_t d = type.dim_order[i];
    out[d] = step;
    step = step * type.sizes[d];
  }
  return out;
}

namespace {

// An einsum of one operand that sums over nothing: a transpose or a diagonal.
bool reorders_only(const Node& node) {
  const bool alone = node.args[1].is_list() && node.args[1].list().size() == 1;
  const std::string& equation = node.args[0].text();
  const size_t arrow = std::min(equation.find("->"), equation.size());
  const auto is_kept = [&](char letter) {
    const bool counts = letter != ' ' && letter != '.';
    return !counts || equation.find(letter, arrow) != equation.npos;
  };
  const auto end = equation.begin() + static_cast<ptrdiff_t>(arrow);
  return alone && (arrow == equation.size() || std::all_of(equation.begin(), end, is_kept));
}

}  // namespace

bool may_return_alias(const Node& node) {
  const std::string_view name = short_target(*node.schema);
  if (name == "einsum") return reorders_only(node);
  return is_inactive_dropout(node) ||
         is_any(name, {"type_as", "sum_to_size", "atleast_1d", "atleast_2d", "atleast_3d",
                       "atleast_1d.Sequence", "atleast_2d.Sequence", "atleast_3d.Sequence",
                       "broadcast_tensors", "meshgrid", "meshgrid.indexing"});
}

namespace {

// Where the results of a view of complex numbers lie: the parts of each stay side by side.
Placement placement_of_pairs(const Node& node, Placement placement) {
  const bool known = placement.strides && node.outputs[0]->type.pairs;
  if (!known || !node.args[0].value()->type.pairs || node.is("aten::as_strided")) return {};
  placement.strides->pop_back();
  Placement out = {alias_strides(node, *placement.strides), alias_offset(node, placement)};
  if (out.strides) out.strides->push_back(Sym(1));
  return out;
}

}  // namespace

ViewEffect view_effect(const Node& node, const Placement& placement) {
  const std::string_view name = short_target(*node.schema);
  const TensorType& from = node.args[0].value()->type;
  const TensorType& to = node.outputs[0]->type;
  if (is_conversion(name)) return conversion_effect(node, placement);
  const bool same_type = from.dtype == to.dtype && from.sizes == to.sizes;
  const bool passes_on = is_identity(name) || is_inactive_dropout(node) || name == "sum_to_size";
  const bool conjugates = from.pairs && is_conjugate(name);
  if (passes_on && same_type && !conjugates) return {ViewKind::kIdentity, placement};
  if (name == "sum_to_size") return {ViewKind::kCopy, {}};
  const std::optional<Strides>& strides = placement.strides;
  if (is_reshape(name)) {
    if (!strides) return {ViewKind::kUnknown, {}};
    auto shown = view_strides(from.sizes, *strides, to.sizes);
    if (!shown) return {ViewKind::kCopy, {}};
    return {ViewKind::kAlias, {std::move(shown), placement.offset}};
  }
  ViewEffect out;
  if (from.pairs || to.pairs) {
    out.placement = placement_of_pairs(node, placement);
    return out;
  }
  if (strides) out.placement = {alias_strides(node, *strides), alias_offset(node, placement)};
  return out;
}

bool shows_twice(const ViewCall& view, size_t index) {
  const std::string_view name = short_target(view.schema);
  const TensorType& type = view.types[index];
  if (is_any(name, {"expand", "expand_as", "broadcast_to"})) {
    return !(type.numel() == view.base.numel());
  }
  if (name == "unfold") {
    const size_t rank = rank_of(view.base);
    const int64_t dim = view.args[1].to_int() + (view.args[1].to_int() < 0 ? rank : 0);
    const Sym windows = type.sizes.at(static_cast<size_t>(dim));
    const bool overlap = view.args[2].to_int() > view.args[3].to_int();
    return overlap && !(windows.is_int() && windows.as_int() <= 1);
  }
  if (name != "as_strided") return false;
  if (!type.is_static() || type.pairs) return true;
  std::vector<std::pair<int64_t, int64_t>> steps;  // Stride and size, the smallest first.
  for (size_t d = 0; d < type.rank(); ++d) {
    const int64_t size = type.sizes[d].as_int();
    if (size != 1) steps.emplace_back(view.args[2].list().at(d).to_int(), size);
  }
  std::sort(steps.begin(), steps.end());
  int64_t reach = 0;  // Extent of the dimensions so far, in elements.
  for (const auto& [stride, size] : steps) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

namespace {

class Inverse {
 public:
  Inverse(Rewriter& rewriter, const ViewCall& view, size_t index, Value* whole, Value* part)
      : rewriter_(rewriter), view_(view), index_(index), whole_(whole), part_(part) {}

  Value* run() {
    const std::string_view name = short_target(view_.schema);
    if (Value* out = of_parts(name)) return out;
    if (Value* out = reordered(name)) return out;
    if (Value* out = scattered(name)) return out;
    if (name == "view.dtype") {
      const bool same_width =
          element_size(view_.base.dtype) == element_size(view_.types[index_].dtype);
      if (same_width) return emit("aten::view.dtype", {part_, view_.base.dtype});
    }
    const TensorType& type = view_.types[index_];
    const bool covers = type.numel() == view_.base.numel();
    if (type.dtype != view_.base.dtype || shows_twice(view_, index_)) {
      throw Failure("writing through " + view_.schema.name + " is not supported");
    }
    if (keeps_order(name) && covers) {
      if (type == view_.base) return part_;
      return emit("aten::view", {part_, size_arguments(rewriter_, view_.base.sizes, whole_)});
    }
    return by_number();
  }

 private:
  Value* emit(std::string_view target, const std::vector<Argument>& args) {
    return rewriter_.emit(target, args, {view_.base})[0];
  }
  const Argument& arg(size_t i) const { return view_.args[i]; }
  size_t rank() const { return rank_of(view_.base); }

  // The inverse of what shows the parts of complex numbers, or numbers as pairs of parts.
  Value* of_parts(std::string_view name) {
    if (name == "view_as_complex") return emit("aten::view_as_real", {part_});
    if (!view_.base.pairs) return nullptr;
    if (name == "view_as_real") return emit("aten::view_as_complex", {part_});
    if (is_conjugate(name)) return emit("aten::conj_physical", {part_});
    if (is_adjoint(name)) return emit("aten::mH", {part_});
    const TensorType& type = view_.types[index_];
    if (name == "real") {
      return emit("aten::complex", {part_, emit("aten::imag", {whole_}, type)});
    }
    if (name == "imag") return emit("aten::complex", {emit("aten::real", {whole_}, type), part_});
    return nullptr;
  }

  // True for views that, if they show all elements, show them in the order of the whole.
  static bool keeps_order(std::string_view name) {
    return is_identity(name) || is_reshape(name) || is_conversion(name) || is_dropout(name) ||
           is_any(name,
                  {"view", "view_as", "_unsafe_view", "squeeze", "squeeze.dim", "squeeze.dims",
                   "unsqueeze", "sum_to_size", "atleast_1d", "atleast_2d", "atleast_3d",
                   "slice.Tensor", "narrow", "expand", "expand_as", "broadcast_to", "t"});
  }

  // The inverse of a permutation.
  Value* reordered(std::string_view name) {
    if (is_any(name, {"transpose.int", "swapaxes", "swapdims"})) {
      return emit("aten::transpose.int", {part_, arg(1), arg(2)});
    }
    if (is_any(name, {"t", "mT", "mH", "adjoint", "matrix_H"}) && rank() >= 2) {
      return emit("aten::transpose.int", {part_, -2, -1});
    }
    if (is_any(name, {"movedim.int", "moveaxis.int", "movedim.intlist", "moveaxis.intlist"})) {
      const bool list = name.find("intlist") != name.npos;
      return emit(list ? "aten::movedim.intlist" : "aten::movedim.int", {part_, arg(2), arg(1)});
    }
    if (name == "permute" || name == "numpy_T") {
      std::vector<int64_t> inverse(rank());
      for (size_t i = 0; i < rank(); ++i) {
        const Argument from = name == "permute" ? arg(1).list().at(i)
                                                : Argument(static_cast<int64_t>(rank() - 1 - i));
        inverse[dim_of(from, rank(), view_.schema)] = static_cast<int64_t>(i);
      }
      return emit("aten::permute", {part_, int_list(inverse)});
    }
    return nullptr;
  }

  // The scatter that puts a part back into the whole.
  Value* scattered(std::string_view name) {
    if (name == "slice.Tensor") {
      return emit("aten::slice_scatter", {whole_, part_, arg(1), arg(2), arg(3), arg(4)});
    }
    if (name == "select.int") return emit("aten::select_scatter", {whole_, part_, arg(1), arg(2)});
    if (name == "unbind.int") {
      return emit("aten::select_scatter", {whole_, part_, arg(1), static_cast<int64_t>(index_)});
    }
    if (name == "diagonal") {
      return emit("aten::diagonal_scatter", {whole_, part_, arg(1), arg(2), arg(3)});
    }
    if (!view_.base.is_static()) return nullptr;
    if (name == "narrow") {
      const Argument& start = arg(2);
      if (start.is_value() && start.value()->sym.range(rewriter_.graph().ranges).min < 0) {
        return nullptr;  // It may count from the end.
      }
      return slice_back(dim_of(arg(1), rank(), view_.schema), start, arg(3));
    }
    if (is_any(name, {"split.Tensor", "split.sizes", "split_with_sizes", "chunk",
                      "tensor_split.sections", "tensor_split.indices"})) {
      const size_t dim = dim_of(arg(2), rank(), view_.schema);
      int64_t start = 0;
      for (size_t i = 0; i < index_; ++i) start += known_size(view_.types[i], dim);
      return slice_back(dim, start, known_size(view_.types[index_], dim));
    }
    return nullptr;
  }

  Value* emit(std::string_view target, const std::vector<Argument>& args, TensorType type) {
    return rewriter_.emit(target, args, {std::move(type)})[0];
  }

  // 0, 1, 2, ... in the sizes of the whole.
  Value* numbered() {
    TensorType type(ScalarType::kLong, view_.base.sizes);
    const TensorType flat(ScalarType::kLong, {view_.base.numel()});
    if (type.is_static()) {
      Value* numbers = emit("aten::arange", {flat.sizes[0].as_int(), ScalarType::kLong}, flat);
      return emit("aten::view", {numbers, size_arguments(rewriter_, type.sizes, whole_)}, type);
    }
    Value* ones = emit("aten::full_like", {whole_, 1, ScalarType::kLong}, type);
    Value* sums = emit("aten::cumsum", {emit("aten::flatten.using_ints", {ones}, flat), 0}, flat);
    Value* numbers = emit("aten::sub.Scalar", {sums, 1}, flat);
    return emit("aten::view_as", {numbers, whole_}, type);
  }

  // Applies the view to element numbers, which gives the position of each element of the part in
  // the whole, and writes the part to these positions.
  Value* by_number() {
    if (view_.base.pairs) {
      throw Failure("writing complex numbers through " + view_.schema.name + " is not supported");
    }
    std::vector<Argument> args = view_.args;
    args[0] = numbered();
    std::vector<TensorType> types = view_.types;
    for (TensorType& type : types) type.dtype = ScalarType::kLong;
    Value* places = rewriter_.emit(view_.schema.name, args, types)[index_];
    const TensorType flat(view_.base.dtype, {view_.base.numel()});
    const std::vector<Sym> count = {view_.types[index_].numel()};
    places = emit("aten::flatten.using_ints", {places}, {ScalarType::kLong, count});
    Value* part = emit("aten::flatten.using_ints", {part_}, {flat.dtype, count});
    Value* whole = emit("aten::flatten.using_ints", {whole_}, flat);
    whole = emit("aten::index_put", {whole, Argument::List{places}, part}, flat);
    return emit("aten::view_as", {whole, whole_});
  }

  static int64_t known_size(const TensorType& type, size_t dim) {
    return type.sizes.at(dim).as_int();
  }

  Argument sum(const Argument& a, const Argument& b) {
    if (a.is_int() && b.is_int()) return a.to_int() + b.to_int();
    return emit_number(rewriter_, "add", ValueKind::kInt, "python::add", {a, b},
                       *sym_of(a) + *sym_of(b));
  }

  Value* slice_back(size_t dim, Argument start, const Argument& length) {
    const auto at = static_cast<int64_t>(dim);
    if (start.is_int() && start.to_int() < 0) start = start.to_int() + known_size(view_.base, dim);
    return emit("aten::slice_scatter", {whole_, part_, at, start, sum(start, length), 1});
  }

  Rewriter& rewriter_;
  const ViewCall& view_;
  const size_t index_;
  Value* const whole_;
  Value* const part_;
};

}  // namespace

Value* write_through(Rewriter& rewriter, const ViewCall& view, size_t index, Value* whole,
                     Value* part) {
  return Inverse(rewriter, view, index, whole, part).run();
}

}  // namespace taper::exir
