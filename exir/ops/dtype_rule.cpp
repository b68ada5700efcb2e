#include "exir/ops/dtype_rule.h"

#include <optional>
#include <sstream>

#include "exir/ops/promote.h"
#include "exir/ops/variants.h"
#include "kernels_portable/engine/promote.h"

namespace taper::exir {
namespace {

using S = ScalarType;

constexpr S kFloats[] = {S::kFloat, S::kDouble, S::kHalf, S::kBFloat16};
constexpr S kInts[] = {S::kByte, S::kChar, S::kShort, S::kInt, S::kLong};

// In the order in which tables list them.
struct Named {
  std::string_view name;
  S dtype;
};
constexpr Named kNames[] = {{"f32", S::kFloat},     {"f64", S::kDouble}, {"f16", S::kHalf},
                            {"bf16", S::kBFloat16}, {"u8", S::kByte},    {"i8", S::kChar},
                            {"i16", S::kShort},     {"i32", S::kInt},    {"i64", S::kLong},
                            {"b", S::kBool},        {"u16", S::kUInt16}, {"u32", S::kUInt32},
                            {"u64", S::kUInt64}};

template <size_t kCount>
DtypeSet set_of(const S (&dtypes)[kCount]) {
  DtypeSet set = 0;
  for (const S dtype : dtypes) set |= dtype_bit(dtype);
  return set;
}

// One of the letters that stand for several dtypes; 0 if it is none.
DtypeSet set_of_letter(char letter) {
  switch (letter) {
    case 'f':
      return set_of(kFloats);
    case 'i':
      return set_of(kInts);
    case 'u':
      return dtype_bit(S::kUInt16) | dtype_bit(S::kUInt32);
    case 'w':
      return dtype_bit(S::kUInt64);
    case 'b':
      return dtype_bit(S::kBool);
    default:
      return 0;
  }
}

DtypeSet set_of_part(std::string_view part) {
  for (const Named& named : kNames) {
    if (named.name == part) return dtype_bit(named.dtype);
  }
  DtypeSet set = 0;
  for (const char letter : part == "any" ? std::string_view("fiuwb") : part) {
    const DtypeSet more = set_of_letter(letter);
    if (more == 0) throw Failure("\"" + std::string(part) + "\" is no set of dtypes");
    set |= more;
  }
  return set;
}

DtypeSet parse_set(std::string_view text) {
  DtypeSet set = 0;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('|', at), text.size());
    set |= set_of_part(text.substr(at, end - at));
    at = end + 1;
  }
  return set;
}

bool is_result_dtype(std::string_view name) {
  return name == "out_dtype" || name == "output_dtype";
}

}  // namespace

DtypeRule::Word DtypeRule::word(std::string_view text) {
  constexpr std::string_view kMarks = "=+<@~";
  Word word;
  const size_t mark = text.empty() ? text.npos : kMarks.find(text.back());
  if (mark != text.npos) {
    word.mark = static_cast<Mark>(mark + 1);
    text.remove_suffix(1);
  }
  word.is_number = text == "#";
  if (!word.is_number) word.set = parse_set(text);
  return word;
}

DtypeRule::DtypeRule(std::string_view text) {
  std::istringstream words{std::string(text)};
  words.exceptions(std::ios::badbit);  // Without memory for a word the text has not ended.
  std::string each;
  bool after_arrow = false;
  while (words >> each) {
    if (each == "->") {
      after_arrow = true;
    } else if (each == "in" && words >> each) {
      computed_ = parse_set(each);
    } else if (each == "unless" && words >> float_without_ >> each) {
      if (each != "float") throw Failure("\"float\" must follow \"unless " + float_without_ + "\"");
    } else {
      (after_arrow ? results_ : operands_).push_back(word(each));
    }
  }
  if (!text.empty() && !after_arrow) throw Failure("a rule of dtypes without an arrow");
}

// Goes over a call word by word.
struct DtypeRule::Check {
  const DtypeRule& rule;
  std::vector<Argument> promoted = {};
  std::optional<S> same = {};    // The dtype of words marked with =.
  std::optional<S> given = {};   // By the argument dtype.
  std::optional<S> wanted = {};  // By the argument out_dtype.
  std::vector<S> as_given = {};  // Of operands marked with @.
  bool has_float_argument = false;
  bool good = true;

  void operand(const Word& word, const Argument& arg) {
    if (arg.is_none()) return;
    if (word.mark == Mark::kPromoted) promoted.push_back(arg);
    if (word.is_number) return;
    for_each_value(arg, [&](const Value* value) {
      const bool is_unread = word.mark == Mark::kUnlessEmpty && value->type.numel() == Sym(0);
      if (!is_unread) tensor(word, value->type.dtype);
    });
  }

  void tensor(const Word& word, S dtype) {
    good = good && holds(word.set, dtype);
    if (word.mark == Mark::kGiven) as_given.push_back(dtype);
    if (word.mark != Mark::kSame) return;
    if (!same) same = dtype;
    good = good && *same == dtype;
  }

  S computed() const {
    if (given) return *given;
    const S type = result_type(promoted);
    const bool as_float = !rule.float_without_.empty() && !has_float_argument;
    return as_float && !is_floating(type) ? S::kFloat : type;
  }

  void argument(const SchemaArg& arg, const Argument& value) {
    const auto* dtype = std::get_if<S>(&value.v);
    if (arg.name == "dtype" && dtype != nullptr) given = *dtype;
    if (is_result_dtype(arg.name)) wanted = dtype == nullptr ? S::kFloat : *dtype;
    if (arg.name == rule.float_without_) has_float_argument = !value.is_none();
  }

  void operands_are_seen() {
    if (rule.computed_ != 0) good = good && holds(rule.computed_, computed());
    for (const S dtype : as_given) good = good && (!given || *given == dtype);
    if (!wanted) wanted = given;
  }

  void result(const Word& word, S dtype) {
    const bool is_asked_for = word.mark == Mark::kCastable && dtype == S::kBool && given == dtype;
    good = good && (is_asked_for || holds(word.set, dtype));
    if (word.mark == Mark::kSame) tensor(word, dtype);
    if (word.mark == Mark::kCastable) good = good && portable::can_cast(computed(), dtype);
    if (word.mark == Mark::kGiven) good = good && (!wanted || *wanted == dtype);
  }
};

bool DtypeRule::takes(const Node& node, const Schema& kernel) const {
  if (empty()) return true;
  Check check{*this};
  size_t at = 0;
  for (const SchemaArg& arg : kernel.args) {
    if (is_out_argument(arg)) continue;
    const int from = node.schema->find(arg.name);
    const Argument value = from < 0 || static_cast<size_t>(from) >= node.args.size()
                               ? default_argument(arg)
                               : node.args[static_cast<size_t>(from)];
    check.argument(arg, value);
    const bool counts = arg.type.base == TypeBase::kTensor || arg.type.base == TypeBase::kScalar;
    if (counts && at < operands_.size()) check.operand(operands_[at++], value);
  }
  check.operands_are_seen();
  for (size_t i = 0; i < node.outputs.size() && !results_.empty(); ++i) {
    const Value* output = node.outputs[i];
    if (output->kind != ValueKind::kTensor) continue;
    check.result(results_[std::min(i, results_.size() - 1)], output->type.dtype);
  }
  return check.good;
}

std::vector<ScalarType> DtypeRule::first_dtypes() const {
  const Word* first = results_.empty() ? nullptr : &results_[0];
  for (size_t i = operands_.size(); i-- > 0;) {
    if (!operands_[i].is_number) first = &operands_[i];
  }
  std::vector<ScalarType> dtypes;
  for (const Named& named : kNames) {
    if (first != nullptr && holds(first->set, named.dtype)) dtypes.push_back(named.dtype);
  }
  return dtypes;
}

}  // namespace taper::exir
