#include "exir/ops/registry.h"

#include <mutex>
#include <string>
#include <unordered_map>

#include "exir/ir/failure.h"

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
};

std::string_view target_of(std::string_view schema) { return schema.substr(0, schema.find('(')); }

class Tables {
 public:
  Tables() {
    entries_.reserve(std::size(kSchemas) + std::size(kOutVariants));
    for (const Row& row : kSchemas) entries_.try_emplace(target_of(row.schema), make(row));
    for (const OutRow& row : kOutVariants) {
      Entry& out =
          entries_.try_emplace(target_of(row.schema), make({row.schema, ""})).first->second;
      const auto functional = entries_.find(row.functional);
      if (functional == entries_.end()) continue;
      functional->second.out = &out;
      if (out.functional == nullptr) out.functional = &functional->second;
    }
  }

  Entry* find(std::string_view target) {
    const auto found = entries_.find(target);
    return found == entries_.end() ? nullptr : &found->second;
  }

  std::shared_ptr<const Schema> schema(Entry& entry) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!entry.parsed) entry.parsed = std::make_shared<const Schema>(parse_schema(entry.text));
    return entry.parsed;
  }

 private:
  static Entry make(const Row& row) { return {row.schema, row.flags, nullptr, nullptr, nullptr}; }

  std::unordered_map<std::string_view, Entry> entries_;  // References stay valid as it grows.
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
