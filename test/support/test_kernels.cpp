// Kernels of a few operators for tests of the runtime.

#include "test/support/test_kernels.h"

namespace taper::test {
namespace {

Status add(KernelContext& context, const Tensor& a, const Tensor& b, Tensor& out) {
  TAPER_TRY(out.resize(a.sizes()));
  TAPER_REQUIRE(b.numel() == a.numel() && out.scalar_type() == ScalarType::kFloat &&
                    a.scalar_type() == ScalarType::kFloat && b.scalar_type() == ScalarType::kFloat,
                Error::kInvalidArgument, "add: sizes or dtypes differ");
  const auto add_one = [&](size_t i) {
    out.mutable_data_ptr<float>()[i] = a.const_data_ptr<float>()[i] + b.const_data_ptr<float>()[i];
  };
  parallel_for(context.pool(), static_cast<size_t>(a.numel()), add_one);
  return {};
}

Status fill(KernelContext&, Scalar value, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == ScalarType::kFloat, Error::kInvalidType, "fill: not float32");
  float* data = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < out.numel(); ++i) data[i] = static_cast<float>(value.to_double());
  return {};
}

Status sum_list(KernelContext&, TensorList list, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == ScalarType::kFloat && out.numel() == 1,
                Error::kInvalidArgument, "sum_list: out must be one float32");
  float sum = 0;
  for (const Tensor* item : list) {
    TAPER_REQUIRE(item->scalar_type() == ScalarType::kFloat, Error::kInvalidType, "not float32");
    for (int64_t i = 0; i < item->numel(); ++i) sum += item->const_data_ptr<float>()[i];
  }
  *out.mutable_data_ptr<float>() = sum;
  return {};
}

Status kinds(KernelContext&, const Tensor&, Scalar, int64_t, double, bool, std::string_view,
             IntList, DoubleList, BoolList, TensorList, OptionalTensorList,
             std::optional<int64_t>) {
  return {};
}

Status fail(KernelContext&, Tensor&) {
  return Status(Error::kInvalidArgument, "this kernel always fails");
}

Status assert_holds(KernelContext&, bool condition, Message) {
  TAPER_REQUIRE(condition, Error::kInvalidArgument, "the condition does not hold");
  return {};
}

Status scratch(KernelContext& context, int64_t bytes) {
  TAPER_REQUIRE(context.allocate_temp(static_cast<size_t>(bytes)) != nullptr,
                Error::kOutOfResources, "scratch: too little temp memory");
  return {};
}

Status less(KernelContext&, EValue* const* args) {
  const auto number = [&](int i) { return internal::Arg<double>::get(*args[i]); };
  TAPER_REQUIRE(args[2]->is_bool(), Error::kInvalidType, "less: out must be a bool");
  *args[2] = EValue(number(0) < number(1));
  return {};
}

Status increment(KernelContext&, EValue* const* args) {
  TAPER_REQUIRE(args[0]->is_int(), Error::kInvalidType, "increment: not an int");
  *args[0] = EValue(args[0]->to_int() + 1);
  return {};
}

Status rows(KernelContext&, EValue* const* args) {
  TAPER_REQUIRE(args[1]->is_int(), Error::kInvalidType, "rows: out must be an int");
  *args[1] = EValue(int64_t{args[0]->to_tensor().size(0)});
  return {};
}

Status view(KernelContext&, EValue* const* args) {
  const Tensor& self = args[0]->to_tensor();
  Tensor& out = args[2]->to_tensor();
  int32_t sizes[kMaxRank] = {};
  const Span<const int64_t> wanted = args[1]->to_int_list();
  TAPER_REQUIRE(wanted.size() <= kMaxRank, Error::kInvalidArgument, "view: rank");
  for (size_t i = 0; i < wanted.size(); ++i) {
    TAPER_REQUIRE(wanted[i] >= 0 && wanted[i] <= INT32_MAX, Error::kInvalidArgument, "view: size");
    sizes[i] = static_cast<int32_t>(wanted[i]);
  }
  TAPER_TRY(out.resize({sizes, wanted.size()}));
  TAPER_REQUIRE(out.numel() == self.numel(), Error::kInvalidArgument, "view: numel");
  out.set_data(self.mutable_data());
  return {};
}

constexpr ArgSpec kLessArgs[] = {
    {ArgKind::kScalar, false}, {ArgKind::kScalar, false}, {ArgKind::kNumberOut, false}};
constexpr ArgSpec kIncrementArgs[] = {{ArgKind::kNumberOut, false}};
constexpr ArgSpec kRowsArgs[] = {{ArgKind::kTensor, false}, {ArgKind::kNumberOut, false}};
constexpr ArgSpec kViewArgs[] = {
    {ArgKind::kTensor, false}, {ArgKind::kIntList, false}, {ArgKind::kAliasTensor, false}};

constexpr Kernel kAdd = make_kernel<add>("test::add.out");
constexpr Kernel kAssert = make_kernel<assert_holds>("test::assert");
constexpr Kernel kFail = make_kernel<fail>("test::fail");
constexpr Kernel kFill = make_kernel<fill>("test::fill");
constexpr Kernel kIncrement = {"test::increment", increment, kIncrementArgs, 1};
constexpr Kernel kKinds = make_kernel<kinds>("test::kinds");
constexpr Kernel kLess = {"test::less", less, kLessArgs, 3};
constexpr Kernel kRows = {"test::rows", rows, kRowsArgs, 2};
constexpr Kernel kScratch = make_kernel<scratch>("test::scratch");
constexpr Kernel kSumList = make_kernel<sum_list>("test::sum_list");
constexpr Kernel kView = {"test::view", view, kViewArgs, 3};

constexpr const Kernel* kTable[] = {&kAdd,  &kAssert, &kFail,    &kFill,    &kIncrement, &kKinds,
                                    &kLess, &kRows,   &kScratch, &kSumList, &kView};

}  // namespace

KernelTable test_kernels() { return kTable; }

Span<const KernelTable> test_tables() {
  static const KernelTable tables[] = {test_kernels()};
  return tables;
}

}  // namespace taper::test
