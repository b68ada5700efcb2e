#include "exir/writer/zip_writer.h"

#include <gtest/gtest.h>

#include "exir/frontend/zip_archive.h"

namespace taper::exir {
namespace {

TEST(ZipWriter, WritesWhatTheReaderReads) {
  const std::vector<uint8_t> large(1000, 7);
  ZipWriter writer;
  writer.add("root/data/weights/weight_0", large);
  writer.add_text("root/models/model.json", "{}");
  writer.add_text("root/empty", "");
  const std::string file = writer.finish().joined();
  const Blob blob{{reinterpret_cast<const uint8_t*>(file.data()), file.size()}, nullptr};
  Budget budget(file.size());
  const ZipArchive archive(blob, budget);
  ASSERT_EQ(archive.members().size(), 3u);
  for (const ZipMember& member : archive.members()) EXPECT_EQ(member.data % 64, 0u) << member.name;
  const Blob read = archive.read(*archive.find("root/data/weights/weight_0"));
  EXPECT_EQ(std::vector<uint8_t>(read.bytes.begin(), read.bytes.end()), large);
  EXPECT_EQ(archive.read(*archive.find("root/models/model.json")).text(), "{}");
  EXPECT_EQ(archive.find("root/empty")->size, 0u);
}

}  // namespace
}  // namespace taper::exir
