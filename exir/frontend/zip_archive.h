// Reads a zip archive in memory without trusting it.
//
// Members are those of the central directory; a local header is read only to find where the data of
// its member start. With that offset, which libzip does not reveal, stored weights are used in
// place:
//
//     [local header | name | extra | DATA] ... [central directory] [end record]
//                                    ^ read() returns this span for a stored member
//
// The constructor refuses duplicate or escaping names, overlapping members, and a directory that is
// truncated or contradicts itself. read() checks the CRC-32 and inflates within the file's budget.

#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "exir/frontend/blob.h"
#include "exir/frontend/refuse.h"

namespace taper::exir {

struct ZipMember {
  std::string_view name;  // Points into the archive.
  uint64_t data = 0;      // Offset of its bytes in the archive.
  uint64_t packed = 0;    // Bytes in the archive.
  uint64_t size = 0;      // Bytes when unpacked.
  uint32_t crc = 0;
  uint16_t method = 0;  // 0 stored, 8 deflated.
};

// Whether the file begins like a zip archive.
bool looks_like_zip(Bytes file);

class ZipArchive {
 public:
  // `budget` must outlive the archive. Throws Failure.
  ZipArchive(Blob file, Budget& budget);

  const std::vector<ZipMember>& members() const { return members_; }
  // Null if there is no such member.
  const ZipMember* find(std::string_view name) const;
  // The member's bytes, inflated if it is deflated. Throws Failure if they are damaged.
  Blob read(const ZipMember& member) const;
  // Like read(), for a member that will be parsed: the limit on its inflated size is much lower.
  Blob read_text(const ZipMember& member) const;

 private:
  void add_member(const ZipMember& member);

  Blob file_;
  Budget* budget_;
  std::vector<ZipMember> members_;
  std::unordered_map<std::string_view, size_t> by_name_;
};

}  // namespace taper::exir
