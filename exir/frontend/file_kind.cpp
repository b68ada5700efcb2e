// Recognises files of other formats by their first bytes, and other zip archives by their members.

#include "exir/frontend/file_kind.h"

#include <algorithm>

namespace taper::exir {
namespace {

constexpr std::string_view kHowToExport =
    "save the program from Python with torch.export.save(torch.export.export(model, inputs), "
    "\"model.pt2\")";

struct Signature {
  size_t at;
  std::string_view bytes;
  std::string_view what;
  std::string_view remedy;
};

using namespace std::string_view_literals;

constexpr Signature kSignatures[] = {
    {4, "TFL3"sv, "is a TensorFlow Lite model (.tflite)", kHowToExport},
    {4, "ET"sv, "is a compiled program (.pte) already", "run it, or inspect it, as it is"},
    {4, "FT01"sv, "is a file of weights (.ptd), not a program", kHowToExport},
    {4, "BP"sv, "is a compiled program with test cases (.bpte) already", "give the .pt2 instead"},
    {4, "PTMF"sv, "is a TorchScript model for PyTorch Mobile", kHowToExport},
    {0, "GGUF"sv, "is a GGUF file of weights, not a program", kHowToExport},
    {0, "\x89HDF"sv, "is an HDF5 file (Keras keeps models in it)", kHowToExport},
    {0, "\x1f\x8b"sv, "is compressed with gzip", "unpack it first"},
    {0, "BZh"sv, "is compressed with bzip2", "unpack it first"},
    {0,
     "\xfd"
     "7zXZ"sv,
     "is compressed with xz", "unpack it first"},
    {0, "\x28\xb5\x2f\xfd"sv, "is compressed with zstd", "unpack it first"},
    {257, "ustar"sv, "is a tar archive", "unpack it first"},
    {0,
     "\x7f"
     "ELF"sv,
     "is an executable or a shared library (ELF)", kHowToExport},
    {0, "\x93NUMPY"sv, "is a NumPy array (.npy)", "give it as an input, and the .pt2 as the model"},
};

// What torch.save wrote before PyTorch 1.6: a pickle, which starts with its protocol number.
bool is_old_torch_save(Bytes file) {
  return file.size() > 4 && file[0] == 0x80 && file[1] >= 2 && file[1] <= 5;
}

// A safetensors file is a length, that many bytes of JSON, and the data.
bool is_safetensors(Bytes file) {
  uint64_t length = 0;
  if (file.size() < 9) return false;
  for (size_t i = 0; i < 8; ++i) length |= uint64_t{file[i]} << (8 * i);
  return length <= file.size() - 8 && file[8] == '{';
}

// An ONNX file is a protobuf message: its first field is a small number (ir_version), its second
// one of the length-delimited fields of a model.
bool is_onnx(Bytes file) {
  constexpr uint8_t kNewestVersion = 64;
  if (file.size() < 4 || file[0] != 0x08 || file[1] == 0 || file[1] > kNewestVersion) return false;
  return (file[2] & 7) == 2 && file[2] >= 0x12 && file[2] <= 0x42;
}

bool any_member(const ZipArchive& archive, std::string_view text) {
  return std::any_of(archive.members().begin(), archive.members().end(),
                     [&](const ZipMember& m) { return m.name.find(text) != m.name.npos; });
}

}  // namespace

void refuse_by_content(Bytes file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  for (const Signature& known : kSignatures) {
    if (text.size() > known.at && text.substr(known.at).starts_with(known.bytes)) {
      refuse("not-a-pt2", known.what, {}, known.remedy);
    }
  }
  if (is_old_torch_save(file)) {
    refuse("not-a-pt2", "is a pickle (torch.save of an old PyTorch, or a checkpoint)", {},
           kHowToExport);
  }
  if (is_safetensors(file)) {
    refuse("not-a-pt2", "is a safetensors file: weights without a program", {}, kHowToExport);
  }
  if (is_onnx(file)) refuse("not-a-pt2", "is an ONNX model", {}, kHowToExport);
  refuse("not-a-pt2", "is not a .pt2 file: it is not a zip archive", {}, kHowToExport);
}

void refuse_by_members(const ZipArchive& archive) {
  if (any_member(archive, "data/aotinductor/")) {
    refuse("not-a-pt2", "is an AOTInductor package: machine code, without the program it came from",
           {}, kHowToExport);
  }
  if (any_member(archive, "archive_format")) {
    refuse("incomplete-archive",
           "is an incomplete .pt2 archive: it has no models/*.json, as when saving failed half way",
           {}, "save it again and mind the error that Python reports");
  }
  if (any_member(archive, "data.pkl")) {
    const bool script = any_member(archive, "/code/") || any_member(archive, "constants.pkl");
    refuse("not-a-pt2",
           script ? "is a TorchScript model (torch.jit.save)"
                  : "was written by torch.save: weights or a pickled module, without a program",
           {}, kHowToExport);
  }
  refuse("not-a-pt2", "is a zip archive, but holds no exported program", {}, kHowToExport);
}

}  // namespace taper::exir
