#include "exir/emit/debug_info.h"

#include <charconv>

namespace taper::exir {
namespace {

constexpr size_t kMostLine = 400;  // Bytes of a text; the rest is left out.

// On one line, without what a terminal would obey.
std::string plain(std::string_view text) {
  std::string out(text.substr(0, kMostLine));
  for (char& c : out) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return out;
}

std::string word(std::string_view text) {
  std::string out = plain(text);
  for (char& c : out) c = c == ' ' ? '_' : c;
  return out.empty() ? "_" : out;
}

// Texts by number, in the order in which they are needed.
class Texts {
 public:
  explicit Texts(std::string& out) : out_(out) {}

  size_t number_of(const std::string& text) {
    const std::string line = plain(text);
    if (line.empty()) return 0;
    const auto [at, is_new] = numbers_.try_emplace(line, numbers_.size() + 1);
    if (is_new) out_ += "text " + line + "\n";
    return at->second;
  }

 private:
  std::string& out_;
  std::map<std::string, size_t> numbers_;
};

// Splits one line into words, and the rest.
class Words {
 public:
  Words(std::string_view line, size_t number) : rest_(line), number_(number) {}

  std::string_view next() {
    const size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (found.empty()) fail();
    return found;
  }
  uint32_t number() {
    const std::string_view text = next();
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) fail();
    return value;
  }
  std::string_view rest() const { return rest_; }
  [[noreturn]] void fail() const {
    throw Failure("the debug information of the program is damaged in line " +
                  std::to_string(number_));
  }

 private:
  std::string_view rest_;
  size_t number_;
};

void read_text(Words& words, const std::vector<std::string>& texts, std::string& text) {
  const uint32_t number = words.number();
  if (number > texts.size()) words.fail();
  if (number > 0) text = texts[number - 1];
}

Origin read_origin(Words& words, const std::vector<std::string>& texts, bool is_part) {
  Origin origin;
  origin.name = words.next();
  origin.op = words.next();
  read_text(words, texts, origin.module);
  read_text(words, texts, origin.line);
  if (is_part && !words.rest().empty()) read_text(words, texts, origin.type);
  if (!words.rest().empty()) words.fail();
  return origin;
}

HeldResult read_result(Words& words) {
  HeldResult result;
  result.argument = words.number();
  result.item = words.number();
  do {
    result.names.emplace_back(words.next());
  } while (!words.rest().empty());
  return result;
}

}  // namespace

Origin origin_of(std::string_view name, std::string_view op, const Source* source) {
  Origin origin = {std::string(name), std::string(op), "", ""};
  if (source == nullptr) return origin;
  origin.module = source->module_path;
  origin.line = source->newest_frame();
  return origin;
}

std::string debug_text(const DebugInfo& info) {
  std::string out;
  Texts texts(out);
  const auto add = [&](const std::string& head, const Origin& origin) {
    const size_t module = texts.number_of(origin.module), line = texts.number_of(origin.line);
    const size_t type = texts.number_of(origin.type);
    out += head + " " + word(origin.name) + " " + word(origin.op) + " " + std::to_string(module) +
           " " + std::to_string(line) + (type == 0 ? "" : " " + std::to_string(type)) + "\n";
  };
  for (const auto& [instruction, origin] : info) {
    add("call " + std::to_string(instruction), origin.node);
    for (const Origin& part : origin.parts) add("node", part);
    for (const HeldResult& result : origin.results) {
      out += "holds " + std::to_string(result.argument) + " " + std::to_string(result.item);
      for (const std::string& name : result.names) out += " " + word(name);
      out += "\n";
    }
  }
  return out;
}

DebugInfo read_debug_text(std::string_view text) {
  DebugInfo info;
  std::vector<std::string> texts;
  InstructionOrigin* last = nullptr;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    Words words(text.substr(0, end), number);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view kind = words.next();
    if (kind == "text") {
      texts.push_back(plain(words.rest()));
    } else if (kind == "call") {
      last = &info[words.number()];
      *last = {read_origin(words, texts, false), {}, {}};
    } else if (kind == "node" && last != nullptr) {
      last->parts.push_back(read_origin(words, texts, true));
    } else if (kind == "holds" && last != nullptr) {
      last->results.push_back(read_result(words));
    } else {
      words.fail();
    }
  }
  return info;
}

}  // namespace taper::exir
