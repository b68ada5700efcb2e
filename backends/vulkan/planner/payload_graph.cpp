// The header, the flatbuffer's verifier, then every value and every call.

#include "backends/vulkan/planner/payload_graph.h"

#include <cstring>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/payload_header.h"
#include "backends/vulkan/schema_generated.h"

namespace taper::vulkan {
namespace {

#define TAPER_VULKAN_REQUIRE(condition, text) \
  TAPER_REQUIRE(condition, Error::kDelegateInvalidCompatibility, text)

constexpr uint32_t kMaxTables = 1000000;
// Plans compare tensors with tensors, so the work for a payload is bounded by its numbers of these.
constexpr uint32_t kMaxValues = 65536, kMaxCalls = 16384, kMaxItems = 65536;
constexpr uint64_t kNamed = UINT64_MAX;  // The offset of a constant that is named data.

uint64_t little_endian(Span<const uint8_t> bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | bytes[at + i];
  return value;
}

struct Parts {
  const wire::Graph* graph = nullptr;
  Span<const uint8_t> constants;
};

Result<Parts> split(Span<const uint8_t> payload) {
  TAPER_VULKAN_REQUIRE(
      payload.size() >= kHeaderBytes && std::memcmp(payload.data() + 4, kMagic, 4) == 0,
      "not a payload of the Vulkan delegate: it does not have the header VH00");
  const uint64_t header = little_endian(payload, 8, 2);
  const uint64_t graph = little_endian(payload, 10, 4), graph_bytes = little_endian(payload, 14, 4);
  const uint64_t data = little_endian(payload, 18, 4);
  uint64_t data_bytes = little_endian(payload, 22, 8);
  TAPER_VULKAN_REQUIRE(header >= kHeaderBytes && graph >= header && graph_bytes >= 8 &&
                           graph + graph_bytes <= payload.size() && data >= graph + graph_bytes &&
                           data <= payload.size(),
                       "the parts of the payload overlap or do not fit into it");
  if (data_bytes == 0) data_bytes = payload.size() - data;
  TAPER_VULKAN_REQUIRE(data_bytes <= payload.size() - data,
                       "the constants of the payload do not fit into it");
  const uint8_t* bytes = payload.data() + graph;
  TAPER_VULKAN_REQUIRE(reinterpret_cast<uintptr_t>(bytes) % alignof(uint64_t) == 0,
                       "the graph of the payload is not aligned");
  flatbuffers::Verifier verifier(bytes, static_cast<size_t>(graph_bytes), 16, kMaxTables);
  TAPER_VULKAN_REQUIRE(wire::VerifyGraphBuffer(verifier),
                       "the graph of the payload is not a valid VK00 flatbuffer");
  Parts parts;
  parts.graph = wire::GetGraph(bytes);
  parts.constants = payload.subspan(static_cast<size_t>(data), static_cast<size_t>(data_bytes));
  return parts;
}

Result<ScalarType> dtype_of(wire::DataType type) {
  switch (type) {
    case wire::DataType::Bool:
      return ScalarType::kBool;
    case wire::DataType::UInt8:
      return ScalarType::kByte;
    case wire::DataType::Int8:
      return ScalarType::kChar;
    case wire::DataType::Int32:
      return ScalarType::kInt;
    case wire::DataType::Float16:
    case wire::DataType::Float32:
      return ScalarType::kFloat;
    case wire::DataType::Float64:
      return ScalarType::kDouble;
    case wire::DataType::Int64:
      return ScalarType::kLong;
    case wire::DataType::Unset:
      break;
  }
  return Status(Error::kDelegateInvalidCompatibility, "a tensor of the payload has no known dtype");
}

// Reads one payload into a graph.
class Reader {
 public:
  Reader(const Parts& parts, const ConstantSource* source, PayloadGraph& graph)
      : wire_(*parts.graph), constants_(parts.constants), source_(source), graph_(graph) {}

  Status read() {
    TAPER_VULKAN_REQUIRE(wire_.values() != nullptr && wire_.chain() != nullptr &&
                             wire_.input_ids() != nullptr && wire_.output_ids() != nullptr,
                         "the graph of the payload lacks values, calls, inputs or outputs");
    TAPER_VULKAN_REQUIRE(wire_.values()->size() <= kMaxValues && wire_.chain()->size() <= kMaxCalls,
                         "the payload has too many values or calls");
    graph_.values.resize(wire_.values()->size());
    for (uint32_t id = 0; id < wire_.values()->size(); ++id) {
      TAPER_TRY(read_value(*wire_.values()->Get(id), graph_.values[id]));
    }
    TAPER_TRY(check_value_lists());
    TAPER_TRY(read_ids(*wire_.input_ids(), graph_.inputs));
    TAPER_TRY(read_ids(*wire_.output_ids(), graph_.outputs));
    TAPER_TRY(mark_inputs());
    for (const wire::Call* call : *wire_.chain()) TAPER_TRY(read_call(*call));
    return {};
  }

 private:
  template <typename Wire, typename T>
  static Status view(const Wire* list, Span<const T>& out) {  // A missing list is an empty one.
    if (list == nullptr || list->size() == 0) return {};
    TAPER_VULKAN_REQUIRE(reinterpret_cast<uintptr_t>(list->data()) % alignof(T) == 0,
                         "a list of the payload is not aligned");
    out = {reinterpret_cast<const T*>(list->data()), list->size()};
    return {};
  }

  Status read_value(const wire::Value& from, PayloadValue& to) {
    TAPER_VULKAN_REQUIRE(from.value() != nullptr, "a value of the payload is missing");
    switch (from.value_type()) {
      case wire::Kind::Null:
        return {};
      case wire::Kind::Int:
        to.kind = Kind::kInt;
        to.integer = from.value_as_Int()->int_val();
        return {};
      case wire::Kind::Bool:
        to.kind = Kind::kBool;
        to.integer = from.value_as_Bool()->bool_val();
        return {};
      case wire::Kind::Double:
        to.kind = Kind::kDouble;
        to.real = from.value_as_Double()->double_val();
        return {};
      case wire::Kind::SymInt:
        to.kind = Kind::kSymInt;
        to.integer = from.value_as_SymInt()->value();
        return {};
      case wire::Kind::String:
        TAPER_VULKAN_REQUIRE(from.value_as_String()->string_val() != nullptr,
                             "a text of the payload is missing");
        to.kind = Kind::kText;
        to.text = {from.value_as_String()->string_val()->c_str(),
                   from.value_as_String()->string_val()->size()};
        return {};
      case wire::Kind::IntList:
        to.kind = Kind::kInts;
        return view(from.value_as_IntList()->items(), to.ints);
      case wire::Kind::DoubleList:
        to.kind = Kind::kDoubles;
        return view(from.value_as_DoubleList()->items(), to.doubles);
      case wire::Kind::BoolList:
        to.kind = Kind::kBools;
        return view(from.value_as_BoolList()->items(), to.bools);
      case wire::Kind::ValueList:
        to.kind = Kind::kValues;
        return view(from.value_as_ValueList()->items(), to.values);
      case wire::Kind::Tensor:
        to.kind = Kind::kTensor;
        return read_tensor(*from.value_as_Tensor(), to);
      case wire::Kind::NONE:
        break;
    }
    return Status(Error::kDelegateInvalidCompatibility,
                  "a value of the payload is of no known kind");
  }

  Status read_tensor(const wire::Tensor& from, PayloadValue& to) {
    const Result<ScalarType> dtype = dtype_of(from.datatype());
    TAPER_TRY(dtype.status());
    to.dtype = *dtype;
    to.is_half = from.datatype() == wire::DataType::Float16;
    const auto* dims = from.dims();
    const size_t rank = dims == nullptr ? 0 : dims->size();
    TAPER_VULKAN_REQUIRE(rank <= Dims::kMaxRank, "a tensor of the payload has too many dimensions");
    // Dimensions of no elements count as one here: strides are products of the others.
    int64_t bytes = static_cast<int64_t>(element_size(to.dtype));
    for (size_t i = 0; i < rank; ++i) {
      const int64_t size = dims->Get(static_cast<uint32_t>(i));
      to.limits.push_back(size);
      TAPER_VULKAN_REQUIRE(!__builtin_mul_overflow(bytes, size > 1 ? size : 1, &bytes) &&
                               bytes <= INT32_MAX * int64_t{4},
                           "a tensor of the payload is too large");
    }
    to.dims = to.limits;
    return from.constant_id() < 0 ? Status() : read_constant(from.constant_id(), to);
  }

  Status read_constant(int32_t id, PayloadValue& to) {
    TAPER_VULKAN_REQUIRE(
        wire_.constants() != nullptr && static_cast<uint32_t>(id) < wire_.constants()->size(),
        "a constant of the payload is not there");
    to.is_constant = true;
    if (source_ == nullptr) return {};
    const wire::Bytes& from = *wire_.constants()->Get(static_cast<uint32_t>(id));
    if (from.offset() == kNamed) {
      TAPER_VULKAN_REQUIRE(from.named_key() != nullptr, "a constant of the payload has no name");
      const Result<Span<const uint8_t>> found =
          source_->find({from.named_key()->c_str(), from.named_key()->size()});
      TAPER_TRY(found.status());
      to.data = *found;
    } else {
      TAPER_VULKAN_REQUIRE(
          from.offset() <= constants_.size() && from.length() <= constants_.size() - from.offset(),
          "a constant of the payload does not fit into it");
      to.data = constants_.subspan(static_cast<size_t>(from.offset()),
                                   static_cast<size_t>(from.length()));
    }
    const size_t element = to.is_half ? 2 : element_size(to.dtype);
    const auto expected = static_cast<uint64_t>(to.dims.numel()) * element;
    TAPER_VULKAN_REQUIRE(to.data.size() == expected,
                         "the data of a constant of the payload is not as long as its sizes say");
    return {};
  }

  bool is_value(int64_t id) const {
    return id >= 0 && static_cast<uint64_t>(id) < graph_.values.size();
  }

  // Lists do not contain lists.
  Status check_value_lists() const {
    for (const PayloadValue& value : graph_.values) {
      for (const int32_t item : value.values) {
        TAPER_VULKAN_REQUIRE(is_value(item),
                             "a list of the payload names a value that is not there");
        TAPER_VULKAN_REQUIRE(graph_.values[static_cast<size_t>(item)].kind != Kind::kValues,
                             "a list of the payload contains a list");
      }
    }
    return {};
  }

  template <typename Ids>
  Status read_ids(const Ids& from, std::vector<ValueId>& to) const {
    for (const uint32_t id : from) {
      TAPER_VULKAN_REQUIRE(is_value(id), "an argument of the payload is not there");
      const Kind kind = graph_.values[id].kind;
      TAPER_VULKAN_REQUIRE(kind == Kind::kTensor || kind == Kind::kSymInt || kind == Kind::kInt,
                           "an argument of the payload is neither a tensor nor a number");
      to.push_back(id);
    }
    return {};
  }

  Status mark_inputs() {
    for (const ValueId id : graph_.inputs) {
      PayloadValue& value = graph_.values[id];
      TAPER_VULKAN_REQUIRE(!value.is_constant && !value.is_input,
                           "an input of the payload is a constant, or is given twice");
      value.is_input = true;
    }
    for (const ValueId id : graph_.outputs) {
      const Kind kind = graph_.values[id].kind;
      TAPER_VULKAN_REQUIRE(kind == Kind::kTensor || kind == Kind::kSymInt,
                           "an output of the payload is neither a tensor nor a size");
    }
    return {};
  }

  Status read_call(const wire::Call& from) {
    TAPER_VULKAN_REQUIRE(from.name() != nullptr && from.args() != nullptr,
                         "a call of the payload has no name or no arguments");
    const std::string_view name(from.name()->c_str(), from.name()->size());
    PayloadCall call;
    call.node_id = from.node_id();
    call.op = find_operator(name);
    if (call.op == nullptr) graph_.unknown_operator = name;
    TAPER_REQUIRE(call.op != nullptr, Error::kOperatorMissing,
                  "the payload calls an operator that the Vulkan delegate does not have");
    TAPER_TRY(view(from.args(), call.args));
    TAPER_VULKAN_REQUIRE(call.args.size() == call.op->arguments + 1,
                         "a call of the payload has the wrong number of arguments");
    for (const int32_t id : call.args) {
      TAPER_VULKAN_REQUIRE(is_value(id), "a call of the payload names a value that is not there");
      items_ += graph_.values[static_cast<size_t>(id)].values.size();
    }
    TAPER_VULKAN_REQUIRE(items_ <= kMaxItems, "the lists of the payload are too long");
    mark_states(call);
    graph_.calls.push_back(call);
    return {};
  }

  // A constant that is a result is a buffer that the program writes.
  void mark_states(const PayloadCall& call) {
    const auto mark = [this](int32_t id) {
      PayloadValue& value = graph_.values[static_cast<size_t>(id)];
      value.is_state = value.is_constant;
    };
    const int32_t result = call.result();
    mark(result);
    for (const int32_t item : graph_.values[static_cast<size_t>(result)].values) mark(item);
  }

  const wire::Graph& wire_;
  const Span<const uint8_t> constants_;
  const ConstantSource* source_;
  PayloadGraph& graph_;
  size_t items_ = 0;  // In the lists of all calls.
};

}  // namespace

Status PayloadGraph::read(Span<const uint8_t> payload, const ConstantSource* source) {
  const Result<Parts> parts = split(payload);
  TAPER_TRY(parts.status());
  return Reader(*parts, source, *this).read();
}

}  // namespace taper::vulkan
