// The stack machine that runs a pickle: the opcodes of protocols 2 to 4 that torch.save emits.

#include "exir/frontend/pickle.h"

#include <bit>
#include <unordered_map>

#include "exir/frontend/dtype_code.h"
#include "exir/frontend/tensor_meta.h"
#include "exir/ops/float8.h"

namespace taper::exir {
namespace {

enum Op : uint8_t {
  kMark = '(',
  kStop = '.',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kEmptyDict = '}',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kEmptyList = ']',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kBinFloat = 'G',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortUnicode = 0x8c,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

// The kinds of globals that may appear. Storage classes and dtypes stand for an element type;
// call() implements the callables; tensor types occur only in state that is ignored.
enum class Known : uint8_t {
  kStorageClass,
  kDtype,
  kRebuildTensor2,
  kRebuildTensor3,
  kRebuildParameter,
  kRebuildFromType,
  kOrderedDict,
  kTensorType,
  kClass,  // Of an object that is described.
};

struct KnownGlobal {
  std::string_view module, name;
  Known what;
  int64_t dtype;  // The code of the element type.
};

constexpr KnownGlobal kKnownGlobals[] = {
    {"torch", "FloatStorage", Known::kStorageClass, kFloatCode},
    {"torch", "DoubleStorage", Known::kStorageClass, kDoubleCode},
    {"torch", "HalfStorage", Known::kStorageClass, kHalfCode},
    {"torch", "BFloat16Storage", Known::kStorageClass, kBFloat16Code},
    {"torch", "LongStorage", Known::kStorageClass, kLongCode},
    {"torch", "IntStorage", Known::kStorageClass, kIntCode},
    {"torch", "ShortStorage", Known::kStorageClass, kShortCode},
    {"torch", "CharStorage", Known::kStorageClass, kCharCode},
    {"torch", "ByteStorage", Known::kStorageClass, kByteCode},
    {"torch", "BoolStorage", Known::kStorageClass, kBoolCode},
    {"torch", "ComplexFloatStorage", Known::kStorageClass, kComplexFloatCode},
    {"torch", "ComplexDoubleStorage", Known::kStorageClass, kComplexDoubleCode},
    {"torch.storage", "UntypedStorage", Known::kStorageClass, kByteCode},
    {"torch", "float32", Known::kDtype, kFloatCode},
    {"torch", "float64", Known::kDtype, kDoubleCode},
    {"torch", "float16", Known::kDtype, kHalfCode},
    {"torch", "bfloat16", Known::kDtype, kBFloat16Code},
    {"torch", "int64", Known::kDtype, kLongCode},
    {"torch", "int32", Known::kDtype, kIntCode},
    {"torch", "int16", Known::kDtype, kShortCode},
    {"torch", "int8", Known::kDtype, kCharCode},
    {"torch", "uint8", Known::kDtype, kByteCode},
    {"torch", "uint16", Known::kDtype, kUInt16Code},
    {"torch", "uint32", Known::kDtype, kUInt32Code},
    {"torch", "uint64", Known::kDtype, kUInt64Code},
    {"torch", "bool", Known::kDtype, kBoolCode},
    {"torch", "complex64", Known::kDtype, kComplexFloatCode},
    {"torch", "complex128", Known::kDtype, kComplexDoubleCode},
    {"torch", "float8_e4m3fn", Known::kDtype, kFloat8E4m3fnCode},
    {"torch", "float8_e5m2", Known::kDtype, kFloat8E5m2Code},
    {"torch", "float8_e4m3fnuz", Known::kDtype, kFloat8E4m3fnuzCode},
    {"torch", "float8_e5m2fnuz", Known::kDtype, kFloat8E5m2fnuzCode},
    {"torch", "float8_e8m0fnu", Known::kDtype, kFloat8E8m0fnuCode},
    {"torch._utils", "_rebuild_tensor_v2", Known::kRebuildTensor2, kUnknownCode},
    {"torch._utils", "_rebuild_tensor_v3", Known::kRebuildTensor3, kUnknownCode},
    {"torch._utils", "_rebuild_parameter", Known::kRebuildParameter, kUnknownCode},
    {"torch._tensor", "_rebuild_from_type_v2", Known::kRebuildFromType, kUnknownCode},
    {"collections", "OrderedDict", Known::kOrderedDict, kUnknownCode},
    {"torch", "Tensor", Known::kTensorType, kUnknownCode},
    {"torch.nn.parameter", "Parameter", Known::kTensorType, kUnknownCode},
};

bool is_sequence(const PickleObject& o) {
  return o.kind == PickleKind::kTuple || o.kind == PickleKind::kList;
}

}  // namespace

class PickleMachine {
 public:
  PickleMachine(Pickle& out, Budget& budget, std::string_view name, Objects objects)
      : out_(out), budget_(budget), name_(name), objects_(objects), in_(out.program_.bytes) {}

  void run() {
    while (step(next())) {
    }
    out_.root_ = pop();
  }

 private:
  using Kind = PickleKind;
  using Object = PickleObject;

  [[noreturn]] void bad(const std::string& message) const { refuse("bad-pickle", message, name_); }

  // --- Reading the program
  Bytes take(uint64_t size) {
    if (size > in_.size() - at_) bad("its pickled data is cut short");
    at_ += size;
    return in_.subspan(at_ - size, size);
  }
  uint8_t next() { return take(1)[0]; }
  uint64_t number(size_t size) {
    uint64_t value = 0;
    const Bytes bytes = take(size);
    for (size_t i = 0; i < size; ++i) value |= uint64_t{bytes[i]} << (8 * i);
    return value;
  }
  std::string_view text(uint64_t size) {
    const Bytes bytes = take(size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::string_view line() {
    const std::string_view rest = out_.program_.text().substr(at_);
    const size_t end = rest.find('\n');
    if (end == rest.npos) bad("its pickled data is cut short");
    at_ += end + 1;
    return rest.substr(0, end);
  }
  int64_t signed_number(size_t size) {
    if (size > 8) bad("a pickled integer needs more than 64 bits");
    const unsigned shift = static_cast<unsigned>(64 - 8 * size);
    return size == 0 ? 0 : static_cast<int64_t>(number(size) << shift) >> shift;
  }
  double big_endian_double() {
    uint64_t bits = 0;
    for (uint8_t byte : take(8)) bits = bits << 8 | byte;
    return std::bit_cast<double>(bits);
  }

  // --- The stack
  uint32_t make(Object object) {
    budget_.take_items(1, name_);
    out_.objects_.push_back(std::move(object));
    return static_cast<uint32_t>(out_.objects_.size() - 1);
  }
  void push(uint32_t id) {
    budget_.take_items(1, name_);
    stack_.push_back(id);
  }
  void push_new(Kind kind, int64_t value = 0) {
    Object object;
    object.kind = kind;
    object.number = value;
    push(make(std::move(object)));
  }
  void push_text(std::string_view value) {
    Object object;
    object.kind = Kind::kText;
    object.text = value;
    push(make(std::move(object)));
  }
  uint32_t pop() {
    if (stack_.empty()) bad("its pickled data takes more from the stack than there is");
    const uint32_t id = stack_.back();
    stack_.pop_back();
    return id;
  }
  uint32_t top() {
    const uint32_t id = pop();
    stack_.push_back(id);
    return id;
  }
  Object& object(uint32_t id) { return out_.objects_[id]; }
  std::vector<uint32_t> pop_to_mark() {
    size_t start = stack_.size();
    while (start > 0 && object(stack_[start - 1]).kind != Kind::kMark) --start;
    if (start == 0) bad("its pickled data lacks a mark");
    std::vector<uint32_t> items(stack_.begin() + static_cast<std::ptrdiff_t>(start), stack_.end());
    stack_.resize(start - 1);
    return items;
  }
  void push_tuple(std::vector<uint32_t> items) {
    push_new(Kind::kTuple);
    object(stack_.back()).items = std::move(items);
  }
  void push_tuple_of(size_t count) {
    std::vector<uint32_t> items(count);
    for (size_t i = count; i-- > 0;) items[i] = pop();
    push_tuple(std::move(items));
  }
  void extend(Kind kind, const std::vector<uint32_t>& items) {
    Object& target = object(top());
    if (target.kind != kind || (kind == Kind::kDict && items.size() % 2 != 0)) {
      bad("its pickled data adds items to something that is not a container");
    }
    target.items.insert(target.items.end(), items.begin(), items.end());
  }
  void put(uint64_t slot) { memo_[slot] = top(); }
  void get(uint64_t slot) {
    const auto found = memo_.find(slot);
    if (found == memo_.end()) bad("its pickled data refers to something it has not made");
    push(found->second);
  }

  // --- What the opcodes do
  bool step(uint8_t op) {
    switch (op) {
      case kProto:
        next();
        return true;
      case kFrame:
        take(8);
        return true;
      case kStop:
        return false;
      case kMark:
        push_new(Kind::kMark);
        return true;
      case kNone:
        push_new(Kind::kNone);
        return true;
      case kNewTrue:
        push_new(Kind::kBool, 1);
        return true;
      case kNewFalse:
        push_new(Kind::kBool, 0);
        return true;
      case kBinInt:
        push_new(Kind::kInt, signed_number(4));
        return true;
      case kBinInt1:
        push_new(Kind::kInt, next());
        return true;
      case kBinInt2:
        push_new(Kind::kInt, static_cast<int64_t>(number(2)));
        return true;
      case kLong1:
        push_new(Kind::kInt, signed_number(next()));
        return true;
      case kBinUnicode:
        push_text(text(number(4)));
        return true;
      case kShortUnicode:
        push_text(text(next()));
        return true;
      case kBinFloat:
        push_new(Kind::kFloat);
        object(stack_.back()).real = big_endian_double();
        return true;
      case kEmptyTuple:
        push_new(Kind::kTuple);
        return true;
      case kEmptyList:
        push_new(Kind::kList);
        return true;
      case kEmptyDict:
        push_new(Kind::kDict);
        return true;
      case kTuple:
        push_tuple(pop_to_mark());
        return true;
      case kTuple1:
        push_tuple_of(1);
        return true;
      case kTuple2:
        push_tuple_of(2);
        return true;
      case kTuple3:
        push_tuple_of(3);
        return true;
      case kBinPut:
        put(next());
        return true;
      case kLongBinPut:
        put(number(4));
        return true;
      case kMemoize:
        put(memo_.size());
        return true;
      case kBinGet:
        get(next());
        return true;
      case kLongBinGet:
        get(number(4));
        return true;
      default:
        return step_compound(op);
    }
  }

  bool step_compound(uint8_t op) {
    switch (op) {
      case kAppend:
        extend(Kind::kList, {pop()});
        return true;
      case kAppends:
        extend(Kind::kList, pop_to_mark());
        return true;
      case kSetItems:
        extend(Kind::kDict, pop_to_mark());
        return true;
      case kSetItem: {
        const uint32_t value = pop(), key = pop();
        extend(Kind::kDict, {key, value});
        return true;
      }
      case kBuild:
        pop();
        top();
        return true;  // Attributes of a container, which are not needed.
      case kGlobal: {
        const std::string_view module = line();
        push_global(module, line());
        return true;
      }
      case kStackGlobal: {
        const Object& name = object(pop());
        const Object& module = object(pop());
        push_global(module.text, name.text);
        return true;
      }
      case kBinPersId:
        push_storage(object(pop()));
        return true;
      case kNewObj: {
        pop();
        const Object& type = object(pop());
        if (!is_global(type, Known::kClass)) bad("its pickled data makes an unknown object");
        push_object(type.text, {});
        return true;
      }
      case kReduce: {
        const Object& args = object(pop());
        call(object(pop()), args);
        return true;
      }
      default:
        bad("its pickled data needs the pickle opcode " + std::to_string(op) +
            ", which plain tensors do not use");
    }
  }

  void push_global(std::string_view module, std::string_view name) {
    for (const KnownGlobal& known : kKnownGlobals) {
      if (known.module != module || known.name != name) continue;
      push_new(Kind::kGlobal, static_cast<int64_t>(known.what));
      object(stack_.back()).dtype = known.dtype;
      return;
    }
    if (objects_ == Objects::kDescribed) {
      push_new(Kind::kGlobal, static_cast<int64_t>(Known::kClass));
      object(stack_.back()).text = name;
      return;
    }
    refuse("unsupported-pickle",
           "holds an object of the Python type " +
               in_quotes(std::string(module) + "." + std::string(name)) +
               "; only plain dense tensors of "
               "real numbers can be read",
           name_, "export a model whose parameters and buffers are plain tensors");
  }

  void push_object(std::string_view type, std::vector<uint32_t> items) {
    push_new(Kind::kObject);
    object(stack_.back()).text = type;
    object(stack_.back()).items = std::move(items);
  }

  const Object& item(const Object& sequence, size_t i, Kind kind) {
    if (!is_sequence(sequence) || i >= sequence.items.size() ||
        object(sequence.items[i]).kind != kind) {
      bad("a tensor in its pickled data is described wrongly");
    }
    return object(sequence.items[i]);
  }
  std::vector<int64_t> numbers(const Object& sequence) {
    budget_.take_items(1 + sequence.items.size(), name_);
    std::vector<int64_t> out;
    for (size_t i = 0; i < sequence.items.size(); ++i) {
      out.push_back(item(sequence, i, Kind::kInt).number);
    }
    return out;
  }
  bool is_global(const Object& o, Known what) const {
    return o.kind == Kind::kGlobal && o.number == static_cast<int64_t>(what);
  }

  // A storage's persistent id is ("storage", class, key, location, number of elements).
  void push_storage(const Object& id) {
    const Object& type = item(id, 1, Kind::kGlobal);
    if (item(id, 0, Kind::kText).text != "storage" || !is_global(type, Known::kStorageClass)) {
      bad("a storage in its pickled data is described wrongly");
    }
    const std::string_view key = item(id, 2, Kind::kText).text;
    const int64_t dtype = type.dtype;
    push_new(Kind::kStorage);
    object(stack_.back()).dtype = dtype;
    object(stack_.back()).text = key;
  }

  // `args` is (storage, offset, sizes, strides, ...); in v3 the seventh is the dtype.
  void push_tensor(const Object& args, bool typed) {
    const Object& storage = item(args, 0, Kind::kStorage);
    TensorView view;
    int64_t dtype = storage.dtype;
    view.storage = "data/" + std::string(storage.text);
    view.offset = item(args, 1, Kind::kInt).number;
    view.sizes = numbers(item(args, 2, Kind::kTuple));
    view.strides = numbers(item(args, 3, Kind::kTuple));
    if (typed) {
      const Object& type = item(args, 6, Kind::kGlobal);
      if (!is_global(type, Known::kDtype)) bad("a tensor in its pickled data lacks a type");
      dtype = type.dtype;
    }
    if (const size_t bits = typed ? 7 : 6; args.items.size() > bits) {
      if (!item(args, bits, Kind::kDict).items.empty()) {
        bad("a tensor in its pickled data is another's conjugate or negative");
      }
    }
    set_elements(view, dtype);
    out_.tensors_.push_back(std::move(view));
    push_new(Kind::kTensor, static_cast<int64_t>(out_.tensors_.size() - 1));
  }

  void call(const Object& callee, const Object& args) {
    if (callee.kind != Kind::kGlobal || args.kind != Kind::kTuple) {
      bad("its pickled data calls something that is not a function");
    }
    switch (static_cast<Known>(callee.number)) {
      case Known::kRebuildTensor2:
        return push_tensor(args, false);
      case Known::kRebuildTensor3:
        return push_tensor(args, true);
      case Known::kRebuildParameter:
        item(args, 0, Kind::kTensor);
        return push(args.items[0]);
      case Known::kRebuildFromType: {  // (callee, type, arguments, state)
        const Object& inner = item(args, 0, Kind::kGlobal);
        if (is_global(inner, Known::kRebuildFromType)) break;
        if (is_global(inner, Known::kClass)) {
          const Object& type = item(args, 1, Kind::kGlobal);
          return push_object(type.text, item(args, 3, Kind::kDict).items);
        }
        return call(inner, item(args, 2, Kind::kTuple));
      }
      case Known::kOrderedDict:
        return push_ordered_dict(args);
      case Known::kClass:
        return push_object(callee.text, {});
      default:
        break;
    }
    bad("its pickled data calls something that is not a function");
  }

  // OrderedDict() or OrderedDict([(key, value), ...])
  void push_ordered_dict(const Object& args) {
    std::vector<uint32_t> items;
    if (!args.items.empty()) {
      budget_.take_items(item(args, 0, Kind::kList).items.size(), name_);
      for (uint32_t id : item(args, 0, Kind::kList).items) {
        const Object& pair = object(id);
        if (!is_sequence(pair) || pair.items.size() != 2) bad("a pickled dictionary is malformed");
        items.insert(items.end(), pair.items.begin(), pair.items.end());
      }
    }
    push_new(Kind::kDict);
    object(stack_.back()).items = std::move(items);
  }

  Pickle& out_;
  Budget& budget_;
  std::string_view name_;
  Objects objects_;
  Bytes in_;
  size_t at_ = 0;
  std::vector<uint32_t> stack_;
  std::unordered_map<uint64_t, uint32_t> memo_;
};

void set_elements(TensorView& view, int64_t dtype) {
  view.dtype = import_part_dtype(dtype);
  if (find_float8(dtype) != nullptr) view.float8 = dtype;
  if (!complex_part(dtype)) return;
  view.pairs = true;
  view.offset = doubled(view.offset);
  for (int64_t& stride : view.strides) stride = doubled(stride);
  view.sizes.push_back(2);
  view.strides.push_back(1);
}

Pickle::Pickle(Blob program, Budget& budget, std::string_view name, Objects objects)
    : program_(std::move(program)) {
  PickleMachine(*this, budget, name, objects).run();
}

}  // namespace taper::exir
