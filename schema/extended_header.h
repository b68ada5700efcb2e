// The fixed bytes at the head of a .pte and of a .ptd: where the flatbuffer ends and where segments
// begin. All numbers are little-endian.
//
//     .pte  byte  0  u32  offset of the root table        .ptd  byte  0  u32  offset of the root
//           table
//                 4       "ET12"                                      4       "FT01"
//                 8       "eh00", absent if the file                  8       "FH01", always there
//                         is nothing but a flatbuffer
//                12  u32  bytes of the header from 8:                12  u32  bytes of the header
//                    from 8:
//                         32, or 24 without the last                          40
//                16  u64  bytes of the program, from 0               16  u64  flatbuffer_offset
//                24  u64  segment base, 0 if none                    24  u64  flatbuffer_size
//                32  u64  bytes of all segments,                     32  u64  segment base
//                         0 if an old file                           40  u64  bytes of all segments
//
// A writer serialises the flatbuffer, inserts the header after byte 8, padded to the largest
// force_align of the flatbuffer, and adds the bytes inserted to the root offset.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace taper::wire {

inline constexpr size_t kIdentifierOffset = 4;
inline constexpr size_t kHeaderOffset = 8;
inline constexpr char kHeaderMagic[] = "eh00";
inline constexpr uint32_t kHeaderBytes = 32;
// Files before ExecuTorch 1.0 have no segment_data_size.
inline constexpr uint32_t kShortHeaderBytes = 24;

inline constexpr char kPtdHeaderMagic[] = "FH01";
inline constexpr uint32_t kPtdHeaderBytes = 40;

// Enough bytes to recognise a .pte or .ptd and to read its header.
inline constexpr size_t kHeadBytes = 64;

// The header of a .pte. If the file has none, program_size is the size of the file and the others
// 0.
struct ExtendedHeader {
  uint64_t program_size = 0;
  uint64_t segment_base_offset = 0;
  uint64_t segment_data_size = 0;
};

// The header of a .ptd.
struct PtdHeader {
  uint64_t flatbuffer_offset = 0;
  uint64_t flatbuffer_size = 0;
  uint64_t segment_base_offset = 0;
  uint64_t segment_data_size = 0;
};

inline uint32_t read_u32(const uint8_t* bytes) {
  return static_cast<uint32_t>(bytes[0]) | static_cast<uint32_t>(bytes[1]) << 8 |
         static_cast<uint32_t>(bytes[2]) << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

inline uint64_t read_u64(const uint8_t* bytes) {
  return read_u32(bytes) | static_cast<uint64_t>(read_u32(bytes + 4)) << 32;
}

inline void write_u32(uint8_t* bytes, uint32_t value) {
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
}

inline void write_u64(uint8_t* bytes, uint64_t value) {
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
}

// True if the four bytes at `offset` are `magic`. REQUIRES: there are at least offset + 4 bytes.
inline bool has_magic(const uint8_t* bytes, size_t offset, const char* magic) {
  return std::memcmp(bytes + offset, magic, 4) == 0;
}

enum class HeaderState { kPresent, kAbsent, kBad };

// Reads the header of a .pte from its first kHeadBytes. Checks only the length of the header; the
// caller must compare the numbers with the file.
inline HeaderState read_header(const uint8_t* head, ExtendedHeader* header) {
  if (!has_magic(head, kHeaderOffset, kHeaderMagic)) return HeaderState::kAbsent;
  const uint32_t bytes = read_u32(head + 12);
  if (bytes < kShortHeaderBytes) return HeaderState::kBad;
  header->program_size = read_u64(head + 16);
  header->segment_base_offset = read_u64(head + 24);
  header->segment_data_size = bytes >= kHeaderBytes ? read_u64(head + 32) : 0;
  return HeaderState::kPresent;
}

// The same for a .ptd, which always has a header.
inline HeaderState read_ptd_header(const uint8_t* head, PtdHeader* header) {
  if (!has_magic(head, kHeaderOffset, kPtdHeaderMagic)) return HeaderState::kAbsent;
  if (read_u32(head + 12) < kPtdHeaderBytes) return HeaderState::kBad;
  header->flatbuffer_offset = read_u64(head + 16);
  header->flatbuffer_size = read_u64(head + 24);
  header->segment_base_offset = read_u64(head + 32);
  header->segment_data_size = read_u64(head + 40);
  return HeaderState::kPresent;
}

// Writes the header of a .pte, kHeaderBytes bytes that belong at kHeaderOffset.
inline void write_header(uint8_t* at, const ExtendedHeader& header) {
  std::memcpy(at, kHeaderMagic, 4);
  write_u32(at + 4, kHeaderBytes);
  write_u64(at + 8, header.program_size);
  write_u64(at + 16, header.segment_base_offset);
  write_u64(at + 24, header.segment_data_size);
}

// The same for a .ptd, with kPtdHeaderBytes bytes.
inline void write_ptd_header(uint8_t* at, const PtdHeader& header) {
  std::memcpy(at, kPtdHeaderMagic, 4);
  write_u32(at + 4, kPtdHeaderBytes);
  write_u64(at + 8, header.flatbuffer_offset);
  write_u64(at + 16, header.flatbuffer_size);
  write_u64(at + 24, header.segment_base_offset);
  write_u64(at + 32, header.segment_data_size);
}

}  // namespace taper::wire
