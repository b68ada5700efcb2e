// Custom operators of the test: a library like those that users build for PyTorch.

#include <torch/library.h>

#include <ATen/ATen.h>

namespace {

at::Tensor shrink(const at::Tensor& x, double by) { return x.sign() * (x.abs() - by).clamp_min(0); }
at::Tensor shrink_meta(const at::Tensor& x, double) { return at::empty_like(x); }

std::tuple<at::Tensor, at::Tensor> signs(const at::Tensor& x) {
  return {x.clamp_min(0), x.clamp_max(0)};
}
std::tuple<at::Tensor, at::Tensor> signs_meta(const at::Tensor& x) {
  return {at::empty_like(x), at::empty_like(x)};
}

// A list of views, and a string among the arguments.
std::vector<at::Tensor> pieces(const at::Tensor& x, int64_t n, const std::string& order) {
  TORCH_CHECK(order == "first" || order == "last", "pieces: no order is called ", order);
  std::vector<at::Tensor> all = x.chunk(n);
  if (order == "last") std::reverse(all.begin(), all.end());
  return all;
}
std::vector<at::Tensor> pieces_meta(const at::Tensor& x, int64_t n, const std::string&) {
  return x.chunk(n);
}

// Every kind of argument.
at::Tensor mix(const at::Tensor& x, const at::Scalar& by, at::IntArrayRef dims,
               at::ArrayRef<double> weights, const std::optional<at::Tensor>& bias,
               at::TensorList more, bool twice, std::optional<at::ScalarType> dtype) {
  at::Tensor y = x.sum(dims, true) * by;
  for (const double weight : weights) y = y + weight;
  if (bias) y = y + *bias;
  for (const at::Tensor& each : more) y = y + each;
  return (twice ? y * 2 : y).to(dtype.value_or(x.scalar_type()));
}

at::Tensor defaults(const at::Tensor& x, int64_t b, int64_t c) { return x * b + c; }

void accumulate(at::Tensor total, const at::Tensor& x) { total.add_(x); }
void accumulate_meta(at::Tensor, const at::Tensor&) {}

at::Tensor fail(const at::Tensor& x, int64_t how) {
  TORCH_CHECK(how != 0, "fail: a check of x\nand a second line");
  if (how == 1) throw std::runtime_error("fail: not an error of PyTorch");
  if (how == 2) throw 7;
  if (how == 3) return at::cat({x, x});
  if (how == 4) return x.to(at::kDouble);
  return x.to_sparse();
}
at::Tensor fail_meta(const at::Tensor& x, int64_t) { return at::empty_like(x); }

}  // namespace

TORCH_LIBRARY(my, library) {
  library.def("shrink(Tensor x, float by) -> Tensor");
  library.def("signs(Tensor x) -> (Tensor, Tensor)");
  library.def("pieces(Tensor(a) x, int n, str order) -> Tensor(a)[]");
  library.def(
      "mix(Tensor x, Scalar by, int[1] dims, float[] weights, Tensor? bias, Tensor[] more, "
      "bool twice, ScalarType? dtype=None) -> Tensor");
  library.def("defaults(Tensor x, int b=2, *, int c=1) -> Tensor");
  library.impl("defaults", c10::DispatchKey::CompositeExplicitAutograd, defaults);
  library.def("accumulate_(Tensor(a!) total, Tensor x) -> ()");
  library.def("fail(Tensor x, int how) -> Tensor");
  library.impl("mix", c10::DispatchKey::CompositeExplicitAutograd, mix);
}

TORCH_LIBRARY_IMPL(my, CPU, library) {
  library.impl("shrink", shrink);
  library.impl("signs", signs);
  library.impl("pieces", pieces);
  library.impl("accumulate_", accumulate);
  library.impl("fail", fail);
}

TORCH_LIBRARY_IMPL(my, Meta, library) {
  library.impl("shrink", shrink_meta);
  library.impl("signs", signs_meta);
  library.impl("pieces", pieces_meta);
  library.impl("accumulate_", accumulate_meta);
  library.impl("fail", fail_meta);
}
