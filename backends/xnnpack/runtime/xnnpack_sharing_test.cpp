// Tests what handles of one backend share: threads, either the application's or the backend's, and
// a workspace.

#include <gtest/gtest.h>
#include <pthreadpool.h>

#include <thread>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

// y = -x^2 for size [rows, 64]; the square is stored in the workspace.
std::vector<uint8_t> minus_square(uint32_t rows) {
  PayloadBuilder p;
  const uint32_t x = p.input({rows, 64}), t = p.inner({rows, 64}), y = p.output({rows, 64});
  p.unary(NodeContent::Square, x, t);
  p.unary(NodeContent::Negate, t, y);
  return p.finish();
}

void expect_minus_square(Loaded& loaded, int32_t rows, int32_t most, float x) {
  const auto count = static_cast<size_t>(rows) * 64;
  HeldFloats in({rows, 64}, Floats(count, x), static_cast<size_t>(most) * 64);
  HeldFloats out({most, 64}, Floats(static_cast<size_t>(most) * 64),
                 static_cast<size_t>(most) * 64);
  const Status status = loaded.run({&in.value, &out.value});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out.result(), Floats(count, -x * x));
}

TEST(XnnpackSharing, ThreadsOfTheApplication) {
  pthreadpool* pool = pthreadpool_create(2);
  {
    XnnpackOptions options;
    options.pool = pool;
    XnnpackBackend first(options), second(options);
    Loaded a(minus_square(300), first), b(minus_square(200), second);
    expect_minus_square(a, 300, 300, 2);
    expect_minus_square(b, 200, 200, 3);
  }
  pthreadpool_destroy(pool);
}

TEST(XnnpackSharing, AWorkspaceServesGraphsOfAllSizes) {
  XnnpackOptions options = Loaded::one_thread();
  options.share_workspace = true;
  XnnpackBackend backend(options);
  Loaded small(minus_square(2), backend);
  expect_minus_square(small, 2, 2, 3);
  {
    Loaded large(minus_square(4000), backend);  // The workspace moves.
    expect_minus_square(small, 2, 2, 4);
    expect_minus_square(large, 4000, 4000, 5);
    expect_minus_square(large, 1000, 4000, 6);
    expect_minus_square(small, 1, 2, 7);
  }
  expect_minus_square(small, 2, 2, 8);
}

TEST(XnnpackSharing, AFileMayAskForTheWorkspaceOfOthers) {
  XnnpackBackend backend(Loaded::one_thread());
  const Specs shared("share_workspace", {1}), alone("share_workspace", {0});
  Loaded a(minus_square(300), backend, "a", shared), b(minus_square(200), backend, "b", shared);
  Loaded c(minus_square(100), backend, "c", alone);
  for (const float x : {2.0f, 3.0f}) {
    expect_minus_square(a, 300, 300, x);
    expect_minus_square(c, 100, 100, x);
    expect_minus_square(b, 200, 200, x);
  }
}

TEST(XnnpackSharing, OtherCompileSpecsAreAcceptedAndBadOnesRefused) {
  XnnpackBackend backend(Loaded::one_thread());
  EXPECT_TRUE(Loaded(minus_square(2), backend, "a", Specs("dqlinear_partitioner", {})).status.ok());
  for (const std::vector<uint8_t>& value :
       {std::vector<uint8_t>{}, std::vector<uint8_t>{2}, std::vector<uint8_t>{1, 0}}) {
    for (const std::string key : {"share_workspace", "prefer_float16"}) {
      const Loaded loaded(minus_square(2), backend, "a", Specs(key.c_str(), value));
      EXPECT_EQ(loaded.status.error(), Error::kDelegateInvalidCompatibility);
      EXPECT_EQ(loaded.status.message(),
                "the compile spec " + key + " is not one byte that is 0 or 1");
    }
  }
}

TEST(XnnpackSharing, HandlesOfOneWorkspaceMayBeCalledFromSeveralThreads) {
  for (const bool share : {false, true}) {
    XnnpackOptions options;
    options.threads = 2;
    options.share_workspace = share;
    XnnpackBackend backend(options);
    Loaded a(minus_square(50), backend), b(minus_square(70), backend);
    std::thread other([&] {
      for (int i = 0; i < 50; ++i) expect_minus_square(b, 70, 70, static_cast<float>(i));
    });
    for (int i = 0; i < 50; ++i) expect_minus_square(a, 50, 50, static_cast<float>(i));
    other.join();
  }
}

}  // namespace
}  // namespace taper::xnnpack
