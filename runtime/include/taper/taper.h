// The C API of Taper, for C and every language that can call C: opens a program, describes its
// inputs and outputs, runs it. One C99 header with a stable ABI: functions are added, never
// changed.
//
//   taper_error error;
//   const taper_backend* backends[] = {taper_find_backend("xnnpack", &error)};
//   if (backends[0] == NULL) puts(error.message);
//   taper_options options = {sizeof(options), taper_fast_kernels(), backends, 1};
//   taper_model model;
//   if (taper_open_path("model.pte", &options, &model, &error) != TAPER_OK) puts(error.message);
//   taper_set_input(model, "forward", 0, &image, &error);
//   taper_run(model, "forward", &error);
//   taper_get_output(model, "forward", 0, &logits, &error);
//   taper_close(model);
//
// Errors: every function that can fail returns a code and, if `error` is not null, describes there
// what is wrong and where. Null pointers, invalid or closed handles, and calls in the wrong order
// are such errors, and so is a lack of memory; nothing here crashes, throws or prints. A pointer
// that is not null must point to what the declaration says.
//
// Threads: models are independent of each other. A model is used by one thread at a time; a call on
// a model that another thread is using does nothing and returns TAPER_INVALID_STATE at once.
//
// Memory: what a function returns (names, output data) belongs to the model and is valid until the
// next call that runs, resets or closes it. Inputs are copied by taper_set_input() and used where
// they are by taper_bind_input().

#pragma once

#include <stddef.h>
#include <stdint.h>

#define TAPER_VERSION_MAJOR 0
#define TAPER_VERSION_MINOR 1
#define TAPER_VERSION_PATCH 0
#define TAPER_VERSION \
  ((TAPER_VERSION_MAJOR << 16) | (TAPER_VERSION_MINOR << 8) | TAPER_VERSION_PATCH)

#if defined(_WIN32) && defined(TAPER_EXPORTS)  // When the library itself is compiled.
#define TAPER_API __declspec(dllexport)
#elif defined(_WIN32)
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
  TAPER_INVALID_STATE = 0x02,     // A call at the wrong time, or a model that another thread uses.
  TAPER_NOT_SUPPORTED = 0x10,     // Well formed, but not supported by this build.
  TAPER_INVALID_ARGUMENT = 0x12,  // A null pointer, an invalid handle, a wrong index or size.
  TAPER_INVALID_TYPE = 0x13,      // Not the dtype or kind that the method declares.
  TAPER_OPERATOR_MISSING = 0x14,
  TAPER_NOT_FOUND = 0x20,  // There is no such method, file or key.
  TAPER_OUT_OF_MEMORY = 0x21,
  TAPER_ACCESS_FAILED = 0x22,
  TAPER_INVALID_PROGRAM = 0x23
};
typedef int32_t taper_code;

typedef struct taper_error {
  taper_code code;
  char message[508];  // One line for each problem, with the names involved; truncated if too long.
  char site[128];     // The function that failed and its method: "taper_run forward".
} taper_error;

// Dtypes have the numbers of PyTorch: 0 uint8, 1 int8, 2 int16, 3 int32, 4 int64, 5 float16,
// 6 float32, 7 float64, 11 bool, 15 bfloat16, ...
#define TAPER_FLOAT32 6
#define TAPER_INT64 4
#define TAPER_MAX_RANK 16

// A handle of a model. 0 is never valid, and the number of a closed model is never used again.
typedef uint64_t taper_model;

// The kernels of an application. The first two functions are in libtaper.so and in the static
// libraries; taper_selected_kernels() is in the source file that `taper select` writes.
typedef struct taper_kernels taper_kernels;
typedef struct taper_backend taper_backend;
TAPER_API const taper_kernels* taper_portable_kernels(void);
// All kernels, each in the fastest form for this processor. In a library that was built without
// fast kernels these are the portable ones.
TAPER_API const taper_kernels* taper_fast_kernels(void);
const taper_kernels* taper_selected_kernels(void);

// The backend that runs programs exported with --backend NAME. It is created by the first call and
// shared by all models, and exists until the process ends. Null if the library has no backend of
// that name; the error then lists those that it has.
TAPER_API const taper_backend* taper_find_backend(const char* name, taper_error* error);
// The number of backends in the library, and their names; null past the last.
TAPER_API size_t taper_backend_count(void);
TAPER_API const char* taper_backend_name(size_t index);

// The application's threads, on which kernels may run: calls task(data, i) once for every i below
// `count`, in any order and on any threads, and returns when all calls have returned. Results are
// the same for any number of threads.
typedef void (*taper_task)(void* data, size_t index);
typedef void (*taper_parallel_for)(void* context, size_t count, taper_task task, void* data);

// Memory that the application provides for a method, for each part separately: `id` is 0 for the
// method's block, otherwise the number of a planned buffer (1: the first of `taper export
// --memory`). It must be aligned to 16; null if there is none. It is given back when the model is
// closed.
typedef void* (*taper_take_memory)(void* context, uint32_t id, size_t bytes);
typedef void (*taper_give_memory_back)(void* context, uint32_t id, void* memory, size_t bytes);

// Decides whether a file may be used, from all its bytes, before anything else is done with them.
// Returns TAPER_OK, or a code and, in `error`, a message. taper_signed_by() is such a function.
typedef taper_code (*taper_check_file)(void* context, const void* data, size_t size,
                                       taper_error* error);

typedef struct taper_options {
  size_t struct_size;            // sizeof(taper_options); fields may be added at the end.
  const taper_kernels* kernels;  // Must outlive the model. Null: no operator is known.
  // The backends that run the program's delegates: `backend_count` pointers, none of them null. The
  // array need not outlive the call.
  const taper_backend* const* backends;
  size_t backend_count;
  const char* data_path;                    // A .ptd with weights, or null.
  uint64_t max_memory_bytes;                // Loading fails if one method needs more. 0: no limit.
  uint64_t max_instructions;                // Running fails after this many. 0: ten million.
  taper_parallel_for parallel_for;          // Null: kernels run on the calling thread.
  void* parallel_context;                   // Passed to parallel_for.
  uint32_t threads;                         // The number of threads; with 0 and 1 none are used.
  taper_take_memory take_memory;            // Null: memory comes from the heap.
  taper_give_memory_back give_memory_back;  // May be null.
  void* memory_context;                     // Passed to both.
  // Asked about the program and the .ptd. Null: every file may be used. With a check, files are
  // read into the heap instead of being mapped, so that nobody can change what was checked.
  taper_check_file check_file;
  void* check_context;  // Passed to check_file.
  // A .ptd that is already in memory, instead of `data_path`: aligned to 16, it must outlive the
  // model. Null: there is none.
  const void* data;
  size_t data_size;
  // 1: files are read into the heap instead of being mapped, for folders in which others change
  // files (a mapped file that shrinks stops the process).
  int32_t copy_files;
} taper_options;

// Signed files: `taper sign` puts an Ed25519 signature behind the last byte of a file. To accept
// signed files alone:
//
//   taper_public_key author;
//   taper_read_public_key(pem_text, &author, &error);
//   options.check_file = taper_signed_by;
//   options.check_context = &author;
typedef struct taper_public_key {
  uint8_t bytes[32];
} taper_public_key;
// Reads a key from the text of a PEM file. Returns TAPER_NOT_SUPPORTED, as does the next function,
// in a library that was built without libsodium.
TAPER_API taper_code taper_read_public_key(const char* pem, taper_public_key* key,
                                           taper_error* error);
// Returns TAPER_OK if `key`, a taper_public_key, has signed these bytes; else TAPER_ACCESS_FAILED.
TAPER_API taper_code taper_signed_by(void* key, const void* data, size_t size, taper_error* error);

// The version of the linked library, in the form of TAPER_VERSION and as text: "0.1.0".
TAPER_API uint32_t taper_version(void);
TAPER_API const char* taper_version_text(void);
// The name of a code, such as "InvalidArgument"; "Unknown" for a number that is not a code.
TAPER_API const char* taper_code_name(taper_code code);
// The name of a dtype, such as "float32", or "unknown"; the size of its elements in bytes, or 0.
TAPER_API const char* taper_dtype_name(int32_t dtype);
TAPER_API size_t taper_dtype_size(int32_t dtype);

// Open and verify a program, from a file or from memory, which must be aligned to 16 and outlive
// the model. `options` may be null. After an error *model is 0.
TAPER_API taper_code taper_open_path(const char* path, const taper_options* options,
                                     taper_model* model, taper_error* error);
TAPER_API taper_code taper_open_memory(const void* data, size_t size, const taper_options* options,
                                       taper_model* model, taper_error* error);
TAPER_API taper_code taper_close(taper_model model);

// The number of methods, and their names by index, which are valid until the model is closed.
TAPER_API taper_code taper_method_count(taper_model model, size_t* count, taper_error* error);
TAPER_API taper_code taper_method_name(taper_model model, size_t index, const char** name,
                                       taper_error* error);
// What the program's writer stored under a name, such as "taper.signature.forward": the sizes that
// the method's inputs may have, as text without a terminating zero. Returns TAPER_NOT_FOUND if
// there is nothing of that name. The bytes are valid until the model is closed.
TAPER_API taper_code taper_named_data(taper_model model, const char* name, const void** data,
                                      size_t* size, taper_error* error);
// Loads a method: lays it out and binds its kernels. The calls below do that if it is not done yet.
// The error names every kernel and backend that is missing.
TAPER_API taper_code taper_load_method(taper_model model, const char* method, taper_error* error);

// The numbers of inputs and outputs of a method, and the memory that it needs.
typedef struct taper_method_info {
  size_t inputs, outputs;
  uint64_t block_bytes;    // The size of the method block.
  uint64_t planned_bytes;  // The size of all planned buffers together.
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
  int32_t kind;  // TAPER_TENSOR, ...; the other fields are only for tensors.
  int32_t dtype;
  int32_t rank;
  int32_t dynamic;  // Nonzero if sizes may differ between calls; `sizes` are then upper bounds.
  int32_t sizes[TAPER_MAX_RANK];
  uint8_t dim_order[TAPER_MAX_RANK];  // Dims from the outermost in memory to the innermost.
  uint64_t bytes;
} taper_value_info;
TAPER_API taper_code taper_describe_input(taper_model model, const char* method, size_t index,
                                          taper_value_info* info, taper_error* error);
TAPER_API taper_code taper_describe_output(taper_model model, const char* method, size_t index,
                                           taper_value_info* info, taper_error* error);

// The value of an input or output. Elements are in the dim order that the method declares.
typedef struct taper_value {
  int32_t kind;
  int32_t dtype;
  int32_t rank;
  int32_t sizes[TAPER_MAX_RANK];
  const void* data;  // The elements of a tensor.
  size_t bytes;      // The size of `data`: the number of elements times their size.
  int64_t integer;   // The value of an int or bool.
  double number;     // The value of a double.
} taper_value;

// Copies an input tensor, or takes a number that the program lets vary; it is used by all runs
// until it is set again. Such a number that is never set is what it was at the sample inputs. Other
// inputs that are not tensors were fixed by export and cannot be set.
TAPER_API taper_code taper_set_input(taper_model model, const char* method, size_t index,
                                     const taper_value* value, taper_error* error);
// The same without a copy: the elements must stay where they are, and unchanged, until the input is
// set again or the model is closed. A method whose inputs are planned copies them when it runs; one
// that was exported with --io=application uses them in place, and then they must be aligned to
// their size and writable.
TAPER_API taper_code taper_bind_input(taper_model model, const char* method, size_t index,
                                      const taper_value* value, taper_error* error);
// Binds an output to memory of the caller, into which the runs that follow write it; it must be
// aligned to the elements and have room for the upper bounds of a dynamic output's sizes, and the
// call itself ends what taper_get_output() has returned before. With null the model provides the
// memory again. Returns TAPER_INVALID_STATE for an output that the program plans: only those of
// programs that were exported with --io=application can be bound.
TAPER_API taper_code taper_bind_output(taper_model model, const char* method, size_t index,
                                       void* data, size_t bytes, taper_error* error);
// Runs a method. Returns TAPER_INVALID_STATE if a tensor input was never set. The first run loads
// the method; later ones take nothing from the heap, but for what backends take where sizes change.
TAPER_API taper_code taper_run(taper_model model, const char* method, taper_error* error);
// Describes an output of the last run. Returns TAPER_INVALID_STATE if no run has succeeded.
TAPER_API taper_code taper_get_output(taper_model model, const char* method, size_t index,
                                      taper_value* value, taper_error* error);
// Recordings, for an application that wants to know where the time goes. One that calls none of
// these functions links nothing of them, and pays nothing.
//
//   taper_recording* recording = taper_start_recording(NULL, NULL);
//   taper_run_recorded(model, "forward", recording, &error);    // any number of times
//   taper_recorded_file(recording, &data, &size, &error);       // for ExecuTorch's Inspector
//   taper_end_recording(recording);
//
// Threads: a recording is used by one thread at a time, and records what that thread executes.
typedef struct taper_recording taper_recording;

// An instruction, or a step of a backend within one.
typedef struct taper_event {
  const char* name;  // "native_call_add.out", "DELEGATE_CALL", or what a step computes.
  int32_t chain, instruction;
  int32_t step;  // Of the instruction's delegate, from 0 on; -1: the instruction itself.
  uint64_t begin_ns, end_ns;  // Of a clock of which only differences mean anything.
  uint64_t temp_bytes;        // Scratch memory that a kernel took.
} taper_event;
// Called after a run, for everything that ran in it, in the order in which it began. `event` and
// the name are valid during the call. It may call functions of other models.
typedef void (*taper_on_event)(void* context, const taper_event* event);

// `on_event` may be null. Returns null if there is not enough memory. Takes two milliseconds, in
// which a cheap clock is measured.
TAPER_API taper_recording* taper_start_recording(taper_on_event on_event, void* context);
// Does what taper_run() does, and records it. Of each run the last 65,536 instructions are kept.
// An instruction costs tens of nanoseconds more.
TAPER_API taper_code taper_run_recorded(taper_model model, const char* method,
                                        taper_recording* recording, taper_error* error);
// All runs so far as an ETDump, which 'taper profile' reads too. It belongs to the recording, and
// is valid until the next call with it.
TAPER_API taper_code taper_recorded_file(taper_recording* recording, const void** data,
                                         size_t* size, taper_error* error);
TAPER_API void taper_end_recording(taper_recording* recording);
// The same as taper_find_backend(), but a backend that tells recordings of the steps within its
// delegates, which takes longer than without.
TAPER_API const taper_backend* taper_find_traced_backend(const char* name, taper_error* error);

// Sets the state of all loaded methods (the model's buffers) back to the saved values.
TAPER_API taper_code taper_reset_state(taper_model model, taper_error* error);

// NOLINTEND(readability-identifier-naming,modernize-use-using)

#ifdef __cplusplus
}
#endif
