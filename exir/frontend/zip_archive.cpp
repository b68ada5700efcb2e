// The zip format, as far as a .pt2 needs it: stored and deflated members, zip64, no encryption, one
// disk. Field offsets are those of PKWARE's APPNOTE 4.3.

#include "exir/frontend/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "exir/frontend/checksum.h"

namespace taper::exir {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50, kCentralMagic = 0x02014b50, kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50, kLocator64Magic = 0x07064b50;
constexpr size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56;
constexpr size_t kLocator64Size = 20, kLongestComment = 65535;
constexpr uint64_t kBestDeflateRatio = 1032;  // The most that a byte of deflate can unpack to.
constexpr uint16_t kStored = 0, kDeflated = 8, kEncryptedFlag = 1, kZip64Extra = 1;

[[noreturn]] void bad_zip(std::string_view message, std::string_view where = {}) {
  refuse("bad-archive", message, where);
}

// Reads little-endian numbers from a span; throws Failure on a read outside it.
class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}

  template <typename T>
  T at(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) {
      bad_zip("the zip directory is cut short or points outside the file");
    }
    T value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      value = static_cast<T>(value | static_cast<T>(T{bytes_[offset + i]} << (8 * i)));
    }
    return value;
  }

  std::string_view text(uint64_t offset, uint64_t size) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) {
      bad_zip("the zip directory is cut short or points outside the file");
    }
    return {reinterpret_cast<const char*>(bytes_.data()) + offset, static_cast<size_t>(size)};
  }

 private:
  Bytes bytes_;
};

struct Directory {
  uint64_t offset = 0, size = 0, count = 0;
};

// The end record is the last thing in the file, followed only by its comment.
size_t find_end_record(Bytes file) {
  const Reader in(file);
  const size_t lowest =
      file.size() > kEndSize + kLongestComment ? file.size() - kEndSize - kLongestComment : 0;
  for (size_t at = file.size() >= kEndSize ? file.size() - kEndSize + 1 : 0; at-- > lowest;) {
    if (in.at<uint32_t>(at) != kEndMagic) continue;
    if (at + kEndSize + in.at<uint16_t>(at + 20) == file.size()) return at;
  }
  refuse("truncated-archive",
         "is a zip archive that was cut short: its directory, which comes last, is missing", {},
         "copy or download it again");
}

Directory read_directory(Bytes file) {
  const Reader in(file);
  const size_t end = find_end_record(file);
  Directory found{in.at<uint32_t>(end + 16), in.at<uint32_t>(end + 12), in.at<uint16_t>(end + 10)};
  if (in.at<uint16_t>(end + 4) != 0 && in.at<uint16_t>(end + 4) != 0xffff) {
    bad_zip("is one part of a zip archive in several parts");
  }
  uint64_t limit = end;
  if (end >= kLocator64Size && in.at<uint32_t>(end - kLocator64Size) == kLocator64Magic) {
    const uint64_t at = in.at<uint64_t>(end - kLocator64Size + 8);
    if (at > end - kLocator64Size || in.at<uint32_t>(at) != kEnd64Magic ||
        end - kLocator64Size - at < kEnd64Size) {
      bad_zip("the zip64 end record is not where the locator says");
    }
    found = {in.at<uint64_t>(at + 48), in.at<uint64_t>(at + 40), in.at<uint64_t>(at + 32)};
    limit = at;
  }
  if (found.offset > limit || found.size > limit - found.offset) {
    bad_zip("the zip directory is said to lie outside the file");
  }
  if (found.count > found.size / kCentralSize) bad_zip("the zip directory is too short");
  return found;
}

// Replaces saturated 32-bit fields by their 64-bit values in the zip64 extra field.
void apply_zip64(std::string_view extra, ZipMember* member, uint64_t* header) {
  const Reader in({reinterpret_cast<const uint8_t*>(extra.data()), extra.size()});
  for (size_t at = 0; at + 4 <= extra.size();) {
    const size_t size = in.at<uint16_t>(at + 2);
    if (in.at<uint16_t>(at) == kZip64Extra) {
      uint64_t next = at + 4;
      for (uint64_t* field : {&member->size, &member->packed, header}) {
        if (*field != std::numeric_limits<uint32_t>::max()) continue;
        *field = in.at<uint64_t>(next);
        next += 8;
      }
      return;
    }
    at += 4 + size;
  }
}

void check_name(std::string_view name) {
  const bool rooted = name.empty() || name[0] == '/' || (name.size() > 1 && name[1] == ':');
  bool climbs = false;
  for (size_t at = 0; at <= name.size();) {
    const size_t slash = std::min(name.find('/', at), name.size());
    climbs |= name.substr(at, slash - at) == "..";
    at = slash + 1;
  }
  const bool odd = name.find('\\') != name.npos || name.find('\0') != name.npos;
  if (rooted || climbs || odd) {
    refuse("unsafe-member-name",
           "a member is named " + in_quotes(name) + ", which points outside the archive");
  }
}

// Finds a member's data, which follow the local header at offset `header`.
void locate_data(Bytes file, uint64_t header, uint64_t limit, ZipMember* member) {
  const Reader in(file);
  if (header > limit || in.at<uint32_t>(header) != kLocalMagic) {
    bad_zip("its local header is not where the directory says", member->name);
  }
  const uint64_t name_size = in.at<uint16_t>(header + 26);
  if (in.text(header + kLocalSize, name_size) != member->name) {
    bad_zip("its local header carries another name", member->name);
  }
  member->data = header + kLocalSize + name_size + in.at<uint16_t>(header + 28);
  if (member->data > limit || member->packed > limit - member->data) {
    bad_zip("its bytes run past the end of the archive", member->name);
  }
}

void check_overlap(std::vector<std::pair<uint64_t, uint64_t>> spans) {
  std::sort(spans.begin(), spans.end());
  for (size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].first < spans[i - 1].second) bad_zip("two members of the archive overlap");
  }
}

// Inflates a stream that must unpack to exactly `size` bytes; `out` has room for one more, which
// reveals a longer stream. zlib's counters are 32 bits wide, so it works in pieces.
bool inflate_exactly(Bytes packed, uint8_t* out, size_t size) {
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  constexpr size_t kPiece = 1 << 30;
  size_t in_left = packed.size(), out_left = size + 1;
  stream.next_in = const_cast<uint8_t*>(packed.data());
  stream.next_out = out;
  int state = Z_OK;
  while (state == Z_OK) {
    const size_t in = std::min(in_left, kPiece), room = std::min(out_left, kPiece);
    stream.avail_in = static_cast<uInt>(in);
    stream.avail_out = static_cast<uInt>(room);
    state = inflate(&stream, Z_NO_FLUSH);
    in_left -= in - stream.avail_in;
    out_left -= room - stream.avail_out;
  }
  inflateEnd(&stream);
  return state == Z_STREAM_END && out_left == 1;
}

}  // namespace

bool looks_like_zip(Bytes file) {
  return file.size() >= 4 &&
         (std::memcmp(file.data(), "PK\3\4", 4) == 0 || std::memcmp(file.data(), "PK\5\6", 4) == 0);
}

ZipArchive::ZipArchive(Blob file, Budget& budget) : file_(std::move(file)), budget_(&budget) {
  const Directory directory = read_directory(file_.bytes);
  const Reader in(file_.bytes.first(directory.offset + directory.size));
  std::vector<std::pair<uint64_t, uint64_t>> spans;
  members_.reserve(directory.count);
  spans.reserve(directory.count);
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.count; ++i) {
    if (in.at<uint32_t>(at) != kCentralMagic) bad_zip("the zip directory is damaged");
    const uint64_t name_size = in.at<uint16_t>(at + 28), extra_size = in.at<uint16_t>(at + 30);
    ZipMember member;
    member.name = in.text(at + kCentralSize, name_size);
    member.method = in.at<uint16_t>(at + 10);
    member.crc = in.at<uint32_t>(at + 16);
    member.packed = in.at<uint32_t>(at + 20);
    member.size = in.at<uint32_t>(at + 24);
    uint64_t header = in.at<uint32_t>(at + 42);
    apply_zip64(in.text(at + kCentralSize + name_size, extra_size), &member, &header);
    check_name(member.name);
    if (in.at<uint16_t>(at + 8) & kEncryptedFlag) bad_zip("is encrypted", member.name);
    locate_data(file_.bytes, header, directory.offset, &member);
    spans.emplace_back(header, member.data + member.packed);
    add_member(member);
    at += kCentralSize + name_size + extra_size + in.at<uint16_t>(at + 32);
  }
  check_overlap(std::move(spans));
}

void ZipArchive::add_member(const ZipMember& member) {
  if (!by_name_.emplace(member.name, members_.size()).second) {
    bad_zip("is in the archive twice", member.name);
  }
  if (member.method != kStored && member.method != kDeflated) {
    bad_zip("is packed by method " + std::to_string(member.method) +
                "; only stored and deflated "
                "members can be read",
            member.name);
  }
  if (member.method == kStored && member.packed != member.size) {
    bad_zip("is stored, yet its two sizes differ", member.name);
  }
  members_.push_back(member);
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &members_[found->second];
}

Blob ZipArchive::read(const ZipMember& member) const {
  const Bytes packed = file_.bytes.subspan(member.data, member.packed);
  Blob out;
  if (member.method == kStored) {
    out = {packed, file_.owner,
           file_.slack + file_.bytes.size() - static_cast<size_t>(member.data + member.packed)};
  } else {
    if (member.size / kBestDeflateRatio > member.packed) {
      refuse("decompression-bomb", "claims to unpack to an impossible size", member.name);
    }
    constexpr size_t kSlack = 64;
    budget_->take_bytes(member.size, member.name);
    auto bytes = std::make_shared_for_overwrite<uint8_t[]>(member.size + kSlack);
    if (!inflate_exactly(packed, bytes.get(), member.size)) {
      bad_zip("its compressed bytes are damaged", member.name);
    }
    out = {{bytes.get(), static_cast<size_t>(member.size)}, bytes, kSlack};
  }
  if (crc32_of(out.bytes) != member.crc) {
    refuse("damaged-member", "is damaged: its checksum does not match", member.name,
           "copy or download the file again");
  }
  return out;
}

Blob ZipArchive::read_text(const ZipMember& member) const {
  if (member.method == kDeflated && member.size > budget_->text_limit()) {
    refuse("decompression-bomb", "unpacks to far more than a file of this size may hold",
           member.name);
  }
  return read(member);
}

}  // namespace taper::exir
