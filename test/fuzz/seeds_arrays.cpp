// Makes the seeds that no model is needed for: arrays, signed files.

#include <cstdlib>
#include <cstring>

#include "signing/signature.h"
#include "test/fuzz/archive.h"
#include "test/fuzz/pair.h"
#include "test/fuzz/seeds.h"
#include "tools/npy.h"

namespace taper::fuzz {
namespace {

std::string array_of(ScalarType dtype, const std::vector<int64_t>& shape) {
  size_t count = element_size(dtype);
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  std::string bytes(count, 0);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i % 64);
  return tools::npy_bytes(dtype, shape, bytes);
}

std::string in_other_order(std::string file) {
  const std::string order = "False", other = "True ";
  return file.replace(file.find(order), order.size(), other);
}

SigningKey fixed_key() {
  SigningKey key;
  for (size_t i = 0; i < sizeof(key.seed); ++i) key.seed[i] = static_cast<uint8_t>(i + 1);
  const Result<SigningKey> whole = read_signing_key(to_pem(key));
  if (!whole.ok()) std::abort();
  return *whole;
}

}  // namespace

std::vector<std::string> npy_seeds() {
  return {array_of(ScalarType::kFloat, {4, 3}),
          in_other_order(array_of(ScalarType::kFloat, {2, 4, 3})),
          array_of(ScalarType::kLong, {}),
          array_of(ScalarType::kBFloat16, {5}),
          array_of(ScalarType::kComplexDouble, {2, 1, 2}),
          array_of(ScalarType::kBool, {3, 0}),
          array_of(ScalarType::kFloat, {3, 0})};
}

std::vector<std::string> npz_seeds() {
  return {pack({{"x.npy", array_of(ScalarType::kFloat, {4, 3})},
                {"y.npy", array_of(ScalarType::kLong, {4})}}),
          pack({{"only.npy", in_other_order(array_of(ScalarType::kHalf, {3, 3}))}})};
}

std::vector<std::string> signed_seeds() {
  const SigningKey key = fixed_key();
  std::vector<std::string> seeds;
  for (const std::string& file : {std::string(), npy_seeds()[0]}) {
    const Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(file.data()), file.size());
    const std::string whole = file + make_signature(bytes, key);
    for (const std::string& pem : {to_pem(key), to_pem(key.public_key)}) {
      seeds.push_back(join_pair(whole, pem));
    }
  }
  return seeds;
}

}  // namespace taper::fuzz
