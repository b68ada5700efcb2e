// Tests packed weights in a file: they are found again, and no content of the file does harm.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "backends/xnnpack/runtime/packed/packed_header.h"
#include "backends/xnnpack/runtime/payload/payload_for_test.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"

namespace taper::xnnpack {
namespace {

using Bytes = std::vector<uint8_t>;

// y = (x * v) * w + 1 for x of size [1, 2]: two weights to pack, [2, 3] and [3, 2].
Bytes two_layers(float first_weight) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 2}), t = p.inner({1, 3}), y = p.output({1, 2});
  p.connected(x, p.constant({3, 2}, {first_weight, 0, 0, 1, 1, 1}), UINT32_MAX, t);
  p.connected(t, p.constant({2, 3}, {1, 0, 0, 0, 1, 1}), p.constant({2}, {1, 1}), y);
  return p.finish();
}

class PackedWeightsInAFile : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/taper_packed_XXXXXX";
    ASSERT_NE(mkdtemp(pattern), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/model.xnncache";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  XnnpackOptions options() const {
    XnnpackOptions options = Loaded::one_thread();
    options.cache_path = path_.c_str();
    return options;
  }

  // Loads and runs the two layers and checks the results. Saves packed weights if `save` is true.
  PackedReport run(float first_weight, bool save = false, const char* method = "forward") {
    XnnpackBackend backend(options());
    Loaded loaded(two_layers(first_weight), backend, method);
    EXPECT_TRUE(loaded.status.ok()) << loaded.status.message();
    HeldFloats in({1, 2}, {2, 3}), out({1, 2}, Floats(2));
    EXPECT_TRUE(loaded.run({&in.value, &out.value}).ok());
    EXPECT_EQ(out.result(), (Floats{2 * first_weight + 1, 3 + 5 + 1}));
    if (save) saved_ = backend.save_packed();
    return backend.cache_report();
  }

  Bytes read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const Bytes& bytes) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

  std::string folder_, path_;
  Status saved_;
};

TEST_F(PackedWeightsInAFile, AreFoundAgain) {
  const PackedReport first = run(5, true);
  EXPECT_TRUE(saved_.ok()) << saved_.message();
  EXPECT_EQ(first.found, 0u);
  EXPECT_EQ(first.packed, 2u);
  EXPECT_STREQ(first.problem, "");
  const Bytes bytes = read();
  const PackedReport second = run(5, true);
  EXPECT_EQ(second.found, 2u);
  EXPECT_EQ(second.packed, 0u);
  EXPECT_STREQ(second.problem, "");
  EXPECT_EQ(read(), bytes);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

// Two 3 x 3 convolutions whose filters are zero except at the centre: y = 2 * (3 * x + 1).
Bytes two_convolutions(uint32_t size, uint32_t channels) {
  PayloadBuilder p;
  const Sizes sizes = {1, size, size, channels}, window = {channels, 3, 3, channels};
  const uint32_t x = p.input(sizes), t = p.inner(sizes), y = p.output(sizes);
  Floats first(channels * 9 * channels), second = first;
  for (uint32_t c = 0; c < channels; ++c) {
    first[(c * 9 + 4) * channels + c] = 3;
    second[(c * 9 + 4) * channels + c] = 2;
  }
  const uint32_t bias = p.constant({channels}, Floats(channels, 1));
  p.convolved(x, p.constant(window, first), bias, t, PayloadBuilder::Windows::padded(1));
  p.convolved(t, p.constant(window, second), UINT32_MAX, y, PayloadBuilder::Windows::padded(1));
  return p.finish();
}

TEST_F(PackedWeightsInAFile, SoAreThoseOfConvolutions) {
  constexpr uint32_t kSize = 28, kChannels = 32;
  const Floats numbers(size_t{kSize} * kSize * kChannels, 5);
  for (uint32_t found : {0u, 2u}) {
    XnnpackBackend backend(options());
    Loaded loaded(two_convolutions(kSize, kChannels), backend);
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
    HeldFloats in({1, 28, 28, 32}, numbers), out({1, 28, 28, 32}, Floats(numbers.size()));
    ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
    for (float y : out.result()) ASSERT_NEAR(y, 32, 1e-4);
    ASSERT_TRUE(backend.save_packed().ok());
    EXPECT_EQ(backend.cache_report().found, found);
    EXPECT_EQ(backend.cache_report().packed, 2 - found);
    EXPECT_STREQ(backend.cache_report().problem, "");
  }
}

TEST_F(PackedWeightsInAFile, NothingIsWrittenUnlessAskedFor) {
  EXPECT_EQ(run(5).packed, 2u);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(PackedWeightsInAFile, ThoseOfOtherWeightsAreMadeAnew) {
  run(5, true);
  const PackedReport other = run(7, true);
  EXPECT_EQ(other.packed, 1u);  // The second layer's are the same.
  EXPECT_STREQ(other.problem, "it was made for another model");
  EXPECT_EQ(run(7).found, 2u);
}

TEST_F(PackedWeightsInAFile, ThoseOfOtherMethodsStay) {
  run(5, true, "encode");
  run(7, true, "decode");
  EXPECT_EQ(run(5, false, "encode").found, 2u);
  EXPECT_EQ(run(7, false, "decode").found, 2u);
}

TEST_F(PackedWeightsInAFile, ThoseOfOtherGraphsAreNotUsed) {
  {
    XnnpackBackend backend(options());
    PayloadBuilder p;
    const uint32_t x = p.input({1, 2}), y = p.output({1, 3});
    p.connected(x, p.constant({3, 2}, {5, 0, 0, 1, 1, 1}), UINT32_MAX, y);
    Loaded loaded(p.finish(), backend);
    ASSERT_TRUE(backend.save_packed().ok());
  }
  const PackedReport report = run(5, true);
  EXPECT_EQ(report.found, 0u);
  EXPECT_STREQ(report.problem, "it was made for another model");
  EXPECT_EQ(run(5).found, 2u);
}

// Changes the tables of a valid file and updates their hashes.
void reseal(Bytes& bytes,
            const std::function<void(PackedHeader&, PackedSection*, PackedEntry*)>& change) {
  PackedHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  auto* sections = reinterpret_cast<PackedSection*>(bytes.data() + sizeof(header));
  auto* entries = reinterpret_cast<PackedEntry*>(sections + header.section_count);
  const uint32_t section_count = header.section_count, entry_count = header.entry_count;
  change(header, sections, entries);
  std::memcpy(bytes.data(), &header, sizeof(header));
  PackedHeader counted = header;  // The counts may lie.
  counted.section_count = section_count;
  counted.entry_count = entry_count;
  header.tables_hash = hash_tables(counted, bytes.data());
  std::memcpy(bytes.data(), &header, sizeof(header));
}

TEST_F(PackedWeightsInAFile, ThoseOfAnotherProcessorAreMadeAnew) {
  run(5, true);
  Bytes bytes = read();
  reseal(bytes, [](PackedHeader& header, PackedSection*, PackedEntry*) { ++header.kernels; });
  write(bytes);
  const PackedReport report = run(5, true);
  EXPECT_EQ(report.found, 0u);
  EXPECT_STREQ(report.problem, "it was made for another processor or another XNNPACK");
  EXPECT_EQ(run(5).found, 2u);
}

TEST_F(PackedWeightsInAFile, TablesThatLieAreHarmless) {
  run(5, true);
  const Bytes good = read();
  const std::function<void(PackedHeader&, PackedSection*, PackedEntry*)> lies[] = {
      [](PackedHeader& h, PackedSection*, PackedEntry*) { h.section_count = UINT32_MAX; },
      [](PackedHeader& h, PackedSection*, PackedEntry*) { h.entry_count = UINT32_MAX; },
      [](PackedHeader& h, PackedSection*, PackedEntry*) { h.file_size = UINT64_MAX; },
      [](PackedHeader&, PackedSection* s, PackedEntry*) { s->first_entry = UINT32_MAX; },
      [](PackedHeader&, PackedSection* s, PackedEntry*) { s->entry_count = UINT32_MAX; },
      [](PackedHeader&, PackedSection* s, PackedEntry*) { s->entry_count = 3; },
      [](PackedHeader&, PackedSection*, PackedEntry* e) { e->offset = UINT64_MAX - 63; },
      [](PackedHeader&, PackedSection*, PackedEntry* e) { e->offset += 32; },
      [](PackedHeader&, PackedSection*, PackedEntry* e) { e->offset += uint64_t{1} << 40; },
      [](PackedHeader&, PackedSection*, PackedEntry* e) { e->size = UINT64_MAX; },
      [](PackedHeader&, PackedSection*, PackedEntry* e) { e->size = 0; },
      [](PackedHeader&, PackedSection*, PackedEntry* e) { e->size -= 64; },
      [](PackedHeader&, PackedSection*, PackedEntry* e) { ++e->seed; },
      [](PackedHeader&, PackedSection*, PackedEntry* e) { e->offset = 64; },
  };
  for (size_t i = 0; i < std::size(lies); ++i) {
    Bytes bad = good;
    reseal(bad, lies[i]);
    write(bad);
    const PackedReport report = run(5);
    EXPECT_LT(report.found, 2u) << i;
    EXPECT_STRNE(report.problem, "") << i;
  }
}

TEST_F(PackedWeightsInAFile, EveryCutAndEveryChangedByteIsNoticed) {
  run(5, true);
  const Bytes good = read();
  for (size_t size = 0; size < good.size(); size += size < 512 ? 1 : 37) {
    write({good.begin(), good.begin() + static_cast<ptrdiff_t>(size)});
    const PackedReport report = run(5);
    EXPECT_EQ(report.found, 0u) << size;
    EXPECT_STRNE(report.problem, "") << size;
  }
  // Bytes between the parts, and the note, have no meaning; results are right with any.
  for (size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= 0x41;
    write(bad);
    const PackedReport report = run(5);
    EXPECT_EQ(report.found == 2, *report.problem == 0) << i;
  }
  write(good);
  EXPECT_EQ(run(5).found, 2u);
}

// Sets the time of a file's last change to a number of seconds ago.
void age(const std::string& path, time_t seconds) {
  const timespec times[] = {{time(nullptr) - seconds, 5}, {time(nullptr) - seconds, 5}};
  EXPECT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

uint64_t noted_stamp(const Bytes& bytes) {
  PackedHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header.stamp_hash;
}

TEST_F(PackedWeightsInAFile, WhoFindsAllOfItRightNotesThat) {
  run(5, true);
  run(5, true);  // The file is too recent for a note.
  EXPECT_EQ(noted_stamp(read()), 0u);
  age(path_, 10);
  const auto before = std::filesystem::last_write_time(path_);
  EXPECT_EQ(run(5, true).found, 2u);
  EXPECT_EQ(std::filesystem::last_write_time(path_), before);
  const Bytes noted = read();
  EXPECT_NE(noted_stamp(noted), 0u);
  EXPECT_EQ(run(5, true).found, 2u);
  EXPECT_EQ(read(), noted);
}

TEST_F(PackedWeightsInAFile, ANoteIsWorthNothingOnceTheFileHasChanged) {
  run(5, true);
  age(path_, 10);
  EXPECT_EQ(run(5, true).found, 2u);
  const Bytes noted = read();
  Bytes bad = noted;
  bad[bad.size() - 64] ^= 0x41;  // A byte of the last weight that was packed.
  for (const time_t seconds : {0, 9}) {
    write(bad);
    age(path_, seconds);
    const PackedReport report = run(5);
    EXPECT_EQ(report.found, 1u);
    EXPECT_STREQ(report.problem, "it is damaged or cut short");
  }
  const std::string first = path_;
  path_ = folder_ + "/copy.xnncache";
  write(bad);
  std::filesystem::last_write_time(path_, std::filesystem::last_write_time(first));
  EXPECT_EQ(run(5).found, 1u);
}

TEST_F(PackedWeightsInAFile, ADamagedOneIsReplaced) {
  write(Bytes(1000, 7));
  EXPECT_STRNE(run(5, true).problem, "");
  EXPECT_TRUE(saved_.ok());
  EXPECT_EQ(run(5).found, 2u);
}

TEST_F(PackedWeightsInAFile, SeveralMayWriteItAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 20; ++i) {
        const float weight = static_cast<float>(1 + (t + i) % 2);
        XnnpackBackend backend(options());
        Loaded loaded(two_layers(weight), backend);
        HeldFloats in({1, 2}, {2, 3}), out({1, 2}, Floats(2));
        EXPECT_TRUE(loaded.run({&in.value, &out.value}).ok());
        EXPECT_EQ(out.result(), (Floats{2 * weight + 1, 9}));
        EXPECT_TRUE(backend.save_packed().ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  const bool is_whole = run(1).found == 2 || run(2).found == 2;
  EXPECT_TRUE(is_whole);
}

TEST_F(PackedWeightsInAFile, WhatCannotBeWrittenIsToldAndNothingElseHappens) {
  path_ = folder_ + "/nowhere/model.xnncache";
  EXPECT_EQ(run(5, true).packed, 2u);
  EXPECT_EQ(saved_.error(), Error::kAccessFailed);
  EXPECT_STREQ(saved_.message(), "there is no such folder");
  path_ = folder_ + "/folder";
  ASSERT_EQ(mkdir(path_.c_str(), 0777), 0);
  const PackedReport report = run(5, true);
  EXPECT_STREQ(report.problem, "it cannot be read");
  EXPECT_FALSE(saved_.ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(PackedWeightsInAFile, WhatIsReadOnlyStays) {
  // Root may write read-only files.
  const bool is_root = geteuid() == 0;
  ASSERT_TRUE(!is_root || seteuid(65534) == 0);
  const std::string own = folder_ + "_own";
  ASSERT_EQ(mkdir(own.c_str(), 0777), 0);
  path_ = own + "/model.xnncache";
  ASSERT_EQ(chmod(own.c_str(), 0555), 0);
  EXPECT_EQ(run(5, true).packed, 2u);
  EXPECT_STREQ(saved_.message(), "its folder or the file is read-only");
  ASSERT_EQ(chmod(own.c_str(), 0777), 0);
  std::filesystem::remove_all(own);
  ASSERT_TRUE(!is_root || seteuid(0) == 0);
}

}  // namespace
}  // namespace taper::xnnpack
