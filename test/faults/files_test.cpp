// Every read, write, mapping and renaming of a command's files, every folder that it makes and
// every question about a file goes wrong once: it fails, is interrupted, moves one byte only, or
// finds that the file has ended. The command must do all the same what it does otherwise, or end in
// one error that names a file; either way an output file is the whole new one or still the old one,
// and nothing else is left behind. No command of taper that uses files is left out.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "backends/devices.h"
#include "exir/frontend/json.h"
#include "exir/ir/failure.h"
#include "signing/signature.h"
#include "taper/etdump.h"
#include "test/faults/failing_files.h"
#include "test/support/scratch_folder.h"
#include "tools/atomic_file.h"
#include "tools/commands.h"

namespace taper::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOld = "the old file";

struct Command {
  std::string name;
  std::vector<std::string> words;    // "@" stands for the folder.
  std::vector<std::string> outputs;  // Files below the folder.
  bool varies = false;  // Outputs tell of times, or are keys: their bytes are never the same.
  std::vector<std::string> caches = {};  // Files that save time: it succeeds without, too.
  bool is_new = false;                   // There were no such outputs before.
};

void PrintTo(const Command& command, std::ostream* out) { *out << command.name; }

struct Ended {
  int code = -1;  // 128 + the number of a signal, if one ended it.
  uint64_t calls = 0;
  std::string errors;
};

// The text with the folder in place of each "@".
std::string placed(const std::string& text, const std::string& folder) {
  std::string out;
  for (const char c : text) out += c == '@' ? folder : std::string(1, c);
  return out;
}

// Whether a file whose bytes vary is one from its first to its last byte.
bool is_whole(const std::string& name, const std::string& bytes) {
  if (name.ends_with(".pub.pem")) return read_public_key(bytes).ok();
  if (name.ends_with(".pem")) return read_signing_key(bytes).ok();
  const exir::Blob blob = {{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, nullptr};
  if (name.ends_with(".etdp")) return read_etdump({blob.bytes.data(), blob.bytes.size()}).ok();
  try {
    return exir::JsonDocument(blob, name).root().is_object();
  } catch (const exir::Failure&) {
    return false;
  }
}

// Runs the command in a process of its own, in which the n-th call that `fault` can befall does.
Ended run_with(const Command& command, const std::string& folder, FileFault fault, uint64_t n) {
  const ScratchFolder said;
  std::vector<std::string> words = {"taper"};
  for (const std::string& word : command.words) words.push_back(placed(word, folder));
  auto* const calls = static_cast<uint64_t*>(
      ::mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t child = ::fork();
  if (child == 0) {
    if (std::freopen((said / "out").c_str(), "w", stdout) == nullptr) ::_exit(125);
    if (std::freopen((said / "err").c_str(), "w", stderr) == nullptr) ::_exit(125);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    fail_file_call(folder, fault, n);
    const int code = tools::run_taper(static_cast<int>(arguments.size()), arguments.data());
    *calls = file_calls();
    std::fflush(nullptr);
    ::_exit(code);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  Ended ended = {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), *calls,
                 tools::read_file(said / "err")};
  ::munmap(calls, sizeof(uint64_t));
  return ended;
}

std::string without_notes(std::string errors) {
  while (errors.starts_with("taper: note: ")) errors.erase(0, errors.find('\n') + 1);
  return errors;
}

Ended run_as_it_is(const std::vector<std::string>& words) {
  return run_with({"", words, {}}, "", FileFault::kRefused, 0);
}

// The backends that pack weights ahead of time.
std::vector<const DeviceDescriptor*> packers() {
  std::vector<const DeviceDescriptor*> found;
  for (const DeviceDescriptor* device : backend_devices()) {
    if (device->packed_key != nullptr) found.push_back(device);
  }
  return found;
}

using Files = std::map<std::string, std::string>;  // Contents by path below the folder.

Files files_of(const std::string& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files[fs::relative(entry.path(), folder)] = tools::read_file(entry.path());
    }
  }
  return files;
}

class FailingFiles : public testing::TestWithParam<Command> {
 protected:
  // The folder before the command: its inputs, and old outputs.
  void make_folder() const {
    fs::remove_all(folder_);
    fs::create_directories(folder_ + "/out");
    for (const auto& [name, bytes] : inputs()) tools::write_file(folder_ + "/" + name, bytes);
    tools::write_file(folder_ + "/lines.txt",
                      placed("quantize @/model.pt2 -o @/new.pt2 --weights int8\n"
                             "run @/model.pte -w @/model.ptd -i @/in0.npy -o @/out\n",
                             folder_));
    if (GetParam().is_new) return;
    for (const std::string& name : written()) tools::write_file(folder_ + "/" + name, kOld);
  }

  static std::vector<std::string> written() {
    std::vector<std::string> names = GetParam().outputs;
    names.insert(names.end(), GetParam().caches.begin(), GetParam().caches.end());
    return names;
  }

  // Whether a file that the command was to write is the old one, and may be.
  static bool may_be_old(const std::string& name, const std::string& bytes, int code) {
    const std::vector<std::string>& caches = GetParam().caches;
    const bool is_cache = std::find(caches.begin(), caches.end(), name) != caches.end();
    return (code != 0 || is_cache) && bytes == (GetParam().is_new ? "" : kOld);
  }

  // What commands read.
  static const Files& inputs() {
    static const Files files = [] {
      const ScratchFolder folder;
      const std::string model = folder / "model";
      for (const char* end : {".pt2", ".in0.npy", ".out0.npy"}) {
        const std::string name = end[1] == 'p' ? "model.pt2" : end + 1;
        fs::copy_file(TAPER_SOURCE_DIR "/test/models/data/causal_conv1d" + std::string(end),
                      folder / name);
      }
      const Ended exported = run_as_it_is({"export", model + ".pt2", "-o", model + ".pte",
                                           "--external-weights", model + ".ptd", "--debug-info"});
      EXPECT_EQ(exported.code, 0) << exported.errors;
      const std::string key = folder / "key.pem";
      EXPECT_EQ(run_as_it_is({"sign", "--new-key", key}).code, 0);
      for (const std::string end : {".pte", ".ptd"}) {
        const std::string signed_file = folder / "signed" + end;
        EXPECT_EQ(run_as_it_is({"sign", model + end, "--key", key, "-o", signed_file}).code, 0);
      }
      EXPECT_EQ(run_as_it_is({"profile", model + ".pte", "-w", model + ".ptd", "-n", "1",
                              "--etdump", model + ".etdp"})
                    .code,
                0);
      for (const DeviceDescriptor* device : packers()) {
        const std::string name = device->identity.name;
        const Ended made = run_as_it_is(
            {"export", model + ".pt2", "-o", folder / (name + ".pte"), "--backend", name});
        EXPECT_EQ(made.code, 0) << made.errors;
      }
      return files_of(folder.path());
    }();
    return files;
  }

  // Each output is the whole new one, or, if the command has failed, the old one; nothing else is
  // there, and the failure names a file.
  void expect_each_to_be_whole(const Files& before, const Files& expected, const Ended& ended) {
    Files after = files_of(folder_);
    size_t made = 0;
    for (const std::string& name : written()) {
      const std::string bytes = after[name];
      const bool is_made = GetParam().varies ? is_whole(name, bytes) : bytes == expected.at(name);
      EXPECT_TRUE(is_made || may_be_old(name, bytes, ended.code))
          << name << " has " << bytes.size() << " bytes, the whole one "
          << expected.at(name).size();
      made += is_made ? 1 : 0;
      after.erase(name);
    }
    const bool are_keys = GetParam().is_new && GetParam().varies;
    EXPECT_TRUE(!are_keys || made == 0 || made == 2) << "a key is left without the other one";
    for (const auto& [name, bytes] : after) {
      EXPECT_TRUE(before.count(name) != 0 || expected.count(name) != 0) << name << " is left";
    }
    if (ended.code == 0) return;
    EXPECT_EQ(ended.code, 1) << ended.errors;
    EXPECT_TRUE(without_notes(ended.errors).starts_with("taper: error: ") &&
                ended.errors.find(folder_) != std::string::npos)
        << "'" << ended.errors << "' does not name a file";
  }

  void every_call_goes_wrong_once(FileFault fault) {
    make_folder();
    const Files before = files_of(folder_);
    const Ended clean = run_with(GetParam(), folder_, fault, 0);
    ASSERT_EQ(clean.code, 0) << clean.errors;
    const Files expected = files_of(folder_);
    for (const std::string& name : written()) {
      ASSERT_EQ(expected.count(name), 1u) << name;
      const std::string& bytes = expected.at(name);
      ASSERT_TRUE(GetParam().varies ? is_whole(name, bytes) : bytes != kOld) << name;
    }
    for (uint64_t n = 1; n <= clean.calls; ++n) {
      SCOPED_TRACE("call " + std::to_string(n) + " of " + std::to_string(clean.calls));
      make_folder();
      expect_each_to_be_whole(before, expected, run_with(GetParam(), folder_, fault, n));
      if (HasFailure()) return;
    }
  }

  ScratchFolder scratch_;
  const std::string folder_ = scratch_ / "model";
};

TEST_P(FailingFiles, WhenACallFails) { every_call_goes_wrong_once(FileFault::kRefused); }

TEST_P(FailingFiles, WhenASignalArrives) { every_call_goes_wrong_once(FileFault::kInterrupted); }

TEST_P(FailingFiles, WhenOneByteMoves) { every_call_goes_wrong_once(FileFault::kPartial); }

TEST_P(FailingFiles, WhenTheFileEnds) { every_call_goes_wrong_once(FileFault::kEnds); }

std::vector<Command> commands() {
  const std::string pt2 = "@/model.pt2", pte = "@/model.pte", weights = "@/model.ptd",
                    in = "@/in0.npy";
  std::vector<Command> all = {
      {"check", {"check", pt2}, {}},
      {"export",
       {"export", pt2, "-o", "@/new.pte", "--external-weights", "@/new.ptd"},
       {"new.pte", "new.ptd"}},
      {"quantize", {"quantize", pt2, "-o", "@/new.pt2", "--weights", "int8"}, {"new.pt2"}},
      {"run", {"run", pte, "-w", weights, "-i", in, "-o", "@/out"}, {"out/out0.npy"}},
      {"run_copied",
       {"run", pte, "-w", weights, "-i", in, "-o", "@/out", "--no-mmap"},
       {"out/out0.npy"}},
      {"verify", {"verify", pte, "-w", weights, "-i", in, "-e", "@/out0.npy"}, {}},
      {"bench", {"bench", pte, "-w", weights, "-n", "1", "--warmup", "0"}, {}},
      {"inspect", {"inspect", pte, "--json"}, {}},
      {"view", {"view", pt2, "-o", "@/page.html"}, {}},  // A page tells of what went wrong, too.
      {"compare", {"compare", pt2, pte, "-w", weights, "-i", in}, {}},
      {"select", {"select", pte, "-o", "@/kernels.cpp"}, {"kernels.cpp"}},
      {"bundle",
       {"bundle", pte, "-w", weights, "-i", in, "-e", "@/out0.npy", "-o", "@/new.bpte"},
       {"new.bpte"}},
      {"profile",
       {"profile", pte, "-w", weights, "-i", in, "-n", "1", "--csv", "--etdump", "@/new.etdp",
        "--json=@/new.json"},
       {"new.etdp", "new.json"},
       true},
      {"profile_of_etdump", {"profile", "@/model.etdp", "--against", "@/model.etdp"}, {}},
      {"trace",
       {"trace", pte, "-w", weights, "-i", in, "-n", "1", "-o", "@/new.json"},
       {"new.json"},
       true},
      {"trace_of_etdump", {"trace", "@/model.etdp", "-o", "@/new.json"}, {"new.json"}},
      {"batch", {"batch", "@/lines.txt"}, {"new.pt2", "out/out0.npy"}},
      {"sign", {"sign", pte, "--key", "@/key.pem", "-o", "@/new.pte"}, {"new.pte"}},
      {"sign_new_key",
       {"sign", "--new-key", "@/new.pem"},
       {"new.pem", "new.pub.pem"},
       true,
       {},
       true},
      {"run_of_signed",
       {"run", "@/signed.pte", "-w", "@/signed.ptd", "-i", in, "-o", "@/new", "--key",
        "@/key.pub.pem"},
       {"new/out0.npy"},
       false,
       {},
       true},
      {"verify_of_signed",
       {"verify", "@/signed.pte", "-w", "@/signed.ptd", "-i", in, "-e", "@/out0.npy", "--key",
        "@/key.pub.pem"},
       {}},
      {"export_as_c",
       {"export", pt2, "-o", "@/c", "--format=c"},
       {"c/CMakeLists.txt", "c/kernels.cpp", "c/model.cpp", "c/model.h", "c/program.cpp",
        "c/sources.txt"},
       false,
       {},
       true},
  };
  for (const DeviceDescriptor* device : backend_devices()) {
    const std::string name = device->identity.name;
    all.push_back(
        {"export_for_" + name, {"export", pt2, "-o", "@/new.pte", "--backend", name}, {"new.pte"}});
  }
  for (const DeviceDescriptor* device : packers()) {
    const std::string name = device->identity.name;
    const std::string program = "@/" + name + ".pte";
    all.push_back({"pack_for_" + name,
                   {"pack", program, "--for", "this-cpu", "-o", "@/new.pte"},
                   {"new.pte"}});
    all.push_back({"cache_of_" + name,
                   {"run", program, "-i", in, "--cache", "-o", "@/out"},
                   {"out/out0.npy"},
                   false,
                   {name + "." + device->packed_suffix}});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Of, FailingFiles, testing::ValuesIn(commands()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace taper::test
