// Mutations of a .npy's header and elements, and of the members of a .npz.

#include <algorithm>
#include <iterator>

#include "test/fuzz/archive.h"
#include "test/fuzz/mutate.h"

namespace taper::fuzz {
namespace {

constexpr size_t kBeforeHeader = 10;  // In version 1: magic, version, length.

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Replaces a number of the shape, or of the dtype.
void edit_number(std::string& header, Random& random) {
  const size_t at = random.below(header.size());
  const auto begin =
      std::find_if(header.begin() + static_cast<ptrdiff_t>(at), header.end(), is_digit);
  const auto end = std::find_if_not(begin, header.end(), is_digit);
  const uint64_t number = random.one_in(2) ? random.below(20) : awkward_integer(random);
  header.replace(begin, end, std::to_string(number));
}

void edit_dtype(std::string& header, Random& random) {
  static constexpr const char* kCodes[] = {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1",
                                           "u2", "u4", "u8", "b1", "V2", "c8", "c16"};
  const size_t at = header.find("'descr': '");
  if (at == header.npos) return;
  const size_t begin = at + 10, end = header.find('\'', begin);
  if (end == header.npos) return;
  header.replace(begin, end - begin,
                 std::string(1, "<>|="[random.below(4)]) + kCodes[random.below(std::size(kCodes))]);
}

void edit_order(std::string& header) {
  const size_t at = header.find("False");
  if (at != header.npos) header.replace(at, 5, "True");
}

// One more size of the shape, or one less.
void edit_rank(std::string& header, Random& random) {
  const size_t open = header.find('(');
  if (open == header.npos) return;
  const size_t comma = header.find(',', open);
  if (random.one_in(2) || comma == header.npos) {
    header.insert(open + 1, std::to_string(random.below(3)) + ", ");
  } else {
    header.erase(open + 1, comma - open);
  }
}

}  // namespace

std::string mutate_npy(std::string file, Random& random) {
  if (file.size() < kBeforeHeader || random.one_in(4)) return mutate_bytes(std::move(file), random);
  const size_t length =
      static_cast<unsigned char>(file[8]) + 256u * static_cast<unsigned char>(file[9]);
  std::string header = file.substr(kBeforeHeader, length);
  std::string elements = file.substr(std::min(file.size(), kBeforeHeader + length));
  for (size_t edits = 1 + random.below(3); edits > 0 && !header.empty(); --edits) {
    switch (random.below(6)) {
      case 0:
      case 1:
        edit_number(header, random);
        break;
      case 2:
        edit_dtype(header, random);
        break;
      case 3:
        edit_order(header);
        break;
      case 4:
        edit_rank(header, random);
        break;
      default:
        (random.one_in(2) ? header : elements) =
            mutate_bytes(random.one_in(2) ? header : elements, random);
    }
  }
  header.resize(std::min<size_t>(header.size(), 0xffff));
  file.resize(kBeforeHeader);
  file[8] = static_cast<char>(header.size() & 0xff);
  file[9] = static_cast<char>(header.size() >> 8);
  return file + header + elements;
}

std::string mutate_npz(const std::string& file, Random& random) {
  std::vector<Member> members = unpack(file);
  if (members.empty() || random.one_in(4)) return mutate_bytes(file, random);
  Member& member = members[random.below(members.size())];
  switch (random.below(8)) {
    case 0:
      member.name = mutate_bytes(member.name, random);
      break;
    case 1:
      members.push_back(member);
      break;
    case 2:
      member.data.clear();
      break;
    default:
      member.data = mutate_npy(member.data, random);
  }
  return pack(members);
}

}  // namespace taper::fuzz
