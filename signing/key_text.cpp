// Keys as the PEM texts of RFC 8410: base64 of a fixed prefix and 32 bytes.

#include <sodium.h>

#include <cstring>

#include "signing/signature.h"

namespace taper {
namespace {

constexpr size_t kKeyBytes = 32;
constexpr size_t kMostPrefix = 16;

// The lines around the base64, and DER of everything in front of the key.
struct Kind {
  std::string_view begin, end;
  uint8_t prefix[kMostPrefix];
  size_t prefix_bytes;
};
constexpr Kind kPublic = {"-----BEGIN PUBLIC KEY-----",
                          "-----END PUBLIC KEY-----",
                          {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00},
                          12};
constexpr Kind kPrivate = {"-----BEGIN PRIVATE KEY-----",
                           "-----END PRIVATE KEY-----",
                           {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70,
                            0x04, 0x22, 0x04, 0x20},
                           16};

// Finds the key in the text. Returns false if the text is of another kind. Needs no memory, since
// functions of C call it.
bool decode(std::string_view pem, const Kind& kind, uint8_t (&key)[kKeyBytes]) {
  const size_t from = pem.find(kind.begin), to = pem.find(kind.end);
  if (from == pem.npos || to == pem.npos || to < from + kind.begin.size()) return false;
  const std::string_view text = pem.substr(from + kind.begin.size(), to - from - kind.begin.size());
  uint8_t bytes[kMostPrefix + kKeyBytes];
  size_t length = 0;
  const bool is_right = sodium_base642bin(bytes, sizeof(bytes), text.data(), text.size(), " \t\r\n",
                                          &length, nullptr, sodium_base64_VARIANT_ORIGINAL) == 0 &&
                        length == kind.prefix_bytes + kKeyBytes &&
                        std::memcmp(bytes, kind.prefix, kind.prefix_bytes) == 0;
  if (is_right) std::memcpy(key, bytes + kind.prefix_bytes, kKeyBytes);
  sodium_memzero(bytes, sizeof(bytes));
  return is_right;
}

std::string encode(const Kind& kind, const uint8_t (&key)[kKeyBytes]) {
  uint8_t bytes[kMostPrefix + kKeyBytes];
  const size_t length = kind.prefix_bytes + kKeyBytes;
  std::memcpy(bytes, kind.prefix, kind.prefix_bytes);
  std::memcpy(bytes + kind.prefix_bytes, key, kKeyBytes);
  char text[sodium_base64_ENCODED_LEN(sizeof(bytes), sodium_base64_VARIANT_ORIGINAL)];
  sodium_bin2base64(text, sizeof(text), bytes, length, sodium_base64_VARIANT_ORIGINAL);
  sodium_memzero(bytes, sizeof(bytes));
  return std::string(kind.begin) + "\n" + text + "\n" + std::string(kind.end) + "\n";
}

}  // namespace

Result<PublicKey> read_public_key(std::string_view pem) {
  PublicKey key;
  TAPER_REQUIRE(decode(pem, kPublic, key.bytes), Error::kInvalidArgument,
                "this is not an Ed25519 public key in PEM form");
  return key;
}

Result<SigningKey> read_signing_key(std::string_view pem) {
  SigningKey key;
  TAPER_REQUIRE(decode(pem, kPrivate, key.seed), Error::kInvalidArgument,
                "this is not an Ed25519 private key in PEM form");
  uint8_t secret[crypto_sign_SECRETKEYBYTES];
  crypto_sign_seed_keypair(key.public_key.bytes, secret, key.seed);
  sodium_memzero(secret, sizeof(secret));
  return key;
}

std::string to_pem(const PublicKey& key) { return encode(kPublic, key.bytes); }
std::string to_pem(const SigningKey& key) { return encode(kPrivate, key.seed); }

}  // namespace taper
