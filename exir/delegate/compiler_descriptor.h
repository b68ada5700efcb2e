// The compiler half of a backend's descriptor: how `--backend "name:option=1"` becomes a
// BackendCompiler.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exir/delegate/backend_compiler.h"

namespace taper::exir {

// An option of a backend; its value is an integer.
struct CompileOption {
  enum class Kind { kFlag, kInteger };
  // Which half reads it. Options for the device half are written beside every payload.
  enum class Reader { kCompiler, kDevice };

  std::string_view key;
  Kind kind = Kind::kFlag;
  int32_t least = 0, most = 1;
  int32_t standard = 0;  // The default value.
  Reader reader = Reader::kCompiler;
  std::string_view help = {};
};

// The values of all options of one backend.
class CompileOptions {
 public:
  // All options have their default values. `known` must outlive this.
  explicit CompileOptions(std::span<const CompileOption> known);

  // REQUIRES: there is an option with that key.
  int32_t operator[](std::string_view key) const { return values_.at(key); }

  // Sets an option by "key=value". Returns what is wrong with the text; empty if nothing is.
  std::string set(std::string_view assignment);

  // The options for the device half that differ from their defaults, in the order of the table. A
  // flag is one byte, an integer is four bytes, little-endian.
  std::vector<OwnedCompileSpec> specs() const;

 private:
  std::span<const CompileOption> known_;
  std::map<std::string_view, int32_t> values_;
  std::map<std::string_view, bool> given_;
};

// In which numbers backends compute: all in float32, what they can in float16, or products of
// factors that are rounded to bfloat16.
enum class Numerals { kFloat32, kFloat16, kBfloat16 };

struct CompilerDescriptor {
  BackendIdentity identity;
  std::span<const CompileOption> options;
  std::shared_ptr<const BackendCompiler> (*make)(const CompileOptions& options);
  // Describes a payload with its compile specs in a few words for `taper inspect`; may be null. The
  // payload is not trusted.
  std::string (*inspect)(std::span<const uint8_t> payload, CompileSpecs specs);
  // The remedy if the device half is not built: "run scripts/deps.sh xnnpack, then build".
  std::string_view remedy;
  // Parts of the names of its libraries, by which they are found in a linker map.
  std::span<const std::string_view> libraries;
  // If programs can be linked with less than the whole device half: the parts that a payload needs
  // with its compile specs, by name, and the C++ source that links such parts and no others. The
  // payload is not trusted.
  std::set<std::string> (*parts)(std::span<const uint8_t> payload, CompileSpecs specs) = nullptr;
  std::string (*link_parts)(const std::set<std::string>& parts) = nullptr;
  // The keys of the flags that make it compute in float16 and in bfloat16; empty if there is none.
  std::string_view half_option = {};
  std::string_view bfloat_option = {};

  // The flag for those numerals; empty if it does not compute in them.
  std::string_view option_for(Numerals numerals) const {
    if (numerals == Numerals::kFloat32) return {};
    return numerals == Numerals::kFloat16 ? half_option : bfloat_option;
  }
};

using CompilerTable = std::span<const CompilerDescriptor* const>;

// Parses "xnnpack:min_elements=0,vulkan": the backends in order of preference, each with its
// options. "portable" or "none" alone means none. Throws Failure, whose text names all errors in
// one line, with what exists. Those that can compute in `numerals` do; of float16 and bfloat16, one
// must.
BackendCompilers make_compilers(std::string_view text, CompilerTable known,
                                Numerals numerals = Numerals::kFloat32);

}  // namespace taper::exir
