// Taper for C, and for every language that calls C: open a program, ask what it takes and gives,
// run it. One header, C99; the ABI is stable: functions are added, never changed.
//
//   taper_options options = {sizeof(options), taper_fast_kernels(), taper_xnnpack_backends()};
//   taper_model model;
//   taper_error error;
//   if (taper_open_path("model.pte", &options, &model, &error) != TAPER_OK) puts(error.message);
//   taper_set_input(model, "forward", 0, &image, &error);
//   taper_run(model, "forward", &error);
//   taper_get_output(model, "forward", 0, &logits, &error);
//   taper_close(model);
//
// Errors: every function that can fail returns a code and, if `error` is not null, says there what
// is wrong and where. Null pointers, handles that are none or closed, and calls out of order are
// such errors; nothing here crashes, throws or prints. A pointer that is not null must point to
// what the declaration says.
//
// Threads: models are independent of each other. One model is used by one thread at a time; a call
// that finds it in use by another returns TAPER_INVALID_STATE at once, and does nothing.
//
// Memory: what a function hands out (names, output data) belongs to the model and holds until the
// next call that runs, resets or closes it. Inputs are copied.

#pragma once

#include <stddef.h>
#include <stdint.h>

#define TAPER_VERSION_MAJOR 0
#define TAPER_VERSION_MINOR 1
#define TAPER_VERSION_PATCH 0
#define TAPER_VERSION \
  ((TAPER_VERSION_MAJOR << 16) | (TAPER_VERSION_MINOR << 8) | TAPER_VERSION_PATCH)

#if defined(_WIN32)
#define TAPER_API
#else
#define TAPER_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(readability-identifier-naming,modernize-use-using): C's names.

// What a call returns; the numbers of taper::Error, which are ExecuTorch's.
enum {
  TAPER_OK = 0x00,
  TAPER_INTERNAL = 0x01,
  TAPER_INVALID_STATE = 0x02,     // A call out of order, or a model that another thread uses.
  TAPER_NOT_SUPPORTED = 0x10,     // Well formed, but this build does not do it.
  TAPER_INVALID_ARGUMENT = 0x12,  // A null pointer, a handle that is none, an index or a size.
  TAPER_INVALID_TYPE = 0x13,      // Another dtype or kind than the method's.
  TAPER_OPERATOR_MISSING = 0x14,
  TAPER_NOT_FOUND = 0x20,  // A method, file or key that is not there.
  TAPER_OUT_OF_MEMORY = 0x21,
  TAPER_ACCESS_FAILED = 0x22,
  TAPER_INVALID_PROGRAM = 0x23
};
typedef int32_t taper_code;

typedef struct taper_error {
  taper_code code;
  char message[508];  // One line a problem, names included; cut off if longer.
  char site[128];     // The function, the method and what in it: "taper_run forward".
} taper_error;

// Dtypes have the numbers of PyTorch: 0 uint8, 1 int8, 2 int16, 3 int32, 4 int64, 5 float16,
// 6 float32, 7 float64, 11 bool, 15 bfloat16, ...
#define TAPER_FLOAT32 6
#define TAPER_INT64 4
#define TAPER_MAX_RANK 16

// A handle. 0 is none; a number that was closed never comes back.
typedef uint64_t taper_model;

// Kernels and backends that an application has. libtaper.so holds those of the first three, as do
// the static libraries; taper_selected_kernels() is what `taper select` made for the application.
typedef struct taper_kernels taper_kernels;
typedef struct taper_backends taper_backends;
TAPER_API const taper_kernels* taper_portable_kernels(void);
// The same, each in the form that is fastest on this processor. A library that was built without
// fast forms has the portable ones alone.
TAPER_API const taper_kernels* taper_fast_kernels(void);
// Runs programs that were exported with --backend xnnpack. Null if the library has none.
TAPER_API const taper_backends* taper_xnnpack_backends(void);
const taper_kernels* taper_selected_kernels(void);

// Threads of the application's own for the kernels that use some: calls task(data, i) once for
// every i below `count`, in any order and on any threads, and returns when all calls have returned.
// Results are the same for any number of threads.
typedef void (*taper_task)(void* data, size_t index);
typedef void (*taper_parallel_for)(void* context, size_t count, taper_task task, void* data);

// Memory of the application's own, each part of a method where it wants it: `id` is 0 for the
// method's block, else the number of a planned buffer (1: the first of `taper export --memory`).
// Aligned to 16; null if there is none. It is given back when the model is closed.
typedef void* (*taper_take_memory)(void* context, uint32_t id, size_t bytes);
typedef void (*taper_give_memory_back)(void* context, uint32_t id, void* memory, size_t bytes);

typedef struct taper_options {
  size_t struct_size;            // sizeof(taper_options); fields may be added at the end.
  const taper_kernels* kernels;  // Must outlive the model. Null: no operator is known.
  const taper_backends* backends;
  const char* data_path;      // A .ptd with weights, or null.
  uint64_t max_memory_bytes;  // Loading fails rather than take more in one method. 0: no limit.
  uint64_t max_instructions;  // Running gives up after so many. 0: ten million.
  taper_parallel_for parallel_for;          // Null: kernels run on the thread that calls.
  void* parallel_context;                   // Handed to it.
  uint32_t threads;                         // That it has. 0 and 1: it is not used.
  taper_take_memory take_memory;            // Null: memory comes from the heap.
  taper_give_memory_back give_memory_back;  // May be null.
  void* memory_context;                     // Handed to both.
} taper_options;

// Versions: of the library that is linked, as TAPER_VERSION and as "0.1.0".
TAPER_API uint32_t taper_version(void);
TAPER_API const char* taper_version_text(void);
// "InvalidArgument"; "Unknown" for a number that is no code.
TAPER_API const char* taper_code_name(taper_code code);
// "float32"; "unknown". Bytes of an element; 0.
TAPER_API const char* taper_dtype_name(int32_t dtype);
TAPER_API size_t taper_dtype_size(int32_t dtype);

// Opens and verifies a program. `options` may be null. Memory must be aligned to 16 and outlive
// the model. On an error *model is 0.
TAPER_API taper_code taper_open_path(const char* path, const taper_options* options,
                                     taper_model* model, taper_error* error);
TAPER_API taper_code taper_open_memory(const void* data, size_t size, const taper_options* options,
                                       taper_model* model, taper_error* error);
TAPER_API taper_code taper_close(taper_model model);

// Methods by index; the name holds until the model is closed.
TAPER_API taper_code taper_method_count(taper_model model, size_t* count, taper_error* error);
TAPER_API taper_code taper_method_name(taper_model model, size_t index, const char** name,
                                       taper_error* error);
// Lays a method out and binds its kernels, which the calls below do when needed. Every kernel and
// backend that is missing is named.
TAPER_API taper_code taper_load_method(taper_model model, const char* method, taper_error* error);

// What a method takes and gives, and the memory it needs.
typedef struct taper_method_info {
  size_t inputs, outputs;
  uint64_t block_bytes;    // For the method's own tables.
  uint64_t planned_bytes;  // Of all planned buffers.
} taper_method_info;
TAPER_API taper_code taper_describe_method(taper_model model, const char* method,
                                           taper_method_info* info, taper_error* error);

enum {
  TAPER_NONE = 0,
  TAPER_TENSOR = 1,
  TAPER_STRING = 2,
  TAPER_DOUBLE = 3,
  TAPER_INT = 4,
  TAPER_BOOL = 5
};
typedef struct taper_value_info {
  int32_t kind;  // TAPER_TENSOR, ...; the rest is of tensors.
  int32_t dtype;
  int32_t rank;
  int32_t dynamic;  // Not 0 if sizes may differ from call to call; then they are upper bounds.
  int32_t sizes[TAPER_MAX_RANK];
  uint8_t dim_order[TAPER_MAX_RANK];  // Dims from the outermost in memory to the innermost.
  uint64_t bytes;
} taper_value_info;
TAPER_API taper_code taper_describe_input(taper_model model, const char* method, size_t index,
                                          taper_value_info* info, taper_error* error);
TAPER_API taper_code taper_describe_output(taper_model model, const char* method, size_t index,
                                           taper_value_info* info, taper_error* error);

// A value that is handed in or out. Elements lie in the dim order that the method declares.
typedef struct taper_value {
  int32_t kind;
  int32_t dtype;
  int32_t rank;
  int32_t sizes[TAPER_MAX_RANK];
  const void* data;  // Of a tensor.
  size_t bytes;      // Of the data: the elements times their size.
  int64_t integer;   // Of an int or bool.
  double number;     // Of a double.
} taper_value;

// Copies a tensor in; it holds for all runs until it is set anew. Inputs that are no tensors were
// fixed by export and are not set.
TAPER_API taper_code taper_set_input(taper_model model, const char* method, size_t index,
                                     const taper_value* value, taper_error* error);
// TAPER_INVALID_STATE if a tensor input was never set.
TAPER_API taper_code taper_run(taper_model model, const char* method, taper_error* error);
// TAPER_INVALID_STATE before a run that succeeded.
TAPER_API taper_code taper_get_output(taper_model model, const char* method, size_t index,
                                      taper_value* value, taper_error* error);
// Sets the state of all loaded methods (buffers of the model) back to its saved values.
TAPER_API taper_code taper_reset_state(taper_model model, taper_error* error);

// NOLINTEND(readability-identifier-naming,modernize-use-using)

#ifdef __cplusplus
}
#endif
