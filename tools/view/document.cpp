// Keeps calls and values once, and writes them as JSON with numbers in place of repeated texts.

#include "tools/view/document.h"

#include "tools/json_writer.h"

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

// How many bytes the character at the start of `text` has; 0 if it is not UTF-8.
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(1);  // Overlong forms, surrogates, numbers above the last.
  if (byte(0) == 0xe0 && second < 0xa0) return 0;
  if (byte(0) == 0xed && second > 0x9f) return 0;
  if (byte(0) == 0xf0 && second < 0x90) return 0;
  if (byte(0) == 0xf4 && second > 0x8f) return 0;
  return bytes;
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
  json.open('{').key("title").text(valid_utf8(step.title));
  json.key("method").text(valid_utf8(step.method)).key("note").text(valid_utf8(step.note));
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
  json.open('{').key("method").text(valid_utf8(memory.method)).key("instructions");
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

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    out += bytes == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

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
  json.open('{').key("file").text(valid_utf8(file)).key("facts").open('[');
  for (const auto& [name, text] : facts) {
    json.open('[').text(valid_utf8(name)).text(valid_utf8(text)).close(']');
  }
  json.close(']').key("problems").open('[');
  for (const std::string& problem : problems) json.text(valid_utf8(problem));
  json.close(']').key("steps").open('[');
  for (const ViewStep& step : steps) add_step(json, step);
  json.close(']').key("memory").open('[');
  for (const ViewMemory& each : memory) add_memory(json, each);
  json.close(']').key("texts").open('[');
  for (const std::string* text : texts.all()) json.text(valid_utf8(*text));
  json.close(']');
  return json.str() + ",\n\"values\":[" + values + "],\n\"calls\":[" + calls + "]" +
         (profile.empty() ? "" : ",\n\"profile\":" + profile) +
         (comparison.empty() ? "" : ",\n\"comparison\":" + comparison) + "}";
}

}  // namespace taper::tools
