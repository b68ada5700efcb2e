// Reads and writes zip archives with stored members.

#include "test/fuzz/archive.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace taper::fuzz {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;

uint32_t crc32(std::string_view data) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int bit = 0; bit < 8; ++bit) t[i] = t[i] >> 1 ^ (t[i] & 1 ? 0xedb88320u : 0u);
    }
    return t;
  }();
  uint32_t crc = ~0u;
  for (const char c : data) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

template <typename T>
T load(std::string_view bytes, size_t at) {
  T value{};
  if (at + sizeof(T) <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

void put(std::string& out, uint64_t value, size_t width) {
  for (size_t i = 0; i < width; ++i) out += static_cast<char>(i < 8 ? value >> (8 * i) : 0);
}

// The fields common to local and central records, from "version needed" to "extra length".
void put_common(std::string& out, const Member& member) {
  put(out, 20, 2);
  put(out, 0, 2);
  put(out, 0, 2);
  put(out, 0, 4);
  put(out, crc32(member.data), 4);
  put(out, member.data.size(), 4);
  put(out, member.data.size(), 4);
  put(out, member.name.size(), 2);
  put(out, 0, 2);
}

}  // namespace

std::vector<Member> unpack(std::string_view archive) {
  std::vector<Member> members;
  const size_t end = archive.rfind(std::string_view("PK\5\6", 4));
  if (end == std::string_view::npos) return members;
  size_t at = load<uint32_t>(archive, end + 16);
  for (unsigned n = load<uint16_t>(archive, end + 10); n > 0; --n) {
    if (load<uint32_t>(archive, at) != kCentral || load<uint16_t>(archive, at + 10) != 0) break;
    const size_t size = load<uint32_t>(archive, at + 24), name = load<uint16_t>(archive, at + 28);
    const size_t local = load<uint32_t>(archive, at + 42);
    const size_t data =
        local + 30 + load<uint16_t>(archive, local + 26) + load<uint16_t>(archive, local + 28);
    if (at + 46 + name > archive.size() || data + size > archive.size()) break;
    members.push_back(
        {std::string(archive.substr(at + 46, name)), std::string(archive.substr(data, size))});
    at += 46 + name + load<uint16_t>(archive, at + 30) + load<uint16_t>(archive, at + 32);
  }
  return members;
}

std::string pack(const std::vector<Member>& members) {
  std::string out, central;
  for (const Member& member : members) {
    put(central, kCentral, 4);
    put(central, 20, 2);
    put_common(central, member);
    put(central, 0, 10);  // Comment length, disk, attributes.
    put(central, out.size(), 4);
    central += member.name;
    put(out, kLocal, 4);
    put_common(out, member);
    out += member.name;
    out += member.data;
  }
  const size_t start = out.size();
  out += central;
  put(out, kEnd, 4);
  put(out, 0, 4);
  put(out, members.size(), 2);
  put(out, members.size(), 2);
  put(out, central.size(), 4);
  put(out, start, 4);
  put(out, 0, 2);
  return out;
}

}  // namespace taper::fuzz
