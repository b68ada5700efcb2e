// Reads a payload of PayloadWriter's call by call and writes it anew.

#include "backends/vulkan/aot/executorch_payload.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "backends/vulkan/aot/executorch_rules.h"
#include "backends/vulkan/planner/payload_header.h"
#include "exir/ir/failure.h"

namespace taper::vulkan {
namespace {

using exir::Failure;

constexpr size_t kAlignment = 16;
constexpr uint64_t kNamed = UINT64_MAX;

void put(std::vector<uint8_t>& bytes, size_t at, uint64_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<uint8_t>(value >> (8 * i));
}

// The best of a set: buffers are as good as textures for most operators, and never too small.
Storages choose(Storages storages) {
  constexpr Storages kInOrder[] = {kBufferWidth,   kTextureChannels, kTextureWidth,
                                   kTextureHeight, kBufferChannels,  kBufferHeight};
  for (const Storages each : kInOrder) {
    if ((storages & each) != 0) return each;
  }
  return kNoStorage;
}

class Rewriter {
 public:
  Rewriter(const wire::Graph& graph, exir::Delegate& delegate)
      : graph_(graph),
        facts_(graph),
        delegate_(delegate),
        made_(graph.values()->size(), -1),
        storages_(graph.values()->size(), kNoStorage) {}

  std::vector<uint8_t> rewrite() {
    for (const wire::Call* call : *graph_.chain()) add_call(*call);
    std::vector<uint32_t> inputs, outputs;
    for (const uint32_t id : *graph_.input_ids()) inputs.push_back(final_id(id));
    for (const uint32_t id : *graph_.output_ids()) outputs.push_back(final_id(id));
    const std::vector<flatbuffers::Offset<wire::Bytes>> shaders;  // None, but it must be there.
    wire::FinishGraphBuffer(fbb_, wire::CreateGraphDirect(fbb_, "0", &calls_, &values_, &inputs,
                                                          &outputs, &constants_, &shaders));
    return payload();
  }

 private:
  using Id = int32_t;

  Id add_value(wire::Kind kind, flatbuffers::Offset<void> item) {
    values_.push_back(wire::CreateValue(fbb_, kind, item));
    return static_cast<Id>(values_.size() - 1);
  }

  void call(std::string_view name, const std::vector<Id>& args) {
    calls_.push_back(wire::CreateCallDirect(fbb_, node_id_, std::string(name).c_str(), &args));
  }

  // A tensor with the sizes of `like`, stored in that way.
  Id tensor(const wire::Tensor& like, Storages storage, Id constant = -1) {
    wire::DataType dtype = like.datatype();
    if (dtype == wire::DataType::Int64) dtype = wire::DataType::Int32;
    const std::vector<uint32_t> dims(like.dims()->begin(), like.dims()->end());
    wire::StorageType type = wire::StorageType::Default;
    wire::MemoryLayout layout = wire::MemoryLayout::Default;
    for (int packed = 0; packed < 3; ++packed) {
      const bool is_buffer = storage == kBufferWidth << packed;
      if (!is_buffer && storage != kTextureWidth << packed) continue;
      type = is_buffer ? wire::StorageType::Buffer : wire::StorageType::Texture3D;
      layout = static_cast<wire::MemoryLayout>(packed);
    }
    return add_value(
        wire::Kind::Tensor,
        wire::CreateTensorDirect(fbb_, dtype, &dims, constant, -1, type, layout, dtype).Union());
  }

  // The value of a tensor, which is stored as `storage` unless it is stored in some way already.
  Id stored(Id old, Storages storage) {
    Id& made = made_[static_cast<size_t>(old)];
    if (made >= 0) return made;
    storages_[static_cast<size_t>(old)] = storage;
    return made = tensor(*facts_.tensor(old), storage);
  }

  // The same, in exactly that way: a clone if need be.
  Id moved(Id old, Storages storage) {
    if (facts_.is_constant(old)) return prepacked(old, storage);
    const Id made = stored(old, storage);
    if (storages_[static_cast<size_t>(old)] == storage) return made;
    const auto [known, is_new] = moved_.insert({{old, storage}, -1});
    if (!is_new) return known->second;
    known->second = tensor(*facts_.tensor(old), storage);
    call("aten.clone.default", {made, none(), known->second});
    return known->second;
  }

  Id prepacked(Id old, Storages storage) {
    const auto [known, is_new] = moved_.insert({{old, storage}, -1});
    if (!is_new) return known->second;
    known->second = tensor(*facts_.tensor(old), storage);
    call("et_vk.prepack.default", {constant(old), known->second});
    return known->second;
  }

  Id constant(Id old) {
    Id& made = made_[static_cast<size_t>(old)];
    if (made >= 0) return made;
    const wire::Tensor& from = *facts_.tensor(old);
    const wire::Bytes& bytes = *graph_.constants()->Get(static_cast<uint32_t>(from.constant_id()));
    const auto at = static_cast<Id>(constants_.size());
    const std::string key = bytes.named_key() == nullptr ? "" : bytes.named_key()->str();
    if (from.datatype() == wire::DataType::Int64) {
      add_inside(narrowed(key, bytes.length()));
    } else {
      constants_.push_back(wire::CreateBytesDirect(fbb_, kNamed, bytes.length(), key.c_str()));
    }
    return made = tensor(from, kNoStorage, at);
  }

  // Data of the payload itself.
  void add_inside(const std::vector<uint8_t>& bytes) {
    constants_.push_back(wire::CreateBytesDirect(fbb_, inside_.size(), bytes.size(), ""));
    inside_.insert(inside_.end(), bytes.begin(), bytes.end());
    inside_.resize((inside_.size() + kAlignment - 1) / kAlignment * kAlignment);
  }

  // The int64 of a constant as int32; zeros where the payload is only a question.
  std::vector<uint8_t> narrowed(const std::string& key, uint64_t bytes) {
    std::vector<uint8_t> narrow(static_cast<size_t>(bytes / 2));
    const auto data = std::find_if(delegate_.data.begin(), delegate_.data.end(),
                                   [&](const auto& each) { return each.name == key; });
    if (data == delegate_.data.end()) return narrow;
    for (size_t i = 0; i * 8 < data->bytes.bytes; ++i) {
      int64_t wide;
      std::memcpy(&wide, data->bytes.data + i * 8, sizeof(wide));
      const auto element = static_cast<int32_t>(wide);
      std::memcpy(&narrow[i * 4], &element, sizeof(element));
    }
    return narrow;
  }

  // A float32 of no dimensions, stored in that way.
  Id number(double value, wire::DataType dtype, Storages storage) {
    std::vector<uint8_t> bytes(4);
    const auto real = static_cast<float>(value);
    const auto integer = static_cast<int32_t>(value);
    if (dtype == wire::DataType::Float32) {
      std::memcpy(bytes.data(), &real, 4);
    } else {
      std::memcpy(bytes.data(), &integer, 4);
      dtype = wire::DataType::Int32;
    }
    const auto at = static_cast<Id>(constants_.size());
    add_inside(bytes);
    const std::vector<uint32_t> none;
    const Id given =
        add_value(wire::Kind::Tensor,
                  wire::CreateTensorDirect(fbb_, dtype, &none, at, -1, wire::StorageType::Default,
                                           wire::MemoryLayout::Default, dtype)
                      .Union());
    const bool is_buffer = storage < kTextureWidth;
    int packed = 0;
    while (storage != (is_buffer ? kBufferWidth : kTextureWidth) << packed) ++packed;
    const Id made = add_value(
        wire::Kind::Tensor, wire::CreateTensorDirect(fbb_, dtype, &none, -1, -1,
                                                     is_buffer ? wire::StorageType::Buffer
                                                               : wire::StorageType::Texture3D,
                                                     static_cast<wire::MemoryLayout>(packed), dtype)
                                .Union());
    call("et_vk.prepack.default", {given, made});
    return made;
  }

  Id none() { return add_value(wire::Kind::Null, wire::CreateNull(fbb_).Union()); }

  // A value that is no tensor.
  Id plain(Id old) {
    Id& made = made_[static_cast<size_t>(old)];
    if (made >= 0) return made;
    const wire::Value& from = facts_.value(old);
    switch (from.value_type()) {
      case wire::Kind::Int:
        return made = add_value(wire::Kind::Int,
                                wire::CreateInt(fbb_, from.value_as_Int()->int_val()).Union());
      case wire::Kind::Bool:
        return made = add_value(wire::Kind::Bool,
                                wire::CreateBool(fbb_, from.value_as_Bool()->bool_val()).Union());
      case wire::Kind::Double:
        return made = add_value(
                   wire::Kind::Double,
                   wire::CreateDouble(fbb_, from.value_as_Double()->double_val()).Union());
      case wire::Kind::SymInt:
        return made = add_value(wire::Kind::SymInt,
                                wire::CreateSymInt(fbb_, from.value_as_SymInt()->value()).Union());
      case wire::Kind::String: {
        const char* text = from.value_as_String()->string_val()->c_str();
        return made = add_value(wire::Kind::String, wire::CreateStringDirect(fbb_, text).Union());
      }
      case wire::Kind::IntList: {
        const std::vector<int64_t> items = facts_.integers(old);
        return made =
                   add_value(wire::Kind::IntList, wire::CreateIntListDirect(fbb_, &items).Union());
      }
      case wire::Kind::DoubleList: {
        const auto* list = from.value_as_DoubleList()->items();
        const std::vector<double> items(list->begin(), list->end());
        return made = add_value(wire::Kind::DoubleList,
                                wire::CreateDoubleListDirect(fbb_, &items).Union());
      }
      default:
        return none();
    }
  }

  // Any argument; its tensors as `storage`, constants as they are if `stays`.
  Id argument(Id old, Storages storage, bool stays) {
    if (facts_.tensor(old) != nullptr) {
      return stays && facts_.is_constant(old) ? constant(old) : moved(old, storage);
    }
    const wire::ValueList* list = facts_.value(old).value_as_ValueList();
    if (list == nullptr) return plain(old);
    std::vector<Id> items;
    for (const Id item : *list->items()) items.push_back(argument(item, storage, stays));
    return add_value(wire::Kind::ValueList, wire::CreateValueListDirect(fbb_, &items).Union());
  }

  Id result(Id old, Storages first, Storages later) {
    if (facts_.tensor(old) != nullptr) return stored(old, first);
    const wire::ValueList* list = facts_.value(old).value_as_ValueList();
    if (list == nullptr) return plain(old);
    std::vector<Id> items;
    for (const Id item : *list->items())
      items.push_back(stored(item, items.empty() ? first : later));
    return add_value(wire::Kind::ValueList, wire::CreateValueListDirect(fbb_, &items).Union());
  }

  // Operators of a number that ExecuTorch has for tensors: "aten.mul.Scalar" is "aten.mul.Tensor".
  static std::string_view tensor_form(std::string_view name) {
    if (name == "aten.add.Scalar") return "aten.add.Tensor";
    if (name == "aten.sub.Scalar" || name == "aten.rsub.Scalar") return "aten.sub.Tensor";
    if (name == "aten.mul.Scalar") return "aten.mul.Tensor";
    return name == "aten.div.Scalar" ? "aten.div.Tensor" : "";
  }

  static std::string_view other_name(std::string_view name) {
    return name == "aten._unsafe_view.default" ? "aten.view_copy.default" : name;
  }

  static std::string reason(std::string_view name, const std::string& why) {
    return "ExecuTorch's Vulkan runtime does not run " + std::string(name) + ": " + why;
  }

  void add_call(const wire::Call& from) {
    node_id_ = from.node_id();
    const std::string_view given(from.name()->c_str(), from.name()->size());
    const std::string_view form = tensor_form(given);
    const std::string_view name = form.empty() ? other_name(given) : form;
    ExecutorchCall c = {find_executorch_operator(name), {}};
    if (c.row == nullptr) throw Failure(reason(given, "it is not there"));
    c.args.assign(from.args()->begin(), from.args()->end());
    const std::string problem = call_problem(facts_, c);
    if (!problem.empty()) throw Failure(reason(given, problem));
    const int primary = primary_argument(facts_, c);
    const Storages all = primary_storages(facts_, c);
    Storages storage = choose(all);
    if (primary >= 0) {
      const Id first = facts_.tensors(c.args[static_cast<size_t>(primary)])[0];
      const Storages now = storages_[static_cast<size_t>(first)];
      if ((now & all) != 0) storage = now;
    }
    std::vector<Id> args;
    for (size_t i = 0; i + 1 < c.args.size(); ++i) {
      const bool is_first = static_cast<int>(i) == primary;
      const bool stays = !is_first && (c.row->traits & kStoresOwn) != 0;
      const Storages others = c.row->others_storage;
      const bool is_number = !form.empty() && i == 1;
      args.push_back(
          is_number
              ? number_of(c, storage)
              : argument(c.args[i], is_first || others == kNoStorage ? storage : others, stays));
    }
    if (given == "aten.rsub.Scalar") std::swap(args[0], args[1]);
    const Storages first = c.row->results_storage == kNoStorage || primary >= 0
                               ? storage
                               : choose(c.row->results_storage);
    args.push_back(result(c.args.back(), first,
                          c.row->later_results == kNoStorage ? first : c.row->later_results));
    call(name, args);
  }

  // Argument 1, a number, as a tensor of the dtype of argument 0.
  Id number_of(const ExecutorchCall& c, Storages storage) {
    const wire::Value& value = facts_.value(c.args[1]);
    double number = 0;
    if (value.value_type() == wire::Kind::Double) number = value.value_as_Double()->double_val();
    if (value.value_type() == wire::Kind::Int) {
      number = static_cast<double>(value.value_as_Int()->int_val());
    }
    return this->number(number, facts_.tensor(c.args[0])->datatype(), storage);
  }

  uint32_t final_id(uint32_t old) {
    const auto id = static_cast<Id>(old);
    const bool is_tensor = facts_.tensor(id) != nullptr;
    return static_cast<uint32_t>(!is_tensor               ? plain(id)
                                 : facts_.is_constant(id) ? prepacked(id, kBufferWidth)
                                                          : stored(id, kBufferWidth));
  }

  std::vector<uint8_t> payload() const {
    const size_t graph = fbb_.GetSize();
    const size_t at = (kPaddedHeaderBytes + graph + kAlignment - 1) / kAlignment * kAlignment;
    std::vector<uint8_t> bytes(at);
    std::memcpy(bytes.data() + 4, kMagic, 4);
    put(bytes, 8, kHeaderBytes, 2);
    put(bytes, 10, kPaddedHeaderBytes, 4);
    put(bytes, 14, graph, 4);
    put(bytes, 18, at, 4);
    put(bytes, 22, inside_.size(), 8);
    std::memcpy(bytes.data() + kPaddedHeaderBytes, fbb_.GetBufferPointer(), graph);
    bytes.insert(bytes.end(), inside_.begin(), inside_.end());
    return bytes;
  }

  const wire::Graph& graph_;
  const PayloadFacts facts_;
  const exir::Delegate& delegate_;
  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<flatbuffers::Offset<wire::Value>> values_;
  std::vector<flatbuffers::Offset<wire::Call>> calls_;
  uint32_t node_id_ = 0;  // Of the call that is rewritten.
  std::vector<flatbuffers::Offset<wire::Bytes>> constants_;
  std::vector<uint8_t> inside_;
  std::vector<Id> made_;            // The new values of old ones; -1: there is none yet.
  std::vector<Storages> storages_;  // How these are stored.
  std::map<std::pair<Id, Storages>, Id> moved_;  // The same tensors, stored in other ways.
};

}  // namespace

void make_executorch_payload(exir::Delegate& delegate) {
  const std::vector<uint8_t> before = std::move(delegate.payload);
  const wire::Graph& graph = *wire::GetGraph(before.data() + kPaddedHeaderBytes);
  delegate.payload = Rewriter(graph, delegate).rewrite();
  // What became a part of the payload is not named any more.
  const wire::Graph& after = *wire::GetGraph(delegate.payload.data() + kPaddedHeaderBytes);
  const auto is_named = [&](const exir::Delegate::Data& data) {
    return std::any_of(after.constants()->begin(), after.constants()->end(), [&](const auto* each) {
      return each->named_key() != nullptr && each->named_key()->str() == data.name;
    });
  };
  delegate.data.erase(
      std::remove_if(delegate.data.begin(), delegate.data.end(),
                     [&](const exir::Delegate::Data& data) { return !is_named(data); }),
      delegate.data.end());
}

}  // namespace taper::vulkan
