// Tests kernels_portable/ops.def, the list of operators: it names exactly the existing op_*.cpp
// files, its names are sorted and unique, and every file has cases with results from PyTorch.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "test/tidy/tree.h"

namespace taper::tidy {
namespace {

struct Entry {
  std::string variable, file, schema;
};

// Parses the first three fields of TAPER_OP(variable, file, "schema", memory, "dtypes"). Returns
// false if the line is not an entry.
bool parse(const std::string& line, Entry* entry) {
  if (line.rfind("TAPER_OP(", 0) != 0) return false;
  std::vector<std::string> fields(1);
  for (const char c : line.substr(9)) {
    if (c == ')') break;
    if (c == ',') fields.emplace_back();
    if (c != ',' && c != ' ' && c != '"') fields.back() += c;
  }
  if (fields.size() != 5) return false;
  *entry = {fields[0], fields[1], fields[2]};
  return true;
}

std::vector<Entry> entries() {
  std::vector<Entry> result;
  for (const File& file : all_files()) {
    if (file.path != "kernels_portable/ops.def") continue;
    for (const std::string& line : file.lines) {
      Entry entry;
      if (parse(line, &entry)) result.push_back(entry);
    }
  }
  return result;
}

// The files of operators, such as "binary/op_add".
std::set<std::string> operator_files() {
  const std::string folder = "kernels_portable/ops/";
  std::set<std::string> names;
  for (const File& file : all_files()) {
    if (!file.is_under("kernels_portable/ops") || !file.ends_with(".cpp") || file.is_test())
      continue;
    names.insert(file.path.substr(folder.size(), file.path.size() - 4 - folder.size()));
  }
  return names;
}

TEST(Operators, TheListNamesExactlyTheFiles) {
  std::set<std::string> listed;
  for (const Entry& entry : entries()) listed.insert(entry.file);
  const std::set<std::string> present = operator_files();
  for (const std::string& file : listed) {
    EXPECT_TRUE(present.count(file)) << "ops.def names " << file << ".cpp, which does not exist";
  }
  for (const std::string& file : present) {
    EXPECT_TRUE(listed.count(file)) << file << ".cpp is missing from ops.def";
  }
  EXPECT_FALSE(listed.empty());
}

TEST(Operators, EveryFileHasCases) {
  for (const std::string& file : operator_files()) {
    const std::string cases = "kernels_portable/cases/" + file.substr(file.find('/') + 1) + ".txt";
    EXPECT_TRUE(std::any_of(all_files().begin(), all_files().end(),
                            [&](const File& f) { return f.path == cases; }))
        << cases << " is missing";
  }
}

TEST(Operators, NamesAreSortedAndUnique) {
  const std::vector<Entry> list = entries();
  for (size_t i = 1; i < list.size(); ++i) {
    EXPECT_LT(list[i - 1].schema, list[i].schema);
  }
}

TEST(Operators, EachVariableIsDefinedInItsFile) {
  for (const Entry& entry : entries()) {
    const auto file = std::find_if(all_files().begin(), all_files().end(), [&](const File& f) {
      return f.path == "kernels_portable/ops/" + entry.file + ".cpp";
    });
    if (file == all_files().end()) continue;
    bool found = false;
    for (const std::string& line : file->lines) found |= line.find(entry.schema) != line.npos;
    EXPECT_TRUE(found) << entry.file << ".cpp does not name " << entry.schema;
  }
}

}  // namespace
}  // namespace taper::tidy
