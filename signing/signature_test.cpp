// Signatures and keys against the examples of RFC 8032 and RFC 8410, and files that were changed.

#include "signing/signature.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "taper/taper.h"

namespace taper {
namespace {

// RFC 8410, section 10.
constexpr char kPublicPem[] =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
    "-----END PUBLIC KEY-----\n";
constexpr char kPrivatePem[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
    "-----END PRIVATE KEY-----\n";

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

Span<const uint8_t> span(const std::string& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

std::string text(const uint8_t (&bytes)[32]) {
  return {reinterpret_cast<const char*>(bytes), sizeof(bytes)};
}

SigningKey key_of_rfc() { return *read_signing_key(kPrivatePem); }

std::string signed_file(const std::string& file) {
  return file + make_signature(span(file), key_of_rfc());
}

TEST(SigningKeys, AreThoseOfRfc8410) {
  const SigningKey key = key_of_rfc();
  EXPECT_EQ(text(key.seed),
            from_hex("d4ee72dbf913584ad5b6d8f1f769f8ad3afe7c28cbf1d4fbe097a88f44755842"));
  EXPECT_EQ(text(key.public_key.bytes), text(read_public_key(kPublicPem)->bytes));
  EXPECT_EQ(to_pem(key), kPrivatePem);
  EXPECT_EQ(to_pem(key.public_key), kPublicPem);
}

TEST(SigningKeys, OfOtherKindsAreRefused) {
  EXPECT_FALSE(read_public_key(kPrivatePem).ok());
  EXPECT_FALSE(read_signing_key(kPublicPem).ok());
  EXPECT_FALSE(read_public_key("").ok());
  const std::string whole = kPublicPem;
  for (size_t length = 0; length + 1 < whole.size(); ++length) {
    EXPECT_FALSE(read_public_key(whole.substr(0, length)).ok()) << length;
  }
  std::string other = whole;
  other[other.find("MCow")] = 'N';
  EXPECT_EQ(read_public_key(other).error(), Error::kInvalidArgument);
}

TEST(SigningKeys, DifferFromEachOther) {
  const Result<SigningKey> first = make_signing_key(), second = make_signing_key();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(text(first->seed), text(second->seed));
  EXPECT_EQ(text(read_signing_key(to_pem(*first))->public_key.bytes),
            text(first->public_key.bytes));
}

// RFC 8032, section 7.1, test 3.
TEST(Signatures, AreThoseOfRfc8032) {
  SigningKey key;
  const std::string seed =
      from_hex("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7");
  std::memcpy(key.seed, seed.data(), sizeof(key.seed));
  const std::string file = from_hex("af82"), signature = make_signature(span(file), key);
  ASSERT_EQ(signature.size(), kSignatureBytes);
  EXPECT_EQ(signature.substr(0, 64),
            from_hex("6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                     "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"));
  EXPECT_EQ(signature.substr(64, 32),
            from_hex("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"));
}

TEST(Signatures, OfAFileAreAccepted) {
  for (const std::string& file : {std::string("a program"), std::string()}) {
    const std::string whole = signed_file(file);
    const PublicKey key = *read_public_key(kPublicPem);
    EXPECT_TRUE(check_signature(span(whole), key).ok());
    EXPECT_EQ(without_signature(span(whole)).size(), file.size());
    EXPECT_EQ(text(signer_of(span(whole))->bytes), text(key.bytes));
  }
}

TEST(Signatures, OfEveryOtherFileAreRefused) {
  const std::string whole = signed_file("a program");
  const PublicKey key = *read_public_key(kPublicPem);
  for (size_t i = 0; i < whole.size() * 8; ++i) {
    std::string changed = whole;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << i % 8));
    EXPECT_EQ(check_signature(span(changed), key).error(), Error::kAccessFailed) << i;
  }
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(check_signature(span(whole.substr(0, length)), key).ok()) << length;
  }
  EXPECT_FALSE(check_signature(span(whole + "x"), key).ok());
  EXPECT_FALSE(check_signature(span(whole + whole), key).ok());
  const Result<SigningKey> stranger = make_signing_key();
  const Status status = check_signature(span(whole), stranger->public_key);
  EXPECT_STREQ(status.message(),
               "the file is signed by another key than the one that is asked for");
  EXPECT_EQ(signer_of(span("a program")).error(), Error::kNotFound);
}

TEST(Signatures, AreAskedForInC) {
  taper_error error;
  taper_public_key key;
  ASSERT_EQ(taper_read_public_key(kPublicPem, &key, &error), TAPER_OK) << error.message;
  const std::string whole = signed_file("a program");
  EXPECT_EQ(taper_signed_by(&key, whole.data(), whole.size(), &error), TAPER_OK);
  EXPECT_EQ(taper_signed_by(&key, whole.data(), whole.size() - 1, &error), TAPER_ACCESS_FAILED);
  EXPECT_STREQ(error.message, "the file is not signed");
  EXPECT_EQ(taper_signed_by(nullptr, whole.data(), whole.size(), &error), TAPER_INVALID_ARGUMENT);
  EXPECT_EQ(taper_signed_by(&key, nullptr, 0, nullptr), TAPER_INVALID_ARGUMENT);
  EXPECT_EQ(taper_read_public_key(nullptr, &key, &error), TAPER_INVALID_ARGUMENT);
  EXPECT_EQ(taper_read_public_key("no key", &key, &error), TAPER_INVALID_ARGUMENT);
  EXPECT_STREQ(error.site, "taper_read_public_key");
}

}  // namespace
}  // namespace taper
