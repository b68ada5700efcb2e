// Tests `taper sign`, and what --key accepts.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "test/cli/command.h"
#include "test/support/synthetic_program.h"
#include "tools/atomic_file.h"

namespace taper::test {
namespace {

void expect_refused(const Said& said, const std::string& part) {
  EXPECT_EQ(said.code, 1);
  ASSERT_EQ(said.error_lines().size(), 1u) << said.err;
  EXPECT_NE(said.err.find(part), std::string::npos) << said.err;
}

class Sign : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<uint8_t> bytes = chain_of_adds(3, 4);
    tools::write_file(model_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    const Said said = run("taper", {"sign", "--new-key", key_});
    ASSERT_EQ(said.code, 0) << said.err;
  }

  ScratchFolder scratch_;
  std::string model_ = scratch_ / "adds.pte", key_ = scratch_ / "author.pem",
              public_key_ = scratch_ / "author.pub.pem", signed_ = scratch_ / "signed.pte";
};

TEST_F(Sign, MakesAKeyForOneUserAndNeverOverAnother) {
  struct stat info = {};
  ASSERT_EQ(::stat(key_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const std::string before = tools::read_file(key_);
  expect_refused(run("taper", {"sign", "--new-key", key_}), "author.p");
  std::remove(public_key_.c_str());
  expect_refused(run("taper", {"sign", "--new-key", key_}), "author.pem");
  EXPECT_EQ(tools::read_file(key_), before);
}

TEST_F(Sign, AFileRunsForItsAuthorsKeyAlone) {
  const Said said = run("taper", {"sign", model_, "--key", key_, "-o", signed_});
  ASSERT_EQ(said.code, 0) << said.err;
  for (const std::string& key : {std::string(), public_key_}) {
    std::vector<std::string> arguments = {"run", signed_};
    if (!key.empty()) arguments.insert(arguments.end(), {"--key", key});
    const Said ran = run("taper", arguments);
    EXPECT_EQ(ran.out, "output 0: float32 (4,) [4, 4, 4, 4]\n") << ran.err;
  }
  EXPECT_EQ(run("taper", {"verify", signed_, "--key", public_key_}).code, 0);
  EXPECT_EQ(run("executor_runner", {"--model_path", signed_}).code, 0);
  expect_refused(run("taper", {"verify", model_, "--key", public_key_}), "is not signed");
  const std::string stranger = scratch_ / "stranger";
  ASSERT_EQ(run("taper", {"sign", "--new-key", stranger}).code, 0);
  expect_refused(run("taper", {"run", signed_, "--key", stranger + ".pub.pem"}), "by another key");
  std::string changed = tools::read_file(signed_);
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
  tools::write_file(signed_, changed);
  expect_refused(run("taper", {"run", signed_, "--key", public_key_}), "was changed");
}

TEST_F(Sign, ASecondSignatureReplacesTheFirst) {
  ASSERT_EQ(run("taper", {"sign", model_, "--key", key_, "-o", signed_}).code, 0);
  const std::string once = tools::read_file(signed_);
  ASSERT_EQ(run("taper", {"sign", signed_, "--key", key_}).code, 0);
  EXPECT_EQ(tools::read_file(signed_), once);
}

TEST_F(Sign, TheWrongKeyIsNamed) {
  expect_refused(run("taper", {"sign", model_, "--key", public_key_}), public_key_);
  expect_refused(run("taper", {"run", model_, "--key", key_}), key_);
  EXPECT_EQ(run("taper", {"sign", model_}).code, 2);
}

}  // namespace
}  // namespace taper::test
