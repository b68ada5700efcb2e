#include "exir/delegate/compiler_descriptor.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

constexpr std::string_view kPortable = "portable";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> items;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    items.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return items;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

void append(std::string& list, std::string_view item, const char* separator) {
  list += (list.empty() ? "" : separator) + std::string(item);
}

std::string range_text(const CompileOption& option) {
  if (option.kind == CompileOption::Kind::kFlag) return "0 or 1";
  return "a whole number from " + std::to_string(option.least) + " to " +
         std::to_string(option.most);
}

bool read_number(std::string_view text, const CompileOption& option, int32_t* value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, *value);
  return result.ec == std::errc() && result.ptr == end && *value >= option.least &&
         *value <= option.most;
}

// Parses one backend of the list, or records what is wrong with it.
class Maker {
 public:
  Maker(CompilerTable known, Numerals numerals) : known_(known), numerals_(numerals) {}

  void add(std::string_view item) {
    const std::vector<std::string_view> parts = split(item, ':');
    const CompilerDescriptor* descriptor = find(parts[0]);
    if (descriptor == nullptr) return;
    CompileOptions options(descriptor->options);
    for (size_t i = 1; i < parts.size(); ++i) {
      const std::string problem = options.set(parts[i]);
      if (!problem.empty()) append(problems_, std::string(parts[0]) + ": " + problem, "; ");
    }
    const std::string flag(descriptor->option_for(numerals_));
    if (!flag.empty()) {
      options.set(flag + "=1");  // Unless it is given.
      has_numerals_ = true;
    }
    if (problems_.empty()) made_.push_back(descriptor->make(options));
  }

  BackendCompilers finish() {
    if (numerals_ != Numerals::kFloat32 && !has_numerals_) {
      std::string names;
      for (const CompilerDescriptor* each : known_) {
        if (!each->option_for(numerals_).empty()) append(names, each->identity.name, ", ");
      }
      const char* name = numerals_ == Numerals::kFloat16 ? "float16" : "bfloat16";
      append(problems_, std::string("none of them computes in ") + name + "; there is: " + names,
             "; ");
    }
    if (!problems_.empty()) throw Failure(problems_);
    return std::move(made_);
  }

 private:
  // Null, with the problem recorded, if there is no such backend or it is listed twice.
  const CompilerDescriptor* find(std::string_view name) {
    for (const CompilerDescriptor* each : known_) {
      if (name != each->identity.name) continue;
      const bool is_new = std::count(names_.begin(), names_.end(), name) == 0;
      names_.push_back(name);
      if (is_new) return each;
      append(problems_, "the backend " + quoted(name) + " is given twice", "; ");
      return nullptr;
    }
    if (name == kPortable) {
      append(problems_, "'portable' stands alone: its kernels run what backends leave", "; ");
      return nullptr;
    }
    std::string names(kPortable);
    for (const CompilerDescriptor* each : known_) append(names, each->identity.name, ", ");
    append(problems_, "no backend " + quoted(name) + "; there are: " + names, "; ");
    return nullptr;
  }

  const CompilerTable known_;
  const Numerals numerals_;
  bool has_numerals_ = false;
  std::vector<std::string_view> names_;
  std::string problems_;
  BackendCompilers made_;
};

}  // namespace

CompileOptions::CompileOptions(std::span<const CompileOption> known) : known_(known) {
  for (const CompileOption& option : known) values_[option.key] = option.standard;
}

std::string CompileOptions::set(std::string_view assignment) {
  const size_t equals = std::min(assignment.find('='), assignment.size());
  const std::string_view key = assignment.substr(0, equals);
  std::string keys;
  for (const CompileOption& option : known_) {
    append(keys, option.key, ", ");
    if (option.key != key) continue;
    if (std::exchange(given_[option.key], true)) return quoted(key) + " is given twice";
    const std::string_view text = assignment.substr(std::min(equals + 1, assignment.size()));
    if (read_number(text, option, &values_[option.key])) return {};
    return quoted(key) + " is " + range_text(option) + ", not " + quoted(text);
  }
  return "no option " + quoted(key) + "; " + (keys.empty() ? "it has none" : "there are: " + keys);
}

std::vector<OwnedCompileSpec> CompileOptions::specs() const {
  std::vector<OwnedCompileSpec> specs;
  for (const CompileOption& option : known_) {
    const auto value = static_cast<uint32_t>(values_.at(option.key));
    if (option.reader != CompileOption::Reader::kDevice ||
        values_.at(option.key) == option.standard) {
      continue;
    }
    std::vector<uint8_t> bytes;
    const size_t size = option.kind == CompileOption::Kind::kFlag ? 1 : sizeof(value);
    for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
    specs.push_back({std::string(option.key), std::move(bytes)});
  }
  return specs;
}

BackendCompilers make_compilers(std::string_view text, CompilerTable known, Numerals numerals) {
  const bool has_none = text == kPortable || text == "none";
  if (has_none && numerals == Numerals::kFloat32) return {};
  Maker maker(known, numerals);
  for (const std::string_view item : split(text, ',')) {
    if (!has_none) maker.add(item);
  }
  return maker.finish();
}

}  // namespace taper::exir
