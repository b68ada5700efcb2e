// The names of one graph in the file and the values they stand for.
//
// A graph in the file is its own name space. Types stand beside it in tables by name; a value takes
// its type from them when it is defined, so entries that nobody names cost nothing. Parameters and
// buffers become values only when something uses them.

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

// What all graphs of a program share while it is imported.
struct ImportContext {
  explicit ImportContext(Budget& given) : budget(given) {}

  // The expression, parsed once per text; notes its symbols.
  const Sym& expression(std::string_view text);
  // The origin of a node from its metadata; equal ones are one object. Null if it says nothing.
  std::shared_ptr<const Source> source(Json node);

  Budget& budget;
  SymRanges ranges;
  std::set<std::string> symbols;  // All that expressions name.
  SymValues hints;                // Their values at the sample inputs, where known.
  int depth = 0;                  // Of graphs within graphs.

  // Where problems with single nodes and values go, so that all are found; null: the first throws.
  std::vector<Diagnostic>* problems = nullptr;
  // Values whose type could not be read. Nodes that use them are refused without a word.
  std::unordered_set<const Value*> unknown;

 private:
  std::unordered_map<std::string_view, Sym> expressions_;
  std::map<std::pair<std::string_view, std::string_view>, std::shared_ptr<const Source>> sources_;
};

// A parameter, buffer or constant of the signature.
struct SavedTensor {
  std::string_view name;  // In the graph.
  std::string_view fqn;
  std::string_view kind;  // "parameter", "buffer", "tensor_constant"
  bool persistent = true;
  Value* value = nullptr;  // Once something uses it.
};

class Scope {
 public:
  // Reads the value tables of `json`, a Graph of the file.
  Scope(Graph& graph, Json json, ImportContext& context);

  Graph& graph() { return graph_; }
  ImportContext& context() { return context_; }

  // A new value with the type that the tables give. Throws Failure if the name is taken.
  Value* define(std::string_view name, ValueKind kind);
  // A result without a name in the file: undefined, or a number that export already knows.
  Value* define_unnamed(ValueKind kind, const Sym& sym);
  void define_saved(SavedTensor* saved);
  void define_token(std::string_view name);
  bool is_defined(std::string_view name) const { return entries_.count(name) != 0; }

  // Throws Failure if the name is not defined yet, or is a token.
  Value* use(std::string_view name);
  bool is_token(std::string_view name) const;

 private:
  struct Meta {
    ValueKind kind;
    Json json;
  };
  struct Entry {
    Value* value = nullptr;
    SavedTensor* saved = nullptr;  // Not used yet, if value is null.
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
