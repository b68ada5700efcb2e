// Parses and runs the text payload of the backend for tests.

#include "test/support/payload_backend.h"

#include <memory>
#include <sstream>

namespace taper::test {
namespace {

struct Operation {
  bool multiply;
  size_t a, b, out;
};
using Operations = std::vector<Operation>;

Status check_args(Span<EValue* const> args) {
  for (const EValue* arg : args) {
    TAPER_REQUIRE(arg->is_tensor() && arg->to_tensor().scalar_type() == ScalarType::kFloat,
                  Error::kInvalidArgument, "payload: an argument is not a float32 tensor");
  }
  return {};
}

Status run(const Operation& op, Span<EValue* const> args) {
  TAPER_REQUIRE(op.a < args.size() && op.b < args.size() && op.out < args.size(),
                Error::kInvalidArgument, "payload: too few arguments");
  const Tensor& a = args[op.a]->to_tensor();
  const Tensor& b = args[op.b]->to_tensor();
  Tensor& out = args[op.out]->to_tensor();
  TAPER_REQUIRE(!out.is_constant(), Error::kInvalidArgument, "payload: the output is a constant");
  TAPER_REQUIRE(a.numel() == b.numel(), Error::kInvalidArgument, "payload: sizes differ");
  TAPER_TRY(out.resize(a.sizes()));
  for (int64_t i = 0; i < a.numel(); ++i) {
    const float x = a.const_data_ptr<float>()[i];
    const float y = b.const_data_ptr<float>()[i];
    out.mutable_data_ptr<float>()[i] = op.multiply ? x * y : x + y;
  }
  return {};
}

}  // namespace

Result<void*> PayloadBackend::init(BackendInitContext& context, Span<const uint8_t> payload,
                                   CompileSpecs specs) {
  seen_method = context.method_name();
  for (size_t i = 0; i < specs.size(); ++i) {
    const CompileSpec spec = specs[i];
    seen_specs.push_back(std::string(spec.key) + "=" +
                         std::string(spec.value.begin(), spec.value.end()));
  }
  std::istringstream lines(std::string(payload.begin(), payload.end()));
  auto operations = std::make_unique<Operations>();
  std::string name;
  while (lines >> name) {
    Operation op = {};
    op.multiply = name == "mul";
    const bool known = op.multiply || name == "add";
    if (!known || !(lines >> op.a >> op.b >> op.out)) {
      return Status(Error::kDelegateInvalidCompatibility, "payload: an operation is unknown");
    }
    operations->push_back(op);
  }
  ++live_handles;
  return static_cast<void*>(operations.release());
}

Status PayloadBackend::execute(BackendExecutionContext&, void* handle, Span<EValue* const> args) {
  TAPER_TRY(check_args(args));
  for (const Operation& op : *static_cast<const Operations*>(handle)) TAPER_TRY(run(op, args));
  return {};
}

void PayloadBackend::destroy(void* handle) {
  delete static_cast<Operations*>(handle);
  --live_handles;
}

Backend payload_backend(PayloadBackend& backend) { return {"PayloadBackend", &backend}; }

}  // namespace taper::test
