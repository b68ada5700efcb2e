// Exercises a signed file and the text of a key (pair.h). A mutant must not be taken for what the
// key has signed: that is an error, too.

#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "signing/signature.h"
#include "test/fuzz/exercise.h"
#include "test/fuzz/pair.h"
#include "test/fuzz/seeds.h"

namespace taper::fuzz {
namespace {

bool same(const PublicKey& a, const PublicKey& b) {
  return std::memcmp(a.bytes, b.bytes, sizeof(a.bytes)) == 0;
}

bool is_a_seed(std::string_view file) {
  static const std::set<std::string, std::less<>> files = [] {
    std::set<std::string, std::less<>> all;
    for (const std::string& seed : signed_seeds()) all.emplace(split_pair(seed).program);
    return all;
  }();
  return files.count(file) != 0;
}

// Signs the file anew, and checks that.
void sign(Span<const uint8_t> file, const SigningKey& key) {
  const Span<const uint8_t> plain = without_signature(file);
  std::string made(reinterpret_cast<const char*>(plain.data()), plain.size());
  // What ends like a signed file counts as signed.
  if (without_signature(plain).size() != plain.size()) return;
  made += make_signature(plain, key);
  const Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(made.data()), made.size());
  if (!check_signature(bytes, key.public_key).ok()) std::abort();
}

}  // namespace

bool exercise_signed(std::string_view pair) {
  const auto [file_text, key_text] = split_pair(pair);
  // Allocations of their own, so that a sanitizer detects any access past their ends.
  const std::vector<uint8_t> file(file_text.begin(), file_text.end());
  const std::vector<char> text(key_text.begin(), key_text.end());
  const Span<const uint8_t> bytes(file.data(), file.size());
  const std::string_view pem(text.data(), text.size());

  const Result<SigningKey> signing = read_signing_key(pem);
  if (signing.ok()) {
    const Result<SigningKey> again = read_signing_key(to_pem(*signing));
    if (!again.ok() || !same(again->public_key, signing->public_key)) std::abort();
    sign(bytes, *signing);
  }
  const Result<PublicKey> open = read_public_key(pem);
  if (open.ok() && !same(*read_public_key(to_pem(*open)), *open)) std::abort();
  const Result<PublicKey> signer = signer_of(bytes);
  const PublicKey* key = open.ok() ? &*open : signing.ok() ? &signing->public_key : nullptr;
  if (key == nullptr) return false;
  const FileCheck check = signed_by(key);
  const bool accepted = check.check(check.context, bytes).ok();
  if (accepted && (!signer.ok() || !same(*signer, *key))) std::abort();
  if (accepted && !is_a_seed(file_text)) std::abort();
  return accepted;
}

}  // namespace taper::fuzz
