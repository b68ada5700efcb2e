// Runs methods step by step on the inputs of PyTorch's cases and compares the outputs with
// PyTorch's. TEST_STEPS is a list of STEP(prefix of functions, of macros, of .npy files).

#include <model.h>
#include <string.h>

#include "test/firmware/semihosting.h"

namespace {

constexpr size_t kMost = 1 << 20, kMostArguments = 16, kMostRank = 16;
alignas(16) unsigned char inputs[kMost], outputs[kMost], file[kMost / 2];

using RunAll = int32_t(const void* const*, const int32_t* const*, void* const*, int32_t* const*);
struct Step {
  RunAll* run;
  size_t input_count, output_count;
  const size_t *input_bytes, *output_bytes;  // The maximum sizes.
  const char* name;
};

// The array in an .npy file.
struct Array {
  const unsigned char* data = nullptr;  // Null if it cannot be read.
  size_t bytes = 0;
  bool is_float = false;
  int32_t sizes[kMostRank] = {};
  size_t rank = 0;
};

const char* after(const char* text, const char* what) {
  const char* found = strstr(text, what);
  return found == nullptr ? text : found + strlen(what);
}

// Parses a header such as "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 6), }".
void read_header(const char* text, Array* array) {
  array->is_float = strncmp(after(text, "'descr': '"), "<f4", 3) == 0;
  for (const char* at = after(text, "'shape': ("); *at != ')' && *at != 0; ++at) {
    if (*at < '0' || *at > '9') continue;
    int32_t& size = array->sizes[array->rank++ % kMostRank];
    for (size = 0; *at >= '0' && *at <= '9'; ++at) size = size * 10 + (*at - '0');
    --at;
  }
}

// Reads NAME + KIND + NUMBER + ".npy"; the array is valid until the next one is read.
Array read_array(const char* name, const char* kind, size_t number) {
  char path[512] = {};
  if (strlen(name) > 400) return {};
  strcpy(path, name);
  strcat(path, kind);
  const char rest[] = {static_cast<char>('0' + number), '.', 'n', 'p', 'y', 0};
  strcat(path, rest);
  const size_t size = read_host_file(path, file, sizeof(file));
  if (size < 10) return {};
  const size_t start = 10 + file[8] + file[9] * 256u;
  if (size < start) return {};
  Array array;
  file[start - 1] = 0;
  read_header(reinterpret_cast<const char*>(file) + 10, &array);
  array.bytes = size - start;
  memmove(file, file + start, array.bytes);
  array.data = file;
  return array;
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

bool same(const Array& wanted, const void* got, const int32_t* sizes) {
  // The run does not set the sizes of outputs with static shapes; they remain -1.
  if (sizes[0] != -1 && memcmp(sizes, wanted.sizes, wanted.rank * sizeof(int32_t)) != 0) {
    return false;
  }
  if (!wanted.is_float) return memcmp(got, wanted.data, wanted.bytes) == 0;
  return close_enough(static_cast<const float*>(got), reinterpret_cast<const float*>(wanted.data),
                      wanted.bytes / 4);
}

int run_step(const Step& step) {
  const void* given[kMostArguments] = {};
  void* taken[kMostArguments] = {};
  static int32_t sizes[2 * kMostArguments][kMostRank];
  const int32_t* given_sizes[kMostArguments] = {};
  int32_t* taken_sizes[kMostArguments] = {};
  size_t used = 0;
  for (size_t i = 0; i < step.input_count; ++i) {
    const Array array = read_array(step.name, ".in", i);
    if (array.data == nullptr || array.bytes > step.input_bytes[i] || used + array.bytes > kMost) {
      return say("an input is missing\n"), 1;
    }
    given[i] = memcpy(inputs + used, array.data, array.bytes);
    given_sizes[i] = static_cast<int32_t*>(memcpy(sizes[i], array.sizes, sizeof(array.sizes)));
    used += (array.bytes + 15) / 16 * 16;
  }
  used = 0;
  for (size_t i = 0; i < step.output_count; ++i) {
    taken[i] = outputs + used;
    taken_sizes[i] = sizes[kMostArguments + i];
    taken_sizes[i][0] = -1;
    used += (step.output_bytes[i] + 15) / 16 * 16;
    if (used > kMost) return say("the outputs are too large\n"), 1;
  }
  if (step.run(given, given_sizes, taken, taken_sizes) != 0) return say("a run fails\n"), 1;
  for (size_t i = 0; i < step.output_count; ++i) {
    const Array wanted = read_array(step.name, ".out", i);
    if (wanted.data == nullptr) return say("an expected output is missing\n"), 1;
    if (!same(wanted, taken[i], taken_sizes[i])) {
      return say("an output differs from PyTorch's\n"), 1;
    }
  }
  return 0;
}

}  // namespace

#define STEP(functions, macros, name)                                                             \
  {                                                                                               \
    static const size_t input_bytes[] = macros##INPUT_BYTES;                                      \
    static const size_t output_bytes[] = macros##OUTPUT_BYTES;                                    \
    if (run_step({functions##run_all, macros##INPUTS, macros##OUTPUTS, input_bytes, output_bytes, \
                  name}) != 0) {                                                                  \
      return 1;                                                                                   \
    }                                                                                             \
  }

int main() {
  TEST_STEPS
  say("matches\n");
  return 0;
}
