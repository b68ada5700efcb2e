// Command-line parsing with cxxopts.

#include "tools/options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

// A file name may contain a comma: only list() splits values.
#define CXXOPTS_VECTOR_DELIMITER '\x1f'
#include <cxxopts.hpp>

#include "tools/error.h"

namespace taper::tools {
namespace {

using Texts = std::vector<std::string>;

// "method" for "m,method".
std::string long_name(const Option& option) {
  return option.names.substr(option.names.find(',') + 1);
}

bool is_optional(const std::string& value) { return !value.empty() && value[0] == '['; }

// "FILE" for "[FILE]".
std::string value_name(const Option& option) {
  const std::string& name = option.value;
  return is_optional(name) ? name.substr(1, name.size() - 2) : name;
}

std::shared_ptr<cxxopts::Value> value_of(const Option& option) {
  if (option.value.empty()) return cxxopts::value<bool>();
  const std::shared_ptr<cxxopts::Value> value = cxxopts::value<Texts>();
  return is_optional(option.value) ? value->implicit_value(kNoValue) : value;
}

}  // namespace

CommandLine::CommandLine(std::string command, std::string intro, std::string usage,
                         std::vector<OptionGroup> groups)
    : command_(std::move(command)),
      intro_(std::move(intro)),
      usage_(std::move(usage)),
      groups_(std::move(groups)) {
  groups_.back().options.push_back({"h,help", "Print this text"});
}

bool CommandLine::parse(int argc, char** argv) {
  read(argc, argv);
  if (given("help")) std::fputs(help_.c_str(), stdout);
  return !given("help");
}

void CommandLine::read(int argc, const char* const* argv) {
  cxxopts::Options described(command_, intro_);
  described.custom_help(usage_).positional_help("");
  Texts titles;
  for (const OptionGroup& group : groups_) {
    titles.push_back(group.title);
    for (const Option& option : group.options) {
      std::string help = option.help;
      if (!option.default_text.empty()) help += " (default: " + option.default_text + ")";
      described.add_option(group.title, {option.names, help, value_of(option), value_name(option)});
    }
  }
  described.add_option("hidden", {"file", "", cxxopts::value<Texts>(), ""});
  described.parse_positional("file");
  try {
    const cxxopts::ParseResult result = described.parse(argc, argv);
    if (result.count("help") != 0) help_ = described.help(titles);
    for (const OptionGroup& group : groups_) {
      for (const Option& option : group.options) {
        const std::string name = long_name(option);
        if (result.count(name) == 0) continue;
        values_[name] = option.value.empty() ? Texts{} : result[name].as<Texts>();
      }
    }
    if (result.count("file") != 0) files_ = result["file"].as<Texts>();
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(error.what());
  }
}

std::string CommandLine::text(const std::string& name) const {
  if (const auto found = values_.find(name); found != values_.end()) {
    return found->second.empty() ? "" : found->second.back();
  }
  for (const OptionGroup& group : groups_) {
    for (const Option& option : group.options) {
      if (long_name(option) == name) return option.default_text;
    }
  }
  return "";
}

std::vector<std::string> CommandLine::list(const std::string& name) const {
  std::vector<std::string> items;
  const auto found = values_.find(name);
  if (found == values_.end()) return items;
  for (const std::string& value : found->second) {
    for (const std::string& item : split_list(value)) items.push_back(item);
  }
  return items;
}

std::string CommandLine::joined(const std::string& name) const {
  if (!given(name)) return text(name);
  std::string joined;
  for (const std::string& item : list(name)) joined += (joined.empty() ? "" : ",") + item;
  return joined;
}

uint64_t CommandLine::integer(const std::string& name, uint64_t low, uint64_t high) const {
  const std::string value = text(name);
  const bool digits = !value.empty() && value.size() < 19 &&
                      value.find_first_not_of("0123456789") == std::string::npos;
  const uint64_t result = digits ? std::strtoull(value.c_str(), nullptr, 10) : 0;
  if (digits && result >= low && result <= high) return result;
  throw UsageError("--" + name + " must be a whole number from " + std::to_string(low) + " to " +
                   std::to_string(high) + ", not '" + value + "'");
}

double CommandLine::number(const std::string& name, double low, double high) const {
  return number_of(name, text(name), low, high);
}

std::string CommandLine::file() const {
  if (files_.empty()) throw UsageError("no file given");
  if (files_.size() > 1) throw UsageError("one file expected, also given '" + files_[1] + "'");
  return files_[0];
}

double number_of(const std::string& option, const std::string& value, double low, double high) {
  char* end = nullptr;
  const double result = std::strtod(value.c_str(), &end);
  if (!value.empty() && *end == '\0' && result >= low && result <= high) return result;
  char range[64];
  std::snprintf(range, sizeof(range), "%g to %g", low, high);
  throw UsageError("--" + option + " must be a number from " + range + ", not '" + value + "'");
}

std::vector<std::string> split_list(const std::string& text, char separator) {
  std::vector<std::string> items;
  for (size_t at = 0; !text.empty() && at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    items.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return items;
}

}  // namespace taper::tools
