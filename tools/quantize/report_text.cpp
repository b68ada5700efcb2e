// One list of rows serves the text and the page; JSON has every number.

#include "tools/quantize/report_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/text/json_writer.h"
#include "tools/text/markup.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

using exir::LayerReport;
using exir::QuantizeReport;

template <typename... Args>
std::string text_of(const char* format, Args... args) {
  char text[256];
  std::snprintf(text, sizeof(text), format, args...);
  return text;
}

std::string decibels_text(double decibels) {
  return std::isinf(decibels) ? "exact" : text_of("%.1f dB", decibels);
}

std::string percent_text(double part) { return text_of("%.2f %%", 100 * part); }

std::vector<const LayerReport*> sorted(const QuantizeReport& report) {
  std::vector<const LayerReport*> rows;
  for (const size_t place : exir::by_sensitivity(report)) rows.push_back(&report.layers[place]);
  for (const LayerReport& layer : report.layers) {
    if (!layer.measured) rows.push_back(&layer);
  }
  return rows;
}

std::string size_text(size_t bytes) { return bytes_text(static_cast<double>(bytes)); }

// What leaving a layer in float costs.
std::string cost_text(const LayerReport& layer) {
  const double bytes =
      static_cast<double>(layer.float_bytes) - static_cast<double>(layer.quantised_bytes);
  std::string text = ", costs " + bytes_text(bytes);
  if (!layer.timed) return text;
  const double seconds = layer.float_seconds - layer.quantised_seconds;
  return text + (seconds < 0 ? " and saves " : " and ") + time_text(std::abs(seconds));
}

std::string state_of(const LayerReport& layer) {
  if (layer.kept_by_drop) return "float: " + layer.why_not + cost_text(layer);
  if (!layer.quantised) return "float: " + layer.why_not;
  return layer.format.empty() ? "int8" : layer.format;
}

// The path of its module says more than the name of a node.
std::string title_of(const LayerReport& layer) {
  return layer.name + (layer.module_path.empty() ? "" : " (" + layer.module_path + ")");
}

// What changed on the whole, a line each.
std::vector<std::string> summary_of(const QuantizeReport& report, const QuantizedFile& file) {
  std::vector<std::string> lines;
  size_t quantised = 0, before = 0, after = 0;
  for (const LayerReport& layer : report.layers) {
    quantised += layer.quantised;
    before += layer.float_bytes;
    after += layer.bytes;
  }
  lines.push_back(text_of("%zu of %zu layers quantised; weights %s -> %s", quantised,
                          report.layers.size(), bytes_text(static_cast<double>(before)).c_str(),
                          bytes_text(static_cast<double>(after)).c_str()));
  lines.push_back(text_of("file %s -> %s",
                          bytes_text(static_cast<double>(file.bytes_before)).c_str(),
                          bytes_text(static_cast<double>(file.bytes_after)).c_str()));
  if (report.samples == 0) return lines;
  for (size_t i = 0; i < report.difference.outputs.size(); ++i) {
    const exir::OutputDifference& output = report.difference.outputs[i];
    lines.push_back(text_of("output %zu: SNR %s, largest error %.3g of %.3g", i,
                            decibels_text(output.decibels).c_str(), output.largest, output.scale));
  }
  lines.push_back("agreement with float " + percent_text(report.difference.agreement) + " on " +
                  std::to_string(report.samples) + " samples");
  if (report.labelled) {
    lines.push_back("accuracy " + percent_text(report.difference.original_accuracy) + " -> " +
                    percent_text(report.difference.accuracy));
  }
  lines.push_back("time of a run on this machine, one thread: " + time_text(report.float_seconds) +
                  " -> " + time_text(report.seconds));
  if (report.float_rest > 0) {
    lines.push_back("of it outside of layers, if all are quantised: " +
                    time_text(report.float_rest) + " -> " + time_text(report.quantised_rest));
  }
  lines.insert(lines.end(), report.methods.begin(), report.methods.end());
  for (const std::string& note : report.notes) lines.push_back("note: " + note);
  return lines;
}

void add_layer(JsonWriter& json, const LayerReport& layer) {
  json.open('{').key("name").text(layer.name).key("op").text(layer.op);
  json.key("module").text(layer.module_path).key("source").text(layer.source);
  json.key("quantised").boolean(layer.quantised).key("format").text(layer.format);
  json.key("why_not").text(layer.why_not);
  json.key("float_bytes").number(static_cast<int64_t>(layer.float_bytes));
  json.key("bytes").number(static_cast<int64_t>(layer.bytes));
  json.key("quantised_bytes").number(static_cast<int64_t>(layer.quantised_bytes));
  if (layer.timed) {
    json.key("float_seconds").number(layer.float_seconds);
    json.key("quantised_seconds").number(layer.quantised_seconds);
  }
  if (!layer.format.empty()) json.key("weight_snr_db").number(layer.weight_decibels);
  if (layer.measured) {
    json.key("sensitivity_db").number(layer.sensitivity);
    json.key("largest_error").number(layer.largest_error);
    json.key("agreement").number(layer.agreement);
  }
  json.close('}');
}

std::string row_of(const std::vector<std::string>& cells, const char* tag) {
  std::string out = "<tr>";
  for (const std::string& cell : cells) {
    out += std::string("<") + tag + ">" + escaped(cell) + "</" + tag + ">";
  }
  return out + "</tr>\n";
}

// "aten::conv2d" -> "conv2d".
std::string short_op(const std::string& op) { return op.substr(op.rfind(':') + 1); }

std::string bytes_of(const LayerReport& layer) {
  if (layer.float_bytes == 0) return "";  // Arithmetic has no weight.
  return size_text(layer.float_bytes) + " -> " + size_text(layer.bytes);
}

std::string times_of(const LayerReport& layer) {
  if (!layer.timed) return "";
  const double after = layer.quantised ? layer.quantised_seconds : layer.float_seconds;
  return time_text(layer.float_seconds) + " -> " + time_text(after);
}

std::vector<std::string> cells_of(const LayerReport& layer) {
  return {title_of(layer),
          short_op(layer.op),
          state_of(layer),
          layer.format.empty() ? "" : decibels_text(layer.weight_decibels),
          layer.measured ? decibels_text(layer.sensitivity) : "",
          layer.measured ? percent_text(layer.largest_error) : "",
          bytes_of(layer),
          times_of(layer)};
}

const std::vector<std::string> kTitles = {"layer",   "operator",      "stored as", "weight SNR",
                                          "outputs", "largest error", "bytes",     "time"};

}  // namespace

std::string report_text(const QuantizeReport& report, const QuantizedFile& file) {
  std::string out;
  for (const std::string& line : summary_of(report, file)) out += "  " + line + "\n";
  std::vector<std::vector<std::string>> rows = {kTitles};
  for (const LayerReport* layer : sorted(report)) rows.push_back(cells_of(*layer));
  std::vector<size_t> widths(kTitles.size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  out += "\n";
  for (const auto& row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.size(); ++i) {
      line += " " + row[i] + std::string(widths[i] + 1 - row[i].size(), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string report_json(const QuantizeReport& report, const QuantizedFile& file) {
  JsonWriter json;
  json.open('{').key("from").text(file.from).key("to").text(file.to);
  json.key("bytes_before").number(static_cast<int64_t>(file.bytes_before));
  json.key("bytes_after").number(static_cast<int64_t>(file.bytes_after));
  json.key("samples").number(static_cast<int64_t>(report.samples));
  if (report.samples != 0) {
    json.key("agreement").number(report.difference.agreement);
    if (report.labelled) {
      json.key("accuracy_before").number(report.difference.original_accuracy);
      json.key("accuracy").number(report.difference.accuracy);
    }
    json.key("seconds_before").number(report.float_seconds);
    json.key("seconds").number(report.seconds);
    if (report.float_rest > 0) {
      json.key("seconds_outside_layers_before").number(report.float_rest);
      json.key("seconds_outside_layers").number(report.quantised_rest);
    }
  }
  json.key("outputs").open('[');
  for (const exir::OutputDifference& output : report.difference.outputs) {
    json.open('{').key("snr_db").number(output.decibels);
    json.key("largest_error").number(output.largest);
    json.key("largest_value").number(output.scale).close('}');
  }
  json.close(']').key("layers").open('[');
  for (const LayerReport* layer : sorted(report)) add_layer(json, *layer);
  json.close(']').key("tensors").open('[');
  for (const exir::TensorReport& tensor : report.tensors) {
    json.open('{').key("name").text(tensor.name).key("scale").number(tensor.scale.scale);
    json.key("zero_point").number(tensor.scale.zero_point);
    json.key("ranges").text(exir::to_text(tensor.method));
    json.key("lowest").number(tensor.low).key("highest").number(tensor.high);
    json.key("snr_db").number(tensor.decibels).close('}');
  }
  json.close(']').key("methods").open('[');
  for (const std::string& method : report.methods) json.text(method);
  json.close(']').key("notes").open('[');
  for (const std::string& note : report.notes) json.text(note);
  json.close(']').close('}');
  return json.str() + "\n";
}

std::string report_html(const QuantizeReport& report, const QuantizedFile& file) {
  std::string out =
      "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Quantisation of " +
      escaped(file.from) +
      "</title>\n<style>body{font:15px sans-serif;margin:2em}table{border-collapse:collapse}"
      "td,th{padding:3px 12px;text-align:left;border-bottom:1px solid #ddd}</style></head>\n"
      "<body><h1>" +
      escaped(file.from) + " &rarr; " + escaped(file.to) + "</h1>\n<ul>\n";
  for (const std::string& line : summary_of(report, file)) {
    out += "<li>" + escaped(line) + "</li>\n";
  }
  out += "</ul>\n<h2>Layers</h2>\n<table>\n" + row_of(kTitles, "th");
  for (const LayerReport* layer : sorted(report)) out += row_of(cells_of(*layer), "td");
  out += "</table>\n<h2>Activations</h2>\n<table>\n" +
         row_of({"tensor", "lowest", "highest", "range by", "scale", "SNR"}, "th");
  for (const exir::TensorReport& tensor : report.tensors) {
    out += row_of({tensor.name, text_of("%.4g", tensor.low), text_of("%.4g", tensor.high),
                   exir::to_text(tensor.method), text_of("%.4g", tensor.scale.scale),
                   decibels_text(tensor.decibels)},
                  "td");
  }
  return out + "</table>\n</body></html>\n";
}

}  // namespace taper::tools
