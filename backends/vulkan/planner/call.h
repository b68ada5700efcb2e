// A call while it is planned: its arguments, checked as they are read; its results; its dispatches.
//
// The first problem is kept and later ones are ignored, so that a plan function reads all arguments
// and asks ok() once, before it computes with them. A reason is written so that it completes "the
// Vulkan delegate does not take the node: ...".

#pragma once

#include <cstring>
#include <type_traits>

#include "backends/vulkan/planner/plan.h"

namespace taper::vulkan {

// A tensor as an argument or a result.
struct Operand {
  ValueId id = 0;
  ScalarType dtype = ScalarType::kFloat;
  Dims dims;
};

// How elements of a tensor are walked: element (i, j, ...) is at offset + i * strides[0] + j *
// strides[1]...
struct Walk {
  Operand tensor;
  int64_t offset = 0;
  Dims strides;
};

// A tensor as it can be read: a walk through what is stored, which may be another tensor.
struct View {
  ScalarType dtype = ScalarType::kFloat;
  Dims dims;
  Walk walk;
  bool is_stored = true;  // Dense, under its own name.
};

class Call {
 public:
  Call(PayloadGraph& graph, Plan& plan, const PayloadCall& call)
      : graph_(graph), plan_(plan), call_(call) {}

  Status status() const { return status_; }
  bool ok() const { return status_.ok(); }
  // Notes a problem unless `condition` holds. Returns ok().
  bool require(bool condition, const char* problem);

  // Arguments by their place in the schema. A problem is noted where one is not of that kind; what
  // is returned then is 0, or a tensor of rank 0.
  size_t count() const { return call_.args.size() - 1; }
  bool is_none(size_t i) const { return value(i).kind == Kind::kNone; }
  bool is_none(size_t i, size_t item) const;  // An item of a list of tensors.
  int64_t integer(size_t i);
  int64_t integer(size_t i, int64_t otherwise) { return is_none(i) ? otherwise : integer(i); }
  double number(size_t i);
  double number(size_t i, double otherwise) { return is_none(i) ? otherwise : number(i); }
  // Item `item` of a list of `count` numbers.
  double number(size_t i, size_t item, size_t count);
  bool flag(size_t i);
  std::string_view text(size_t i);
  // A list of at most Dims::kMaxRank integers, or one integer.
  Dims integers(size_t i);
  // The same, repeated to `rank` items if it is one item; `otherwise` for an empty list or none.
  Dims integers(size_t i, size_t rank, int64_t otherwise);
  Operand tensor(size_t i);
  // A constant of bytes, whose elements lie side by side: four of them in a word.
  Operand bytes(size_t i);
  // Whether argument i is one that may be read so, and no call has read its elements before; and
  // whether an operand was.
  bool may_read_bytes(size_t i) const;
  bool has_bytes(const Operand& operand) const { return plan_.root_of(operand.id).has_bytes; }
  // From now on tensors of float64 are taken, which the device has as float32.
  void take_doubles() { takes_doubles_ = true; }
  // The same without storing it, if it is a view that nobody has stored yet.
  View view(size_t i);
  View view(size_t i, size_t item);
  // An element of an argument that is an input, of which each call of the payload has other data; 0
  // while there are none.
  int64_t element(size_t i, int64_t index);
  // Whether a tensor of int32 is a constant, of which no element is 0 or the least number.
  bool has_no_zeros(size_t i) const;
  // A list of tensors: how many, and each.
  size_t tensor_count(size_t i);
  Operand tensor(size_t i, size_t item);
  // A dimension of a tensor of that rank, counted from 0; a scalar has one dimension here.
  size_t dim(size_t i, size_t rank);
  // Likewise for a list, as a set: entry d says whether it has dimension d. Empty or none: all.
  Dims dim_set(size_t i, size_t rank);

  // What is fused to an operator that has an epilogue, and the tensor that it adds.
  const Epilogue& epilogue() const { return call_.epilogue; }
  Operand added();
  // What it does with its input, and the weights of that.
  const RowNorm& norm() const { return call_.norm; }
  Operand norm_weight();
  // The integers that its first factor stands for, and the tensors that say which, if any do.
  const FactorGrid& factor() const { return call_.factor; }
  Operand factor_scale();
  Operand factor_zero();

  // Result `k`, whose sizes and dtype must be those that the payload states, up to the largest. One
  // that is a state is written at the end of the call, which may read the state until then.
  Operand result(size_t k, const Dims& dims, ScalarType dtype);
  Operand result(const Dims& dims, ScalarType dtype) { return result(0, dims, dtype); }
  // The same, which may be stored as float16: for shaders that can, and numbers that are seldom
  // beyond its range.
  Operand half_result(size_t k, const Dims& dims, ScalarType dtype);
  Operand half_result(const Dims& dims, ScalarType dtype) { return half_result(0, dims, dtype); }
  bool is_half(const Operand& operand) const {
    return operand.id < plan_.places_.size() && plan_.is_half(operand.id);
  }
  // Result 0 is the same memory as `source`, as a view of other sizes.
  void alias(const Operand& source, const Dims& dims);
  // Whether result 0 may be a view, which is decided with the largest sizes: then it is `wanted`.
  bool may_alias(bool wanted) const;
  // Result `k` is the part of argument 0 that a walk finds. It is stored when a call needs it so,
  // which may be never.
  void stay_view(size_t k, const Dims& dims, const Walk& from);
  // The dtype that the payload states for a result; for operators whose arguments do not say it.
  ScalarType stated_dtype(size_t k = 0);
  // Whether result 0 is the state that argument `x` is, so that the call writes parts of it in
  // place and leaves the rest; otherwise it writes a copy. Not if another argument shows it, too.
  bool writes_in_place(const Operand& x);
  // Argument i, a state that the call writes parts of in place and that no other argument shows.
  Operand state(size_t i);
  // Copies results that are states to where these lie. Called when the call is planned.
  void store_states();
  // Whether a result is stated at all.
  size_t result_count() const;
  // Result 0 is a number.
  void symbol(int64_t value);

  // Memory of four bytes per element for this call alone. With other sizes a call has the same
  // temporaries, in the same order, or fewer; none is larger than with the largest sizes.
  Operand temporary(int64_t elements);
  // Whether the next one may have so many.
  bool has_room(int64_t elements) const;
  // Memory for what is made of a constant once and read by any call, by the constant, `form` and
  // `elements`. Returns whether it is asked for the first time; the caller then dispatches what
  // makes it.
  bool shared(const Operand& constant, int64_t form, int64_t elements, Operand& made);

  // Memory for a tensor of this execution as float16, two elements in a word, which all calls share
  // that read it so. Returns whether there is some; `is_new` says that the caller dispatches what
  // fills it.
  bool halves(const Operand& tensor, Operand& made, bool& is_new);
  // Whether there is, and it is filled.
  bool has_halves(const Operand& tensor) const;

  // Whether products take their factors as float16.
  bool in_half() const { return graph_.in_half; }
  // Notes that this call does.
  void note_rounding() { plan_.rounding_.push_back(plan_.call_); }
  // What decide() returned when the call was planned with the largest sizes.
  template <typename Decide>
  int64_t decided(const Decide& decide) {
    int64_t& choice = plan_.choices_[plan_.call_];
    if (!plan_.is_placed_) choice = decide();
    return choice;
  }
  // Whether it is a constant of the payload, or a view of one.
  bool is_constant(const Operand& operand) const;
  const Limits& limits() const { return plan_.limits_; }

  // Adds a dispatch. What follows refers to the last one.
  Call& dispatch(Shader shader);
  Call& constant(uint32_t value);  // The next specialisation constant.
  Call& writes(const Operand& operand) { return bind(operand, true); }
  Call& reads(const Operand& operand) { return bind(operand, false); }
  // The same if it is there: a binding that is not used needs a buffer, too, which is any other.
  Call& reads_any(bool is_there, const Operand& operand);
  template <typename T>
  Call& push(const T& values) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= Dispatch::kMaxPushBytes);
    if (ok()) {
      std::memcpy(last().push, &values, sizeof(T));
      last().push_bytes = sizeof(T);
    }
    return *this;
  }
  Call& groups(int64_t x, int64_t y = 1, int64_t z = 1);
  // As many workgroups of `per_group` as `items` need, in x and y: shaders count through both.
  Call& groups_for(int64_t items, int64_t per_group, int64_t z = 1);
  // The same, of 256 threads, for those that make a word of `out` each.
  Call& groups_for_words(const Operand& out);

 private:
  const PayloadValue& value(size_t i) const;
  const PayloadValue& result_value(size_t k) const;
  Operand operand(ValueId id);
  bool is_constant_of_bytes(size_t i) const;
  void note_elements(ValueId root, bool are_bytes);
  Operand new_state(ValueId id, const Dims& dims, ScalarType dtype);
  bool has_temporary() const;
  Operand add_temporary(int64_t elements, bool is_shared);
  View view_of(ValueId id);
  Walk walk_of(ValueId view);
  bool is_shown_once(ValueId state) const;
  bool may_stay_view(ValueId id, const Walk& from);
  int64_t integer(const PayloadValue& value);
  Call& bind(const Operand& operand, bool writes);
  Operand widened(ValueId root);
  Dispatch& last() { return plan_.dispatches_.back(); }

  struct NewState {
    ValueId state;
    Operand contents;
  };

  PayloadGraph& graph_;
  Plan& plan_;
  const PayloadCall& call_;
  Status status_;
  bool takes_doubles_ = false;
  std::vector<NewState> new_states_;
};

}  // namespace taper::vulkan
