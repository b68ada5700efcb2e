#include "exir/passes/kernel_dtypes.h"

#include <algorithm>
#include <map>
#include <optional>

#include "exir/passes/kernel_call.h"
#include "exir/passes/to_out_variants.h"

namespace taper::exir {
namespace {

using Sizes = std::vector<int64_t>;

// Sizes of the first tensor, of the others, of the first result and of the rest; what integers and
// lists of them hold.
struct Sample {
  Sizes first, others, out, rest;
  int64_t number = 1;
  std::vector<int64_t> list;
};

// A few shapes serve most families; results are resized, so only their rank matters.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    const Sizes shapes[] = {{2, 2},          {4},          {},
                            {1, 2, 2},       {1, 1, 2, 2}, {1, 4, 2, 2},
                            {1, 1, 2, 2, 2}, {2, 2, 2},    {1, 2, 1, 4}};
    const std::vector<int64_t> lists[] = {
        {1, 1}, {0},    {1},          {1, 1, 1},    {0, 1},       {2, 2},
        {},     {0, 0}, {1, 1, 1, 1}, {0, 1, 2, 3}, {0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}};
    const Sizes image = {1, 1, 2, 2}, volume = {1, 1, 1, 2, 2}, dot = {1, 1, 1, 1};
    std::vector<Sample> out = {
        // Nearly every family is among these.
        {{2, 2}, {2, 2}, {2, 2}, {2, 2}, 1, {1, 1}},
        {image, image, image, image, 1, {1, 1}},
        {image, image, image, image, 1, {0, 0}},
        {image, {1}, image, {1}, 1, {1, 1}},
        {image, {1}, image, {2, 2}, 1, {1, 1}},
        {image, image, image, image, 1, {0, 0, 0, 0}},
        {image, image, image, image, 1, {0}},
        {dot, dot, dot, dot, 1, {0, 0}},
        {volume, volume, volume, volume, 1, {0, 0, 0, 0, 0, 0}},
        {image, {1, 2, 2, 2}, image, image, 1, {1, 1}},
        {{2, 2, 2}, {2, 2, 2}, {2, 2, 2}, {2, 2, 2}, 1, {1, 1}},
        {{2, 2}, {2}, {2, 2}, {2, 2}, 0, {1}},
        {{4}, {4}, {4}, {4}, 0, {0}},
    };
    for (const Sizes& first : shapes) {
      for (const Sizes& other : {first, Sizes{1}, Sizes{2}, Sizes{}, Sizes{1, 2, 2, 2}}) {
        for (const Sizes& result : {first, Sizes{}, Sizes{4}, Sizes{2, 2}, Sizes{2, 2, 2},
                                    Sizes{1, 1, 2, 2}, Sizes{1, 1, 1, 2, 2}}) {
          for (const Sizes& rest : {result, Sizes{1}, Sizes{2, 2}}) {
            for (const auto& list : lists) {
              for (const int64_t number : {1, 0, 2}) {
                out.push_back({first, other, result, rest, number, list});
              }
            }
          }
        }
      }
    }
    return out;
  }();
  return all;
}

// Arguments whose name says what they must hold, whatever the sample. Lists repeat it as often as
// the sample's list is long.
const std::map<std::string, int64_t>& named_numbers() {
  static const std::map<std::string, int64_t> names = {
      {"kernel_size", 1}, {"stride", 1},  {"dilation", 1},  {"output_padding", 0},
      {"groups", 1},      {"group", 1},   {"N", 1},         {"C", 1},
      {"HxW", 4},         {"offset", 0},  {"dim1", 0},      {"dim2", 1},
      {"start_pos", 0},   {"seq_len", 1}, {"quant_min", 0}, {"quant_max", 1},
      {"zero_point", 0}};
  return names;
}

constexpr int kMostSamples = 400;  // Of those that differ for a kernel.

constexpr ScalarType kDtypes[] = {ScalarType::kFloat,    ScalarType::kDouble, ScalarType::kHalf,
                                  ScalarType::kBFloat16, ScalarType::kByte,   ScalarType::kChar,
                                  ScalarType::kShort,    ScalarType::kInt,    ScalarType::kLong,
                                  ScalarType::kBool,     ScalarType::kUInt16, ScalarType::kUInt32,
                                  ScalarType::kUInt64};

// Dtypes of the other tensors, of the first result and of the rest, when the first tensor has
// another.
struct Dtypes {
  std::optional<ScalarType> others, out, rest;
};
constexpr Dtypes kCombinations[] = {
    {{}, {}, {}},
    {{}, ScalarType::kBool, {}},
    {{}, ScalarType::kLong, {}},
    {{}, ScalarType::kFloat, {}},
    {{}, {}, ScalarType::kLong},
    {{}, {}, ScalarType::kBool},
    {ScalarType::kLong, {}, {}},
    {ScalarType::kBool, {}, {}},
    {{}, ScalarType::kDouble, ScalarType::kLong},
    {{}, ScalarType::kChar, {}},
    {{}, ScalarType::kByte, {}},
    {ScalarType::kFloat, {}, {}},
    {ScalarType::kFloat, ScalarType::kFloat, {}},
    {ScalarType::kDouble, ScalarType::kFloat, {}},
    {ScalarType::kLong, ScalarType::kFloat, {}},
};

class Prober {
 public:
  Prober(const Kernel& kernel, const Schema& schema) : kernel_(kernel), schema_(schema) {}

  std::vector<ScalarType> run() const {
    std::vector<ScalarType> taken;
    const Sample* good = has(TypeBase::kTensor) ? find_sample() : nullptr;
    if (good == nullptr) return taken;
    for (const ScalarType dtype : kDtypes) {
      if (works(*good, dtype)) taken.push_back(dtype);
    }
    return taken;
  }

  std::vector<ScalarType> overlooked() const {
    std::vector<ScalarType> found;
    const Sample* good = has(TypeBase::kTensor) ? find_sample() : nullptr;
    if (good == nullptr) return found;
    for (const ScalarType dtype : kDtypes) {
      if (works(*good, dtype)) continue;
      const Error error = call(*good, dtype, kCombinations[0], CallMode::kProbe);
      if (error != Error::kInvalidType) found.push_back(dtype);
    }
    return found;
  }

 private:
  bool has(TypeBase base, bool list = false) const {
    return std::any_of(schema_.args.begin(), schema_.args.end(), [&](const SchemaArg& arg) {
      return arg.type.base == base && (base == TypeBase::kTensor || arg.type.list == list);
    });
  }

  // The first sample that fits with some dtype. Those that differ only in what the kernel does not
  // take are skipped.
  const Sample* find_sample() const {
    const bool numbers = has(TypeBase::kInt), lists = has(TypeBase::kInt, true);
    const bool rests = std::count_if(schema_.args.begin(), schema_.args.end(), is_out_argument) > 1;
    int calls = 0;
    for (const Sample& sample : samples()) {
      if (!numbers && sample.number != 1) continue;
      if (!lists && sample.list != std::vector<int64_t>{1, 1}) continue;
      if (!rests && sample.rest != sample.out) continue;
      if (++calls > kMostSamples) break;
      if (fits(sample)) return &sample;
    }
    return nullptr;
  }

  // A kernel that finds fault with sizes or numbers would do so for other dtypes too.
  bool fits(const Sample& sample) const {
    for (const ScalarType dtype : {ScalarType::kFloat, ScalarType::kLong, ScalarType::kBool,
                                   ScalarType::kChar, ScalarType::kByte}) {
      for (const Dtypes& types : kCombinations) {
        const Error error = call(sample, dtype, types);
        if (error == Error::kOk) return true;
        if (error == Error::kInternal) return false;
        if (error == Error::kInvalidArgument && &types == &kCombinations[0]) break;
      }
    }
    return false;
  }

  bool works(const Sample& sample, ScalarType dtype) const {
    return std::any_of(
        std::begin(kCombinations), std::end(kCombinations),
        [&](const Dtypes& types) { return call(sample, dtype, types) == Error::kOk; });
  }

  Value* tensor(Graph& graph, const Sizes& sizes, ScalarType dtype) const {
    std::vector<Sym> syms(sizes.begin(), sizes.end());
    return graph.new_tensor("t", TensorType(dtype, std::move(syms)));
  }

  Argument plain(const SchemaArg& arg, const Sample& sample, ScalarType dtype) const {
    const auto named = named_numbers().find(arg.name);
    if (arg.type.base == TypeBase::kInt && named != named_numbers().end()) {
      if (!arg.type.list) return named->second;
      return int_list(std::vector<int64_t>(sample.list.size(), named->second));
    }
    if (arg.name == "train") return false;
    if (arg.name == "training") return schema_.name.find("no_stats") != std::string::npos;
    const bool limit = arg.name == "min" && arg.type.base == TypeBase::kScalar;  // Of clamp.
    if (arg.type.optional && (!arg.type.list || arg.type.base != TypeBase::kInt) && !limit)
      return {};
    if (arg.has_default && arg.type.base != TypeBase::kInt && !limit) return default_argument(arg);
    const auto count = static_cast<size_t>(std::max(arg.type.list_size, 1));
    switch (arg.type.base) {
      case TypeBase::kInt:
        return arg.type.list ? int_list(sample.list) : Argument(sample.number);
      case TypeBase::kFloat:
        return arg.type.list ? Argument(Argument::List(2, Argument(1.0))) : Argument(1.0);
      case TypeBase::kBool:
        return arg.type.list ? Argument(Argument::List(count, Argument(true))) : Argument(false);
      case TypeBase::kScalar:
        return 1;
      case TypeBase::kScalarType:
        return dtype;
      case TypeBase::kString:
        return "none";
      default:
        return {};
    }
  }

  void add_results(Graph& graph, Node& node, const SchemaArg& arg, const Sample& sample,
                   ScalarType dtype, const Dtypes& types) const {
    for (int i = 0; i < (arg.type.list ? 2 : 1); ++i) {
      const bool first = node.outputs.empty() || arg.type.list;
      const ScalarType out = first ? types.out.value_or(dtype) : types.rest.value_or(dtype);
      node.outputs.push_back(tensor(graph, first ? sample.out : sample.rest, out));
    }
  }

  // kInternal if the kernel cannot be called so at all.
  Error call(const Sample& sample, ScalarType dtype, const Dtypes& types,
             CallMode mode = CallMode::kSample) const {
    Graph graph;
    Node node;
    node.schema = std::shared_ptr<const Schema>(std::shared_ptr<void>(), &schema_);
    bool first = true;
    for (const SchemaArg& arg : schema_.args) {
      if (is_out_argument(arg)) {
        add_results(graph, node, arg, sample, dtype, types);
        continue;
      }
      const bool wanted = !arg.type.optional || first || arg.name == "min";
      if (arg.type.base != TypeBase::kTensor || !wanted) {
        const bool from_first =
            schema_.name.find("::dequantize") != std::string::npos && arg.name == "dtype";
        node.args.push_back(plain(arg, sample, from_first ? dtype : types.out.value_or(dtype)));
        continue;
      }
      const bool index = arg.name == "index" || arg.name == "indices";
      const ScalarType other = index                ? ScalarType::kLong
                               : arg.name == "mask" ? ScalarType::kBool
                                                    : types.others.value_or(dtype);
      Value* value = tensor(graph, first ? sample.first : sample.others, first ? dtype : other);
      node.args.push_back(arg.type.list ? Argument(Argument::List{Argument(value)})
                                        : Argument(value));
      first = false;
    }
    return run(node, mode);
  }

  Error run(const Node& node, CallMode mode) const {
    CallInputs inputs;
    inputs.type = [](const Value* value) { return std::optional(value->type); };
    inputs.number = [](const Value*) { return std::optional<int64_t>(); };
    KernelCall call(node, inputs, mode);
    if (!call.prepare(schema_)) return Error::kInternal;
    const std::optional<Status> status = call.run(kernel_);
    return status ? status->error() : Error::kInternal;
  }

  const Kernel& kernel_;
  const Schema& schema_;
};

}  // namespace

std::vector<ScalarType> kernel_dtypes(const Kernel& kernel, const Schema& schema) {
  return Prober(kernel, schema).run();
}

std::vector<ScalarType> overlooked_dtypes(const Kernel& kernel, const Schema& schema) {
  return Prober(kernel, schema).overlooked();
}

}  // namespace taper::exir
