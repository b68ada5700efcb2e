// Types of operators that move or select elements, and of factories.

#include <algorithm>
#include <cmath>

#include "exir/ops/promote.h"
#include "exir/ops/type_rules.h"

namespace taper::exir::rules {

// ---- shape ----

Types view(const Call& c) {
  Sizes sizes = to_syms(c.args[1]);
  Sym known = 1;
  int64_t open = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == Sym(-1))
      open = static_cast<int64_t>(i);
    else
      known = known * sizes[i];
  }
  if (open >= 0) {
    const Sym total = c.tensor(0).numel();
    sizes[static_cast<size_t>(open)] =
        known == Sym(0) ? Sym(0) : Sym::call(SymOp::kFloorDiv, {total, known});
  }
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types view_dtype(const Call& c) {
  const TensorType& x = c.tensor(0);
  const ScalarType dtype = c.dtype_or(x.dtype);
  const auto from = static_cast<int64_t>(element_size(x.dtype));
  const auto to = static_cast<int64_t>(element_size(dtype));
  Sizes sizes = x.sizes;
  if (from == to) return {TensorType(dtype, sizes)};
  if (from == 0 || to == 0) throw Failure("elements without a size cannot be viewed as others");
  if (sizes.empty()) throw Failure("a number cannot be viewed as elements of another size");
  Sym& last = sizes.back();
  last = from > to ? last * Sym(from / to) : Sym::call(SymOp::kFloorDiv, {last, Sym(to / from)});
  return {TensorType(dtype, sizes)};
}
Types permute(const Call& c) {
  const Sizes& in = c.tensor(0).sizes;
  Sizes out;
  for (int64_t d : c.args[1].is_int() ? std::vector{c.args[1].to_int()} : to_ints(c.args[1])) {
    out.push_back(in[static_cast<size_t>(wrap_dim(d, static_cast<int64_t>(in.size())))]);
  }
  return {TensorType(c.tensor(0).dtype, out)};
}
Types expand(const Call& c) {
  const Sizes& in = c.tensor(0).sizes;
  Sizes out = to_syms(c.args[1]);
  if (out.size() < in.size()) throw Failure(c.schema.name + ": fewer sizes than dimensions");
  const size_t lead = out.size() - in.size();
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == Sym(-1)) {
      if (i < lead) throw Failure(c.schema.name + ": -1 for a new dimension");
      out[i] = in[i - lead];
    }
  }
  return {TensorType(c.tensor(0).dtype, out)};
}
Types unsqueeze(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  const int64_t d = wrap_dim(c.integer("dim"), static_cast<int64_t>(sizes.size()) + 1);
  sizes.insert(sizes.begin() + d, Sym(1));
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types swap_dims(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  const auto rank = static_cast<int64_t>(sizes.size());
  if (rank == 0) return {c.tensor(0)};
  std::swap(sizes[static_cast<size_t>(wrap_dim(c.integer("dim0"), rank))],
            sizes[static_cast<size_t>(wrap_dim(c.integer("dim1"), rank))]);
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types flatten(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  const auto rank = static_cast<int64_t>(sizes.size());
  if (rank == 0) return {TensorType(c.tensor(0).dtype, {Sym(1)})};
  const int64_t from = wrap_dim(c.integer("start_dim"), rank);
  const int64_t to = wrap_dim(c.integer("end_dim"), rank);
  if (from > to) throw Failure(c.schema.name + ": start_dim comes after end_dim");
  for (int64_t d = from; d < to; ++d) {
    sizes[static_cast<size_t>(from)] =
        sizes[static_cast<size_t>(from)] * sizes[static_cast<size_t>(from) + 1];
    sizes.erase(sizes.begin() + from + 1);
  }
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types squeeze_dims(const Call& c) {
  const Sizes& in = c.tensor(0).sizes;
  const auto rank = static_cast<int64_t>(in.size());
  std::vector<bool> asked(in.size(), false);
  for (int64_t d : c.args[1].is_int() ? std::vector{c.args[1].to_int()} : to_ints(c.args[1])) {
    if (rank > 0) asked[static_cast<size_t>(wrap_dim(d, rank))] = true;
  }
  Sizes out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!(asked[i] && in[i] == Sym(1))) out.push_back(in[i]);
  }
  return {TensorType(c.tensor(0).dtype, out)};
}

// Length of [start:end:step] of a dimension: exact when start and end are literals that are known
// to lie inside, else as PyTorch clamps them.
static Sym slice_length(const Sym& size, const Argument& start, const Argument& end,
                        const Sym& step) {
  const Sym zero = 0;
  const auto place = [&](const Argument& arg, const Sym& otherwise) -> Sym {
    if (arg.is_none()) return otherwise;
    Sym at = to_sym(arg);
    if (at.is_int() && at.as_int() == INT64_MAX) return size;
    if (at.is_int() && at.as_int() < 0) at = size + at;
    if (at == size || at == zero) return at;
    return max(min(at, size), zero);
  };
  const Sym from = place(start, zero);
  const Sym to = place(end, size);
  Sym length = to - from;
  if (!(from == zero) && !(length.is_int() && length.as_int() >= 0)) length = max(length, zero);
  if (length.is_int() && length.as_int() < 0) return 0;
  if (step == Sym(1)) return length;
  return floor_div(length + step - Sym(1), step);
}
Types slice(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  Sym& size =
      sizes[static_cast<size_t>(wrap_dim(c.integer("dim"), static_cast<int64_t>(sizes.size())))];
  size = slice_length(size, c.arg("start"), c.arg("end"), to_sym(c.arg("step")));
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types select(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  sizes.erase(sizes.begin() + wrap_dim(c.integer("dim"), static_cast<int64_t>(sizes.size())));
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types cat(const Call& c) {
  const Argument::List& parts = c.args[0].list();
  if (parts.empty()) throw Failure("aten::cat of no tensors");
  Sizes sizes;
  Sym total = 0;
  for (const Argument& part : parts) {
    const Sizes& in = part.value()->type.sizes;
    if (in.size() == 1 && in[0] == Sym(0)) continue;  // For compatibility, as in PyTorch.
    const int64_t d = wrap_dim(c.integer("dim"), static_cast<int64_t>(in.size()));
    total = total + in[static_cast<size_t>(d)];
    sizes = in;
    sizes[static_cast<size_t>(d)] = total;
  }
  if (sizes.empty()) sizes = parts[0].value()->type.sizes;
  return {TensorType(result_type({c.args[0]}), sizes)};
}
Types constant_pad(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  const std::vector<Sym> pad = to_syms(c.args[1]);
  if (pad.size() % 2 != 0 || pad.size() / 2 > sizes.size()) {
    throw Failure(c.schema.name + ": a pad list of wrong length");
  }
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    Sym& size = sizes[sizes.size() - 1 - i];
    size = size + pad[2 * i] + pad[2 * i + 1];
  }
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types repeat(const Call& c) {
  const std::vector<Sym> times = to_syms(c.args[1]);
  const Sizes& in = c.tensor(0).sizes;
  if (times.size() < in.size()) throw Failure("aten::repeat: fewer repeats than dimensions");
  Sizes out = times;
  for (size_t i = 0; i < in.size(); ++i) {
    Sym& size = out[times.size() - in.size() + i];
    size = size * in[i];
  }
  return {TensorType(c.tensor(0).dtype, out)};
}

// ---- factories ----

static ScalarType number_type(const Argument& fill) {
  if (fill.is<int64_t>()) return ScalarType::kLong;
  return fill.is<bool>() ? ScalarType::kBool : ScalarType::kFloat;
}
Types full(const Call& c) {
  return {TensorType(c.dtype_or(number_type(c.args[1])), to_syms(c.args[0]))};
}
Types scalar_tensor(const Call& c) { return {TensorType(c.dtype_or(ScalarType::kFloat), Sizes{})}; }
Types full_like(const Call& c) {
  return {TensorType(c.dtype_or(c.tensor(0).dtype), c.tensor(0).sizes)};
}
// How many numbers there are from start to end, without end. Literals of any sign, or symbols and a
// positive step. For int64 the literals lose their fractions first, as in PyTorch.
static Sym arange_length(const Argument& start, const Argument& end, const Argument& step,
                         ScalarType dtype) {
  const auto is_literal = [](const Argument& arg) { return arg.is_int() || arg.is<double>(); };
  if (is_literal(start) && is_literal(end) && is_literal(step)) {
    const auto exact = [&](const Argument& arg) -> long double {
      if (arg.is_int()) return static_cast<long double>(arg.to_int());
      return dtype == ScalarType::kLong ? std::trunc(arg.to_double()) : arg.to_double();
    };
    const long double count = std::ceil((exact(end) - exact(start)) / exact(step));
    return Sym(static_cast<int64_t>(std::max(count, 0.0L)));
  }
  const Sym by = to_sym(step);
  return floor_div(to_sym(end) - to_sym(start) + by - Sym(1), by);
}
Types arange(const Call& c) {
  const Argument &start = c.arg("start"), &end = c.arg("end"), &step = c.arg("step");
  const bool real = start.is<double>() || end.is<double>() || step.is<double>();
  const ScalarType dtype = c.dtype_or(real ? ScalarType::kFloat : ScalarType::kLong);
  return {TensorType(dtype, {arange_length(start, end, step, dtype)})};
}

// ---- indexing ----

Types like_index(const Call& c) { return {TensorType(c.tensor(0).dtype, c.tensor("index").sizes)}; }
Types index_select(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  const int64_t d = wrap_dim(c.integer("dim"), static_cast<int64_t>(sizes.size()));
  if (!sizes.empty()) sizes[static_cast<size_t>(d)] = c.tensor("index").numel();
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types index(const Call& c) {
  const Sizes& in = c.tensor(0).sizes;
  const Argument::List& indices = c.args[1].list();
  Sizes shape, before, after;
  int64_t first = -1, last = -1, count = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].is_none()) continue;
    if (indices[i].value()->type.dtype == ScalarType::kBool) {
      throw Failure("aten::index.Tensor with a mask has no static shape");
    }
    shape = broadcast(shape, indices[i].value()->type.sizes);
    if (first < 0) first = static_cast<int64_t>(i);
    last = static_cast<int64_t>(i);
    ++count;
  }
  const bool adjacent = last - first + 1 == count;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool indexed = i < indices.size() && !indices[i].is_none();
    if (indexed) continue;
    (adjacent && static_cast<int64_t>(i) < first ? before : after).push_back(in[i]);
  }
  Sizes out = before;
  out.insert(out.end(), shape.begin(), shape.end());
  out.insert(out.end(), after.begin(), after.end());
  return {TensorType(c.tensor(0).dtype, out)};
}
Types topk(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  if (!sizes.empty()) {
    const int64_t d = wrap_dim(c.integer("dim"), static_cast<int64_t>(sizes.size()));
    sizes[static_cast<size_t>(d)] = to_sym(c.arg("k"));
  }
  return {TensorType(c.tensor(0).dtype, sizes), TensorType(ScalarType::kLong, sizes)};
}
Types sort(const Call& c) {
  const TensorType& in = c.tensor(0);
  return {in, TensorType(ScalarType::kLong, in.sizes)};
}
Types random(const Call& c) {
  return {TensorType(c.dtype_or(ScalarType::kFloat), to_syms(c.args[0]))};
}
Types split_sizes(const Call& c) {
  Types out;
  const Sizes& in = c.tensor(0).sizes;
  const int64_t d = wrap_dim(c.integer("dim"), static_cast<int64_t>(in.size()));
  for (const Sym& size : to_syms(c.args[1])) {
    Sizes part = in;
    part[static_cast<size_t>(d)] = size;
    out.emplace_back(c.tensor(0).dtype, part);
  }
  return out;
}

}  // namespace taper::exir::rules
