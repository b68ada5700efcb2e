// The compiler's only graph: values, nodes in topological order, and what goes in and out.
//
// One Graph serves all dialects; dialect/verifier.h says which operators are legal when. Ownership
// is flat: a Graph owns its values and nodes, everything else points into it. There are no use
// lists: a pass walks the nodes forward (rewrite() in ir/rewrite.h) or backward, once.
//
//   Value   a tensor, a symbolic number, or a list of tensors, with its type; defined once
//   Node    one call of an operator: a schema, one Argument per schema argument, result values
//   Graph   inputs, constants, states, nodes, outputs, mutations

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "exir/ir/failure.h"
#include "exir/ir/schema.h"
#include "exir/ir/sym.h"
#include "taper/scalar_type.h"

namespace taper::exir {

class Graph;
class OperatorRegistry;
struct Node;

// The operators of a request (registry.h), which its graphs share.
using Operators = std::shared_ptr<const OperatorRegistry>;

// Sizes as a file states them, which may be fewer than an operator needs: an index that is out of
// range throws std::out_of_range, as at() does.
class TensorSizes : public std::vector<Sym> {
 public:
  using std::vector<Sym>::vector;
  TensorSizes(std::vector<Sym> sizes) : std::vector<Sym>(std::move(sizes)) {}
  const Sym& operator[](size_t dim) const;
  Sym& operator[](size_t dim);
};

// The type of a tensor: dtype, sizes, and the order of its dimensions in memory from the outermost
// to the innermost (0,1,2,3 is contiguous, 0,2,3,1 channels last).
struct TensorType {
  ScalarType dtype = ScalarType::kFloat;
  TensorSizes sizes;
  std::vector<uint8_t> dim_order;
  // Complex numbers, until split_complex: the last dimension, of size 2, holds their parts.
  bool pairs = false;

  TensorType();
  // Contiguous.
  TensorType(ScalarType type, std::vector<Sym> dims);
  TensorType(const TensorType&);
  TensorType(TensorType&&) noexcept;
  TensorType& operator=(const TensorType&);
  TensorType& operator=(TensorType&&) noexcept;
  ~TensorType();
  size_t rank() const { return sizes.size(); }
  bool is_static() const;
  bool is_contiguous() const;
  Sym numel() const;
  bool operator==(const TensorType&) const = default;
};

std::vector<uint8_t> contiguous_order(size_t rank);

// "float32 (1, s0)", for people.
std::string description_of(const TensorType& type);

// Bytes of a constant or of a buffer's initial state, dense in the dim order of its type. `data`
// points into memory that `owner` keeps alive (a mapped archive or a vector). Never modified.
struct TensorData {
  const uint8_t* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const void> owner;
  // Where the bytes lie in the file if `data` is a copy: tensors that overlap there are tied.
  const uint8_t* home = nullptr;
  size_t home_bytes = 0;  // Extent from the first to the last byte; 0 if `home` is null.
  bool dense = true;      // False if the elements are not dense there, as they are in `data`.
};

TensorData own_bytes(std::vector<uint8_t> bytes);

// How a float32 constant is stored as integers: an element is (integer - zero point) * scale. Runs
// of `span` elements share a scale, and the scales repeat: one run is the whole constant, an index
// of a dimension, or a group within a row. Changing the sizes of a constant changes nothing here.
// scales.h has the functions on it.
struct Scales {
  std::vector<float> items;
  std::vector<float> zero_points;  // One for each scale; none if all are 0.
  size_t span = 1;
  TensorData integers;                   // In the order of the elements.
  ScalarType dtype = ScalarType::kChar;  // int8 or uint8.
  int64_t bits = 8;  // 2 or 4 if all integers are those of so many bits, signed as the dtype is.
  // In place of integers, bytes may be indices of these numbers, 16 or 256 (Value::codes).
  std::vector<float> table = {};
};

enum class ValueKind : uint8_t { kTensor, kInt, kFloat, kBool };

enum class ValueRole : uint8_t {
  kResult,    // Defined by a node.
  kInput,     // Passed by the caller of the method.
  kConstant,  // Known at compile time: `data`.
  kState,     // A buffer that the program writes: starts as `data`, keeps its value between calls.
};

struct Value {
  std::string name;  // Unique in its graph, without the '%'.
  ValueKind kind = ValueKind::kTensor;
  ValueRole role = ValueRole::kResult;
  TensorType type;  // kTensor only.
  Sym sym;          // kInt, kFloat, kBool: its value, as a number, symbol or expression.
  TensorData data;  // kConstant, kState. Perhaps only the count of bytes if there are scales.
  std::string fqn;  // kConstant, kState: "layer.0.weight"; may be empty.
  Node* producer = nullptr;              // kResult only.
  std::shared_ptr<const Scales> scales;  // kConstant; null if it is not stored as integers.
  TensorData
      halves;  // kConstant of float32: the float16 elements that it was cast from, if it was.
  // kConstant of float32 or narrower: the same elements as bytes that stand for numbers of a table,
  // without zero points, if few numbers occur, as in scaled 8-bit floats. `data` is kept, too.
  std::shared_ptr<const Scales> codes = {};
  // The exporter's names of the results that it holds: its own, and those of values that it
  // replaced.
  std::vector<std::string> holds = {};
};

enum class MemoryFormat : uint8_t {
  kContiguous = 1,
  kChannelsLast = 2,
  kChannelsLast3d = 3,
  kPreserve = 4
};
struct Layout {};  // Strided is the only one.
struct Device {};  // CPU is the only one.

// One argument of a node.
struct Argument {
  using List = std::vector<Argument>;
  using Variant =
      std::variant<std::monostate, Value*, int64_t, double, bool, std::string, ScalarType,
                   MemoryFormat, Layout, Device, List, std::shared_ptr<Graph>>;
  Variant v;

  Argument() noexcept;
  Argument(Value* value);
  Argument(int64_t value);
  Argument(int value);
  Argument(double value);
  Argument(bool value);
  Argument(std::string text);
  Argument(const char* text);
  Argument(ScalarType dtype);
  Argument(MemoryFormat format);
  Argument(Layout layout);
  Argument(Device device);
  Argument(List items);
  Argument(std::shared_ptr<Graph> graph);
  template <typename T>
  Argument(T*) = delete;  // Would be a bool.
  Argument(const Argument& other);
  Argument(Argument&& other) noexcept;
  Argument& operator=(const Argument& other);
  Argument& operator=(Argument&& other) noexcept;
  ~Argument();

  bool is_none() const { return std::holds_alternative<std::monostate>(v); }
  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(v);
  }
  bool is_value() const { return is<Value*>(); }
  bool is_int() const { return is<int64_t>(); }
  bool is_list() const { return is<List>(); }
  // Throw Failure if the argument is of another kind.
  Value* value() const;
  int64_t to_int() const;
  double to_double() const;  // An int, double or bool.
  bool to_bool() const;      // A bool or int.
  const std::string& text() const;
  const List& list() const;
  List& list();
};

// A list of plain integers.
Argument int_list(const std::vector<int64_t>& items);
// The items of a list whose entries are all plain ints; throws Failure otherwise.
std::vector<int64_t> to_ints(const Argument& list);

// The default of a schema's argument, none if it has no default; an int for int[2] is repeated.
// Throws Failure if the text is not understood.
Argument default_argument(const SchemaArg& arg);

// Where a node comes from in the user's program. Shared between nodes.
struct Source {
  std::string stack_trace;  // As the exporter wrote it: Python text, newest frame last.
  std::string module_path;  // "encoder.layers.0.fc1"
  // "model.py:12 in forward: y = self.fc(x)", the newest frame; empty if unknown.
  std::string newest_frame() const;
};

struct Node {
  std::string name;  // For messages: the exporter's name, or that of its origin.
  std::shared_ptr<const Schema> schema;
  std::vector<Argument> args;   // One per schema argument, defaults filled in.
  std::vector<Value*> outputs;  // Flat: a Tensor[] return gives one value per element.
  std::shared_ptr<const Source> source;

  std::string_view target() const { return schema->name; }
  bool is(std::string_view op) const { return schema->name == op; }
  const Argument& arg(size_t i) const { return args[i]; }
  // The argument of that schema name. Throws Failure if the schema has none.
  const Argument& arg(std::string_view name) const;
};

// Turns a node that cannot be compiled into one that every stage skips, so that later stages can
// report other problems: its operator becomes "refused::aten::foo", which aliases and writes
// nothing. The program is not emitted.
void mark_refused(Node& node);
bool is_refused(const Node& node);
// The operator that a node calls, or called before it was refused.
std::string_view called_operator(const Node& node);

// A diagnostic about a node, with its name and the user's source line.
Diagnostic diagnose(const Node& node, std::string id, std::string message, std::string remedy = {});

// A mutation: after the call, `target` (a state or an input) holds the value `source`.
struct Mutation {
  Value* target = nullptr;
  Value* source = nullptr;
};

// What a backend compiled from a group of nodes.
struct Delegate {
  struct Data {
    std::string name;  // Unique per content.
    TensorData bytes;
  };
  struct Part {  // A node that it was compiled from.
    std::string name, op;
    std::shared_ptr<const Source> source;
    std::string value = {};  // The name of its first result,
    std::string type = {};   // and what it is: "float32 (1, 8)".
  };
  std::string id;  // The backend's name on the wire.
  std::vector<uint8_t> payload;
  std::vector<Data> data;  // Named data that the payload refers to.
  std::vector<Part> parts;
  // How each part is computed, in words for reports: "int8"; "float32: its scales ...". Shorter, or
  // empty texts, where there is nothing to say.
  std::vector<std::string> computed_in;
};

// What must hold of the sizes of inputs: outside of it the exporter's graph is another one.
struct Guard {
  Sym holds;         // Not 0 if it does.
  std::string text;  // As the exporter says it: "x.size()[0] % 4 == 0".
};

class Graph {
 public:
  // What its nodes may call is found in `operators`.
  explicit Graph(Operators operators);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  std::string name = "forward";
  std::vector<Argument> inputs;   // Each a Value* (role kInput) or a literal that export fixed.
  std::vector<Value*> constants;  // Roles kConstant and kState, in signature order.
  std::vector<std::unique_ptr<Node>> nodes;  // In execution order.
  std::vector<Argument> outputs;             // Each a Value* or a literal.
  std::vector<Mutation> mutations;
  std::vector<std::shared_ptr<const Delegate>> delegates;  // Indexed by delegate::call.
  SymRanges ranges;               // Bounds of the symbols (of the whole program).
  std::vector<Guard> guards;      // Conditions on the symbols, beyond their ranges.
  SymValues hints;                // Values of symbols at the sample inputs, where known.
  std::string in_spec, out_spec;  // The exporter's pytree text; may be empty.

  // Never null.
  const Operators& operators() const { return operators_; }

  // Creates a value owned by this graph, with a unique name that is derived from `hint`.
  Value* new_value(std::string_view hint, ValueKind kind = ValueKind::kTensor);
  Value* new_tensor(std::string_view hint, TensorType type);
  // Appends a constant to `constants`.
  Value* new_constant(std::string_view hint, TensorType type, TensorData data);
  // Appends a node with no outputs yet.
  Node* append(std::shared_ptr<const Schema> schema, std::vector<Argument> args);

 private:
  Operators operators_;
  std::vector<std::unique_ptr<Value>> values_;
  std::map<std::string, int, std::less<>> names_;  // Next suffix per base name.
};

// Calls `visit` for every Value* in an argument, lists included, graphs not entered.
template <typename Visit>
void for_each_value(const Argument& arg, const Visit& visit) {
  if (arg.is_value()) {
    visit(std::get<Value*>(arg.v));
  } else if (arg.is_list()) {
    for (const Argument& item : std::get<Argument::List>(arg.v)) for_each_value(item, visit);
  }
}
template <typename Visit>
void for_each_value(const Node& node, const Visit& visit) {
  for (const Argument& arg : node.args) for_each_value(arg, visit);
}

// The text form (printer.cpp) and back (parser.cpp); README.md has the grammar.
std::string print(const Graph& graph);
std::string print(const Argument& argument);
// Throws Failure with the line number.
std::unique_ptr<Graph> parse_graph(std::string_view text, Operators operators);

}  // namespace taper::exir
