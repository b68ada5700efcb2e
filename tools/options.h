// Command-line parsing shared by the sub-commands: cxxopts with one way to fail.

#pragma once

// A file name may hold a comma: lists are split by split_list(), where one is meant.
#define CXXOPTS_VECTOR_DELIMITER '\x1f'

#include <cxxopts.hpp>

#include <optional>
#include <string>
#include <vector>

namespace taper::tools {

// Parses, or prints the help and returns nothing when --help is among the arguments.
// Throws UsageError for an option that is unknown or malformed.
std::optional<cxxopts::ParseResult> parse_options(cxxopts::Options& options,
                                                  const std::vector<std::string>& groups,
                                                  int argc, char** argv);

// The positional argument `name`, which must be given exactly once. Throws UsageError.
std::string one_file(const cxxopts::ParseResult& given, const std::string& name);

// "a,b,c" as its items; an empty text has none.
std::vector<std::string> split_list(const std::string& text, char separator = ',');

}  // namespace taper::tools
