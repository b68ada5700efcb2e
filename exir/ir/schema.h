// The schema of an operator: its name, arguments, results and aliasing.
//
//   add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taper::exir {

enum class TypeBase : uint8_t {
  kTensor,
  kScalar,
  kInt,
  kFloat,
  kBool,
  kString,
  kScalarType,
  kLayout,
  kDevice,
  kMemoryFormat,
  kGenerator,
  kGraph,
  kAny,  // kAny: arguments of custom and higher-order operators.
};

struct ArgType {
  TypeBase base = TypeBase::kAny;
  bool optional = false;       // T?  or T[]?
  bool list = false;           // T[]
  bool optional_item = false;  // Tensor?[]
  int list_size = 0;           // int[2]: 2; 0 if not fixed
};

struct SchemaArg {
  std::string name;
  ArgType type;
  std::string alias;  // "" none, "a" aliases, "a!" written
  bool keyword_only = false;
  bool has_default = false;
  std::string default_text;  // "1", "None", "[]", "True", ...
  bool written() const { return !alias.empty() && alias.back() == '!'; }
};

struct SchemaReturn {
  ArgType type;
  std::string name;
  std::string alias;
};

struct Schema {
  std::string name;  // "aten::add.Tensor"; the unnamed overload is left out: "aten::relu"
  std::vector<SchemaArg> args;
  std::vector<SchemaReturn> returns;

  // Index of the argument of that name, or -1.
  int find(std::string_view arg) const;
  bool mutates() const;        // Some argument is written.
  bool returns_alias() const;  // Some return aliases an argument without writing it (a view).
};

// Parses "ns::name.overload(args) -> returns". Throws Failure naming the text.
Schema parse_schema(std::string_view text);

// The text of a schema, as parse_schema reads it.
std::string to_text(const Schema& schema);

}  // namespace taper::exir
