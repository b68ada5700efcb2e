// taper/compiler.h: what `taper export` does, from memory to memory. Whatever is thrown becomes a
// code and a report; nothing is printed.

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "taper/c_error.h"
#include "taper/compiler.h"
#include "tools/error.h"
#include "tools/export/compile.h"
#include "tools/export/report.h"
#include "tools/problems.h"

// NOLINTNEXTLINE(readability-identifier-naming): C's name.
struct taper_compilation {
  taper::exir::FileInMemory program, weights;
  std::string report = "{}";
};

namespace taper::tools {
namespace {

CommandLine describe() {
  return {"taper_compile",
          "",
          "",
          {{"Program", compile_options()},
           {"Model", model_options()},
           {"Library", {{"external-weights", "Keep the weights apart from the program"}}}}};
}

CommandLine read_words(const char* const* words, size_t count) {
  std::vector<const char*> all = {"taper_compile"};
  for (size_t i = 0; i < count; ++i) {
    if (words[i] == nullptr) {
      throw UsageError("words[" + std::to_string(i) + "] is a null pointer");
    }
    all.push_back(words[i]);
  }
  CommandLine line = describe();
  line.read(static_cast<int>(all.size()), all.data());
  if (line.given("help")) throw UsageError("--help belongs to the command line");
  return line;
}

Methods read_sources(const taper_source* sources, size_t count) {
  Methods methods;
  for (size_t i = 0; i < count; ++i) {
    const taper_source& source = sources[i];
    const std::string place = "sources[" + std::to_string(i) + "]";
    if (source.method == nullptr || *source.method == '\0') {
      throw UsageError(place + ": the method has no name");
    }
    if (source.data == nullptr || source.size == 0) {
      throw UsageError(place + ", '" + source.method + "', has no bytes");
    }
    exir::Blob file;
    file.bytes = {static_cast<const uint8_t*>(source.data), source.size};
    methods.push_back({source.method, source.method, "", file});
  }
  return methods;
}

std::string report_of(const CompileOptions& options, const exir::ExportResult& made) {
  JsonWriter json;
  json.open('{').key("ok").boolean(true).key("error").text("").key("problems");
  add_problems(json, {});
  json.key("warnings").open('[');
  for (const exir::ExportedMethod& method : made.methods) {
    for (const std::string& warning : method.warnings) json.text(warning);
  }
  json.close(']').key("methods").open('[');
  for (size_t i = 0; i < made.methods.size(); ++i) {
    add_method(json, made.methods[i], *made.programs[i].graph, options.request.lowering.backends);
  }
  json.close(']').close('}');
  return json.str();
}

std::string report_of(const std::string& error, const std::vector<exir::Diagnostic>& problems) {
  JsonWriter json;
  json.open('{').key("ok").boolean(false).key("error").text(error).key("problems");
  add_problems(json, problems);
  json.key("warnings").open('[').close(']').key("methods").open('[').close(']').close('}');
  return json.str();
}

void compile_into(const char* const* words, size_t word_count, const taper_source* sources,
                  size_t source_count, taper_compilation& to) {
  if ((words == nullptr && word_count != 0) || (sources == nullptr && source_count != 0)) {
    throw UsageError(std::string(words == nullptr && word_count != 0 ? "words" : "sources") +
                     " is a null pointer");
  }
  if (word_count > 10'000) throw UsageError("there are more than 10000 words");
  const CommandLine line = read_words(words, word_count);
  CompileOptions options = compile_options_of(line, read_sources(sources, source_count));
  options.request.weights_outside = line.given("external-weights");
  const exir::ExportResult made = compile(options);
  to.report = report_of(options, made);
  if (options.request.weights_outside) to.weights = made.files.ptd.aligned();
  to.program = made.files.pte.aligned();
}

constexpr char kSite[] = "taper_compile";

// Reports a failure in both forms.
taper_code fail(taper_error* error, Error code, const char* message, taper_compilation& to,
                const std::vector<exir::Diagnostic>& problems = {}) {
  to.report = report_of(message, problems);
  return report(error, code, kSite, message);
}

taper_code compile_safely(const char* const* words, size_t word_count, const taper_source* sources,
                          size_t source_count, taper_compilation& to, taper_error* error) {
  try {
    compile_into(words, word_count, sources, source_count, to);
    return report(error, Status(), kSite);
  } catch (const UsageError& problem) {
    return fail(error, Error::kInvalidArgument, problem.what(), to);
  } catch (const exir::Failure& failure) {
    return fail(error, Error::kInvalidProgram, failure.what(), to, failure.diagnostics());
  } catch (const InputError& problem) {
    return fail(error, Error::kAccessFailed, problem.what(), to);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& problem) {
    return fail(error, Error::kInternal, problem.what(), to);
  }
}

// `file` may be null.
const void* show(const exir::FileInMemory* file, size_t* size) {
  if (size != nullptr) *size = file == nullptr ? 0 : file->size();
  return file == nullptr ? nullptr : file->data();
}

}  // namespace
}  // namespace taper::tools

extern "C" {

taper_code taper_compile(const char* const* words, size_t word_count, const taper_source* sources,
                         size_t source_count, taper_compilation** result, taper_error* error) {
  using taper::Error;
  if (result == nullptr) {
    return taper::report(error, Error::kInvalidArgument, __func__, "result is a null pointer");
  }
  *result = nullptr;
  try {
    auto made = std::make_unique<taper_compilation>();
    const taper_code code =
        taper::tools::compile_safely(words, word_count, sources, source_count, *made, error);
    *result = made.release();
    return code;
  } catch (...) {
    return taper::report(error, Error::kMemoryAllocationFailed, __func__,
                         "there is not enough memory to compile this");
  }
}

const void* taper_compiled_program(const taper_compilation* result, size_t* size) {
  return taper::tools::show(result == nullptr ? nullptr : &result->program, size);
}

const void* taper_compiled_weights(const taper_compilation* result, size_t* size) {
  return taper::tools::show(result == nullptr ? nullptr : &result->weights, size);
}

const char* taper_compilation_report(const taper_compilation* result) {
  return result == nullptr ? "{}" : result->report.c_str();
}

void taper_free_compilation(taper_compilation* result) { delete result; }

}  // extern "C"
