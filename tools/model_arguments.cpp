// Parses the arguments of the commands that compile.

#include "tools/model_arguments.h"

#include <charconv>
#include <filesystem>

#include "exir/ops/declare.h"
#include "tools/atomic_file.h"
#include "tools/error.h"
#include "tools/system.h"

namespace taper::tools {
namespace {

constexpr char kOnlyMethod[] = "forward";

// Parses "name=path", or a path, for which the method is named "forward".
exir::ExportRequest::Method method_of(const std::string& argument) {
  const size_t equals = argument.find('=');
  const bool named = equals != std::string::npos && equals != 0 && argument.find('/') > equals &&
                     !std::filesystem::exists(system::as_path(argument));
  if (!named) return {kOnlyMethod, argument};
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

// The methods that --model selects: one model keeps the method's name, several have their own.
Methods selected(exir::ExportRequest::Method method, std::vector<std::string> models) {
  if (models == std::vector<std::string>{"all"}) {
    models = exir::model_names(method.path, method.file);
  }
  if (models.size() <= 1) {
    if (!models.empty()) method.model = models[0];
    return {method};
  }
  if (method.name != kOnlyMethod) {
    throw UsageError("'" + method.name + "=': several models become methods of their own names");
  }
  Methods methods;
  for (const std::string& model : models) {
    methods.push_back({model, method.path, model, method.file});
  }
  return methods;
}

Methods methods_of(const CommandLine& line, Methods given) {
  for (const std::string& argument : line.files()) given.push_back(method_of(argument));
  if (given.empty()) throw UsageError("no file given");
  Methods methods;
  for (const exir::ExportRequest::Method& each : given) {
    for (exir::ExportRequest::Method& method : selected(each, line.list("model"))) {
      for (const exir::ExportRequest::Method& other : methods) {
        if (other.name != method.name) continue;
        throw UsageError("two methods are called '" + method.name + "'; name them: NAME=FILE.pt2");
      }
      methods.push_back(std::move(method));
    }
  }
  return methods;
}

}  // namespace

std::vector<Option> model_options() {
  return {
      {"model",
       "Of an archive with several models: the one to take, or several, which become methods of "
       "those names, or all",
       "NAME"},
      {"bound", "Upper bounds of symbolic sizes, for planning: s77=128,s12=4", "SYMBOL=N"},
      {"ops", "Declarations of custom operators; see examples/custom_op", "OPS.txt"}};
}

exir::ExportRequest model_request(const CommandLine& line, const Methods& in_memory) {
  exir::ExportRequest request;
  request.methods = methods_of(line, in_memory);
  request.bounds = symbol_bounds(line.list("bound"));
  request.operators = operators_of(line);
  return request;
}

exir::SymValues symbol_bounds(const std::vector<std::string>& items) {
  exir::SymValues bounds;
  for (const std::string& item : items) {
    const size_t equals = item.find('=');
    int64_t value = 0;
    const char* end = item.data() + item.size();
    const bool named = equals != std::string::npos && equals != 0 && equals + 1 < item.size();
    if (!named || std::from_chars(item.data() + equals + 1, end, value).ptr != end || value < 0) {
      throw UsageError("--bound: '" + item + "' is not SYMBOL=N");
    }
    bounds[item.substr(0, equals)] = value;
  }
  return bounds;
}

exir::Operators operators_of(const CommandLine& line) {
  exir::Operators operators = exir::builtin_operators();
  for (const std::string& path : line.list("ops")) {
    operators = exir::declare_operators(std::move(operators), read_file(path), path);
  }
  return operators;
}

exir::Failure naming_the_file(const exir::ExportRequest& request, const exir::Failure& failure) {
  // The front end names the file; the passes only know the graph.
  const std::string text = failure.what(), path = request.methods[0].path;
  if (request.methods.size() > 1 || text.find(path) != text.npos) return failure;
  return exir::Failure(path + ": " + text, failure.diagnostics());
}

}  // namespace taper::tools
