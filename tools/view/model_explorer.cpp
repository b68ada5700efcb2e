// A node for each call, input, constant and output; an edge for each value that a call reads.

#include "tools/view/model_explorer.h"

#include <unordered_map>

#include "tools/text/json_writer.h"

namespace taper::tools {
namespace {

class GraphWriter {
 public:
  GraphWriter(const ViewDocument& document, const ViewStep& step, JsonWriter& json)
      : document_(document), step_(step), json_(json) {}

  void write(const std::string& id) {
    json_.open('{').key("id").text(id).key("nodes").open('[');
    for (const size_t value : step_.inputs) add_source(value, "input");
    for (const size_t number : step_.calls) find_writers(number);
    for (const size_t number : step_.calls) add_constants(document_.calls()[number]);
    for (const size_t number : step_.calls) add_call(number);
    for (size_t i = 0; i < step_.outputs.size(); ++i) {
      const size_t value = step_.outputs[i];
      add_reader("output " + std::to_string(i), "output", value);
    }
    for (const auto& [target, source] : step_.writes) {
      add_reader("write " + document_.values()[target].name, "write", source);
    }
    json_.close(']').close('}');
  }

 private:
  struct Writer {
    std::string node;
    size_t output;
  };

  void find_writers(size_t number) {
    const ViewCall& call = document_.calls()[number];
    for (size_t i = 0; i < call.results.size(); ++i) {
      writers_[call.results[i]].push_back({"call " + std::to_string(number), i});
    }
  }

  void add_constants(const ViewCall& call) {
    for (const ViewArgument& arg : call.args) {
      for (const auto& piece : arg.pieces) {
        const auto* value = std::get_if<size_t>(&piece);
        if (value != nullptr && writers_.count(*value) == 0) {
          add_source(*value, document_.values()[*value].role);
        }
      }
    }
  }

  void begin(const std::string& id, const std::string& label, const std::string& space) {
    json_.open('{').key("id").text(id).key("label").text(label);
    json_.key("namespace").text(space).key("attrs").open('[');
  }

  void attribute(const std::string& key, const std::string& text) {
    if (text.empty()) return;
    json_.open('{').key("key").text(key).key("value").text(text);
    json_.close('}');
  }

  // Of the attributes, and of the node but for its edges.
  void end(const std::vector<size_t>& results) {
    json_.close(']').key("outputsMetadata").open('[');
    for (size_t i = 0; i < results.size(); ++i) {
      json_.open('{').key("id").text(std::to_string(i)).key("attrs").open('[');
      attribute("tensor_shape", document_.values()[results[i]].type);
      attribute("name", document_.values()[results[i]].name);
      json_.close(']').close('}');
    }
    json_.close(']').key("incomingEdges").open('[');
  }

  void add_source(size_t value, const std::string& role) {
    const std::string id = "value " + std::to_string(value);
    writers_[value] = {{id, 0}};
    const ViewValue& of = document_.values()[value];
    begin(id, role + " " + (of.from.empty() ? of.name : of.from),
          role == "input" ? "" : role + "s");
    attribute("name", of.name);
    end({value});
    json_.close(']').close('}');
  }

  void add_reader(const std::string& id, const std::string& label, size_t value) {
    begin(id, label, "");
    end({});
    add_edges(value);
    json_.close(']').close('}');
  }

  void add_edges(size_t value) {
    const auto found = writers_.find(value);
    if (found == writers_.end()) return;
    for (const Writer& writer : found->second) {
      json_.open('{').key("sourceNodeId").text(writer.node);
      json_.key("sourceNodeOutputId").text(std::to_string(writer.output));
      json_.key("targetNodeInputId").text(std::to_string(edges_++)).close('}');
    }
  }

  void add_call(size_t number) {
    const ViewCall& call = document_.calls()[number];
    std::string space;
    for (const std::string& box : call.boxes) space += (space.empty() ? "" : "/") + box;
    begin("call " + std::to_string(number), call.op, space);
    attribute("name", call.name);
    attribute("module", call.module);
    attribute("source", call.line);
    attribute("runs on", call.runs_on);
    attribute("instruction", call.place);
    attribute("note", call.note);
    for (const ViewArgument& arg : call.args) attribute(arg.name, text_of(arg));
    end(call.results);
    edges_ = 0;
    for (const ViewArgument& arg : call.args) {
      for (const auto& piece : arg.pieces) {
        if (const auto* value = std::get_if<size_t>(&piece)) add_edges(*value);
      }
    }
    json_.close(']').close('}');
  }

  std::string text_of(const ViewArgument& arg) const {
    std::string text;
    for (const auto& piece : arg.pieces) {
      const auto* value = std::get_if<size_t>(&piece);
      text +=
          value == nullptr ? std::get<std::string>(piece) : "%" + document_.values()[*value].name;
    }
    return text;
  }

  const ViewDocument& document_;
  const ViewStep& step_;
  JsonWriter& json_;
  std::unordered_map<size_t, std::vector<Writer>> writers_;
  size_t edges_ = 0;  // Of the node at hand.
};

}  // namespace

std::string model_explorer_json(const ViewDocument& document) {
  JsonWriter json;
  json.open('{').key("label").text(document.file).key("graphs").open('[');
  for (size_t i = 0; i < document.steps.size(); ++i) {
    const ViewStep& step = document.steps[i];
    const std::string id = std::to_string(i + 1) + " " + step.title + " " + step.method;
    GraphWriter(document, step, json).write(id);
  }
  return json.close(']').close('}').str();
}

}  // namespace taper::tools
