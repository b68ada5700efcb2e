#include "exir/frontend/file_kind.h"

#include <gtest/gtest.h>

#include "exir/frontend/archive_for_test.h"
#include "exir/frontend/container.h"

namespace taper::exir {
namespace {

using namespace std::string_literals;
using test::failure_of;
using test::Member;
using test::zip_of;

struct Foreign {
  const char* name;
  std::string bytes;
  const char* message;
};

class ForeignFile : public testing::TestWithParam<Foreign> {};

TEST_P(ForeignFile, IsNamedForWhatItIs) {
  const std::string said = failure_of([] {
    Budget budget(GetParam().bytes.size());
    Container(test::blob_of(GetParam().bytes), budget);
  });
  EXPECT_NE(said.find(GetParam().message), std::string::npos) << said;
}

std::string zip_with(const std::vector<std::string>& names) {
  std::vector<Member> members;
  for (const std::string& name : names)
    members.push_back({name, name.ends_with("format") ? "pt2" : "x"});
  return zip_of(members);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ForeignFile,
    testing::Values(
        Foreign{"tflite", "\x1c\0\0\0TFL3"s + std::string(40, '\0'), "TensorFlow Lite model"},
        Foreign{"pte", "\x30\0\0\0ET12"s + std::string(40, '\0'), "compiled program (.pte)"},
        Foreign{"ptd", "\x30\0\0\0FT01"s + std::string(40, '\0'), "file of weights (.ptd)"},
        Foreign{"safetensors", "\x02\0\0\0\0\0\0\0{}"s, "safetensors file"},
        Foreign{"onnx",
                "\x08\x07\x12\x07pytorch\x1a\x03"s
                "2.1",
                "ONNX model"},
        Foreign{"old_torch_save", "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s,
                "is a pickle"},
        Foreign{"gguf", "GGUF\3\0\0\0"s, "GGUF"}, Foreign{"hdf5", "\x89HDF\r\n\x1a\n"s, "HDF5"},
        Foreign{"gzip", "\x1f\x8b\x08\0\0\0\0\0"s, "compressed with gzip"},
        Foreign{"text", "import torch\n"s, "it is not a zip archive"},
        Foreign{"one_byte", "P"s, "not a zip archive"},
        Foreign{"torchscript", zip_with({"m/data.pkl", "m/code/__torch__.py", "m/constants.pkl"}),
                "TorchScript model"},
        Foreign{"state_dict", zip_with({"m/data.pkl", "m/data/0", "m/version"}),
                "written by torch.save"},
        Foreign{"aotinductor", zip_with({"m/archive_format", "m/data/aotinductor/model/x.so"}),
                "AOTInductor package"},
        Foreign{"incomplete", zip_with({"m/archive_format", "m/data/weights/weight_0"}),
                "incomplete .pt2 archive"},
        Foreign{"other_zip", zip_with({"word/document.xml"}), "holds no exported program"},
        Foreign{"empty_zip", zip_of({}), "holds no exported program"},
        Foreign{"cut_zip", zip_with({"m/archive_format"}).substr(0, 80), "cut short"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace taper::exir
