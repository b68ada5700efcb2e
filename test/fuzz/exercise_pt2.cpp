// Exercises an archive as the compiler's C API would, then the runtime with the result.

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "taper/compiler.h"
#include "test/fuzz/backend_hooks.h"
#include "test/fuzz/exercise.h"
#include "test/fuzz/mutate.h"
#include "tools/commands/sources.h"
#include "tools/error.h"

namespace taper::fuzz {
namespace {

// "s77": a symbol of the program, or another text that stands where one would. The archive's JSON
// is not compressed.
std::string symbol_in(std::string_view file) {
  const size_t at = file.find("\"range_constraints\"");
  const size_t open = at == file.npos ? file.npos : file.find('{', at);
  const size_t begin = open == file.npos ? file.npos : file.find('"', open);
  const size_t end = begin == file.npos ? file.npos : file.find('"', begin + 1);
  constexpr size_t kLongest = 64;
  if (end == file.npos || end - begin > kLongest) return "s0";
  return std::string(file.substr(begin + 1, end - begin - 1));
}

std::string drawn_backend(Random& random) {
  const std::span<const BackendHooks* const> backends = backend_hooks();
  const size_t draw = random.below(backends.size() + 1);
  return draw == backends.size() ? "portable" : backends[draw]->name;
}

// Options that may be a reason to refuse a program, or none.
std::vector<std::string> drawn_options(std::string_view file, Random& random) {
  std::vector<std::string> words;
  if (random.one_in(4)) {
    words.emplace_back(random.one_in(2) ? "--precision=f16" : "--precision=bf16");
  }
  if (random.one_in(4)) words.emplace_back("--compat=executorch");
  if (random.one_in(4)) {
    const uint64_t bound = random.one_in(4) ? awkward_integer(random) >> 1 : random.below(64);
    words.push_back("--bound=" + symbol_in(file) + "=" + std::to_string(bound));
  }
  return words;
}

// The program that is made of an archive; empty if it is refused.
std::string compiled(const std::vector<char>& file, const std::vector<std::string>& words) {
  const taper_source source = {"forward", file.data(), file.size()};
  std::vector<const char*> options;
  for (const std::string& word : words) options.push_back(word.c_str());
  taper_compilation* made = nullptr;
  const taper_code code = taper_compile(options.data(), options.size(), &source, 1, &made, nullptr);
  const std::unique_ptr<taper_compilation, void (*)(taper_compilation*)> owner(
      made, taper_free_compilation);
  if (code == TAPER_INTERNAL || taper_compilation_report(made)[0] != '{') std::abort();
  if (code != TAPER_OK) return {};
  size_t size = 0;
  const auto* program = static_cast<const char*>(taper_compiled_program(made, &size));
  return {program, size};
}

// What --format=c writes of a program that has no delegates.
void make_sources(const std::string& program) {
  try {
    static_cast<void>(tools::sources_of(program, false));
  } catch (const tools::InputError&) {  // It cannot be firmware.
  }
}

}  // namespace

bool exercise_pt2(std::string_view file) {
  // Exactly as many bytes on the heap as there are, so that no byte behind them is read unnoticed.
  const std::vector<char> bytes(file.begin(), file.end());
  Random random = drawn_from(file);
  const std::vector<std::string> plain = {"--backend=" + drawn_backend(random),
                                          random.one_in(2) ? "--io=planned" : "--io=application"};
  const std::vector<std::string> more = drawn_options(file, random);
  std::vector<std::string> all = plain;
  all.insert(all.end(), more.begin(), more.end());
  std::string program = compiled(bytes, all);
  if (program.empty() && !more.empty()) program = compiled(bytes, plain);
  if (program.empty()) return false;
  if (random.one_in(4)) make_sources(program);
  return exercise_pte(program);
}

}  // namespace taper::fuzz
