#include "exir/frontend/zip_archive.h"

#include <gtest/gtest.h>

#include <functional>

#include "exir/frontend/archive_for_test.h"

namespace taper::exir {
namespace {

using test::blob_of;
using test::failure_of;
using test::Member;
using test::zip_of;
using test::ZipOptions;

// Opens the archive and reads all of it.
std::string failure_of_reading(const std::string& bytes) {
  return failure_of([&] {
    Budget budget(bytes.size());
    const ZipArchive archive(blob_of(bytes), budget);
    for (const ZipMember& member : archive.members()) archive.read(member);
  });
}

TEST(ZipArchive, StoredMembersAreSpansOfTheFile) {
  const Blob file = blob_of(zip_of({{"a/x", "hello"}, {"a/y", ""}}));
  Budget budget(file.bytes.size());
  const ZipArchive archive(file, budget);
  ASSERT_EQ(archive.members().size(), 2u);
  const Blob x = archive.read(*archive.find("a/x"));
  EXPECT_EQ(x.text(), "hello");
  EXPECT_EQ(x.bytes.data(), file.bytes.data() + 64);
  EXPECT_EQ(x.slack, file.bytes.size() - 64 - 5);
  EXPECT_EQ(archive.read(*archive.find("a/y")).text(), "");
  EXPECT_EQ(archive.find("a"), nullptr);
}

TEST(ZipArchive, DeflatedMembersAreUnpacked) {
  const std::string text(100000, 'z');
  const Blob file = blob_of(zip_of({{"x", text, true}, {"empty", "", true}}));
  Budget budget(file.bytes.size());
  const ZipArchive archive(file, budget);
  EXPECT_EQ(archive.read(*archive.find("x")).text(), text);
  EXPECT_EQ(archive.read(*archive.find("empty")).text(), "");
}

TEST(ZipArchive, ReadsZip64) {
  ZipOptions options;
  options.zip64 = true;
  const Blob file = blob_of(zip_of({{"x", "hello"}, {"y", "there", true}}, options));
  Budget budget(file.bytes.size());
  const ZipArchive archive(file, budget);
  EXPECT_EQ(archive.read(*archive.find("x")).text(), "hello");
  EXPECT_EQ(archive.read(*archive.find("y")).text(), "there");
}

TEST(ZipArchive, ACutFileIsRefusedWhereverItIsCut) {
  const std::string whole = zip_of({{"x", "hello"}, {"y", "there", true}});
  for (size_t size = 4; size < whole.size(); ++size) {
    EXPECT_NE(failure_of_reading(whole.substr(0, size)), "") << size;
  }
  EXPECT_NE(failure_of_reading(whole.substr(0, 100)).find("cut short"), std::string::npos);
}

TEST(ZipArchive, ChangedBytesNeverDoMoreThanFail) {
  for (bool zip64 : {false, true}) {
    ZipOptions options;
    options.zip64 = zip64;
    const std::string whole =
        zip_of({{"x", "hello hello hello"}, {"y", "there there", true}}, options);
    for (size_t at = 0; at < whole.size(); ++at) {
      for (int value : {0x00, 0x01, 0x7f, 0xff}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ value);
        failure_of_reading(changed);
      }
    }
  }
}

struct Hostile {
  const char* name;
  std::vector<Member> members;
  ZipOptions options;
  const char* message;
};

class HostileZip : public testing::TestWithParam<Hostile> {};

TEST_P(HostileZip, IsRefused) {
  const std::string said = failure_of_reading(zip_of(GetParam().members, GetParam().options));
  EXPECT_NE(said.find(GetParam().message), std::string::npos) << said;
}

Member member(const std::string& name, const std::string& data = "data") { return {name, data}; }

Member with(Member m, const std::function<void(Member&)>& change) {
  change(m);
  return m;
}

INSTANTIATE_TEST_SUITE_P(
    Archives, HostileZip,
    testing::Values(
        Hostile{"parent_folder", {member("a/../../x")}, {}, "outside the archive"},
        Hostile{"only_dots", {member("..")}, {}, "outside the archive"},
        Hostile{"absolute", {member("/etc/x")}, {}, "outside the archive"},
        Hostile{"drive", {member("C:x")}, {}, "outside the archive"},
        Hostile{"backslash", {member("a\\x")}, {}, "outside the archive"},
        Hostile{"no_name", {member("")}, {}, "outside the archive"},
        Hostile{"twice", {member("x"), member("x")}, {}, "x: is in the archive twice"},
        Hostile{"overlap",
                {member("x"), with(member("x"),
                                   [](Member& m) {
                                     m.name = "y";
                                     m.local_name = "x";
                                     m.header_offset = 0;
                                   })},
                {},
                "another name"},
        Hostile{"outside",
                {with(member("x"), [](Member& m) { m.header_offset = 1 << 20; })},
                {},
                "local header is not where"},
        Hostile{"too_long",
                {with(member("x"), [](Member& m) { m.claimed_size = 1 << 20; })},
                {},
                "run past the end"},
        Hostile{"wrong_crc",
                {with(member("x"), [](Member& m) { m.crc_error = 4; })},
                {},
                "x: is damaged: its checksum does not match"},
        Hostile{"encrypted",
                {with(member("x"), [](Member& m) { m.flags = 1; })},
                {},
                "x: is encrypted"},
        Hostile{"method", {with(member("x"), [](Member& m) { m.method = 12; })}, {}, "method 12"},
        Hostile{"count", {member("x")}, {64, false, 7, -1}, "too short"},
        Hostile{"directory", {member("x")}, {64, false, -1, 1 << 20}, "outside the file"},
        Hostile{"longer_than_said",
                {with({"x", std::string(1000, 'x'), true}, [](Member& m) { m.claimed_size = 10; })},
                {},
                "compressed bytes are damaged"},
        Hostile{
            "shorter_than_said",
            {with({"x", std::string(1000, 'x'), true}, [](Member& m) { m.claimed_size = 2000; })},
            {},
            "compressed bytes are damaged"},
        Hostile{"impossible_ratio",
                {with({"x", "x", true}, [](Member& m) { m.claimed_size = 0x7fffffff; })},
                {},
                "impossible size"},
        Hostile{"bomb", {{"x", std::string(40 << 20, '\0'), true}}, {}, "unpacks to far more"}),
    [](const auto& info) { return info.param.name; });

TEST(ZipArchive, OverlappingMembersAreRefused) {
  // The second member's header lies within the data of the first.
  const std::string inner = zip_of({{"y", "data"}}, {1, false, -1, -1});
  const std::string local = inner.substr(0, inner.find("data") + 4);
  std::vector<Member> members = {{"x", local}, {"y", "data"}};
  members[1].header_offset = 31;
  const std::string said = failure_of_reading(zip_of(members, {1, false, -1, -1}));
  EXPECT_NE(said.find("overlap"), std::string::npos) << said;
}

TEST(ZipArchive, CompressedTextHasALowerLimit) {
  const std::string bytes = zip_of({{"x.json", std::string(6 << 20, ' '), true}});
  Budget budget(bytes.size());
  const ZipArchive archive(blob_of(bytes), budget);
  EXPECT_NE(
      failure_of([&] { archive.read_text(archive.members()[0]); }).find("unpacks to far more"),
      std::string::npos);
}

}  // namespace
}  // namespace taper::exir
