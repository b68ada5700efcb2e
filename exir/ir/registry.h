// The operators that a graph may call, by name: their schemas, and which belong together.
//
// exir/ops fills one registry with the tables of the compiler (builtin_operators()); it is constant
// and serves the whole process. A request that declares operators of its own makes a second one,
// which stands on the first and to which its graphs refer. So requests with different declarations
// run in one process, in several threads, and nothing has to be cleaned up.

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exir/ir/graph.h"
#include "exir/ir/schema.h"

namespace taper::exir {

// All false for an operator that nobody knows.
struct OperatorTags {
  bool core = false;       // In the Core ATen opset.
  bool view = false;       // Its result aliases an input.
  bool inplace = false;    // It writes an argument.
  bool composite = false;  // PyTorch decomposes it.
  bool random = false;     // Two calls may differ: never folded, never merged.
};

// The types of the results of a call. Throws Failure if the arguments break the rule.
using ResultTypes =
    std::function<std::vector<TensorType>(const Schema&, const std::vector<Argument>&)>;

// Functions that are not const are for its maker, before anybody else sees it. The others are
// thread safe.
class OperatorRegistry {
 public:
  OperatorRegistry() = default;
  // Knows what `below` knows, too.
  explicit OperatorRegistry(Operators below) : below_(std::move(below)) {}

  // `schema` is "aten::add.Tensor(...) -> Tensor", `tags` are words of OperatorTags: "core view".
  // Neither is copied: they are text of the program. A name keeps the first schema that it gets.
  void add(std::string_view schema, std::string_view tags);
  // Makes `schema` the out variant of `functional`, if that is known.
  void add_out_variant(std::string_view functional, std::string_view schema);
  // Adds an operator of the user's own, with its out variant if it has one; `types` may be empty.
  // Throws Failure if one of the names stands for something else already.
  void declare(const Schema& schema, const std::optional<Schema>& out_variant, bool random,
               ResultTypes types);

  // The schema of "aten::add.Tensor", or null if nobody knows it. Parsed on first use.
  std::shared_ptr<const Schema> find(std::string_view target) const;
  // Like find(), but throws Failure naming the operator.
  std::shared_ptr<const Schema> need(std::string_view target) const;

  // The out variant that computes `target`: "aten::add.Tensor" -> schema of "aten::add.out". Null
  // if there is none. Arguments of the out variant are found by name; `out...` come last.
  std::shared_ptr<const Schema> out_variant(std::string_view target) const;
  // The other way: "aten::add.out" -> schema of "aten::add.Tensor".
  std::shared_ptr<const Schema> functional_variant(std::string_view out) const;

  // The functional form of an operator that writes plain arguments and has no twin of its own: it
  // returns what the operator returns anew, then the new contents of each argument that it writes.
  // The out variant of the form is the call of the kernel, in which those arguments are still
  // written.
  //
  //   my::push_(Tensor(a!) cache, Tensor x) -> ()
  //   my::push_.functional(Tensor cache, Tensor x) -> Tensor
  //
  // Null if it writes nothing, or something else than single tensors.
  std::shared_ptr<const Schema> functional_form(std::string_view target) const;

  OperatorTags tags(std::string_view target) const;

  // True if a declaration names the operator, its out variant or its kernel.
  bool is_declared(std::string_view target) const;
  // The rule that was declared for the types of its results; empty if there is none.
  ResultTypes declared_types(std::string_view target) const;

  // Every operator, out variants too, sorted by name.
  std::vector<std::string> names() const;

 private:
  struct Entry {
    std::string_view text;
    std::string_view tags;
    std::shared_ptr<const Schema> parsed = {};
    Entry* out = nullptr;         // Its out variant.
    Entry* functional = nullptr;  // What it is the out variant of.
    ResultTypes types = {};
    bool declared = false;
  };

  // What `question(owner, entry)` answers about an operator, under the lock of the registry that
  // holds it; its default if there is none.
  template <typename Question>
  auto ask(std::string_view target, const Question& question) const;
  void check_free(const Schema& schema) const;
  Entry& insert(std::string_view schema, std::string_view tags) const;
  Entry& insert_copy(const Schema& schema, std::string_view tags) const;
  static std::shared_ptr<const Schema> schema_of(Entry& entry);

  Operators below_;
  mutable std::mutex mutex_;
  // Schemas are parsed, and functional forms made, when they are first asked for.
  mutable std::unordered_map<std::string_view, Entry> entries_;  // References to them stay valid.
  mutable std::deque<std::string> texts_;                        // Those that no table holds.
};

// The schema of functional_form().
std::optional<Schema> form_without_writes(const Schema& schema);

// "my::scale" -> "my::scale.out", "my::scale.int" -> "my::scale.int_out".
std::string with_overload(const std::string& name, const std::string& word);

}  // namespace taper::exir
