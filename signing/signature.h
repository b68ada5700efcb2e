// Signed files: who made a .pte or .ptd, and that nobody has changed it since.
//
// A signed file is the file as it was, and 104 bytes behind it: the Ed25519 signature (RFC 8032) of
// all bytes before them, 64; the public key of the signer, 32; and "TaprSig1". Programs that know
// nothing of signatures run it as it is. `taper sign` signs; keys are the PEM files of
// `openssl genpkey -algorithm ed25519`.
//
// To accept signed files alone:
//
//   Result<PublicKey> key = read_public_key(pem_text);
//   ModuleOptions options;
//   options.check = signed_by(&*key);
//
// Threads: all functions may be called from several threads at once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "taper/module.h"
#include "taper/span.h"
#include "taper/status.h"

namespace taper {

constexpr size_t kSignatureBytes = 104;

// 32 bytes, as in RFC 8032.
struct PublicKey {
  uint8_t bytes[32] = {};
};

// A private key is 32 bytes that nobody else may see, from which the public key follows.
struct SigningKey {
  uint8_t seed[32] = {};
  PublicKey public_key;
};

// The text between "-----BEGIN PUBLIC KEY-----" and its end (RFC 8410). Returns kInvalidArgument
// for a text of another kind.
Result<PublicKey> read_public_key(std::string_view pem);
// The same for "-----BEGIN PRIVATE KEY-----", without a password.
Result<SigningKey> read_signing_key(std::string_view pem);
std::string to_pem(const PublicKey& key);
std::string to_pem(const SigningKey& key);
// A new key from the system's random numbers. Returns kInternal if it has none.
Result<SigningKey> make_signing_key();

// The bytes without their signature; all of them if they have none.
Span<const uint8_t> without_signature(Span<const uint8_t> file);
// Who says to have signed; kNotFound if nobody. Only check_signature() tells whether it is true.
Result<PublicKey> signer_of(Span<const uint8_t> file);
// What to append to `file`, which has no signature yet.
std::string make_signature(Span<const uint8_t> file, const SigningKey& key);

// Succeeds if `key` has signed these bytes. Returns kAccessFailed, and says which, if they are not
// signed, are signed by another key, or have changed since.
Status check_signature(Span<const uint8_t> file, const PublicKey& key);

// A check for ModuleOptions, which accepts what `key` has signed. `key` must outlive the Module.
FileCheck signed_by(const PublicKey* key);

}  // namespace taper
