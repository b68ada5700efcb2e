// Signatures of files; see signature.h. The arithmetic is libsodium's.

#include "signing/signature.h"

#include <sodium.h>

#include <cstring>

namespace taper {
namespace {

constexpr char kMark[] = "TaprSig1";
constexpr size_t kMarkBytes = 8;
static_assert(kSignatureBytes == crypto_sign_BYTES + crypto_sign_PUBLICKEYBYTES + kMarkBytes);
static_assert(sizeof(PublicKey::bytes) == crypto_sign_PUBLICKEYBYTES);
static_assert(sizeof(SigningKey::seed) == crypto_sign_SEEDBYTES);

// A key in libsodium's form, which is cleared after use.
struct SecretKey {
  uint8_t bytes[crypto_sign_SECRETKEYBYTES] = {};
  SecretKey() = default;
  SecretKey(const SecretKey&) = delete;
  SecretKey& operator=(const SecretKey&) = delete;
  ~SecretKey() { sodium_memzero(bytes, sizeof(bytes)); }
};

bool is_signed(Span<const uint8_t> file) {
  return file.size() >= kSignatureBytes &&
         std::memcmp(file.data() + file.size() - kMarkBytes, kMark, kMarkBytes) == 0;
}

Status check(void* context, Span<const uint8_t> file) {
  return check_signature(file, *static_cast<const PublicKey*>(context));
}

}  // namespace

Result<SigningKey> make_signing_key() {
  TAPER_REQUIRE(sodium_init() >= 0, Error::kInternal, "the system has no random numbers");
  SigningKey key;
  SecretKey secret;
  randombytes_buf(key.seed, sizeof(key.seed));
  crypto_sign_seed_keypair(key.public_key.bytes, secret.bytes, key.seed);
  return key;
}

Span<const uint8_t> without_signature(Span<const uint8_t> file) {
  return is_signed(file) ? Span<const uint8_t>(file.data(), file.size() - kSignatureBytes) : file;
}

Result<PublicKey> signer_of(Span<const uint8_t> file) {
  TAPER_REQUIRE(is_signed(file), Error::kNotFound, "the file is not signed");
  PublicKey key;
  std::memcpy(key.bytes, file.data() + file.size() - kMarkBytes - sizeof(key.bytes),
              sizeof(key.bytes));
  return key;
}

std::string make_signature(Span<const uint8_t> file, const SigningKey& key) {
  SecretKey secret;
  uint8_t public_key[crypto_sign_PUBLICKEYBYTES], signature[crypto_sign_BYTES];
  crypto_sign_seed_keypair(public_key, secret.bytes, key.seed);
  crypto_sign_detached(signature, nullptr, file.data(), file.size(), secret.bytes);
  std::string out(reinterpret_cast<const char*>(signature), sizeof(signature));
  out.append(reinterpret_cast<const char*>(public_key), sizeof(public_key));
  return out.append(kMark, kMarkBytes);
}

Status check_signature(Span<const uint8_t> file, const PublicKey& key) {
  TAPER_REQUIRE(is_signed(file), Error::kAccessFailed, "the file is not signed");
  const Span<const uint8_t> bytes = without_signature(file);
  const uint8_t* signature = bytes.data() + bytes.size();
  TAPER_REQUIRE(std::memcmp(signature + crypto_sign_BYTES, key.bytes, sizeof(key.bytes)) == 0,
                Error::kAccessFailed,
                "the file is signed by another key than the one that is asked for");
  TAPER_REQUIRE(sodium_init() >= 0 && crypto_sign_verify_detached(signature, bytes.data(),
                                                                  bytes.size(), key.bytes) == 0,
                Error::kAccessFailed, "the file was changed after it was signed");
  return {};
}

FileCheck signed_by(const PublicKey* key) {
  return {&check, const_cast<PublicKey*>(key)};  // check() does not write.
}

}  // namespace taper
