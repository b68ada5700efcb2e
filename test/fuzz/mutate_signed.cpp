// Mutations of a signed file, most of them of its signature, and of the text of a key, most of
// which leave the text well-formed.

#include "test/fuzz/mutate.h"
#include "test/fuzz/pair.h"

namespace taper::fuzz {
namespace {

constexpr size_t kSignature = 104;  // Bytes behind the file.

// Other bits of the key, or of what stands before it.
std::string other_letters(std::string key, Random& random) {
  static constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
  const size_t begin = key.find('\n'), end = key.find('\n', begin + 1);
  if (begin == key.npos || end == key.npos || end == begin + 1) return key;
  for (size_t edits = 1 + random.below(3); edits > 0; --edits) {
    key[begin + 1 + random.below(end - begin - 1)] = kLetters[random.below(kLetters.size())];
  }
  if (random.one_in(4))
    key.insert(begin + 1 + random.below(end - begin), 1, kLetters[random.below(kLetters.size())]);
  return key;
}

}  // namespace

std::string mutate_signed(const std::string& file, Random& random) {
  const Pair pair = split_pair(file);
  std::string program(pair.program), key(pair.companion);
  if (random.one_in(2)) {
    key = random.one_in(3) ? mutate_bytes(std::move(key), random)
                           : other_letters(std::move(key), random);
  } else if (random.one_in(3) || program.size() < kSignature) {
    program = mutate_bytes(std::move(program), random);
  } else {
    const std::string signature = program.substr(program.size() - kSignature);
    program.resize(program.size() - kSignature);
    program += mutate_bytes(signature, random);
  }
  return join_pair(program, key);
}

}  // namespace taper::fuzz
