// taper sign: puts the author's signature behind a .pte or .ptd, or makes a key.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "signing/signature.h"
#include "tools/atomic_file.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/options.h"
#include "tools/system.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  return {
      "taper sign",
      "Signs a .pte or .ptd with Ed25519: 104 bytes are added at its end, and every runtime\n"
      "still runs it. `taper verify --key` and `taper run --key`, and applications that ask\n"
      "for it, then refuse the file if anybody changes it. Signing again replaces the\n"
      "signature. Sign last: `taper pack` changes the file.\n\n"
      "Keys are PEM files as `openssl genpkey -algorithm ed25519` writes them.\n",
      "FILE --key KEY.pem [-o FILE] | --new-key KEY.pem",
      {{"Sign",
        {{"k,key", "The private key to sign with", "KEY.pem"},
         {"o,output", "The file to write; default: replace FILE", "FILE"},
         {"new-key", "Make a private key, KEY.pem, and the public one, KEY.pub.pem", "KEY.pem"}}}}};
}

std::string hex(const PublicKey& key) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : key.bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// Writes a file that nobody but this user can read, and never over another one.
void write_secret(const std::string& path, const std::string& text) {
  const int file = system::create_file(path, system::Readers::kThisUser);
  if (file < 0) {
    throw InputError("cannot make the key '" + path + "': " + std::strerror(errno));
  }
  const ssize_t written = ::write(file, text.data(), text.size());
  const bool is_whole = written == static_cast<ssize_t>(text.size());
  if (::close(file) == 0 && is_whole) return;
  system::remove_file(path);
  throw InputError("cannot write the key '" + path + "'");
}

int make_key(const std::string& path) {
  const Result<SigningKey> key = make_signing_key();
  if (!key.ok()) throw InputError(key.status().message());
  const std::string ending = ".pem";
  const bool has_ending = path.size() > ending.size() && path.ends_with(ending);
  const std::string open_path =
      path.substr(0, path.size() - (has_ending ? ending.size() : 0)) + ".pub.pem";
  if (std::filesystem::exists(system::as_path(open_path))) {
    throw InputError("cannot make the key '" + open_path + "': File exists");
  }
  OutputFiles files;
  files.add(open_path, to_pem(key->public_key));
  write_secret(path, to_pem(*key));
  try {
    files.commit();
  } catch (const InputError&) {
    system::remove_file(path);  // A key is worth nothing without the other one.
    throw;
  }
  std::printf("%s: the private key, for taper sign; keep it secret\n%s: the public key %s\n",
              path.c_str(), open_path.c_str(), hex(key->public_key).c_str());
  return 0;
}

Span<const uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

int sign_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  if (line.given("new-key")) {
    if (!line.files().empty() || line.given("key")) {
      throw UsageError("--new-key makes a key; it signs nothing");
    }
    return make_key(line.text("new-key"));
  }
  const std::string path = line.file();
  std::string file = read_file(path);
  if (!line.given("key")) throw UsageError("--key names the private key; --new-key makes one");
  const Result<SigningKey> key = read_signing_key(read_file(line.text("key")));
  if (!key.ok()) throw InputError("'" + line.text("key") + "': " + key.status().message());
  file.resize(without_signature(as_bytes(file)).size());
  file += make_signature(as_bytes(file), *key);
  const std::string output = line.given("output") ? line.text("output") : path;
  write_file(output, file);
  std::printf("%s: %s, signed by %s\n", output.c_str(),
              bytes_text(static_cast<double>(file.size())).c_str(), hex(key->public_key).c_str());
  return 0;
}

}  // namespace taper::tools
