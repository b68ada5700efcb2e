// Reads a zip archive that lies in memory, trusting nothing in it.
//
// Only the central directory is believed; a local header is looked at to find where the bytes of
// its member start, which is what libzip does not tell and what lets stored weights stay where they
// are:
//
//     [local header | name | extra | DATA] ... [central directory] [end record]
//                                    ^ a stored member is handed out as this span
//
// open() refuses duplicate or escaping names, members that overlap, and a directory that is cut or
// contradicts itself. read() checks the CRC-32 and inflates (zlib) within the file's budget.

#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "exir/frontend/blob.h"
#include "exir/frontend/refuse.h"

namespace taper::exir {

struct ZipMember {
  std::string_view name;  // Points into the archive.
  uint64_t data = 0;      // Where its bytes start.
  uint64_t packed = 0;    // Bytes in the archive.
  uint64_t size = 0;      // Bytes when unpacked.
  uint32_t crc = 0;
  uint16_t method = 0;  // 0 stored, 8 deflated.
};

// Does the file begin like a zip archive?
bool looks_like_zip(Bytes file);

class ZipArchive {
 public:
  // `budget` must outlive the archive. Throws Failure.
  ZipArchive(Blob file, Budget& budget);

  const std::vector<ZipMember>& members() const { return members_; }
  // Null if there is none of that name.
  const ZipMember* find(std::string_view name) const;
  // Throws Failure if the bytes are damaged.
  Blob read(const ZipMember& member) const;
  // Like read(), for what will be parsed: an inflated text has a much lower limit.
  Blob read_text(const ZipMember& member) const;

 private:
  void add_member(const ZipMember& member);

  Blob file_;
  Budget* budget_;
  std::vector<ZipMember> members_;
  std::unordered_map<std::string_view, size_t> by_name_;
};

}  // namespace taper::exir
