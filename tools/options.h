// Command lines of the sub-commands. A command describes its options in a table and reads text,
// lists and numbers back; only options.cpp depends on cxxopts.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace taper::tools {

struct Option {
  std::string names;  // "m,method" or "json".
  std::string help;
  std::string value = "";         // "FILE"; "[FILE]" may be left out; empty for a flag.
  std::string default_text = "";  // Returned by text() if the option is absent.
};

// The value of an option that was given without one that may be left out.
inline constexpr char kNoValue[] = "-";

struct OptionGroup {
  std::string title;
  std::vector<Option> options;
};

class CommandLine {
 public:
  // `usage` follows the command's name: "FILE.pte [OPTIONS]". Adds --help.
  CommandLine(std::string command, std::string intro, std::string usage,
              std::vector<OptionGroup> groups);

  // Returns false if --help was given and the help was printed. Throws UsageError for an option
  // that is unknown or lacks its value.
  bool parse(int argc, char** argv);
  // The same, but prints nothing; given("help") tells of --help.
  void read(int argc, const char* const* argv);

  bool given(const std::string& name) const { return values_.count(name) != 0; }
  // The value given last, or the default.
  std::string text(const std::string& name) const;
  // All values of all occurrences, each split at commas; and as one text, "a,b,c", or the default.
  std::vector<std::string> list(const std::string& name) const;
  std::string joined(const std::string& name) const;
  // The value as a number in [low, high]. Throws UsageError.
  uint64_t integer(const std::string& name, uint64_t low, uint64_t high) const;
  double number(const std::string& name, double low, double high) const;

  // The positional arguments. file() throws UsageError unless there is exactly one.
  const std::vector<std::string>& files() const { return files_; }
  std::string file() const;

 private:
  std::string command_, intro_, usage_, help_;
  std::vector<OptionGroup> groups_;
  std::map<std::string, std::vector<std::string>> values_;  // By option, for those given.
  std::vector<std::string> files_;
};

// The value of an option as a number in [low, high]. Throws UsageError.
double number_of(const std::string& option, const std::string& value, double low, double high);

// Splits "a,b,c" into its items; an empty text has none.
std::vector<std::string> split_list(const std::string& text, char separator = ',');

}  // namespace taper::tools
