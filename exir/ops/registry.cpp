#include "exir/ops/registry.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

#include "exir/ir/failure.h"
#include "exir/ops/declare.h"
#include "exir/ops/infer.h"

// The tables are string literals. An index from operator name to entry is made at the first call;
// a schema is parsed when it is first asked for and then kept.

namespace taper::exir {
namespace {

struct Row {
  const char* schema;
  const char* flags;
};

constexpr Row kSchemas[] = {
#define TAPER_SCHEMA(schema, flags) {schema, flags},
#define TAPER_OUT(functional, schema)
#include "exir/ops/aten_schemas.def"
#include "exir/ops/other_ops.def"
#undef TAPER_SCHEMA
#undef TAPER_OUT
};

struct OutRow {
  const char* functional;
  const char* schema;
};

constexpr OutRow kOutVariants[] = {
#define TAPER_SCHEMA(schema, flags)
#define TAPER_OUT(functional, schema) {functional, schema},
#include "exir/ops/other_ops.def"
#include "exir/ops/out_variants.def"
#undef TAPER_SCHEMA
#undef TAPER_OUT
};

struct Entry {
  std::string_view text;
  std::string_view flags;
  std::shared_ptr<const Schema> parsed;
  Entry* out = nullptr;         // Its out variant.
  Entry* functional = nullptr;  // What it is the out variant of.
  TypeRule rule;                // Of a declared operator.
  bool declared = false;
};

std::string_view target_of(std::string_view schema) { return schema.substr(0, schema.find('(')); }

class Tables {
 public:
  Tables() {
    entries_.reserve(std::size(kSchemas) + std::size(kOutVariants));
    for (const Row& row : kSchemas) add(row.schema, row.flags);
    for (const OutRow& row : kOutVariants) {
      Entry& out = add(row.schema, "");
      const auto functional = entries_.find(row.functional);
      if (functional == entries_.end()) continue;
      functional->second.out = &out;
      if (out.functional == nullptr) out.functional = &functional->second;
    }
  }

  Entry* find(std::string_view target) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(target);
    return found == entries_.end() ? nullptr : &found->second;
  }

  std::shared_ptr<const Schema> schema(Entry& entry) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!entry.parsed) entry.parsed = std::make_shared<const Schema>(parse_schema(entry.text));
    return entry.parsed;
  }

  void declare(const Declaration& op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string text = to_text(op.schema);
    check_free(op.schema.name, text);
    if (op.kernel) check_free(op.kernel->name, to_text(*op.kernel));
    Entry& entry = add(keep(text), op.random ? "random" : "");
    entry.declared = true;
    entry.rule = op.rule;
    if (op.kernel) {
      Entry& out = add(keep(to_text(*op.kernel)), "");
      out.declared = true;
      out.functional = &entry;
      entry.out = &out;
    }
  }

  void forget() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(entries_, [](const auto& named) { return named.second.declared; });
  }

  // The entry of the functional form of `entry`, made at the first call.
  Entry* functional(Entry& entry, const Schema& form) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry& made = add(keep(to_text(form)), entry.flags);
    made.declared = entry.declared;
    made.out = entry.out != nullptr ? entry.out : &entry;
    return &made;
  }

  std::vector<std::string> names() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::string> out;
    for (const auto& [name, entry] : entries_) out.emplace_back(name);
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  // Throws Failure if the name stands for something else already.
  void check_free(const std::string& name, const std::string& text) const {
    const auto known = entries_.find(name);
    if (known == entries_.end() || (known->second.declared && known->second.text == text)) return;
    throw Failure("the operator " + name + " is known already, as " +
                  std::string(known->second.text));
  }

  Entry& add(std::string_view schema, std::string_view flags) {
    return entries_.try_emplace(target_of(schema), Entry{schema, flags, {}, {}, {}, {}, {}})
        .first->second;
  }
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::unordered_map<std::string_view, Entry> entries_;  // References stay valid as it grows.
  std::deque<std::string> texts_;                        // Of what was declared.
  std::mutex mutex_;
};

Tables& tables() {
  static Tables instance;
  return instance;
}

bool has_word(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
      return true;
  }
  return false;
}

}  // namespace

std::shared_ptr<const Schema> find_schema(std::string_view target) {
  Entry* entry = tables().find(target);
  return entry == nullptr ? nullptr : tables().schema(*entry);
}

std::shared_ptr<const Schema> need_schema(std::string_view target) {
  if (auto schema = find_schema(target)) return schema;
  throw Failure("the operator " + std::string(target) + " is in no table");
}

std::shared_ptr<const Schema> out_variant(std::string_view target) {
  Entry* entry = tables().find(target);
  return entry == nullptr || entry->out == nullptr ? nullptr : tables().schema(*entry->out);
}

std::shared_ptr<const Schema> functional_variant(std::string_view out) {
  Entry* entry = tables().find(out);
  const bool known = entry != nullptr && entry->functional != nullptr;
  return known ? tables().schema(*entry->functional) : nullptr;
}

std::shared_ptr<const Schema> functional_form(std::string_view target) {
  Entry* entry = tables().find(target);
  if (entry == nullptr) return nullptr;
  const std::optional<Schema> form = form_without_writes(*tables().schema(*entry));
  if (!form) return nullptr;
  return tables().schema(*tables().functional(*entry, *form));
}

std::vector<std::string> operator_names() { return tables().names(); }

void declare_operators(std::string_view text, std::string_view where) {
  for_each_declaration(text, where, [](const Declaration& op) { tables().declare(op); });
}

void forget_declarations() { tables().forget(); }

bool is_declared(std::string_view target) {
  const Entry* entry = tables().find(target);
  return entry != nullptr && entry->declared;
}

std::optional<std::vector<TensorType>> declared_types(const Schema& schema,
                                                      const std::vector<Argument>& args) {
  const Entry* entry = tables().find(schema.name);
  if (entry == nullptr || entry->rule.empty()) return std::nullopt;
  return types_by_rule(entry->rule, schema, args);
}

OpFacts op_facts(std::string_view target) {
  const Entry* entry = tables().find(target);
  if (entry == nullptr) return {};
  OpFacts facts;
  facts.core = has_word(entry->flags, "core");
  facts.view = has_word(entry->flags, "view");
  facts.inplace = has_word(entry->flags, "inplace");
  facts.composite = has_word(entry->flags, "composite");
  facts.random = has_word(entry->flags, "random");
  return facts;
}

}  // namespace taper::exir
