// Runs model_run_all() on the arrays that PyTorch was given, step after step, and compares with
// what it computed. TEST_NAMES are the prefixes of the .npy files, one for each step.

#include <model.h>
#include <string.h>

#include "test/firmware/semihosting.h"

namespace {

constexpr size_t kMost = 1 << 20;
alignas(16) unsigned char inputs[kMost], outputs[kMost], file[kMost / 2];
const size_t kInputBytes[] = MODEL_INPUT_BYTES;
const size_t kOutputBytes[] = MODEL_OUTPUT_BYTES;
const char* const kNames[] = {TEST_NAMES};

// The elements of an .npy file; null if it is not of that size.
const unsigned char* read_array(const char* name, const char* kind, char number, size_t bytes) {
  char path[512] = {};
  if (strlen(name) > 400) return nullptr;
  strcpy(path, name);
  strcat(path, kind);
  const char rest[] = {number, '.', 'n', 'p', 'y', 0};
  strcat(path, rest);
  const size_t size = read_host_file(path, file, sizeof(file));
  if (size < 10) return nullptr;
  const size_t start = 10 + file[8] + file[9] * 256u;
  if (size != start + bytes) return nullptr;
  memmove(file, file + start, bytes);
  return file;
}

bool close_enough(const float* got, const float* wanted, size_t count) {
  float largest = 1;
  for (size_t i = 0; i < count; ++i) {
    largest = __builtin_fmaxf(largest, __builtin_fabsf(wanted[i]));
  }
  for (size_t i = 0; i < count; ++i) {
    if (!(__builtin_fabsf(got[i] - wanted[i]) <= 1e-4f * largest)) return false;
  }
  return true;
}

int run_step(const char* name) {
  const void* given[MODEL_INPUTS + 1] = {};
  void* taken[MODEL_OUTPUTS + 1] = {};
  size_t used = 0;
  for (size_t i = 0; i < MODEL_INPUTS; ++i) {
    const unsigned char* data = read_array(name, ".in", static_cast<char>('0' + i), kInputBytes[i]);
    if (data == nullptr || used + kInputBytes[i] > kMost) return say("an input is missing\n"), 1;
    given[i] = memcpy(inputs + used, data, kInputBytes[i]);
    used += (kInputBytes[i] + 15) / 16 * 16;
  }
  used = 0;
  for (size_t i = 0; i < MODEL_OUTPUTS; ++i) {
    taken[i] = outputs + used;
    used += (kOutputBytes[i] + 15) / 16 * 16;
    if (used > kMost) return say("the outputs are too large\n"), 1;
  }
  if (model_run_all(given, taken) != 0) return say("model_run_all() fails\n"), 1;
  for (size_t i = 0; i < MODEL_OUTPUTS; ++i) {
    const unsigned char* data =
        read_array(name, ".out", static_cast<char>('0' + i), kOutputBytes[i]);
    if (data == nullptr) return say("an expected output is missing\n"), 1;
    const float* wanted = reinterpret_cast<const float*>(data);
    if (!close_enough(static_cast<const float*>(taken[i]), wanted, kOutputBytes[i] / 4)) {
      return say("an output differs from PyTorch's\n"), 1;
    }
  }
  return 0;
}

}  // namespace

int main() {
  for (const char* name : kNames) {
    if (run_step(name) != 0) return 1;
  }
  say("matches\n");
  return 0;
}
