// Shape operators in terms of view, permute, expand, slice, select and cat.

#include <algorithm>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

using Sizes = std::vector<Sym>;

Value* self(Builder& b) { return b.in("self"); }
int64_t rank_of(const Value* x) { return static_cast<int64_t>(x->type.rank()); }
int64_t dim_arg(Builder& b, std::string_view name = "dim") {
  return wrap_dim(b.arg(name).to_int(), rank_of(self(b)));
}

// ---- views ----

// The program states the sizes of the result.
void view_as_result(Builder& b) { b.result(b.view(self(b), b.out_type().sizes)); }
void expand_as_result(Builder& b) { b.result(b.expand(self(b), b.out_type().sizes)); }
void identity(Builder& b) { b.result(self(b)); }

void transpose(Builder& b) {
  b.result(b.transpose(self(b), b.node().args[1].to_int(), b.node().args[2].to_int()));
}
void transpose_matrix(Builder& b) {
  b.result(rank_of(self(b)) < 2 ? self(b) : b.transpose(self(b), -2, -1));
}
void reverse_dims(Builder& b) {
  std::vector<int64_t> dims;
  for (int64_t d = rank_of(self(b)) - 1; d >= 0; --d) dims.push_back(d);
  b.result(b.permute(self(b), dims));
}

void movedim(Builder& b) {
  const auto list = [&](std::string_view name) {
    const Argument& arg = b.arg(name);
    std::vector<int64_t> dims = arg.is_list() ? to_ints(arg) : std::vector<int64_t>{arg.to_int()};
    for (int64_t& d : dims) d = wrap_dim(d, rank_of(self(b)));
    return dims;
  };
  const std::vector<int64_t> from = list("source"), to = list("destination");
  const auto rank = static_cast<size_t>(rank_of(self(b)));
  std::vector<int64_t> order(rank, -1);
  for (size_t i = 0; i < from.size(); ++i) order.at(static_cast<size_t>(to[i])) = from[i];
  int64_t next = 0;
  for (int64_t& slot : order) {
    if (slot >= 0) continue;
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    slot = next++;
  }
  b.result(b.permute(self(b), order));
}

void squeeze_all(Builder& b) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < rank_of(self(b)); ++d) {
    if (dim_of(self(b), d) == Sym(1)) dims.push_back(d);
  }
  b.result(b.op("squeeze.dims", {self(b), int_list(dims)}));
}
void squeeze_dim(Builder& b) { b.result(b.squeeze(self(b), b.arg("dim").to_int())); }

// ---- conversions ----

void convert(Builder& b) { b.result(b.cast(self(b), b.out_type().dtype)); }

// ---- pieces ----

void narrow(Builder& b) {
  const Argument& start = b.arg("start");
  if (start.is_value() && start.value()->kind == ValueKind::kTensor) {
    throw Failure("narrow with a start that is a tensor");
  }
  const int64_t dim = dim_arg(b);
  Sym from = to_sym(start);
  if (from.is_int() && from.as_int() < 0) from = dim_of(self(b), dim) + from;
  b.result(b.slice(self(b), dim, from, from + to_sym(b.arg("length"))));
}

void split_into(Builder& b, const Sizes& lengths, int64_t dim) {
  Argument::List list;
  for (const Sym& length : lengths) list.push_back(b.size(length));
  const std::vector<Value*> parts = b.ops("split_with_sizes", {self(b), list, dim});
  for (size_t i = 0; i < b.node().outputs.size(); ++i) b.result(parts.at(i), i);
}
// The program states how long each piece is.
void split(Builder& b) {
  const int64_t dim = dim_arg(b);
  Sizes lengths;
  for (const Value* part : b.node().outputs) lengths.push_back(dim_of(part, dim));
  split_into(b, lengths, dim);
}
void unbind(Builder& b) {
  const int64_t dim = dim_arg(b);
  for (size_t i = 0; i < b.node().outputs.size(); ++i) {
    b.result(b.select(self(b), dim, static_cast<int64_t>(i)), i);
  }
}

std::vector<Value*> tensors(Builder& b) {
  std::vector<Value*> out;
  for (const Argument& item : b.arg("tensors").list()) out.push_back(item.value());
  return out;
}
void stack(Builder& b) {
  const int64_t dim = wrap_dim(b.arg("dim").to_int(), static_cast<int64_t>(b.out_type().rank()));
  std::vector<Value*> parts;
  for (Value* part : tensors(b)) parts.push_back(b.unsqueeze(part, dim));
  b.result(b.cat(parts, dim));
}
void stack_on(Builder& b, int64_t dim, size_t least_rank) {
  std::vector<Value*> parts;
  for (Value* part : tensors(b)) {
    while (part->type.rank() < least_rank) part = b.unsqueeze(part, 0);
    parts.push_back(part);
  }
  b.result(b.cat(parts, parts.at(0)->type.rank() == 1 ? 0 : dim));
}
void hstack(Builder& b) { stack_on(b, 1, 1); }
void vstack(Builder& b) { stack_on(b, 0, 2); }

// ---- copies of elements ----

void tile(Builder& b) {
  Argument::List times = b.arg("dims").list();
  while (times.size() < self(b)->type.rank()) times.insert(times.begin(), Argument(1));
  b.result(b.op("repeat", {self(b), times}));
}

// Repeats each element n times in a row: expands a new inner dimension and folds it.
void repeat_interleave(Builder& b) {
  Value* x = self(b);
  int64_t dim = 0;
  if (b.has("dim"))
    dim = dim_arg(b);
  else
    x = b.view(x, {x->type.numel()});
  Sizes sizes = x->type.sizes;
  sizes.insert(sizes.begin() + dim + 1, to_sym(b.arg("repeats")));
  Value* wide = b.expand(b.unsqueeze(x, dim + 1), sizes);
  b.result(b.view(wide, b.out_type().sizes));
}

void meshgrid(Builder& b) {
  const std::vector<Value*> in = tensors(b);
  const bool swap =
      b.node().schema->find("indexing") >= 0 && b.arg("indexing").text() == "xy" && in.size() >= 2;
  for (size_t i = 0; i < in.size(); ++i) {
    const size_t axis = swap && i < 2 ? 1 - i : i;
    Sizes sizes(in.size(), Sym(1));
    sizes[axis] = in[i]->type.numel();
    b.result(b.expand(b.view(in[i], sizes), b.out_type(i).sizes), i);
  }
}

// x[1:] - x[:-1] along dim, applied n times; for bools, whether they differ.
void diff(Builder& b) {
  if (b.arg("n").to_int() == 0) return b.result(self(b));
  const int64_t dim = dim_arg(b);
  std::vector<Value*> parts;
  if (b.has("prepend")) parts.push_back(b.in("prepend"));
  parts.push_back(self(b));
  if (b.has("append")) parts.push_back(b.in("append"));
  Value* x = b.cat(parts, dim);
  for (int64_t left = b.arg("n").to_int(); left > 0 && !(dim_of(x, dim) == Sym(0)); --left) {
    const Sym size = dim_of(x, dim);
    Value* next = b.slice(x, dim, 1, size);
    Value* here = b.slice(x, dim, 0, size - Sym(1));
    x = x->type.dtype == ScalarType::kBool ? b.op("logical_xor", {next, here}) : b.sub(next, here);
  }
  b.result(x);
}

void broadcast_tensors(Builder& b) {
  const std::vector<Value*> in = tensors(b);
  for (size_t i = 0; i < in.size(); ++i) b.result(b.expand(in[i], b.out_type(i).sizes), i);
}

void channel_shuffle(Builder& b) {
  const Sizes in = self(b)->type.sizes;
  const Sym groups = to_sym(b.arg("groups"));
  Sizes split = in;
  split[1] = groups;
  split.insert(split.begin() + 2, floor_div(in[1], groups));
  std::vector<int64_t> order = {0, 2, 1};
  for (size_t d = 3; d < split.size(); ++d) order.push_back(static_cast<int64_t>(d));
  b.result(b.view(b.permute(b.view(self(b), split), order), in));
}

// ---- padding ----

Value* circular(Builder& b, Value* x, const std::vector<int64_t>& pad) {
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t dim = rank_of(x) - 1 - static_cast<int64_t>(i);
    const int64_t off_front = std::max<int64_t>(-pad[2 * i], 0);
    const int64_t off_back = std::max<int64_t>(-pad[2 * i + 1], 0);
    x = b.slice(x, dim, off_front, dim_of(x, dim) - Sym(off_back));
    const Sym size = dim_of(x, dim);
    std::vector<Value*> parts;
    if (pad[2 * i] > 0) parts.push_back(b.slice(x, dim, size - Sym(pad[2 * i]), size));
    parts.push_back(x);
    if (pad[2 * i + 1] > 0) parts.push_back(b.slice(x, dim, 0, pad[2 * i + 1]));
    x = b.cat(parts, dim);
  }
  return x;
}

// Where a negative entry crops, or a circle has sizes that only the inputs tell: indexes the source
// of each position.
Value* pad_by_position(Builder& b, Value* x, const std::vector<Sym>& pad, std::string_view mode) {
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t dim = rank_of(x) - 1 - static_cast<int64_t>(i);
    const Sym size = dim_of(x, dim);
    const Argument last = b.size(size - Sym(1));
    Value* from = b.arange(Sym(0) - pad[2 * i], size + pad[2 * i + 1]);
    if (mode == "circular") {
      from = b.op("remainder.Scalar", {from, b.size(size)});
    } else if (mode == "reflect") {  // last - |last - |p||
      const auto before_last = [&](Value* p) { return b.op("rsub.Scalar", {p, last}); };
      from = before_last(b.op("abs", {before_last(b.op("abs", {from}))}));
    }
    x = b.op("index_select", {x, dim, b.op("clamp", {from, 0, last})});
  }
  return x;
}

void pad(Builder& b) {
  const std::string& mode = b.arg("mode").text();
  if (mode == "constant") {
    const Argument value = b.has("value") ? b.arg("value") : Argument(0.0);
    return b.result(b.op("constant_pad_nd", {self(b), b.arg("pad"), value}));
  }
  const std::vector<Sym> list = to_syms(b.arg("pad"));
  const bool fixed = std::all_of(list.begin(), list.end(), [](const Sym& n) { return n.is_int(); });
  if (mode == "circular" && fixed) return b.result(circular(b, self(b), to_ints(b.arg("pad"))));
  const bool crops = std::any_of(list.begin(), list.end(),
                                 [](const Sym& n) { return n.is_int() && n.as_int() < 0; });
  if (mode == "circular" || crops) return b.result(pad_by_position(b, self(b), list, mode));
  const std::string kind = mode == "reflect" ? "reflection_pad" : "replication_pad";
  const std::string target = "aten::" + kind + std::to_string(list.size() / 2) + "d";
  b.result(b.rewriter().emit(target, {self(b), b.arg("pad")}, {b.out_type()})[0]);
}

// ---- triangles ----

// row + diagonal <= column, as a mask over the last two dimensions.
Value* upper_mask(Builder& b, Value* x, const Argument& diagonal) {
  Value* row = b.unsqueeze(b.arange(0, dim_of(x, -2)), 1);
  Value* column = b.unsqueeze(b.arange(0, dim_of(x, -1)), 0);
  return b.op("le.Tensor", {b.add(row, diagonal), column});
}
void triu(Builder& b) {
  Value* x = self(b);
  b.result(
      b.op("where.self", {upper_mask(b, x, b.arg("diagonal")), x, b.constant(0, x->type.dtype)}));
}

// The indices of the elements in the triangle, row by row.
void triangle_indices(Builder& b, bool upper) {
  const int64_t rows = b.arg("row").to_int(), columns = b.arg("col").to_int();
  const int64_t offset = b.arg("offset").to_int();
  if (rows < 0 || columns < 0 || rows > 4096 || columns > 4096) {
    throw Failure("triangle indices over more than 4096 rows or columns");
  }
  std::vector<int64_t> all[2];
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      if (upper ? c - r < offset : c - r > offset) continue;
      all[0].push_back(r);
      all[1].push_back(c);
    }
  }
  std::vector<uint8_t> bytes((all[0].size() + all[1].size()) * sizeof(int64_t));
  for (size_t i = 0; i < 2; ++i) {
    const auto* data = reinterpret_cast<const uint8_t*>(all[i].data());
    std::copy(data, data + all[i].size() * sizeof(int64_t),
              bytes.begin() + static_cast<int64_t>(i * all[0].size() * sizeof(int64_t)));
  }
  const TensorType type(ScalarType::kLong, {2, static_cast<int64_t>(all[0].size())});
  b.result(b.rewriter().graph().new_constant("triangle", type, own_bytes(std::move(bytes))));
}
void triu_indices(Builder& b) { triangle_indices(b, true); }
void tril_indices(Builder& b) { triangle_indices(b, false); }

void atleast(Builder& b) { b.result(b.view(self(b), b.out_type().sizes)); }

}  // namespace

const Decompositions& shape_rules() {
  static const Decompositions table = {
      {"reshape", view_as_result},
      {"view_as", view_as_result},
      {"reshape_as", view_as_result},
      {"flatten.using_ints", view_as_result},
      {"unflatten.int", view_as_result},
      {"ravel", view_as_result},
      {"atleast_1d", atleast},
      {"atleast_2d", atleast},
      {"atleast_3d", atleast},
      {"expand_as", expand_as_result},
      {"broadcast_to", expand_as_result},
      {"contiguous", identity},
      {"alias", identity},
      {"detach", identity},
      {"lift_fresh_copy", identity},
      {"lift_fresh", identity},
      {"resolve_conj", identity},
      {"resolve_neg", identity},
      {"conj", identity},
      {"real", identity},
      {"transpose.int", transpose},
      {"t", transpose_matrix},
      {"mT", transpose_matrix},
      {"mH", transpose_matrix},
      {"adjoint", transpose_matrix},
      {"numpy_T", reverse_dims},
      {"movedim.int", movedim},
      {"movedim.intlist", movedim},
      {"squeeze", squeeze_all},
      {"squeeze.dim", squeeze_dim},
      {"to.dtype", convert},
      {"to.device", convert},
      {"to.dtype_layout", convert},
      {"to.other", convert},
      {"type_as", convert},
      {"_cast_Float", convert},
      {"_cast_Byte", convert},
      {"_cast_Char", convert},
      {"_cast_Double", convert},
      {"_cast_Half", convert},
      {"_cast_Int", convert},
      {"_cast_Long", convert},
      {"_cast_Short", convert},
      {"float", convert},
      {"narrow", narrow},
      {"split.Tensor", split},
      {"split.sizes", split},
      {"chunk", split},
      {"tensor_split.sections", split},
      {"tensor_split.indices", split},
      {"unbind.int", unbind},
      {"stack", stack},
      {"hstack", hstack},
      {"vstack", vstack},
      {"tile", tile},
      {"repeat_interleave.self_int", repeat_interleave},
      {"meshgrid", meshgrid},
      {"meshgrid.indexing", meshgrid},
      {"diff", diff},
      {"broadcast_tensors", broadcast_tensors},
      {"channel_shuffle", channel_shuffle},
      {"pad", pad},
      {"triu", triu},
      {"triu_indices", triu_indices},
      {"tril_indices", tril_indices},
  };
  return table;
}

}  // namespace taper::exir
