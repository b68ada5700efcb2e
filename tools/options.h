// Command lines of the sub-commands. Only options.cpp knows cxxopts; a command says what it takes
// as a table of options and reads text, lists and numbers back.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace taper::tools {

struct Option {
  std::string names;  // "m,method" or "json".
  std::string help;
  std::string value = "";         // "FILE"; empty for a flag that takes none.
  std::string default_text = "";  // What text() gives when the option is absent.
};

struct OptionGroup {
  std::string title;
  std::vector<Option> options;
};

class CommandLine {
 public:
  // `usage` follows the command's name: "FILE.pte [OPTIONS]". --help is added.
  CommandLine(std::string command, std::string intro, std::string usage,
              std::vector<OptionGroup> groups);

  // Returns false when --help was asked for and printed.
  // Throws UsageError for an option that is unknown or lacks its value.
  bool parse(int argc, char** argv);

  bool given(const std::string& name) const { return values_.count(name) != 0; }
  // The value given last, or the default.
  std::string text(const std::string& name) const;
  // All values of all occurrences, each split at commas.
  std::vector<std::string> list(const std::string& name) const;
  // The value as a number in [low, high]. Throws UsageError.
  uint64_t integer(const std::string& name, uint64_t low, uint64_t high) const;
  double number(const std::string& name, double low, double high) const;

  // What stands without an option's name. file() demands exactly one; both throw UsageError.
  const std::vector<std::string>& files() const { return files_; }
  std::string file() const;

 private:
  std::string command_, intro_, usage_;
  std::vector<OptionGroup> groups_;
  std::map<std::string, std::vector<std::string>> values_;  // Of the options that were given.
  std::vector<std::string> files_;
};

// "a,b,c" as its items; an empty text has none.
std::vector<std::string> split_list(const std::string& text, char separator = ',');

}  // namespace taper::tools
