#include "exir/ir/registry.h"

#include <algorithm>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

std::string_view target_of(std::string_view schema) { return schema.substr(0, schema.find('(')); }

bool has_word(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
      return true;
  }
  return false;
}

}  // namespace

template <typename Question>
auto OperatorRegistry::ask(std::string_view target, const Question& question) const {
  using Answer = decltype(question(*this, std::declval<Entry&>()));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(target);
    if (found != entries_.end()) return question(*this, found->second);
  }
  return below_ == nullptr ? Answer() : below_->ask(target, question);
}

OperatorRegistry::Entry& OperatorRegistry::insert(std::string_view schema,
                                                  std::string_view tags) const {
  return entries_.try_emplace(target_of(schema), Entry{schema, tags}).first->second;
}

OperatorRegistry::Entry& OperatorRegistry::insert_copy(const Schema& schema,
                                                       std::string_view tags) const {
  return insert(texts_.emplace_back(to_text(schema)), tags);
}

std::shared_ptr<const Schema> OperatorRegistry::schema_of(Entry& entry) {
  if (!entry.parsed) entry.parsed = std::make_shared<const Schema>(parse_schema(entry.text));
  return entry.parsed;
}

void OperatorRegistry::add(std::string_view schema, std::string_view tags) {
  const std::lock_guard<std::mutex> lock(mutex_);
  insert(schema, tags);
}

void OperatorRegistry::add_out_variant(std::string_view functional, std::string_view schema) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& out = insert(schema, "");
  const auto known = entries_.find(functional);
  if (known == entries_.end()) return;
  known->second.out = &out;
  if (out.functional == nullptr) out.functional = &known->second;
}

void OperatorRegistry::check_free(const Schema& schema) const {
  const std::string text = to_text(schema);
  const std::string other =
      ask(schema.name, [&](const OperatorRegistry&, const Entry& known) -> std::string {
        return known.declared && known.text == text ? "" : std::string(known.text);
      });
  if (other.empty()) return;
  throw Failure("the operator " + schema.name + " is known already, as " + other);
}

void OperatorRegistry::declare(const Schema& schema, const std::optional<Schema>& out_variant,
                               bool random, ResultTypes types) {
  check_free(schema);
  if (out_variant) check_free(*out_variant);
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& entry = insert_copy(schema, random ? "random" : "");
  entry.declared = true;
  entry.types = std::move(types);
  if (!out_variant) return;
  Entry& out = insert_copy(*out_variant, "");
  out.declared = true;
  out.functional = &entry;
  entry.out = &out;
}

std::shared_ptr<const Schema> OperatorRegistry::find(std::string_view target) const {
  return ask(target, [](const OperatorRegistry&, Entry& entry) { return schema_of(entry); });
}

std::shared_ptr<const Schema> OperatorRegistry::need(std::string_view target) const {
  if (auto schema = find(target)) return schema;
  throw Failure("the operator " + std::string(target) + " is in no table");
}

std::shared_ptr<const Schema> OperatorRegistry::out_variant(std::string_view target) const {
  return ask(target, [](const OperatorRegistry&, const Entry& entry) {
    return entry.out == nullptr ? nullptr : schema_of(*entry.out);
  });
}

std::shared_ptr<const Schema> OperatorRegistry::functional_variant(std::string_view out) const {
  return ask(out, [](const OperatorRegistry&, const Entry& entry) {
    return entry.functional == nullptr ? nullptr : schema_of(*entry.functional);
  });
}

std::shared_ptr<const Schema> OperatorRegistry::functional_form(std::string_view target) const {
  return ask(target, [](const OperatorRegistry& owner, Entry& entry) {
    const std::optional<Schema> form = form_without_writes(*schema_of(entry));
    if (!form) return std::shared_ptr<const Schema>();
    Entry& made = owner.insert_copy(*form, entry.tags);
    made.declared = entry.declared;
    made.out = entry.out != nullptr ? entry.out : &entry;
    return schema_of(made);
  });
}

OperatorTags OperatorRegistry::tags(std::string_view target) const {
  return ask(target, [](const OperatorRegistry&, const Entry& entry) {
    OperatorTags tags;
    tags.core = has_word(entry.tags, "core");
    tags.view = has_word(entry.tags, "view");
    tags.inplace = has_word(entry.tags, "inplace");
    tags.composite = has_word(entry.tags, "composite");
    tags.random = has_word(entry.tags, "random");
    return tags;
  });
}

bool OperatorRegistry::is_declared(std::string_view target) const {
  return ask(target, [](const OperatorRegistry&, const Entry& entry) { return entry.declared; });
}

ResultTypes OperatorRegistry::declared_types(std::string_view target) const {
  return ask(target, [](const OperatorRegistry&, const Entry& entry) { return entry.types; });
}

std::vector<std::string> OperatorRegistry::names() const {
  std::vector<std::string> out = below_ == nullptr ? std::vector<std::string>() : below_->names();
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [name, entry] : entries_) out.emplace_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

std::string with_overload(const std::string& name, const std::string& word) {
  return name + (name.find('.') == std::string::npos ? "." : "_") + word;
}

std::optional<Schema> form_without_writes(const Schema& schema) {
  Schema form = schema;
  form.name = with_overload(schema.name, "functional");
  form.returns.clear();
  for (const SchemaReturn& item : schema.returns) {
    if (item.alias.empty()) form.returns.push_back(item);
  }
  bool writes = false;
  for (SchemaArg& arg : form.args) {
    if (!arg.written()) {
      arg.alias.clear();
      continue;
    }
    const bool single = arg.type.base == TypeBase::kTensor && !arg.type.list && !arg.type.optional;
    if (arg.keyword_only || !single) return std::nullopt;
    arg.alias.clear();
    form.returns.push_back({arg.type, "", ""});
    writes = true;
  }
  if (!writes || schema.returns_alias()) return std::nullopt;
  return form;
}

}  // namespace taper::exir
