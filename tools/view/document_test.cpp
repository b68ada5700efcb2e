// That documents keep what is equal once, and that their JSON brings any text through unchanged.

#include "tools/view/document.h"

#include <gtest/gtest.h>

#include "exir/frontend/json.h"
#include "exir/ir/graph.h"
#include "exir/ops/builtin.h"
#include "tools/text/json_writer.h"
#include "tools/view/graph_step.h"
#include "tools/view/model_explorer.h"

namespace taper::tools {
namespace {

using exir::Json;

// A parser that did not write the text.
struct Parsed {
  explicit Parsed(const std::string& text)
      : document({{reinterpret_cast<const uint8_t*>(text.data()), text.size()}, {}, 0}, "test") {}
  Json operator[](const char* key) const { return exir::json_need(document.root(), key); }
  exir::JsonDocument document;
};

Json item(Json list, size_t index) {
  auto at = exir::json_array(list, "list").begin();
  for (size_t i = 0; i < index; ++i) ++at;
  return *at;
}

size_t count(Json list) { return exir::json_size(exir::json_array(list, "list")); }

std::string text_of(Json value) { return std::string(exir::json_text(value, "text")); }

ViewValue value(const std::string& name) { return {name, "", "float32 (2,)", "result", "", 8, -1}; }

ViewCall call(const std::string& name, size_t read, size_t made) {
  ViewCall made_call;
  made_call.name = name;
  made_call.op = "aten::relu";
  made_call.args.push_back({"self", {read}});
  made_call.results = {made};
  return made_call;
}

// x -> a -> b
ViewDocument small() {
  ViewDocument document;
  document.file = "small.pt2";
  ViewStep step;
  step.title = "as exported";
  step.method = "forward";
  const size_t x = document.add(value("x")), a = document.add(value("a")),
               b = document.add(value("b"));
  step.inputs = {x};
  step.calls = {document.add(call("a", x, a)), document.add(call("b", a, b))};
  step.outputs = {b};
  document.steps = {step};
  return document;
}

TEST(ViewDocument, KeepsWhatIsEqualOnce) {
  ViewDocument document = small();
  EXPECT_EQ(document.add(value("a")), 1u);
  EXPECT_EQ(document.add(value("c")), 3u);
  EXPECT_EQ(document.add(call("b", 1, 2)), 1u);
  EXPECT_EQ(document.add(call("b", 0, 2)), 2u);  // It reads another value.
  EXPECT_EQ(document.values().size(), 4u);
  EXPECT_EQ(document.calls().size(), 3u);
}

// A text may hold what separates texts in keys.
TEST(ViewDocument, TellsSimilarTextsApart) {
  ViewDocument document;
  std::set<size_t> numbers;
  for (const char* name : {"", "0", "1\x1f",
                           "1\x1f"
                           "0\x1f",
                           "\x1e"
                           "8"}) {
    ViewValue one = value(name);
    ViewValue other = value("");
    other.scope = name;
    numbers.insert(document.add(one));
    numbers.insert(document.add(other));
  }
  EXPECT_EQ(numbers.size(), 9u);  // Without a name and without a scope are the same.
}

TEST(ViewDocument, JsonHoldsTheGraph) {
  const Parsed json(small().json());
  EXPECT_EQ(text_of(json["file"]), "small.pt2");
  const Json step = item(json["steps"], 0);
  EXPECT_EQ(text_of(exir::json_need(step, "title")), "as exported");
  // One run of two calls, from call 0.
  const Json runs = exir::json_need(step, "calls");
  ASSERT_EQ(count(runs), 2u);
  EXPECT_EQ(exir::json_int(item(runs, 0), "first"), 0);
  EXPECT_EQ(exir::json_int(item(runs, 1), "count"), 2);
  ASSERT_EQ(count(json["calls"]), 2u);
  const Json second = item(json["calls"], 1);
  const int64_t name = exir::json_int(item(second, 0), "name");
  EXPECT_EQ(text_of(item(json["texts"], static_cast<size_t>(name))), "b");
  const Json argument = item(item(second, 10), 0);  // Its name, and value 1.
  EXPECT_EQ(exir::json_int(item(argument, 1), "value"), 1);
}

TEST(ViewDocument, JsonBringsAnyTextThrough) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  const std::vector<std::string> texts = {
      all, "</script><script>alert(1)</script>", "\"quoted\" \\ back\\\\slash \\u0041",
      "\xe2\x80\xa8 and \xe2\x80\xa9 end lines in scripts, \xf0\x9f\x94\xa5",
      std::string(100'000, 'x')};
  for (const std::string& text : texts) {
    ViewDocument document = small();
    document.file = text;
    document.facts = {{text, text}};
    document.problems = {text};
    document.add(value(text));
    const Parsed json(document.json());
    EXPECT_EQ(text_of(json["file"]), text);
    EXPECT_EQ(text_of(item(item(json["facts"], 0), 1)), text);
    EXPECT_EQ(text_of(item(json["problems"], 0)), text);
    const int64_t name = exir::json_int(item(item(json["values"], 3), 0), "name");
    EXPECT_EQ(text_of(item(json["texts"], static_cast<size_t>(name))), text);
  }
}

TEST(ViewDocument, ReplacesWhatIsNotUtf8) {
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(valid_utf8("plain"), "plain");
  EXPECT_EQ(valid_utf8("\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\xa5"),
            "\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\xa5");
  EXPECT_EQ(valid_utf8("a\xc3"), "a" + bad);                         // Cut.
  EXPECT_EQ(valid_utf8("\xc3("), bad + "(");                         // No second byte.
  EXPECT_EQ(valid_utf8("\x80z"), bad + "z");                         // No first byte.
  EXPECT_EQ(valid_utf8("\xc0\xaf"), bad + bad);                      // Overlong.
  EXPECT_EQ(valid_utf8("\xe0\x80\xaf"), bad + bad + bad);            // Overlong.
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), bad + bad + bad);            // A surrogate.
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), bad + bad + bad + bad);  // Beyond the last.
  EXPECT_EQ(valid_utf8("\xff"), bad);
  EXPECT_EQ(JsonWriter().text("a\xff").str(), "\"a" + bad + "\"");
}

std::unique_ptr<exir::Graph> with_states() {
  return exir::parse_graph(R"(graph "forward" {
    range s0 = [2, 100]
    input %x: float32[s0, 3]
    constant %w: float32[3] "scale.weight" = {1, 2, 3}
    state %seen: int64[] "seen" = zeros
    %y: float32[s0, 3] = aten::mul.Tensor(%x, %w)
    %n: int(s0) = aten::sym_size.int(%x, 0)
    %next: int64[] = aten::add.Scalar(%seen, %n)
    mutate %seen = %next
    return %y
  })",
                           exir::builtin_operators());
}

TEST(GraphStep, HasTypesRolesAndWrites) {
  const auto graph = with_states();
  ViewDocument document;
  const ViewStep step = graph_step(*graph, document);
  const auto found = [&](size_t number) { return document.values()[number]; };
  ASSERT_EQ(step.calls.size(), 3u);
  ASSERT_EQ(step.inputs.size(), 1u);
  EXPECT_EQ(found(step.inputs[0]).type, "float32 (s0, 3)");
  EXPECT_EQ(found(step.inputs[0]).bytes, 0u);  // Of a size that varies.
  const ViewCall& mul = document.calls()[step.calls[0]];
  EXPECT_EQ(mul.op, "aten::mul.Tensor");
  const ViewValue& weight = found(std::get<size_t>(mul.args.at(1).pieces.at(0)));
  EXPECT_EQ(weight.role, "constant");
  EXPECT_EQ(weight.from, "scale.weight");
  EXPECT_EQ(weight.bytes, 12u);
  EXPECT_EQ(found(document.calls()[step.calls[1]].results[0]).type, "int = s0");
  ASSERT_EQ(step.writes.size(), 1u);
  EXPECT_EQ(found(step.writes[0].first).role, "state");
  EXPECT_EQ(found(step.writes[0].second).name, "next");
}

// A pass that changes one call leaves the numbers of the others.
TEST(GraphStep, SameCallsKeepTheirNumbers) {
  ViewDocument document;
  const ViewStep before = graph_step(*with_states(), document);
  const ViewStep after = graph_step(*with_states(), document);
  EXPECT_EQ(before.calls, after.calls);
  EXPECT_EQ(document.calls().size(), 3u);
}

TEST(ModelExplorer, EdgesLeadFromNodesThatExist) {
  ViewDocument document;
  document.file = "m.pt2";
  document.steps = {graph_step(*with_states(), document)};
  const Parsed json(model_explorer_json(document));
  const Json nodes = exir::json_need(item(json["graphs"], 0), "nodes");
  std::set<std::string> ids;
  for (const Json node : exir::json_array(nodes, "nodes")) {
    EXPECT_TRUE(ids.insert(text_of(exir::json_need(node, "id"))).second);
  }
  EXPECT_EQ(ids.size(), 8u);  // x, w, seen, three calls, an output and a write.
  size_t edges = 0;
  for (const Json node : exir::json_array(nodes, "nodes")) {
    for (const Json edge : exir::json_array(exir::json_need(node, "incomingEdges"), "edges")) {
      EXPECT_TRUE(ids.count(text_of(exir::json_need(edge, "sourceNodeId"))));
      ++edges;
    }
  }
  EXPECT_EQ(edges, 7u);  // mul reads two, sym_size one, add two; y and next are read once more.
}

}  // namespace
}  // namespace taper::tools
