// Signatures in the C API. Compiled without TAPER_SIGNING, for a library without libsodium, it says
// that there are none.

#include <cstring>

#include "taper/c_error.h"
#if TAPER_SIGNING
#include "signing/signature.h"
#endif

namespace {

using taper::Error;
using taper::Status;

#if TAPER_SIGNING

static_assert(sizeof(taper_public_key) == sizeof(taper::PublicKey));

Status read_key(const char* pem, taper_public_key* key) {
  taper::Result<taper::PublicKey> read = taper::read_public_key(pem);
  TAPER_TRY(read.status());
  std::memcpy(key->bytes, read->bytes, sizeof(key->bytes));
  return {};
}

Status check(const taper_public_key& wanted, const void* data, size_t size) {
  taper::PublicKey key;
  std::memcpy(key.bytes, wanted.bytes, sizeof(key.bytes));
  return taper::check_signature({static_cast<const uint8_t*>(data), size}, key);
}

#else

constexpr Status kNone = {Error::kNotSupported, "this library was built without libsodium"};
Status read_key(const char*, taper_public_key*) { return kNone; }
Status check(const taper_public_key&, const void*, size_t) { return kNone; }

#endif

}  // namespace

extern "C" taper_code taper_read_public_key(const char* pem, taper_public_key* key,
                                            taper_error* error) {
  Status status = {Error::kInvalidArgument,
                   pem == nullptr ? "pem is a null pointer" : "key is a null pointer"};
  if (pem != nullptr && key != nullptr) status = read_key(pem, key);
  return taper::report(error, status, __func__);
}

extern "C" taper_code taper_signed_by(void* key, const void* data, size_t size,
                                      taper_error* error) {
  Status status = {Error::kInvalidArgument,
                   key == nullptr ? "key is a null pointer" : "data is a null pointer"};
  if (key != nullptr && data != nullptr) {
    status = check(*static_cast<const taper_public_key*>(key), data, size);
  }
  return taper::report(error, status, __func__);
}
