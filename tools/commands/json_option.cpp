#include "tools/commands/json_option.h"

#include <cstdio>

#include "tools/atomic_file.h"

namespace taper::tools {

Option json_option(const std::string& what) {
  return {"json", "Print JSON" + what + "; with a FILE, write it there and print the text",
          "[FILE]"};
}

bool give_json(const CommandLine& line, const std::string& json) {
  if (!line.given("json")) return true;
  const std::string path = line.text("json");
  if (path == kNoValue) {
    std::printf("%s\n", json.c_str());
    return false;
  }
  write_file(path, json + "\n");
  return true;
}

}  // namespace taper::tools
