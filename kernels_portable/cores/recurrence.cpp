// The checks and copies that lstm and gru share; see recurrence.h.

#include "kernels_portable/cores/recurrence.h"

#include <cstring>

#include "kernels_portable/engine/convert.h"

namespace taper::portable {
namespace {

Status resize_to(Tensor& tensor, int64_t a, int64_t b, int64_t c) {
  const int32_t sizes[] = {static_cast<int32_t>(a), static_cast<int32_t>(b),
                           static_cast<int32_t>(c)};
  TAPER_REQUIRE(tensor.dim() == 3, Error::kInvalidArgument,
                "lstm or gru: a result must have rank 3");
  return tensor.resize({sizes, 3});
}

}  // namespace

Status check_part(const Tensor& tensor, const Tensor& like, const int64_t (&sizes)[3]) {
  TAPER_REQUIRE(tensor.scalar_type() == like.scalar_type(), Error::kInvalidType,
                "lstm or gru: tensors have different dtypes");
  TAPER_REQUIRE(tensor.is_contiguous(), Error::kNotSupported,
                "lstm or gru: tensors must be contiguous");
  bool fits = tensor.dim() == 3;
  for (int64_t d = 0; fits && d < 3; ++d) fits = tensor.size(d) == sizes[d];
  TAPER_REQUIRE(fits, Error::kInvalidArgument, "lstm or gru: a tensor has wrong sizes");
  return {};
}

Status begin_recurrence(int64_t count, const Tensor& gates, const Tensor& h0, const Tensor& weight,
                        bool batch_first, Tensor& out, Tensor& h, Recurrence* r) {
  TAPER_REQUIRE(is_floating(gates.scalar_type()), Error::kInvalidType,
                "lstm or gru: tensors must be floats");
  TAPER_REQUIRE(out.scalar_type() == gates.scalar_type() && h.scalar_type() == gates.scalar_type(),
                Error::kInvalidType, "lstm or gru: tensors have different dtypes");
  TAPER_REQUIRE(gates.dim() == 3 && h0.dim() == 3 && weight.dim() == 4, Error::kInvalidArgument,
                "lstm or gru: a tensor has a wrong rank");
  r->gates = count;
  r->directions = weight.size(0);
  r->batch_first = batch_first;
  r->steps = gates.size(batch_first ? 1 : 0);
  r->batch = gates.size(batch_first ? 0 : 1);
  r->outputs = h0.size(2);
  TAPER_REQUIRE(r->directions == 1 || r->directions == 2, Error::kInvalidArgument,
                "lstm or gru: there must be one direction or two");
  r->units = gates.size(2) / (r->directions * count);
  TAPER_REQUIRE(r->units * r->directions * count == gates.size(2), Error::kInvalidArgument,
                "lstm or gru: the gates do not fit the directions");
  TAPER_REQUIRE(weight.size(1) == r->blocks() && weight.size(2) == r->outputs &&
                    weight.size(3) == count * kUnitsTogether,
                Error::kInvalidArgument, "lstm or gru: the weight has wrong sizes");
  TAPER_REQUIRE(weight.scalar_type() == gates.scalar_type(), Error::kInvalidType,
                "lstm or gru: tensors have different dtypes");
  TAPER_REQUIRE(gates.is_contiguous() && weight.is_contiguous(), Error::kNotSupported,
                "lstm or gru: tensors must be contiguous");
  TAPER_TRY(check_part(h0, gates, {r->directions, r->batch, r->outputs}));
  TAPER_TRY(resize_to(h, r->directions, r->batch, r->outputs));
  TAPER_TRY(resize_to(out, gates.size(0), gates.size(1), r->directions * r->outputs));
  TAPER_REQUIRE(out.is_contiguous() && h.is_contiguous(), Error::kNotSupported,
                "lstm or gru: tensors must be contiguous");
  return {};
}

Line part_of(const Tensor& tensor, int64_t first, int64_t size) {
  const ScalarType type = tensor.scalar_type();
  return {element(tensor.const_data(), first, type), type, 1, size};
}

Line state_before(const Recurrence& r, const Tensor& h0, const Tensor& out, int64_t d, int64_t i,
                  int64_t b) {
  if (i == 0) return part_of(h0, (d * r.batch + b) * r.outputs, r.outputs);
  const int64_t row = r.row(r.step_of(d, i - 1), b);
  return part_of(out, (row * r.directions + d) * r.outputs, r.outputs);
}

void finish_recurrence(const Recurrence& r, const Tensor& h0, const Tensor& out, Tensor& h) {
  for (int64_t d = 0; d < r.directions; ++d) {
    for (int64_t b = 0; b < r.batch; ++b) {
      const Line from = state_before(r, h0, out, d, r.steps, b);
      const Line to = part_of(h, (d * r.batch + b) * r.outputs, r.outputs);
      std::memmove(const_cast<void*>(to.data), from.data,
                   static_cast<size_t>(r.outputs) * element_size(h.scalar_type()));
    }
  }
}

}  // namespace taper::portable
