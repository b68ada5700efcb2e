// The names of one graph in the file and the values they stand for.
//
// Each graph in the file is a name space. Tables beside it give types by name; a value takes its
// type from them when it is defined, so unused entries cost nothing. Parameters and buffers become
// values only when a node uses them.

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "exir/frontend/json.h"
#include "exir/frontend/refuse.h"
#include "exir/ir/graph.h"

namespace taper::exir {

// State shared by all graphs of a program while it is imported.
struct ImportContext {
  explicit ImportContext(Budget& given) : budget(given) {}

  // Parses a size expression, once per text, and records its symbols.
  const Sym& expression(std::string_view text);
  // The origin of a node according to its metadata; equal origins are one object. Null if the file
  // states none.
  std::shared_ptr<const Source> source(Json node);

  Budget& budget;
  SymRanges ranges;
  std::set<std::string> symbols;  // All symbols that occur in expressions.
  SymValues hints;                // Their values at the sample inputs, where known.
  int depth = 0;                  // Nesting of the current graph.

  // Collects errors in single nodes and values, so that all are found; null: the first one throws.
  std::vector<Diagnostic>* problems = nullptr;
  // Values whose type could not be read. Nodes that use them are refused without another
  // diagnostic.
  std::unordered_set<const Value*> unknown;
  // Values that are 8-bit floats in PyTorch and bytes here, with the codes of their dtypes.
  std::unordered_map<const Value*, int64_t> float8;

 private:
  std::unordered_map<std::string_view, Sym> expressions_;
  std::map<std::pair<std::string_view, std::string_view>, std::shared_ptr<const Source>> sources_;
};

// A parameter, buffer or constant of the signature.
struct SavedTensor {
  std::string_view name;  // Its name in the graph.
  std::string_view fqn;
  std::string_view kind;  // "parameter", "buffer", "tensor_constant"
  bool persistent = true;
  Value* value = nullptr;  // Null until something uses it.
};

class Scope {
 public:
  // Reads the value tables of `json`, a Graph of the file.
  Scope(Graph& graph, Json json, ImportContext& context);

  Graph& graph() { return graph_; }
  ImportContext& context() { return context_; }

  // Defines a value with the type that the tables give. Throws Failure if the name is taken.
  Value* define(std::string_view name, ValueKind kind);
  // Defines a result that has no name in the file: an undefined tensor, or a number that was known
  // at export.
  Value* define_unnamed(ValueKind kind, const Sym& sym);
  void define_saved(SavedTensor* saved);
  void define_token(std::string_view name);
  bool is_defined(std::string_view name) const { return entries_.count(name) != 0; }

  // The value of that name. Throws Failure if it is not defined yet, or is a token.
  Value* use(std::string_view name);
  bool is_token(std::string_view name) const;

 private:
  struct Meta {
    ValueKind kind;
    Json json;
  };
  struct Entry {
    Value* value = nullptr;
    SavedTensor* saved = nullptr;  // Set for a saved tensor; `value` is null until it is used.
  };

  void read_table(Json json, const char* key, ValueKind kind);
  void claim(std::string_view name, Entry entry);
  Value* make(std::string_view name, ValueKind kind);
  Value* make_typed(std::string_view name, ValueKind kind, Json meta);

  Graph& graph_;
  ImportContext& context_;
  std::unordered_map<std::string_view, Meta> metas_;
  std::unordered_map<std::string_view, Entry> entries_;
};

}  // namespace taper::exir
