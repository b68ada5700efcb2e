// torchvision::nms.out: the boxes that non-maximum suppression keeps, by descending score.
//
//   dets    [n, 4], boxes (x1, y1, x2, y2); scores [n] of the same floating dtype
//   out     int64 [kept], at most n indices of boxes
//
// The best box is kept, and every box whose intersection over union with it exceeds iou_threshold
// is dropped; so on with the best one that is left. Equal scores keep their order, NaN is the best
// score. The result is torchvision's for every input: a box with NaN, or two without area, has no
// IoU, and drops nothing. 16-bit floats are computed as float32.
//
// There is no memory for a sorted list: boxes are chosen by blocks, the best 256 of those that
// follow the last block. Time: n * (n / 256 + kept).

#include <algorithm>

#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

template <typename T>
class Suppression {
 public:
  Suppression(const Tensor& dets, const Tensor& scores, double threshold)
      : dets_(dets), scores_(scores), threshold_(threshold), load_(loader<T>(dets.scalar_type())) {}

  Status run(Tensor& out) {
    kept_ = out.mutable_data_ptr<int64_t>();
    const int64_t total = scores_.numel();
    for (int64_t done = 0; done < total; done += kBlock) {
      const int64_t count = choose_block(done == 0 ? nullptr : &last_);
      for (int64_t i = 0; i < count; ++i) {
        if (is_suppressed(block_[i].index)) continue;
        TAPER_REQUIRE(kept_count_ < out.capacity(), Error::kNotSupported,
                      "nms: more boxes are kept than out has room for");
        kept_[kept_count_++] = block_[i].index;
      }
      if (count > 0) last_ = block_[count - 1];
    }
    return resize_out(out, &kept_count_, 1);
  }

 private:
  static constexpr int64_t kBlock = 256;

  struct Candidate {
    T score;
    int64_t index;
  };
  struct Box {
    T x1, y1, x2, y2;
    T area() const { return (x2 - x1) * (y2 - y1); }
  };

  static bool is_better(const Candidate& a, const Candidate& b) {
    const bool a_nan = a.score != a.score, b_nan = b.score != b.score;
    if (a_nan != b_nan) return a_nan;
    if (!a_nan && a.score != b.score) return a.score > b.score;
    return a.index < b.index;
  }

  // Fills block_ with the best boxes that are worse than `after`, best first; returns their number.
  int64_t choose_block(const Candidate* after) {
    const ScalarType type = scores_.scalar_type();
    Candidate* end = block_;
    for (int64_t i = 0; i < scores_.numel(); ++i) {
      Candidate next = {T{}, i};
      load_(element(scores_.const_data(), i, type), 1, 1, &next.score);
      if (after != nullptr && !is_better(*after, next)) continue;
      if (end == block_ + kBlock) {
        if (!is_better(next, block_[0])) continue;  // The first of the heap is the worst.
        std::pop_heap(block_, end--, is_better);
      }
      *end++ = next;
      std::push_heap(block_, end, is_better);
    }
    std::sort_heap(block_, end, is_better);
    return end - block_;
  }

  Box box(int64_t index) const {
    T sides[4];
    const Span<const int32_t> strides = dets_.strides();
    load_(element(dets_.const_data(), index * strides[0], dets_.scalar_type()), strides[1], 4,
          sides);
    return {sides[0], sides[1], sides[2], sides[3]};
  }

  // Where NaN is compared, the operand that std::max and std::min return is the one that
  // torchvision takes.
  bool is_suppressed(int64_t index) const {
    const Box other = box(index);
    for (int64_t k = 0; k < kept_count_; ++k) {
      const Box best = box(kept_[k]);
      const T width = std::min(best.x2, other.x2) - std::max(best.x1, other.x1);
      const T height = std::min(best.y2, other.y2) - std::max(best.y1, other.y1);
      const T both = std::max(T{0}, width) * std::max(T{0}, height);
      const T overlap = both / (best.area() + other.area() - both);
      if (static_cast<double>(overlap) > threshold_) return true;
    }
    return false;
  }

  const Tensor& dets_;
  const Tensor& scores_;
  const double threshold_;
  const LoadFunction<T> load_;
  Candidate block_[kBlock];
  Candidate last_ = {};
  int64_t* kept_ = nullptr;
  int64_t kept_count_ = 0;
};

Status nms_out(KernelContext&, const Tensor& dets, const Tensor& scores, double iou_threshold,
               Tensor& out) {
  TAPER_REQUIRE(is_floating(dets.scalar_type()) && scores.scalar_type() == dets.scalar_type() &&
                    out.scalar_type() == ScalarType::kLong,
                Error::kInvalidType,
                "nms: dets and scores must share a floating dtype, and out must be int64");
  TAPER_REQUIRE(dets.dim() == 2 && dets.size(1) == 4 && scores.dim() == 1 && out.dim() == 1 &&
                    scores.size(0) == dets.size(0),
                Error::kInvalidArgument, "nms: dets must be [n, 4], scores [n] and out [kept]");
  return with_float_type(dets.scalar_type(), [&](auto zero) -> Status {
    Suppression<decltype(zero)> suppression(dets, scores, iou_threshold);
    return suppression.run(out);
  });
}

}  // namespace

extern const Kernel kNmsOut;
const Kernel kNmsOut = make_kernel<nms_out>("torchvision::nms.out");

}  // namespace taper::portable
