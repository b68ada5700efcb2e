// Tests .npy files, valid and malformed. The bytes were written by hand from NumPy's format
// specification.

#include "tools/npy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tools/error.h"

namespace taper::tools {
namespace {

std::string file(int version, const std::string& header, const std::string& data) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  }
  return bytes + header + data;
}

std::string dict(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }  \n";
}

std::string message_of(const std::string& bytes) {
  try {
    parse_npy(bytes, "x.npy");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Npy, ReadsEveryVersion) {
  for (const int version : {1, 2, 3}) {
    const std::string data("\1\0\2\0", 4);
    const NpyArray a = parse_npy(file(version, dict("<i2", "(2,)"), data), "x");
    EXPECT_EQ(a.dtype, ScalarType::kShort);
    EXPECT_EQ(a.shape, std::vector<int64_t>{2});
    EXPECT_EQ(a.data, std::string("\1\0\2\0", 4));
  }
}

TEST(Npy, ScalarsAndEmptyArrays) {
  EXPECT_EQ(parse_npy(file(1, dict("|b1", "()"), "\1"), "x").shape.size(), 0u);
  const NpyArray empty = parse_npy(file(1, dict("<f4", "(0, 3)"), ""), "x");
  EXPECT_EQ(empty.shape, (std::vector<int64_t>{0, 3}));
  EXPECT_TRUE(empty.data.empty());
}

TEST(Npy, NumbersStandForThemselvesUnlessAFileHasThatName) {
  const std::vector<NpyArray> read = read_all({"-5", "0.25", "true"});
  EXPECT_EQ(read[0].dtype, ScalarType::kLong);
  EXPECT_EQ(read[0].data, std::string("\xfb\xff\xff\xff\xff\xff\xff\xff"));
  EXPECT_EQ(read[1].dtype, ScalarType::kDouble);
  EXPECT_EQ(read[1].data, std::string("\0\0\0\0\0\0\xd0\x3f", 8));
  EXPECT_EQ(read[2].dtype, ScalarType::kBool);
  EXPECT_EQ(read[2].data, std::string(1, '\1'));
  EXPECT_TRUE(read[2].shape.empty());
  EXPECT_THROW(read_all({"5x"}), InputError);
}

TEST(Npy, TurnsBigEndianAndFortranOrderAround) {
  EXPECT_EQ(parse_npy(file(1, dict(">i2", "(2,)"), std::string("\0\1\0\2", 4)), "x").data,
            std::string("\1\0\2\0", 4));
  // [[1, 2, 3], [4, 5, 6]] column by column.
  const std::string columns("\1\4\2\5\3\6", 6);
  EXPECT_EQ(parse_npy(file(1, dict("|u1", "(2, 3)", true), columns), "x").data, "\1\2\3\4\5\6");
  // A 2 x 2 x 2 of 0..7, first dimension fastest.
  const std::string cube("\0\4\2\6\1\5\3\7", 8);
  EXPECT_EQ(parse_npy(file(1, dict("|i1", "(2, 2, 2)", true), cube), "x").data,
            std::string("\0\1\2\3\4\5\6\7", 8));
}

TEST(Npy, WritesWhatItReads) {
  for (const auto& [type, code] : {std::pair{ScalarType::kFloat, "<f4"},
                                   {ScalarType::kBFloat16, "|V2"},
                                   {ScalarType::kBool, "|b1"},
                                   {ScalarType::kLong, "<i8"},
                                   {ScalarType::kHalf, "<f2"}}) {
    const std::string data(3 * element_size(type), '\1');
    const std::string bytes = npy_bytes(type, {3, 1}, data);
    EXPECT_NE(bytes.find(code), std::string::npos);
    EXPECT_EQ((bytes.size() - data.size()) % 64, 0u);
    const NpyArray back = parse_npy(bytes, "x");
    EXPECT_EQ(back.dtype, type);
    EXPECT_EQ(back.shape, (std::vector<int64_t>{3, 1}));
    EXPECT_EQ(back.data, data);
  }
}

TEST(Npy, ShapesReadLikePython) {
  EXPECT_EQ(shape_text({}), "()");
  EXPECT_EQ(shape_text({4}), "(4,)");
  EXPECT_EQ(shape_text({2, 3}), "(2, 3)");
}

TEST(Npy, RefusesWithTheReason) {
  const std::string prefix = "'x.npy' is not a usable .npy file: ";
  EXPECT_EQ(message_of(""), prefix + "it does not begin with \\x93NUMPY");
  EXPECT_EQ(message_of("PK\3\4"), prefix + "it does not begin with \\x93NUMPY");
  EXPECT_EQ(message_of("\x93NUMPY"), prefix + "version 0 is unknown");
  EXPECT_EQ(message_of("\x93NUMPY\4"), prefix + "version 4 is unknown");
  EXPECT_EQ(message_of(std::string("\x93NUMPY\1\0\xff\xff{", 11)),
            prefix + "it ends inside its header");
  EXPECT_EQ(message_of(std::string("\x93NUMPY\2\0\xff\xff\xff\xff{", 13)),
            prefix + "it ends inside its header");
  EXPECT_EQ(message_of(file(1, dict("<M8", "(1,)"), "12345678")),
            prefix + "dtype '<M8' is not supported");
  EXPECT_EQ(message_of(file(1, "{'descr': [('a', '<f4')], }", "")),
            prefix + "structured dtypes are not supported");
  EXPECT_EQ(message_of(file(1, dict("<f4", "(2, 3)"), "1234")),
            prefix + "shape (2, 3) of float32 needs 24 bytes, the file has 4");
  EXPECT_EQ(message_of(file(1, dict("<f4", "(4294967296, 4294967296)"), "")),
            prefix + "shape (4294967296, 4294967296) is too large");
  EXPECT_EQ(message_of(file(1, dict("<f4", "(99999999999999999999,)"), "")),
            prefix + "a size is too large");
  EXPECT_EQ(message_of(file(1, dict("<f4", "(-1,)"), "")),
            prefix + "shape must be a tuple of sizes");
  EXPECT_EQ(message_of(file(1, "{'descr': '<f4'}", "")),
            prefix + "header lacks descr, fortran_order or shape");
  EXPECT_EQ(message_of(file(1, "{'descr': '<f4', 'descr': '<f4'}", "")),
            prefix + "header repeats 'descr'");
}

TEST(Npy, EveryPrefixOfAGoodFileIsRefused) {
  const std::string good = npy_bytes(ScalarType::kFloat, {2}, std::string(8, '\0'));
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_THROW(parse_npy(good.substr(0, n), "x"), InputError) << n;
  }
}

}  // namespace
}  // namespace taper::tools
