#include "exir/writer/pt2_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "exir/frontend/archive_for_test.h"
#include "exir/frontend/import.h"
#include "exir/ir/rewrite.h"
#include "test/support/scratch_folder.h"

namespace taper::exir {
namespace {

namespace fs = std::filesystem;

std::string folder() { return std::string(TAPER_SOURCE_DIR) + "/test/models/data/"; }

class Pt2Writer : public testing::Test {
 protected:
  // Writes the graph and imports what was written.
  ExportedProgram again(const std::string& path, const Graph& graph) {
    const Pt2File file = write_pt2(path, "", graph);
    const std::string to = folder_ / "again.pt2";
    std::ofstream(to, std::ios::binary) << file.pieces.joined();
    return import_pt2(to);
  }

  const taper::test::ScratchFolder folder_;
};

// What was not changed stays: all archive forms, subgraphs, states, symbols, aliases.
TEST_F(Pt2Writer, KeepsAnUnchangedProgram) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().extension() != ".pt2") continue;
    const std::string path = entry.path().string();
    ExportedProgram before;
    try {
      if (model_names(path).size() != 1) continue;
      before = import_pt2(path);
    } catch (const Failure&) {
      continue;  // One of those that are to be refused.
    }
    ExportedProgram after;
    try {
      after = again(path, *before.graph);
    } catch (const Failure& failure) {
      const bool is_object =
          std::string(failure.what()).find("an object that cannot be written") != std::string::npos;
      EXPECT_TRUE(is_object) << failure.what();
      continue;
    }
    EXPECT_EQ(print(*after.graph), print(*before.graph)) << path;
    EXPECT_EQ(after.torch_version, before.torch_version) << path;
    ++count;
  }
  EXPECT_GT(count, 30u);
}

TEST_F(Pt2Writer, WritesTheSameBytesTwice) {
  const std::string path = folder() + "mobilenet_v2.pt2";
  const ExportedProgram program = import_pt2(path);
  EXPECT_EQ(write_pt2(path, "", *program.graph).pieces.joined(),
            write_pt2(path, "", *program.graph).pieces.joined());
}

TEST_F(Pt2Writer, WritesNewNodesConstantsAndOutputs) {
  const std::string path = folder() + "add.pt2";
  ExportedProgram program = import_pt2(path);
  Graph& graph = *program.graph;
  TensorType type = graph.outputs[0].value()->type;
  const std::vector<float> numbers = {2};
  const auto* bytes = reinterpret_cast<const uint8_t*>(numbers.data());
  Value* two = graph.new_constant("two", TensorType(ScalarType::kFloat, {Sym(1)}),
                                  own_bytes({bytes, bytes + sizeof(float)}));
  two->fqn = "added.two";
  rewrite(
      graph, [](Node&, Rewriter&) { return false; },
      [&](Rewriter& rewriter) {
        graph.outputs[0] = rewriter.emit("aten::mul.Tensor", {graph.outputs[0], two}, {type})[0];
      });
  const ExportedProgram after = again(path, graph);
  EXPECT_EQ(print(*after.graph), print(graph));
  const Value* product = after.graph->outputs[0].value();
  EXPECT_TRUE(product->producer->is("aten::mul.Tensor"));
  EXPECT_EQ(product->producer->args[1].value()->fqn, "added.two");
}

TEST_F(Pt2Writer, RefusesATensorWhoseNameIsTaken) {
  const std::string path = folder() + "mobilenet_v2.pt2";
  ExportedProgram program = import_pt2(path);
  Graph& graph = *program.graph;
  Value* copy = graph.new_constant("copy", graph.constants[0]->type, graph.constants[0]->data);
  copy->fqn = graph.constants[0]->fqn;
  graph.outputs.emplace_back(copy);
  EXPECT_NE(test::failure_of([&] { write_pt2(path, "", graph); }).find(copy->fqn),
            std::string::npos);
}

}  // namespace
}  // namespace taper::exir
