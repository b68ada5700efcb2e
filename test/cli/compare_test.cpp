// taper compare: that correct programs agree with what they were compiled from, that planted faults
// are named, and its one line for each wrong input.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "backends/compilers.h"
#include "backends/devices.h"
#include "exir/bounds.h"
#include "exir/export.h"
#include "exir/ir/registry.h"
#include "test/cli/command.h"
#include "test/cli/npz.h"
#include "tools/atomic_file.h"
#include "tools/npy.h"
#include "tools/tensor_bytes.h"

namespace taper::test {
namespace {

constexpr char kTaper[] = "taper_with_test_backends";
const std::string kData = TAPER_SOURCE_DIR "/test/models/data/";

// A case of models.txt.
struct Subject {
  std::string file, inputs, outputs;
};

std::string files(const std::string& name, const std::string& kind, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    list += (i == 0 ? "" : ",") + kData + name + "." + kind + std::to_string(i) + ".npy";
  }
  return list;
}

std::vector<Subject> subjects() {
  std::vector<Subject> found;
  std::ifstream lines(kData + "models.txt");
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, file;
    int inputs = 0, outputs = 0, steps = 0;
    words >> name >> file >> inputs >> outputs >> steps;
    if (steps > 1) name += ".step0";
    found.push_back({kData + file, files(name, "in", inputs), files(name, "out", outputs)});
  }
  return found;
}

Said compare(const Subject& subject, const std::string& program,
             std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"compare", subject.file, program};
  if (!subject.inputs.empty()) arguments.insert(arguments.end(), {"--inputs", subject.inputs});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(kTaper, arguments);
}

// The PyTorch results of all of them are checked elsewhere, so all are right.
void expect_agreement(const std::string& backend) {
  const ScratchFolder scratch;
  const std::string path = scratch / "model.pte";
  size_t tensors = 0;
  for (const Subject& subject : subjects()) {
    const Said made =
        run(kTaper, {"export", subject.file, "-o", path, "--debug-info", "--backend", backend});
    ASSERT_EQ(made.code, 0) << made.err;
    const Said said = compare(subject, path);
    EXPECT_EQ(said.code, 0) << subject.file << "\n" << said.out << said.err;
    EXPECT_EQ(said.err, "") << subject.file;
    int count = 0;
    ASSERT_EQ(std::sscanf(said.out.c_str(), "method forward: %d tensors", &count), 1) << said.out;
    tensors += static_cast<size_t>(count);
  }
  EXPECT_GT(tensors, 400u);
}

TEST(Compare, KernelsAgreeWithWhatTheyWereCompiledFrom) { expect_agreement("portable"); }

TEST(Compare, BackendsAgreeWithWhatTheyWereCompiledFrom) {
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    const std::string name = each->identity.name;
    if (find_device(name) != nullptr) expect_agreement(name);
  }
}

// ---- planted faults ----

using exir::Graph;
using exir::Node;
using exir::Value;

void replace_value(Graph& graph, Node& node, const Value* old, Value* fresh) {
  for (exir::Argument& arg : node.args) {
    if (arg.is_value() && arg.value() == old) arg = fresh;
  }
  std::erase(graph.constants, fresh);
  graph.constants.push_back(fresh);
}

// Changes a weight of the node, and of no other.
bool spoil_weight(Graph& graph, Node& node) {
  const Value* weight = nullptr;
  for (const exir::Argument& arg : node.args) {
    if (weight == nullptr && arg.is_value() && arg.value()->role == exir::ValueRole::kConstant &&
        arg.value()->type.dtype == ScalarType::kFloat && arg.value()->data.bytes > 0) {
      weight = arg.value();
    }
  }
  if (weight == nullptr) return false;
  std::vector<uint8_t> bytes(weight->data.data, weight->data.data + weight->data.bytes);
  auto* numbers = reinterpret_cast<float*>(bytes.data());
  float largest = 0;
  for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
    largest = std::max(largest, std::fabs(numbers[i]));
  }
  for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
    numbers[i] = 1.25f * numbers[i] + 0.1f * largest;
  }
  Value* fresh = graph.new_constant("spoiled", weight->type, exir::own_bytes(std::move(bytes)));
  fresh->fqn = "spoiled";
  replace_value(graph, node, weight, fresh);
  return true;
}

// Another operator with the same arguments.
bool swap_operator(Graph& graph, Node& node) {
  static const std::map<std::string, std::string> others = {
      {"aten::relu", "aten::neg"},
      {"aten::add.Tensor", "aten::sub.Tensor"},
      {"aten::sub.Tensor", "aten::add.Tensor"},
      {"aten::mul.Tensor", "aten::div.Tensor"},
      {"aten::tanh", "aten::sigmoid"},
      {"aten::sigmoid", "aten::tanh"},
      {"aten::cos", "aten::sin"},
      {"aten::sin", "aten::cos"},
      {"aten::exp", "aten::sin"},
      {"aten::hardtanh", "aten::clamp"}};
  const auto found = others.find(std::string(node.target()));
  if (found == others.end() || node.outputs[0]->type.dtype != ScalarType::kFloat) return false;
  const auto schema = graph.operators()->need(found->second);
  if (schema->args.size() != node.args.size()) return false;
  node.schema = schema;
  return true;
}

// Another number in the place of a literal.
bool change_number(Graph&, Node& node) {
  for (exir::Argument& arg : node.args) {
    if (!arg.is<double>() || !std::isfinite(arg.to_double())) continue;
    arg = arg.to_double() * 1.5 + 0.25;
    return true;
  }
  return false;
}

using Fault = bool (*)(Graph&, Node&);

// Compiles the model with a fault in one of its nodes. Returns the name of the node's result;
// nothing if there is no such fault in it.
std::string compile_with_fault(const std::string& model, size_t at, Fault fault,
                               const std::string& backend, const std::string& path) {
  const std::unique_ptr<Graph> graph = exir::import_pt2(model).graph;
  Node& node = *graph->nodes.at(at);
  if (node.outputs.size() != 1 || node.schema->mutates() || !fault(*graph, node)) return {};
  std::string name = node.outputs[0]->name;
  std::vector<std::string> warnings;
  exir::bound_symbols(*graph, {}, warnings);
  exir::LowerOptions lowering;
  lowering.backends = exir::make_compilers(backend, backend_compilers());
  exir::lower(*graph, lowering);
  const exir::PlannedMethod method = exir::plan_method("forward", *graph);
  const exir::ProgramFiles made = exir::emit_program({&method}, {false, exir::DebugLevel::kFull});
  tools::write_file(path, made.pte.joined());
  return name;
}

// The value of a text in JSON, and those of a list of texts.
std::string text_in(const std::string& json, const std::string& key, size_t from = 0) {
  const size_t at = json.find("\"" + key + "\":\"", from);
  if (at == json.npos) return {};
  const size_t first = at + key.size() + 4;
  return json.substr(first, json.find('"', first) - first);
}

// Whether the first tensor that differs is the node's, or is computed together with it, and the
// error is made there.
bool names_it(const std::string& json, const std::string& node) {
  const std::string first = text_in(json, "first");
  const size_t row = json.find("{\"node\":\"" + first + "\"");
  if (first.empty() || row == json.npos) return false;
  const std::string text = json.substr(row, json.find('}', row) - row);
  if (text.find("\"from_inputs\":false") == text.npos) return false;
  const size_t with = text.find("\"with\":[");
  const std::string others = text.substr(with, text.find(']', with) - with);
  return first == node || others.find("\"" + node + "\"") != others.npos;
}

struct Tally {
  int planted = 0, named = 0;
};

void plant(const Subject& subject, const std::string& backend, int limit, Tally& tally) {
  const ScratchFolder scratch;
  const std::string path = scratch / "faulty.pte";
  const size_t nodes = exir::import_pt2(subject.file).graph->nodes.size();
  std::mt19937 random(static_cast<unsigned>(nodes));
  int planted = 0;
  for (int tries = 0; tries < 20 * limit && planted < limit; ++tries) {
    const Fault faults[] = {spoil_weight, swap_operator, change_number};
    const std::string node =
        compile_with_fault(subject.file, random() % nodes, faults[random() % 3], backend, path);
    if (node.empty()) continue;
    // Only a fault that PyTorch's results show is one.
    std::vector<std::string> check = {"verify", path, "--expected", subject.outputs};
    if (!subject.inputs.empty()) check.insert(check.end(), {"--inputs", subject.inputs});
    check.insert(check.end(), {"--tolerance", "1e-3"});
    if (run(kTaper, check).code != 1) continue;
    ++planted;
    const Said said = compare(subject, path, {"--json"});
    EXPECT_EQ(said.code, 1);
    const bool named = names_it(said.out, node);
    EXPECT_TRUE(named) << subject.file << ", " << backend << ": a fault in " << node
                       << ", first: " << text_in(said.out, "first") << "\n"
                       << said.err;
    tally.named += named;
  }
  tally.planted += planted;
}

TEST(Compare, NamesPlantedFaults) {
  Tally tally;
  const std::set<std::string> wanted = {"resnet18",     "bert_mini",    "mobilenet_v3_small",
                                        "unet",         "inception",    "vit_tiny",
                                        "lstm",         "dynamic_bert", "gru",
                                        "wav2letter",   "slopes",       "dynamic_encoder",
                                        "mobilenet_v2", "llama",        "causal_conv1d"};
  std::set<std::string> done;
  for (const Subject& subject : subjects()) {
    const std::string stem =
        subject.file.substr(kData.size(), subject.file.size() - kData.size() - 4);
    if (wanted.count(stem) != 0 && done.insert(stem).second) plant(subject, "portable", 9, tally);
  }
  EXPECT_GE(tally.planted, 100);
  EXPECT_EQ(tally.named, tally.planted);
  RecordProperty("planted", tally.planted);
}

TEST(Compare, NamesPlantedFaultsBeforeWithinAndAfterDelegates) {
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    const std::string name = each->identity.name;
    if (find_device(name) == nullptr) continue;
    Tally tally;
    for (const char* model : {"resnet18", "bert_mini", "mobilenet_v2", "vit_tiny"}) {
      const int inputs = std::string(model) == "bert_mini" ? 3 : 1;
      const int outputs = std::string(model) == "bert_mini" ? 2 : 1;
      plant({kData + model + ".pt2", files(model, "in", inputs), files(model, "out", outputs)},
            name, 6, tally);
    }
    EXPECT_GE(tally.planted, 16) << name;
    EXPECT_EQ(tally.named, tally.planted) << name;
  }
}

// ---- other ways to compare ----

Subject bert() {
  return {kData + "bert_mini.pt2", files("bert_mini", "in", 3), files("bert_mini", "out", 2)};
}

Said export_model(const std::string& model, const std::string& path) {
  return run(kTaper, {"export", model, "-o", path, "--debug-info"});
}

TEST(Compare, TwoProgramsAgreeOrPartAtTheFault) {
  const ScratchFolder scratch;
  const std::string good = scratch / "good.pte", bad = scratch / "bad.pte";
  ASSERT_EQ(export_model(bert().file, good).code, 0);
  const auto model = exir::import_pt2(bert().file).graph;
  size_t at = 0;
  while (model->nodes[at]->name != "linear_8") ++at;
  ASSERT_EQ(compile_with_fault(bert().file, at, spoil_weight, "portable", bad), "linear_8");
  Subject pair = bert();
  pair.file = good;
  EXPECT_EQ(compare(pair, good).code, 0);
  const Said said = compare(pair, bad);
  EXPECT_EQ(said.code, 1);
  EXPECT_NE(said.out.find("first   linear_8 (aten::linear"), said.out.npos) << said.out;
  EXPECT_NE(said.out.find("the error is made here"), said.out.npos) << said.out;
  EXPECT_NE(said.out.find("from its inputs"), said.out.npos) << said.out;
  EXPECT_EQ(said.error_lines().size(), 1u) << said.err;
}

TEST(Compare, TensorsFromPyTorchTakeThePlaceOfTheReference) {
  const ScratchFolder scratch;
  const std::string path = scratch / "bert.pte", expected = scratch / "expected.npz";
  ASSERT_EQ(export_model(bert().file, path).code, 0);
  const std::string right = tools::read_file(kData + "bert_mini.out1.npy");
  tools::write_file(expected, npz({{"tanh", right}}));
  EXPECT_EQ(compare(bert(), path, {"--expected", expected}).code, 0);
  const std::vector<std::string> alone = {"compare",     path,         "--inputs",
                                          bert().inputs, "--expected", expected};
  const Said agreed = run(kTaper, alone);
  EXPECT_EQ(agreed.code, 0) << agreed.err;
  EXPECT_NE(agreed.out.find("1 tensors compared"), agreed.out.npos) << agreed.out;

  std::string wrong = right;
  wrong[wrong.size() - 2] = static_cast<char>(wrong[wrong.size() - 2] ^ 0x40);
  tools::write_file(expected, npz({{"tanh", wrong}}));
  EXPECT_EQ(run(kTaper, alone).code, 1);
  const Said differs = compare(bert(), path, {"--expected", expected});
  EXPECT_EQ(differs.code, 1);
  EXPECT_NE(differs.err.find("at tanh"), differs.err.npos) << differs.err;

  tools::write_file(expected, npz({{"nothing", right}}));
  EXPECT_NE(run(kTaper, alone).err.find("no tensor of"), std::string::npos);
}

TEST(Compare, TakesTheMethodThatIsAskedFor) {
  const ScratchFolder scratch;
  const std::string path = scratch / "two.pte";
  const Said made = run(
      kTaper, {"export", "a=" + kData + "add.pt2", "b=" + bert().file, "-o", path, "--debug-info"});
  ASSERT_EQ(made.code, 0) << made.err;
  const Said said = compare(bert(), path, {"--method", "b"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.out.find("method b: "), said.out.npos) << said.out;
  const Said wrong = compare(bert(), path, {"--method", "a"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_EQ(wrong.error_lines().size(), 1u) << wrong.err;
}

TEST(Compare, NotANumberAgreesWithItself) {
  const ScratchFolder scratch;
  const std::string path = scratch / "model.pte", input = scratch / "nan.npy";
  ASSERT_EQ(export_model(kData + "resnet18.pt2", path).code, 0);
  tools::NpyArray array = tools::read_npy(kData + "resnet18.in0.npy");
  const float nan = NAN;
  std::memcpy(array.data.data(), &nan, sizeof(nan));
  tools::write_file(input, tools::npy_bytes(array.dtype, array.shape, array.data));
  const Said said = compare({kData + "resnet18.pt2", input, ""}, path);
  EXPECT_EQ(said.code, 0) << said.out << said.err;
}

TEST(Compare, WithoutNamesOutputsAreCompared) {
  const ScratchFolder scratch;
  const std::string path = scratch / "bert.pte";
  ASSERT_EQ(run(kTaper, {"export", bert().file, "-o", path, "--strip-debug"}).code, 0);
  const Said said = compare(bert(), path);
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.out.find("2 tensors compared"), said.out.npos) << said.out;
  EXPECT_NE(said.err.find("export it with --debug-info"), said.err.npos) << said.err;
}

TEST(Compare, LooksIntoDelegates) {
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    const std::string name = each->identity.name;
    if (find_device(name) == nullptr) continue;
    const ScratchFolder scratch;
    const std::string path = scratch / "bert.pte";
    const Said made =
        run(kTaper, {"export", bert().file, "-o", path, "--debug-info", "--backend", name});
    ASSERT_EQ(made.code, 0) << made.err;
    // Nothing is wrong, but with no error allowed something is found.
    const Said said = compare(bert(), path, {"--bound", "1e-12", "--bisect", "--json"});
    if (said.code == 0) continue;  // It computes as the kernels do.
    EXPECT_EQ(said.out.find("\"inside\":[]"), said.out.npos) << name << said.out;
    // What was compiled from something else has no such error when it is compiled again.
    const auto graph = exir::import_pt2(bert().file).graph;
    size_t at = 0;
    while (graph->nodes[at]->name != "linear_8") ++at;
    ASSERT_EQ(compile_with_fault(bert().file, at, spoil_weight, name, path), "linear_8");
    const Said faulty = compare(bert(), path, {"--bisect"});
    EXPECT_EQ(faulty.code, 1);
    EXPECT_NE(faulty.err.find("was made from other weights"), faulty.err.npos) << faulty.err;
  }
}

TEST(Compare, WrongInputIsOneLine) {
  const ScratchFolder scratch;
  const std::string bert_path = scratch / "bert.pte", add = scratch / "add.pte";
  ASSERT_EQ(export_model(bert().file, bert_path).code, 0);
  ASSERT_EQ(export_model(kData + "add.pt2", add).code, 0);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{bert().file, add}, "was not compiled from"},
      {{bert_path, bert().file}, "is not compiled"},
      {{bert().file}, "there is nothing to compare"},
      {{bert().file, scratch / "missing.pte"}, "missing.pte"},
      {{scratch / "missing.pt2", bert_path}, "missing.pt2"},
      {{bert().file, bert_path, "--inputs", kData + "add.in0.npy"}, "tensor inputs, given 1"},
      {{bert_path, bert_path, "--bisect"}, "need the .pt2"},
      {{bert().file, bert_path, "--expected", kData + "add.in0.npy"}, "expected tensors"},
      {{bert().file, bert_path, "--bound", "-1"}, "--bound"},
      {{bert().file, bert_path, "--bound", ""}, "--bound"},
      {{bert().file, bert_path, "--bound", "s0="}, "--bound: 's0=' is not SYMBOL=N"},
      {{bert_path, bert_path, "--bound", "s0=4"}, "--bound SYMBOL=N is of a .pt2"},
      {{add, bert_path, "--inputs", bert().inputs}, "takes 2 tensor inputs, given 3"},
  };
  for (const auto& [arguments, text] : cases) {
    std::vector<std::string> all = {"compare"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Said said = run(kTaper, all);
    EXPECT_GT(said.code, 0) << text;
    EXPECT_NE(said.err.find(text), said.err.npos) << text << "\n" << said.err;
    EXPECT_EQ(said.out, "") << text;
    EXPECT_LE(said.error_lines().size(), 2u) << said.err;
  }
}

}  // namespace
}  // namespace taper::test
