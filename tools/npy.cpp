// Parses and writes NumPy's .npy format.

#include "tools/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>

#include "tools/atomic_file.h"
#include "tools/error.h"
#include "tools/system.h"

namespace taper::tools {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMaxNumpyRank = 64;

struct DtypeCode {
  const char* code;  // Without the byte order.
  ScalarType type;
};

constexpr DtypeCode kCodes[] = {
    {"f2", ScalarType::kHalf},           {"f4", ScalarType::kFloat},
    {"f8", ScalarType::kDouble},         {"i1", ScalarType::kChar},
    {"i2", ScalarType::kShort},          {"i4", ScalarType::kInt},
    {"i8", ScalarType::kLong},           {"u1", ScalarType::kByte},
    {"u2", ScalarType::kUInt16},         {"u4", ScalarType::kUInt32},
    {"u8", ScalarType::kUInt64},         {"b1", ScalarType::kBool},
    {"V2", ScalarType::kBFloat16},       {"c8", ScalarType::kComplexFloat},
    {"c16", ScalarType::kComplexDouble},
};

// The header's Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        set(descr_, quoted(), key);
      } else if (key == "fortran_order") {
        set(fortran_, boolean(), key);
      } else if (key == "shape") {
        set(shape_, tuple(), key);
      } else {
        fail("header has the unknown key '" + key + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (at_ != text_.size()) fail("header has text after its dict");
    if (!descr_ || !fortran_ || !shape_) fail("header lacks descr, fortran_order or shape");
  }

  const std::string& descr() const { return *descr_; }
  bool fortran() const { return *fortran_; }
  const std::vector<int64_t>& shape() const { return *shape_; }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError("'" + name_ + "' is not a usable .npy file: " + what);
  }

 private:
  template <typename T>
  void set(std::optional<T>& field, T value, const std::string& key) {
    if (field) fail("header repeats '" + key + "'");
    field = std::move(value);
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail("header needs '" + std::string(1, c) + "' at byte " + std::to_string(at_));
  }
  std::string quoted() {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '[') fail("structured dtypes are not supported");
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("header has an unterminated string");
    std::string result(text_.substr(at_, end - at_));
    at_ = end + 1;
    return result;
  }
  bool boolean() {
    skip_spaces();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    fail("fortran_order must be True or False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      sizes.push_back(integer());
      if (sizes.size() > kMaxNumpyRank) fail("more than 64 dimensions");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }
  int64_t integer() {
    skip_spaces();
    const size_t first = at_;
    int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (value > (std::numeric_limits<int64_t>::max() - 9) / 10) fail("a size is too large");
      value = value * 10 + (text_[at_] - '0');
    }
    if (at_ == first) fail("shape must be a tuple of sizes");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // The suffix of Python 2's long integers.
    return value;
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
  std::optional<std::string> descr_;
  std::optional<bool> fortran_;
  std::optional<std::vector<int64_t>> shape_;
};

uint32_t little_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

void swap_bytes(std::string& data, size_t element) {
  for (size_t i = 0; i < data.size(); i += element) {
    std::reverse(data.begin() + static_cast<ptrdiff_t>(i),
                 data.begin() + static_cast<ptrdiff_t>(i + element));
  }
}

// Converts elements from column-major to row-major order.
std::string from_fortran(const std::string& data, const std::vector<int64_t>& shape,
                         size_t element) {
  std::string result(data.size(), '\0');
  std::vector<int64_t> index(shape.size(), 0);
  std::vector<size_t> stride(shape.size(), element);
  for (size_t d = 1; d < shape.size(); ++d) {
    stride[d] = stride[d - 1] * static_cast<size_t>(shape[d - 1]);
  }
  for (size_t out = 0, in = 0; out < data.size(); out += element) {
    std::memcpy(&result[out], &data[in], element);
    for (size_t d = shape.size(); d-- > 0;) {
      in += stride[d];
      if (++index[d] < shape[d]) break;
      in -= stride[d] * static_cast<size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace

NpyArray parse_npy(std::string_view file, const std::string& name) {
  HeaderParser refuse("", name);
  if (file.substr(0, kMagic.size()) != kMagic) refuse.fail("it does not begin with \\x93NUMPY");
  const int version = file.size() > 6 ? static_cast<unsigned char>(file[6]) : 0;
  if (version < 1 || version > 3) refuse.fail("version " + std::to_string(version) + " is unknown");
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (file.size() < 8 + length_bytes) refuse.fail("it ends inside its header");
  const size_t length = little_endian(file.substr(8, length_bytes));
  const std::string_view rest = file.substr(8 + length_bytes);
  if (length > rest.size()) refuse.fail("it ends inside its header");

  HeaderParser header(rest.substr(0, length), name);
  header.parse();
  NpyArray array;
  array.shape = header.shape();
  const std::string& descr = header.descr();
  const char order = descr.empty() ? ' ' : descr[0];
  const auto* code = std::find_if(std::begin(kCodes), std::end(kCodes),
                                  [&](const DtypeCode& c) { return descr.substr(1) == c.code; });
  if (std::string_view("<>|=").find(order) == std::string_view::npos || code == std::end(kCodes)) {
    header.fail("dtype '" + descr + "' is not supported");
  }
  array.dtype = code->type;

  const size_t element = element_size(array.dtype);
  const std::string_view data = rest.substr(length);
  uint64_t bytes = element;
  for (const int64_t size : array.shape) {
    if (size != 0 && bytes > std::numeric_limits<uint64_t>::max() / static_cast<uint64_t>(size)) {
      header.fail("shape " + shape_text(array.shape) + " is too large");
    }
    bytes *= static_cast<uint64_t>(size);
  }
  if (bytes != data.size()) {
    header.fail("shape " + shape_text(array.shape) + " of " + to_string(array.dtype) + " needs " +
                std::to_string(bytes) + " bytes, the file has " + std::to_string(data.size()));
  }
  array.data = std::string(data);
  const size_t part = element_size(part_type(array.dtype));
  if (order == '>' && part > 1) swap_bytes(array.data, part);
  if (header.fortran() && array.shape.size() > 1) {
    array.data = from_fortran(array.data, array.shape, element);
  }
  return array;
}

NpyArray read_npy(const std::string& path) { return parse_npy(read_file(path), path); }

namespace {

template <typename T>
NpyArray scalar(ScalarType dtype, T value) {
  return {dtype, {}, std::string(reinterpret_cast<const char*>(&value), sizeof(value))};
}

template <typename T>
std::optional<T> parse_number(const std::string& text) {
  T value;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<NpyArray> parse_scalar(const std::string& text) {
  if (text == "true" || text == "True") return scalar(ScalarType::kBool, true);
  if (text == "false" || text == "False") return scalar(ScalarType::kBool, false);
  if (const auto integer = parse_number<int64_t>(text)) return scalar(ScalarType::kLong, *integer);
  if (const auto real = parse_number<double>(text)) return scalar(ScalarType::kDouble, *real);
  return std::nullopt;
}

}  // namespace

bool is_number(const std::string& path) {
  std::error_code ignored;
  return !std::filesystem::exists(system::as_path(path), ignored) && parse_scalar(path);
}

std::vector<NpyArray> read_all(const std::vector<std::string>& paths) {
  std::vector<NpyArray> arrays;
  for (const std::string& path : paths) {
    arrays.push_back(is_number(path) ? *parse_scalar(path) : read_npy(path));
  }
  return arrays;
}

std::string npy_bytes(ScalarType dtype, const std::vector<int64_t>& shape, std::string_view data) {
  const auto* code = std::find_if(std::begin(kCodes), std::end(kCodes),
                                  [&](const DtypeCode& c) { return c.type == dtype; });
  if (code == std::end(kCodes)) throw InputError("this tensor's dtype has no .npy equivalent");
  const bool plain = element_size(dtype) == 1 || dtype == ScalarType::kBFloat16;
  std::string header = std::string("{'descr': '") + (plain ? "|" : "<") + code->code +
                       "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  // The elements start at a multiple of 64 bytes.
  while ((kMagic.size() + 4 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file(kMagic);
  file += '\1';
  file += '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file += data;
  return file;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace taper::tools
