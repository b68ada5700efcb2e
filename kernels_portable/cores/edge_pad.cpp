// Reflection and replication over views: the interior is one copy; then each dimension, from the
// last to the first, fills its edges from what is already there. A reflected edge is a view that
// runs backwards, a repeated one a view with a stride of 0.

#include "kernels_portable/cores/edge_pad.h"

#include <algorithm>

#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

// One padded dimension: its output size is in + before + after, where negative paddings crop.
struct Edges {
  int64_t in;
  int64_t before;
  int64_t after;

  int64_t out() const { return in + before + after; }
  // The part [first, last) of the output that is copied from the input.
  int64_t first() const { return std::max(before, int64_t{0}); }
  int64_t last() const { return out() - std::max(after, int64_t{0}); }
  // The output coordinate within that part that `y` repeats, or -1 if it was cropped away.
  int64_t source(int64_t y, EdgePadding mode) const {
    int64_t x = y - before;
    if (mode == EdgePadding::kReplicate) {
      x = std::clamp(x, int64_t{0}, in - 1);
    } else if (x < 0) {
      x = -x;
    } else if (x >= in) {
      x = 2 * (in - 1) - x;
    }
    x += before;
    return x >= first() && x < last() ? x : -1;
  }
};

Status check_edges(const Edges& edges, EdgePadding mode) {
  const int64_t widest = int64_t{INT32_MAX};
  TAPER_REQUIRE(-widest <= edges.before && edges.before <= widest && -widest <= edges.after &&
                    edges.after <= widest,
                Error::kInvalidArgument, "pad: padding out of range");
  TAPER_REQUIRE(edges.in > 0 && edges.out() > 0 && edges.last() > edges.first(),
                Error::kInvalidArgument, "pad: nothing of the input would be left");
  TAPER_REQUIRE(
      mode == EdgePadding::kReplicate || (edges.before < edges.in && edges.after < edges.in),
      Error::kInvalidArgument, "pad: a reflection must be smaller than the input");
  return {};
}

// The part [first, first + count) of a view along dimension d.
View part(View view, size_t d, int64_t first, int64_t count, size_t element) {
  view.data += first * view.strides[d] * static_cast<int64_t>(element);
  view.sizes[d] = count;
  return view;
}

// Fills the coordinates [begin, end) of dimension d, an edge, from the inner part.
Status fill_edge(const View& filled, size_t d, const Edges& edges, int64_t begin, int64_t end,
                 EdgePadding mode, size_t element) {
  if (begin == end) return {};
  const int64_t first = edges.source(begin, mode), last = edges.source(end - 1, mode);
  TAPER_REQUIRE(first >= 0 && last >= 0, Error::kInvalidArgument,
                "pad: what is reflected or repeated was cropped");
  View from = part(filled, d, first, end - begin, element);
  from.strides[d] *= mode == EdgePadding::kReflect ? -1 : 0;
  copy_view(part(filled, d, begin, end - begin, element), from, element);
  return {};
}

}  // namespace

Status pad_edges(const Tensor& self, IntList padding, int64_t spatial, EdgePadding mode,
                 Tensor& out) {
  TAPER_REQUIRE(self.dim() == spatial + 1 || self.dim() == spatial + 2, Error::kInvalidArgument,
                "pad: self has a wrong rank");
  TAPER_REQUIRE(padding.size() == static_cast<size_t>(2 * spatial), Error::kInvalidArgument,
                "pad: padding must have two numbers for each padded dimension");
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidType,
                "pad: out must have the dtype of self");
  const size_t rank = static_cast<size_t>(self.dim());
  const size_t padded = rank - static_cast<size_t>(spatial);  // The first padded dimension.
  Edges edges[3];
  int64_t sizes[kMaxRank];
  for (size_t d = 0; d < rank; ++d) {
    sizes[d] = self.sizes()[d];
    if (d < padded) continue;
    const size_t pair = 2 * (rank - 1 - d);
    edges[d - padded] = {sizes[d], padding[pair], padding[pair + 1]};
    TAPER_TRY(check_edges(edges[d - padded], mode));
    sizes[d] = edges[d - padded].out();
  }
  TAPER_TRY(resize_out(out, sizes, rank));

  const size_t element = element_size(out.scalar_type());
  View to = view_of(out);
  View from = view_of(self);
  View inside = to;
  for (size_t d = padded; d < rank; ++d) {
    const Edges& e = edges[d - padded];
    const int64_t count = e.last() - e.first();
    inside = part(inside, d, e.first(), count, element);
    from = part(from, d, e.first() - e.before, count, element);
  }
  copy_view(inside, from, element);
  for (size_t d = rank; d-- > padded;) {
    const Edges& e = edges[d - padded];
    // Dimensions after d are complete by now; of those before it only the interior is.
    View filled = to;
    for (size_t k = padded; k < d; ++k) {
      const Edges& outer = edges[k - padded];
      filled = part(filled, k, outer.first(), outer.last() - outer.first(), element);
    }
    TAPER_TRY(fill_edge(filled, d, e, 0, e.first(), mode, element));
    TAPER_TRY(fill_edge(filled, d, e, e.last(), e.out(), mode, element));
  }
  return {};
}

}  // namespace taper::portable
