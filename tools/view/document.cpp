// Keeps calls and values once, and writes them as JSON with numbers in place of repeated texts.

#include "tools/view/document.h"

#include "tools/text/json_writer.h"

namespace taper::tools {
namespace {

// Parts of a key that no text contains in this combination.
constexpr char kEnd = '\x1f', kNumber = '\x1e';

void append(std::string& key, std::string_view text) {
  key += std::to_string(text.size());
  key += kEnd;
  key += text;
}

void append(std::string& key, uint64_t number) {
  key += kNumber;
  key += std::to_string(number);
}

std::string key_of(const ViewValue& value) {
  std::string key;
  for (const std::string* text :
       {&value.name, &value.scope, &value.type, &value.role, &value.from}) {
    append(key, *text);
  }
  append(key, value.bytes);
  append(key, static_cast<uint64_t>(value.slot));
  for (const std::string& name : value.holds) append(key, name);
  return key;
}

std::string key_of(const ViewCall& call) {
  std::string key;
  for (const std::string* text : {&call.name, &call.op, &call.module, &call.line, &call.trace,
                                  &call.runs_on, &call.place, &call.note, &call.opens}) {
    append(key, *text);
  }
  append(key, call.boxes.size());
  for (const std::string& box : call.boxes) append(key, box);
  for (const ViewArgument& arg : call.args) {
    append(key, arg.name);
    append(key, arg.pieces.size());
    for (const auto& piece : arg.pieces) {
      if (const auto* text = std::get_if<std::string>(&piece)) append(key, *text);
      if (const auto* value = std::get_if<size_t>(&piece)) append(key, *value);
    }
  }
  append(key, call.results.size());
  for (const size_t value : call.results) append(key, value);
  return key;
}

void add_indices(JsonWriter& json, const std::vector<size_t>& indices) {
  json.open('[');
  for (const size_t index : indices) json.number(static_cast<int64_t>(index));
  json.close(']');
}

// Runs of consecutive numbers: [first, count, first, count...].
void add_runs(JsonWriter& json, const std::vector<size_t>& indices) {
  json.open('[');
  for (size_t i = 0; i < indices.size();) {
    size_t count = 1;
    while (i + count < indices.size() && indices[i + count] == indices[i] + count) ++count;
    json.number(static_cast<int64_t>(indices[i])).number(static_cast<int64_t>(count));
    i += count;
  }
  json.close(']');
}

void add_step(JsonWriter& json, const ViewStep& step) {
  json.open('{').key("title").text(step.title);
  json.key("method").text(step.method).key("note").text(step.note);
  json.key("is_program").boolean(step.is_program);
  add_runs(json.key("calls"), step.calls);
  add_indices(json.key("inputs"), step.inputs);
  add_indices(json.key("outputs"), step.outputs);
  json.key("writes").open('[');
  for (const auto& [target, source] : step.writes) add_indices(json, {target, source});
  json.close(']').close('}');
}

void add_memory(JsonWriter& json, const ViewMemory& memory) {
  const auto number = [&](uint64_t value) { json.number(static_cast<int64_t>(value)); };
  json.open('{').key("method").text(memory.method).key("instructions");
  number(memory.instructions);
  json.key("buffers").open('[');
  for (const ViewMemory::Buffer& buffer : memory.buffers) {
    json.open('[');
    for (const uint64_t field : {buffer.bytes, buffer.peak, uint64_t{buffer.peak_at}})
      number(field);
    json.close(']');
  }
  json.close(']').key("places").open('[');
  for (const ViewPlace& place : memory.places) {
    json.open('[');
    for (const uint64_t field : {uint64_t{place.value}, uint64_t{place.buffer}, place.offset,
                                 place.bytes, uint64_t{place.first}, uint64_t{place.last}}) {
      number(field);
    }
    json.close(']');
  }
  json.close(']').close('}');
}

}  // namespace

// Numbers texts in the order in which they are needed.
class ViewDocument::Texts {
 public:
  int64_t number_of(const std::string& text) {
    const auto [at, is_new] = numbers_.try_emplace(text, static_cast<int64_t>(all_.size()));
    if (is_new) all_.push_back(&at->first);
    return at->second;
  }
  const std::vector<const std::string*>& all() const { return all_; }

 private:
  std::map<std::string, int64_t> numbers_;
  std::vector<const std::string*> all_;
};

size_t ViewDocument::add(ViewValue value) {
  const auto [at, is_new] = known_values_.try_emplace(key_of(value), values_.size());
  if (is_new) values_.push_back(std::move(value));
  return at->second;
}

size_t ViewDocument::add(ViewCall call) {
  const auto [at, is_new] = known_calls_.try_emplace(key_of(call), calls_.size());
  if (is_new) calls_.push_back(std::move(call));
  return at->second;
}

std::string ViewDocument::row_of(const ViewValue& value, Texts& texts) {
  JsonWriter json;
  json.open('[');
  for (const std::string* text :
       {&value.name, &value.scope, &value.type, &value.role, &value.from}) {
    json.number(texts.number_of(*text));
  }
  json.number(static_cast<int64_t>(value.bytes)).number(value.slot);
  for (const std::string& name : value.holds) json.number(texts.number_of(name));
  return json.close(']').str();
}

// A piece of an argument is the number of a value, or -1 minus that of a text.
std::string ViewDocument::row_of(const ViewCall& call, Texts& texts) {
  JsonWriter json;
  json.open('[');
  for (const std::string* text : {&call.name, &call.op, &call.module, &call.line, &call.trace,
                                  &call.runs_on, &call.place, &call.note, &call.opens}) {
    json.number(texts.number_of(*text));
  }
  json.open('[');
  for (const std::string& box : call.boxes) json.number(texts.number_of(box));
  json.close(']').open('[');
  for (const ViewArgument& arg : call.args) {
    json.open('[').number(texts.number_of(arg.name));
    for (const auto& piece : arg.pieces) {
      const auto* text = std::get_if<std::string>(&piece);
      json.number(text != nullptr ? -1 - texts.number_of(*text)
                                  : static_cast<int64_t>(std::get<size_t>(piece)));
    }
    json.close(']');
  }
  add_indices(json.close(']'), call.results);
  return json.close(']').str();
}

std::string ViewDocument::json() const {
  Texts texts;
  std::string values, calls;
  for (const ViewValue& value : values_)
    values += (values.empty() ? "" : ",") + row_of(value, texts);
  for (const ViewCall& call : calls_) calls += (calls.empty() ? "\n" : ",\n") + row_of(call, texts);
  JsonWriter json;
  json.open('{').key("file").text(file).key("facts").open('[');
  for (const auto& [name, text] : facts) {
    json.open('[').text(name).text(text).close(']');
  }
  json.close(']').key("problems").open('[');
  for (const std::string& problem : problems) json.text(problem);
  json.close(']').key("steps").open('[');
  for (const ViewStep& step : steps) add_step(json, step);
  json.close(']').key("memory").open('[');
  for (const ViewMemory& each : memory) add_memory(json, each);
  json.close(']').key("texts").open('[');
  for (const std::string* text : texts.all()) json.text(*text);
  json.close(']');
  return json.str() + ",\n\"values\":[" + values + "],\n\"calls\":[" + calls + "]" +
         (profile.empty() ? "" : ",\n\"profile\":" + profile) +
         (comparison.empty() ? "" : ",\n\"comparison\":" + comparison) + "}";
}

}  // namespace taper::tools
