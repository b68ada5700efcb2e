#include "tools/options.h"

#include <cstdio>

#include "tools/error.h"

namespace taper::tools {

std::optional<cxxopts::ParseResult> parse_options(cxxopts::Options& options,
                                                  const std::vector<std::string>& groups, int argc,
                                                  char** argv) {
  try {
    cxxopts::ParseResult given = options.parse(argc, argv);
    if (given.count("help") != 0) {
      std::fputs(options.help(groups).c_str(), stdout);
      return std::nullopt;
    }
    return given;
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(error.what());
  }
}

std::string one_file(const cxxopts::ParseResult& given, const std::string& name) {
  if (given.count(name) == 0) throw UsageError("no file given");
  const auto files = given[name].as<std::vector<std::string>>();
  if (files.size() != 1) throw UsageError("one file expected, '" + files[1] + "' is a second");
  return files[0];
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
