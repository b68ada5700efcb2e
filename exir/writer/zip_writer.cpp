// Writes local headers, the central directory and the end records.

#include "exir/writer/zip_writer.h"

#include "exir/frontend/checksum.h"

namespace taper::exir {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kNoRoom = 0xffffffff;  // In a field of 32 bits: look into the zip64 field.
constexpr uint64_t kUtf8 = 1 << 11;

void put(std::vector<uint8_t>& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i, value >>= 8) out.push_back(static_cast<uint8_t>(value));
}

void put_text(std::vector<uint8_t>& out, std::string_view text) {
  out.insert(out.end(), text.begin(), text.end());
}

// A field of 32 bits.
void put_short(std::vector<uint8_t>& out, uint64_t value) {
  put(out, value < kNoRoom ? value : kNoRoom, 4);
}

// The fields that both headers of a member share, from its flags to its sizes.
void put_common(std::vector<uint8_t>& out, uint32_t crc, uint64_t size) {
  put(out, kUtf8, 2);
  put(out, 0, 2);  // Stored.
  put(out, 0, 4);  // No time: the same input gives the same bytes.
  put(out, crc, 4);
  put_short(out, size);
  put_short(out, size);
}

}  // namespace

void ZipWriter::begin_member(const std::string& name, Bytes bytes) {
  const Entry entry = {name, file_.size(), bytes.size(), crc32_of(bytes)};
  std::vector<uint8_t> header;
  put(header, 0x04034b50, 4);
  put(header, 45, 2);
  put_common(header, entry.crc, entry.size);
  std::vector<uint8_t> extra;
  if (entry.size >= kNoRoom) {
    put(extra, 1, 2);
    put(extra, 16, 2);
    put(extra, entry.size, 8);
    put(extra, entry.size, 8);
  }
  // The padding is an extra field of its own, with a head of four bytes.
  const uint64_t end = file_.size() + header.size() + 4 + name.size() + extra.size() + 4;
  const uint64_t padding = (kAlignment - end % kAlignment) % kAlignment;
  put(extra, 0x4246, 2);
  put(extra, padding, 2);
  extra.insert(extra.end(), padding, uint8_t{'Z'});
  put(header, name.size(), 2);
  put(header, extra.size(), 2);
  put_text(header, name);
  header.insert(header.end(), extra.begin(), extra.end());
  file_.add_owned(std::move(header));
  entries_.push_back(entry);
}

void ZipWriter::add(const std::string& name, Bytes bytes) {
  begin_member(name, bytes);
  file_.add(bytes);
}

void ZipWriter::add_text(const std::string& name, std::string_view text) {
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  begin_member(name, bytes);
  file_.add_owned(bytes);
}

FilePieces ZipWriter::finish() {
  const uint64_t start = file_.size();
  std::vector<uint8_t> directory;
  for (const Entry& entry : entries_) {
    std::vector<uint8_t> large;
    for (int field = 0; field < 2 && entry.size >= kNoRoom; ++field) put(large, entry.size, 8);
    if (entry.offset >= kNoRoom) put(large, entry.offset, 8);
    put(directory, 0x02014b50, 4);
    put(directory, 45, 2);
    put(directory, 45, 2);
    put_common(directory, entry.crc, entry.size);
    put(directory, entry.name.size(), 2);
    put(directory, large.empty() ? 0 : large.size() + 4, 2);
    put(directory, 0, 2 + 2 + 2 + 4);
    put_short(directory, entry.offset);
    put_text(directory, entry.name);
    if (large.empty()) continue;
    put(directory, 1, 2);
    put(directory, large.size(), 2);
    directory.insert(directory.end(), large.begin(), large.end());
  }
  const uint64_t size = directory.size(), end = start + size, count = entries_.size();
  put(directory, 0x06064b50, 4);
  put(directory, 44, 8);
  put(directory, 45, 2);
  put(directory, 45, 2);
  put(directory, 0, 8);
  for (const uint64_t field : {count, count, size, start}) put(directory, field, 8);
  put(directory, 0x07064b50, 4);
  put(directory, 0, 4);
  put(directory, end, 8);
  put(directory, 1, 4);
  put(directory, 0x06054b50, 4);
  put(directory, 0, 4);
  put(directory, count < 0xffff ? count : 0xffff, 2);
  put(directory, count < 0xffff ? count : 0xffff, 2);
  put_short(directory, size);
  put_short(directory, start);
  put(directory, 0, 2);
  file_.add_owned(std::move(directory));
  return std::move(file_);
}

}  // namespace taper::exir
