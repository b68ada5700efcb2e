// The arithmetic of sizes that the rules of infer.cpp and the passes share.

#include <algorithm>

#include "exir/ops/infer.h"

namespace taper::exir {

Sym to_sym(const Argument& arg) {
  if (arg.is_value()) return arg.value()->sym;
  if (arg.is<double>()) return Sym::from_float(std::get<double>(arg.v));
  return arg.to_int();
}

std::vector<Sym> to_syms(const Argument& list) {
  std::vector<Sym> out;
  for (const Argument& item : list.list()) out.push_back(to_sym(item));
  return out;
}

std::vector<Sym> broadcast(const std::vector<Sym>& a, const std::vector<Sym>& b) {
  std::vector<Sym> out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const Sym one = 1;
    const Sym& x = i < a.size() ? a[a.size() - 1 - i] : one;
    const Sym& y = i < b.size() ? b[b.size() - 1 - i] : one;
    if (x.is_int() && y.is_int() && x != y && x != one && y != one) {
      throw Failure("sizes " + x.text() + " and " + y.text() + " do not broadcast");
    }
    // The export has proved that symbolic sizes that meet are equal; a literal other than 1 is
    // shorter.
    const bool take_y = x == one || (!x.is_int() && y.is_int() && y != one);
    out[out.size() - 1 - i] = take_y ? y : x;
  }
  return out;
}

int64_t wrap_dim(int64_t dim, int64_t rank) {
  const int64_t bound = rank == 0 ? 1 : rank;
  if (dim < -bound || dim >= bound) {
    throw Failure("dimension " + std::to_string(dim) + " is out of range for rank " +
                  std::to_string(rank));
  }
  return dim < 0 ? dim + bound : dim;
}

Sym window_length(const Sym& in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                  bool ceil_mode) {
  if (kernel < 1 || stride < 1 || dilation < 1) {
    throw Failure("a window with kernel, stride or dilation below 1");
  }
  const Sym room = in + Sym(2) * Sym(padding) - Sym(dilation) * Sym(kernel - 1) - Sym(1);
  if (!ceil_mode) return floor_div(room, Sym(stride)) + Sym(1);
  Sym count = floor_div(room + Sym(stride - 1), Sym(stride)) + Sym(1);
  // The last window must start inside the input or its left padding.
  if (!count.is_int() || !in.is_int()) return count;
  const Sym begin = (count - Sym(1)) * Sym(stride), end = in + Sym(padding);
  return begin.as_int() >= end.as_int() ? count - Sym(1) : count;
}

}  // namespace taper::exir
