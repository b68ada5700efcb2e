// Mutations of a file that belongs to a program, and of the program now and then.

#include "test/fuzz/backend_hooks.h"
#include "test/fuzz/mutate.h"
#include "test/fuzz/pair.h"

namespace taper::fuzz {

std::string mutate_pair(const std::string& file, Random& random) {
  const Pair pair = split_pair(file);
  std::string program(pair.program), companion(pair.companion);
  if (random.one_in(16)) {
    program = mutate_pte(std::move(program), random);
  } else {
    companion = mutate_bytes(std::move(companion), random);
  }
  return join_pair(program, companion);
}

// Without right hashes, whatever is behind them would be refused unread.
std::string mutate_packed_pair(const std::string& file, Random& random) {
  std::string mutant = mutate_pair(file, random);
  if (random.one_in(4)) return mutant;
  const Pair pair = split_pair(mutant);
  std::string packed(pair.companion);
  for (const BackendHooks* hooks : backend_hooks()) {
    if (hooks->seal_packed != nullptr) hooks->seal_packed(packed);
  }
  return join_pair(pair.program, packed);
}

}  // namespace taper::fuzz
