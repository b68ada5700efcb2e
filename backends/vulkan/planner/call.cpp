#include "backends/vulkan/planner/call.h"

#include <algorithm>
#include <cmath>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

const PayloadValue kMissing;

}  // namespace

bool Call::require(bool condition, const char* problem) {
  if (!condition && ok()) status_ = Status(Error::kDelegateInvalidCompatibility, problem);
  return ok();
}

const PayloadValue& Call::value(size_t i) const {
  return i < count() ? graph_.values[static_cast<size_t>(call_.args[i])] : kMissing;
}

int64_t Call::integer(const PayloadValue& value) {
  switch (value.kind) {
    case Kind::kInt:
    case Kind::kBool:
    case Kind::kSymInt:
      return value.integer;
    case Kind::kDouble:  // Writers give equal scalars one value, so an integer may be a double.
      require(std::fabs(value.real) < 0x1p62 && std::floor(value.real) == value.real,
              "an argument is not an integer");
      return ok() ? static_cast<int64_t>(value.real) : 0;
    default:
      require(false, "an argument is not an integer");
      return 0;
  }
}

bool Call::is_none(size_t i, size_t item) const {
  const Span<const int32_t> items = value(i).values;
  return item >= items.size() ||
         graph_.values[static_cast<size_t>(items[item])].kind == Kind::kNone;
}

int64_t Call::integer(size_t i) { return integer(value(i)); }

double Call::number(size_t i) {
  const PayloadValue& from = value(i);
  return from.kind == Kind::kDouble ? from.real : static_cast<double>(integer(from));
}

double Call::number(size_t i, size_t item, size_t count) {
  const PayloadValue& from = value(i);
  if (from.kind != Kind::kDoubles) {
    const Dims list = integers(i);
    return require(list.rank == count, "a list has another length")
               ? static_cast<double>(list[item])
               : 0;
  }
  return require(from.doubles.size() == count, "a list has another length") ? from.doubles[item]
                                                                            : 0;
}

bool Call::flag(size_t i) {
  const PayloadValue& from = value(i);
  if (from.kind == Kind::kNone) return false;
  return integer(from) != 0;
}

std::string_view Call::text(size_t i) {
  require(value(i).kind == Kind::kText, "an argument is not a text");
  return value(i).text;
}

Dims Call::integers(size_t i) {
  const PayloadValue& from = value(i);
  Dims list;
  const size_t count = from.kind == Kind::kInts     ? from.ints.size()
                       : from.kind == Kind::kBools  ? from.bools.size()
                       : from.kind == Kind::kValues ? from.values.size()
                                                    : 1;
  if (!require(count <= Dims::kMaxRank, "a list has too many items")) return list;
  for (size_t item = 0; item < count; ++item) {
    if (from.kind == Kind::kInts) {
      list.push_back(from.ints[item]);
    } else if (from.kind == Kind::kBools) {
      list.push_back(from.bools[item]);
    } else if (from.kind == Kind::kValues) {
      list.push_back(integer(graph_.values[static_cast<size_t>(from.values[item])]));
    } else {
      list.push_back(integer(from));
    }
  }
  return list;
}

Dims Call::integers(size_t i, size_t rank, int64_t otherwise) {
  Dims list;
  if (!is_none(i)) list = integers(i);
  require(list.rank == rank || list.rank <= 1, "a list does not have an item for each dimension");
  if (!ok() || rank > Dims::kMaxRank) return {};
  if (list.rank == rank) return list;
  const int64_t item = list.rank == 1 ? list[0] : otherwise;
  list.rank = 0;
  while (list.rank < rank) list.push_back(item);
  return list;
}

Operand Call::operand(ValueId id) {
  const PayloadValue& from = graph_.values[id];
  if (!require(from.kind == Kind::kTensor, "an argument is not a tensor")) return {};
  require(plan_.defined_[id] != 0, "a tensor is read before it is written");
  require(takes_doubles_ || from.dtype != ScalarType::kDouble, "it computes with float64");
  note_elements(plan_.places_[id].root, false);
  plan_.note_use(id);
  const Operand stored = {id, from.dtype, from.dims};
  Plan::OpenView& view = plan_.views_[id];
  if (ok() && view.is_open && !view.is_stored) {
    view.is_stored = true;
    if (!plan_.is_placed_) view.stored_at = plan_.call_;
    copy(*this, from.dims, dense(stored), walk_of(id));
  }
  return stored;
}

// Keeps memory for the view, and for those it is a part of: a plan for other sizes may need it.
Walk Call::walk_of(ValueId id) {
  const Plan::OpenView& view = plan_.views_[id];
  for (ValueId each = id; plan_.views_[each].is_open; each = plan_.views_[each].whole) {
    plan_.note_use(each);
  }
  plan_.note_use(view.source);
  const PayloadValue& source = graph_.values[view.source];
  return {{view.source, source.dtype, source.dims}, view.offset, view.strides};
}

// A constant has one form.
void Call::note_elements(ValueId root, bool are_bytes) {
  if (root >= graph_.values.size() || !graph_.values[root].is_constant) return;
  const PayloadValue& constant = graph_.values[root];
  Place& place = plan_.places_[root];
  if (!plan_.is_placed_ && place.first > place.last && are_bytes) {
    place.has_bytes = true;
    place.bytes =
        (static_cast<uint64_t>(constant.limits.numel()) * element_size(constant.dtype) + 3) / 4 * 4;
    place.bytes = std::max<uint64_t>(place.bytes, 4);
  }
  require(place.has_bytes == are_bytes, "a constant is read as bytes and as elements");
}

Operand Call::bytes(size_t i) {
  if (!require(i < count(), "an argument is missing")) return {};
  const auto id = static_cast<ValueId>(call_.args[i]);
  const PayloadValue& from = graph_.values[id];
  if (!require(from.kind == Kind::kTensor, "an argument is not a tensor")) return {};
  require(plan_.defined_[id] != 0, "a tensor is read before it is written");
  if (!require(is_constant_of_bytes(i), "its weights are not a constant of bytes")) return {};
  note_elements(plan_.places_[id].root, true);
  plan_.note_use(id);
  return {id, from.dtype, from.dims};
}

bool Call::is_constant_of_bytes(size_t i) const {
  const PayloadValue& from = value(i);
  if (from.kind != Kind::kTensor || element_size(from.dtype) != 1) return false;
  const ValueId root = plan_.places_[static_cast<size_t>(call_.args[i])].root;
  return root < graph_.values.size() && graph_.values[root].is_constant &&
         !graph_.values[root].is_state && graph_.values[root].dtype == from.dtype;
}

bool Call::may_read_bytes(size_t i) const {
  if (!is_constant_of_bytes(i)) return false;
  const Place& root = plan_.root_of(static_cast<ValueId>(call_.args[i]));
  return root.has_bytes || (!plan_.is_placed_ && root.first > root.last);
}

// A plan for other sizes walks through the source of a view where the first one did, and no longer.
// It may have to store the view earlier, but what the first plan reads is what stays in memory.
View Call::view_of(ValueId id) {
  const PayloadValue& from = graph_.values[id];
  if (from.kind == Kind::kTensor && ok()) {
    const Plan::OpenView& view = plan_.views_[id];
    const bool is_walked = view.is_open && plan_.call_ < view.stored_at;
    if (is_walked) return {from.dtype, from.dims, walk_of(id), false};
  }
  const Operand stored = operand(id);
  return {stored.dtype, stored.dims, dense(stored), true};
}

View Call::view(size_t i) {
  if (!require(i < count(), "an argument is missing")) return {};
  return view_of(static_cast<ValueId>(call_.args[i]));
}

View Call::view(size_t i, size_t item) {
  if (!require(item < value(i).values.size(), "an argument is missing")) return {};
  return view_of(static_cast<ValueId>(value(i).values[item]));
}

// Constants are stored in any form once, and outputs and states must be. A plan for other sizes
// stores what the first one has stored.
bool Call::may_stay_view(ValueId id, const Walk& from) {
  const size_t values = plan_.views_.size();  // Others are temporary, such as new states.
  if (id >= values || from.tensor.id >= values) return false;
  Plan::OpenView& view = plan_.views_[id];
  if (plan_.is_placed_) return view.was_open;
  const Place& root = plan_.root_of(from.tensor.id);
  view.was_open = !view.is_output && root.memory == Place::Memory::kArena;
  return view.was_open;
}

void Call::stay_view(size_t k, const Dims& dims, const Walk& from) {
  const Operand out = half_result(k, dims, from.tensor.dtype);
  if (!ok()) return;
  if (!may_stay_view(out.id, from)) return copy(*this, dims, dense(out), from);
  Plan::OpenView& view = plan_.views_[out.id];
  view.is_open = true;
  view.whole = static_cast<ValueId>(call_.args[0]);
  view.source = from.tensor.id;
  view.offset = from.offset;
  view.strides = from.strides;
}

Operand Call::tensor(size_t i) {
  if (!require(i < count(), "an argument is missing")) return {};
  return operand(static_cast<ValueId>(call_.args[i]));
}

int64_t Call::element(size_t i, int64_t index) {
  const Operand x = tensor(i);
  if (!ok()) return 0;
  PayloadValue& from = graph_.values[x.id];
  const bool is_index = x.dtype == ScalarType::kInt || x.dtype == ScalarType::kLong;
  require(from.is_input && is_index, "it reads a number off what is no input of integers");
  if (!require(index >= 0 && index < from.dims.numel(), "its index is out of range")) return 0;
  from.is_read = true;
  const size_t at = static_cast<size_t>(index) * element_size(from.given_dtype);
  if (from.given == nullptr) return 0;
  if (from.given_dtype == ScalarType::kInt) {
    int32_t number;
    std::memcpy(&number, from.given + at, sizeof(number));
    return number;
  }
  int64_t number;
  std::memcpy(&number, from.given + at, sizeof(number));
  return number;
}

bool Call::has_no_zeros(size_t i) const {
  const PayloadValue& from = value(i);
  if (!from.is_constant || from.dtype != ScalarType::kInt || from.data.empty()) return false;
  for (size_t at = 0; at < from.data.size(); at += sizeof(int32_t)) {
    int32_t element;
    std::memcpy(&element, from.data.data() + at, sizeof(element));
    if (element == 0 || element == INT32_MIN) return false;
  }
  return true;
}

size_t Call::tensor_count(size_t i) {
  require(value(i).kind == Kind::kValues, "an argument is not a list of tensors");
  return ok() ? value(i).values.size() : 0;
}

Operand Call::tensor(size_t i, size_t item) {
  if (!require(item < value(i).values.size(), "an argument is missing")) return {};
  return operand(static_cast<ValueId>(value(i).values[item]));
}

size_t Call::dim(size_t i, size_t rank) {
  const auto dims = static_cast<int64_t>(rank == 0 ? 1 : rank);
  const int64_t given = integer(i);
  if (!require(given >= -dims && given < dims, "a dimension is out of range")) return 0;
  return static_cast<size_t>(given < 0 ? given + dims : given);
}

Dims Call::dim_set(size_t i, size_t rank) {
  Dims set;
  set.rank = rank;
  const Dims list = is_none(i) ? Dims() : integers(i);
  const auto dims = static_cast<int64_t>(rank == 0 ? 1 : rank);
  for (size_t d = 0; d < rank; ++d) set[d] = list.rank == 0;
  for (size_t item = 0; item < list.rank; ++item) {
    const int64_t d = list[item] < 0 ? list[item] + dims : list[item];
    if (!require(d >= 0 && d < dims, "a dimension is out of range")) return {};
    if (rank > 0) set[static_cast<size_t>(d)] = 1;
  }
  return set;
}

const PayloadValue& Call::result_value(size_t k) const {
  const PayloadValue& last = graph_.values[static_cast<size_t>(call_.result())];
  if (last.kind != Kind::kValues) return k == 0 ? last : kMissing;
  if (k >= last.values.size()) return kMissing;
  return graph_.values[static_cast<size_t>(last.values[k])];
}

size_t Call::result_count() const {
  const PayloadValue& last = graph_.values[static_cast<size_t>(call_.result())];
  return last.kind == Kind::kValues ? last.values.size() : 1;
}

ScalarType Call::stated_dtype(size_t k) { return result_value(k).dtype; }

Operand Call::result(size_t k, const Dims& dims, ScalarType dtype) {
  const PayloadValue& stated = result_value(k);
  if (!require(stated.kind == Kind::kTensor, "a result is not a tensor")) return {};
  const auto id = static_cast<ValueId>(&stated - graph_.values.data());
  if (stated.is_state) return new_state(id, dims, dtype);
  require(!stated.is_input && plan_.defined_[id] == 0, "a result is written twice, or is an input");
  require(takes_doubles_ || dtype != ScalarType::kDouble, "it computes with float64");
  // ExecuTorch's exporter writes int64 as int32.
  const bool is_narrow = stated.dtype == ScalarType::kInt && dtype == ScalarType::kLong;
  require(stated.dtype == dtype || is_narrow, "a result has another dtype than its operator gives");
  bool has_sizes = true;
  for (size_t d = 0; d < dims.rank; ++d) has_sizes = has_sizes && dims[d] >= 0;
  require(has_sizes, "a result has a negative size");
  const bool fits = plan_.is_placed_
                        ? dims.rank == stated.limits.rank && dims.numel() <= stated.limits.numel()
                        : dims == stated.limits;
  if (!require(fits, "a result has other sizes than its operator gives")) return {};
  graph_.values[id].dims = dims;
  graph_.values[id].dtype = dtype;
  plan_.defined_[id] = 1;
  plan_.note_use(id);
  return {id, dtype, dims};
}

// The call may still read what the state holds, so it writes elsewhere first.
Operand Call::new_state(ValueId id, const Dims& dims, ScalarType dtype) {
  const PayloadValue& state = graph_.values[id];
  require(state.dtype == dtype && state.limits == dims,
          "a buffer that the program writes has other sizes or another dtype than what is written");
  for (const NewState& other : new_states_) {
    require(other.state != id, "a call writes a buffer of the program twice");
  }
  Operand contents = temporary(state.limits.numel());
  contents.dims = dims;
  contents.dtype = dtype;
  if (ok()) new_states_.push_back({id, contents});
  return contents;
}

bool Call::is_shown_once(ValueId state) const {
  size_t shown = 0;
  const auto look = [&](int32_t arg) {
    const auto i = static_cast<size_t>(arg);
    const bool is_tensor = graph_.values[i].kind == Kind::kTensor && plan_.defined_[i] != 0;
    if (is_tensor && plan_.places_[i].root == state) ++shown;
  };
  for (size_t i = 0; i < count(); ++i) {
    look(call_.args[i]);
    for (const int32_t item : value(i).values) look(item);
  }
  if (call_.epilogue.added >= 0) look(call_.epilogue.added);
  return shown == 1;
}

bool Call::writes_in_place(const Operand& x) {
  const PayloadValue& state = result_value(0);
  const auto id = static_cast<ValueId>(&state - graph_.values.data());
  if (!ok() || !state.is_state || id != x.id || !is_shown_once(id)) return false;
  plan_.forget_views(id);
  plan_.note_use(id);
  return true;
}

Operand Call::state(size_t i) {
  const Operand x = tensor(i);
  const bool is_own = ok() && graph_.values[x.id].is_state && is_shown_once(x.id);
  if (!require(is_own, "it writes what is no buffer of the program, or what it reads, too"))
    return x;
  plan_.forget_views(x.id);
  return x;
}

void Call::store_states() {
  const std::vector<NewState> stored = std::move(new_states_);
  for (const NewState& each : stored) {
    if (!ok()) return;
    plan_.forget_views(each.state);
    plan_.note_use(each.state);
    const Operand state = {each.state, each.contents.dtype, each.contents.dims};
    copy(*this, state.dims, dense(state), dense(each.contents));
  }
}

void Call::alias(const Operand& source, const Dims& dims) {
  require(source.dims.numel() == dims.numel(), "a view has another number of elements");
  const Operand view = half_result(dims, source.dtype);
  if (!ok()) return;
  if (!new_states_.empty())
    return copy(*this, dims, dense(view), dense({source.id, source.dtype, dims}));
  const ValueId root = plan_.places_[source.id].root;
  const bool widens = is_half(source) && plan_.views_[view.id].is_output;
  if (widens || plan_.outlives(view.id, root)) {
    return copy(*this, dims, dense(view), dense({source.id, source.dtype, dims}));
  }
  plan_.places_[view.id].root = root;
  plan_.note_use(view.id);
  if (root < graph_.values.size() && graph_.values[root].is_state) {
    plan_.state_views_.push_back({root, view.id});
  }
}

bool Call::may_alias(bool wanted) const {
  const auto id = static_cast<ValueId>(&result_value(0) - graph_.values.data());
  if (!plan_.is_placed_ || id >= graph_.values.size()) return wanted;
  return plan_.places_[id].root != id;
}

void Call::symbol(int64_t number) {
  PayloadValue& to = graph_.values[static_cast<size_t>(call_.result())];
  if (!require(to.kind == Kind::kSymInt, "a result is not a number")) return;
  to.integer = number;
  plan_.defined_[static_cast<size_t>(call_.result())] = 1;
}

Operand Call::added() {
  return call_.epilogue.added < 0 ? Operand() : operand(static_cast<ValueId>(call_.epilogue.added));
}

Operand Call::norm_weight() {
  return call_.norm.weight < 0 ? Operand() : operand(static_cast<ValueId>(call_.norm.weight));
}

// Programs choose scales of float64.
Operand Call::factor_scale() {
  take_doubles();
  return call_.factor.scale_tensor < 0 ? Operand()
                                       : operand(static_cast<ValueId>(call_.factor.scale_tensor));
}

Operand Call::factor_zero() {
  return call_.factor.zero_tensor < 0 ? Operand()
                                      : operand(static_cast<ValueId>(call_.factor.zero_tensor));
}

bool Call::has_room(int64_t elements) const {
  if (!plan_.is_placed_) return true;
  if (!has_temporary()) return elements == 0;
  const uint64_t bytes = plan_.temporaries_[plan_.skip_shared()].bytes;
  return elements >= 0 && static_cast<uint64_t>(elements) <= bytes / 4;
}

// Whether the first plan took one at this point. It may not have if the call is computed in another
// way with the largest sizes.
bool Call::has_temporary() const {
  const size_t index = plan_.skip_shared();
  return index < plan_.temporaries_.size() && plan_.temporaries_[index].call == plan_.call_;
}

Operand Call::temporary(int64_t elements) {
  Operand made;
  made.dims.push_back(elements);
  const bool fits = elements >= 0 && elements <= INT32_MAX;
  if (!require(fits, "it needs too much memory")) return made;
  if (!require(has_room(elements), "it needs more memory than with the largest sizes")) return made;
  if (!plan_.is_placed_) return add_temporary(elements, /*is_shared=*/false);
  made.id = kFaultValue;  // Nothing reads or writes one without elements.
  if (!has_temporary()) return made;
  made.id = static_cast<ValueId>(graph_.values.size() + plan_.skip_shared()++);
  return made;
}

Operand Call::add_temporary(int64_t elements, bool is_shared) {
  const auto bytes = static_cast<uint64_t>(elements) * 4;
  Operand made;
  made.dims.push_back(elements);
  made.id = static_cast<ValueId>(graph_.values.size() + plan_.temporaries_.size());
  plan_.temporaries_.push_back({plan_.call_, bytes, is_shared});
  Place place;
  place.memory = Place::Memory::kArena;
  place.root = made.id;
  place.bytes = bytes;
  place.first = place.last = plan_.call_;
  plan_.places_.push_back(place);
  return made;
}

bool Call::is_constant(const Operand& operand) const {
  if (operand.id >= graph_.values.size()) return false;
  const PayloadValue& root = graph_.values[plan_.places_[operand.id].root];
  return root.is_constant && !root.is_state;
}

bool Call::shared(const Operand& constant, int64_t form, int64_t elements, Operand& made) {
  if (!ok()) return false;
  const Plan::SharedKey key = {plan_.places_[constant.id].root, form, elements};
  const auto known = plan_.shared_.find(key);
  if (known != plan_.shared_.end()) {
    made.id = known->second;
    made.dims.push_back(elements);
    plan_.note_use(made.id);
    return false;
  }
  const bool fits = !plan_.is_placed_ && elements >= 0 && elements <= INT32_MAX;
  if (!require(fits, "it needs more memory than with the largest sizes")) return false;
  made = add_temporary(elements, /*is_shared=*/true);
  plan_.shared_[key] = made.id;
  return true;
}

Call& Call::dispatch(Shader shader) {
  if (!ok()) return *this;
  Dispatch added;
  added.shader = shader;
  added.call = plan_.call_;
  plan_.dispatches_.push_back(added);
  return *this;
}

Call& Call::constant(uint32_t value) {
  if (!ok()) return *this;
  last().constants[last().num_constants++] = value;
  return *this;
}

Call& Call::groups(int64_t x, int64_t y, int64_t z) {
  const int64_t counts[3] = {x, y, z};
  for (const int64_t count : counts) {
    require(count >= 0 && count <= UINT32_MAX, "it needs too many workgroups");
  }
  for (size_t i = 0; i < 3 && ok(); ++i) last().groups[i] = static_cast<uint32_t>(counts[i]);
  return *this;
}

Call& Call::groups_for(int64_t items, int64_t per_group, int64_t z) {
  constexpr int64_t kRow = 32768;  // Workgroups in x.
  const int64_t all = (items + per_group - 1) / per_group;
  return groups(all < kRow ? all : kRow, (all + kRow - 1) / kRow, z);
}

}  // namespace taper::vulkan
