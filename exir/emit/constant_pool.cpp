// Contents are found by a hash of samples and compared in full.

#include "exir/emit/constant_pool.h"

#include <algorithm>
#include <cstring>

#include "exir/delegate/content_name.h"

namespace taper::exir {
namespace {

bool same_bytes(const TensorData& a, const TensorData& b) {
  if (a.bytes != b.bytes) return false;
  return a.bytes == 0 || a.data == b.data || std::memcmp(a.data, b.data, a.bytes) == 0;
}

// FNV-1a over some of the words of eight bytes. Equal hashes are followed by a full comparison.
uint64_t hash_of_samples(const TensorData& data) {
  constexpr size_t kSamples = 256;
  const size_t step = std::max<size_t>(8, data.bytes / kSamples);
  uint64_t hash = 14695981039346656037u ^ data.bytes;
  size_t i = 0;
  for (; i + 8 <= data.bytes; i += step) {
    uint64_t word;
    std::memcpy(&word, data.data + i, 8);
    hash = (hash ^ word) * 1099511628211u;
    hash ^= hash >> 29;
  }
  for (; i < data.bytes; ++i) hash = (hash ^ data.data[i]) * 1099511628211u;
  return hash;
}

}  // namespace

void NamedPool::add(const std::string& name, const TensorData& data) {
  const auto [found, fresh] = entries_.emplace(name, data);
  if (!fresh && !same_bytes(found->second, data)) {
    throw Failure("two different constants of delegates are named " + name);
  }
}

uint32_t ConstantPool::find(const TensorData& data) const {
  const auto [first, last] = by_sample_.equal_range(hash_of_samples(data));
  for (auto it = first; it != last; ++it) {
    if (same_bytes(blobs_[it->second - 1], data)) return it->second;
  }
  return 0;
}

uint32_t ConstantPool::add(const TensorData& data) {
  if (const uint32_t known = find(data)) return known;
  blobs_.push_back(data);
  const auto index = static_cast<uint32_t>(blobs_.size());
  by_sample_.emplace(hash_of_samples(data), index);
  return index;
}

std::string ExternalWeights::add(const std::string& fqn, const TensorType& type,
                                 const TensorData& data) {
  ExternalWeight weight{fqn, type.dtype, {}, data};
  for (const Sym& size : type.sizes) weight.sizes.push_back(static_cast<int32_t>(size.as_int()));
  const auto fits = [&](const ExternalWeight& other) {
    return other.dtype == weight.dtype && other.sizes == weight.sizes &&
           same_bytes(other.data, data);
  };
  for (int attempt = 0;; ++attempt) {
    if (attempt > 0 || fqn.empty()) {
      weight.key = "constant_" + content_name(data) + "_" + std::to_string(attempt);
    }
    const auto [found, fresh] = by_key_.emplace(weight.key, weight);
    if (fresh || fits(found->second)) return weight.key;
  }
}

std::vector<ExternalWeight> ExternalWeights::sorted() const {
  std::vector<ExternalWeight> out;
  for (const auto& [key, weight] : by_key_) out.push_back(weight);
  std::sort(out.begin(), out.end(),
            [](const ExternalWeight& a, const ExternalWeight& b) { return a.key < b.key; });
  return out;
}

}  // namespace taper::exir
