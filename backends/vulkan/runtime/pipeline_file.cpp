// Reads and writes compiled shaders.

#include "backends/vulkan/runtime/pipeline_file.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "taper/content_hash.h"

namespace taper::vulkan {
namespace {

constexpr char kMagic[] = "TPRVKC01";
constexpr char kDamaged[] = "it is damaged or cut short";
constexpr Error kUseless = Error::kDelegateInvalidCompatibility;

struct Header {
  char magic[8];
  uint64_t hash;  // Of the next fields, and of all that follows them.
  uint64_t file_size;
  PipelineOrigin origin;
  uint32_t pipeline_count, unused;
};
static_assert(sizeof(PipelineOrigin) == 32 && sizeof(Header) == 64,
              "these are the bytes of a file");

// What a driver's data begins with.
struct DriverHeader {
  uint32_t size, version, vendor, device;
  uint8_t cache_uuid[16];
};
static_assert(sizeof(DriverHeader) == 32, "VkPipelineCacheHeaderVersionOne is that");

uint64_t hash_of_file(const Header& header, Span<const uint8_t> hashes, Span<const uint8_t> data) {
  constexpr size_t kBegin = offsetof(Header, file_size);
  const auto* bytes = reinterpret_cast<const uint8_t*>(&header);
  const uint64_t head = content_hash({bytes + kBegin, sizeof(Header) - kBegin});
  return content_hash(data, content_hash(hashes, head));
}

bool is_of(Span<const uint8_t> data, const PipelineOrigin& origin) {
  DriverHeader header;
  if (data.size() < sizeof(header)) return false;
  std::memcpy(&header, data.data(), sizeof(header));
  return header.size >= sizeof(header) && header.size <= data.size() && header.version == 1 &&
         header.vendor == origin.vendor && header.device == origin.device &&
         std::memcmp(header.cache_uuid, origin.cache_uuid, sizeof(header.cache_uuid)) == 0;
}

Span<const uint8_t> bytes_of(Span<const uint64_t> hashes) {
  return {reinterpret_cast<const uint8_t*>(hashes.data()), hashes.size() * sizeof(uint64_t)};
}

}  // namespace

bool PipelineFile::has(uint64_t pipeline) const {
  return std::find(pipelines.begin(), pipelines.end(), pipeline) != pipelines.end();
}

Result<PipelineFile> read_pipeline_file(Span<const uint8_t> bytes, const PipelineOrigin& origin) {
  Header header;
  TAPER_REQUIRE(bytes.size() >= sizeof(header), kUseless, kDamaged);
  std::memcpy(&header, bytes.data(), sizeof(header));
  TAPER_REQUIRE(std::memcmp(header.magic, kMagic, sizeof(header.magic)) == 0, kUseless,
                "it is not a file of compiled shaders of this version");
  const Span<const uint8_t> rest = bytes.subspan(sizeof(header), bytes.size() - sizeof(header));
  TAPER_REQUIRE(
      header.file_size == bytes.size() && header.pipeline_count <= rest.size() / sizeof(uint64_t),
      kUseless, kDamaged);
  const size_t hash_bytes = header.pipeline_count * sizeof(uint64_t);
  const Span<const uint8_t> data = rest.subspan(hash_bytes, rest.size() - hash_bytes);
  TAPER_REQUIRE(header.hash == hash_of_file(header, rest.subspan(0, hash_bytes), data), kUseless,
                kDamaged);
  TAPER_REQUIRE(std::memcmp(&header.origin, &origin, sizeof(origin)) == 0, kUseless,
                "it was made for another GPU or driver");
  TAPER_REQUIRE(is_of(data, origin), kUseless, kDamaged);
  return PipelineFile{{reinterpret_cast<const uint64_t*>(rest.data()), header.pipeline_count},
                      data};
}

Status write_pipeline_file(const char* path, const PipelineFile& content,
                           const PipelineOrigin& origin) {
  const Span<const uint8_t> hashes = bytes_of(content.pipelines);
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof(header.magic));
  header.file_size = sizeof(header) + hashes.size() + content.data.size();
  header.origin = origin;
  header.pipeline_count = static_cast<uint32_t>(content.pipelines.size());
  header.hash = hash_of_file(header, hashes, content.data);
  const FilePart parts[] = {
      {0, {reinterpret_cast<const uint8_t*>(&header), sizeof(header)}},
      {sizeof(header), hashes},
      {sizeof(header) + hashes.size(), content.data},
  };
  return replace_file(path, header.file_size, parts);
}

}  // namespace taper::vulkan
