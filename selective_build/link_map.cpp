// The map consists of lines with columns. After a long section name, its numbers are on the next
// line.

#include "selective_build/link_map.h"

#include <cstdlib>

namespace taper::select {
namespace {

std::string_view trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(' ');
  if (first == line.npos) return {};
  const size_t last = line.find_last_not_of(" \r");
  return line.substr(first, last - first + 1);
}

// Removes the first word from `line` and returns it.
std::string_view next_word(std::string_view* line) {
  *line = trimmed(*line);
  const size_t end = std::min(line->find(' '), line->size());
  const std::string_view word = line->substr(0, end);
  *line = trimmed(line->substr(end));
  return word;
}

bool number(std::string_view word, uint64_t* value) {
  if (word.substr(0, 2) != "0x") return false;
  *value = std::strtoull(std::string(word).c_str(), nullptr, 16);
  return true;
}

// True for sections that are part of the loaded image.
bool is_loaded(std::string_view output) {
  for (const char* prefix :
       {".text", ".init", ".fini", ".rodata", ".eh_frame", ".gcc_except_table", ".data", ".tdata",
        ".got", ".plt", ".preinit_array", ".lrodata", ".rela", ".ctors", ".dtors"}) {
    if (output.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

class Reader {
 public:
  explicit Reader(LinkMap* map) : map_(*map) {}

  bool read(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return seen_;
  }

 private:
  enum class Part { kBefore, kMemory, kReferences };

  void line(std::string_view line) {
    if (line.rfind("Linker script and memory map", 0) == 0) {
      part_ = Part::kMemory;
      seen_ = true;
    } else if (line.rfind("Cross Reference Table", 0) == 0) {
      part_ = Part::kReferences;
    } else if (part_ == Part::kMemory) {
      memory_line(line);
    } else if (part_ == Part::kReferences) {
      reference_line(line);
    }
  }

  void memory_line(std::string_view line) {
    if (line.empty()) return;
    if (line[0] == '.') output_ = line.substr(0, line.find(' '));
    if (line[0] != ' ') return;
    std::string_view rest = line;
    const bool names_section = line.size() > 1 && line[1] != ' ';
    if (names_section) section_ = next_word(&rest);
    uint64_t address = 0, bytes = 0;
    if (!number(next_word(&rest), &address) || !number(next_word(&rest), &bytes)) return;
    if (bytes == 0 || address == 0) return;
    if (section_ == "*fill*") rest = "padding";
    // A line without a file is a symbol, or the total of an output section.
    if (rest.empty() || rest[0] == '(') return;
    if (output_ == ".bss" || output_ == ".tbss") {
      map_.zeroed += bytes;
    } else if (is_loaded(output_)) {
      map_.pieces.push_back({std::string(rest), section_, bytes});
    }
  }

  // "symbol   object" says which object defines a symbol; "         object" below, which ones use
  // it.
  void reference_line(std::string_view line) {
    if (line.empty() || line.rfind("Symbol ", 0) == 0) return;
    if (line[0] != ' ') {
      // Symbols are demangled and may contain spaces; the object comes last, after one or more
      // spaces.
      const std::string_view text = trimmed(line);
      size_t at = text.find("  ");
      if (at == text.npos)
        at = text.rfind(") ") == text.npos ? text.rfind(' ') : text.rfind(") ") + 1;
      if (at == text.npos) return;
      defined_in_ = std::string(trimmed(text.substr(at)));
      return;
    }
    map_.references[std::string(trimmed(line))].insert(defined_in_);
  }

  LinkMap& map_;
  Part part_ = Part::kBefore;
  bool seen_ = false;
  std::string output_, section_, defined_in_;
};

}  // namespace

bool read_link_map(std::string_view text, LinkMap* map) { return Reader(map).read(text); }

}  // namespace taper::select
