// The C API of Taper's compiler, for C and every language that can call C: exported PyTorch
// programs in, a .pte out, in memory. One C99 header with a stable ABI: functions are added, never
// changed. libtaper_compiler.so exports it.
//
//   taper_source source = {"forward", pt2, pt2_size};
//   const char* words[] = {"--backend", "xnnpack", "--bound", "s77=128"};
//   taper_compilation* made;
//   if (taper_compile(words, 4, &source, 1, &made, &error) != TAPER_OK) puts(error.message);
//   const void* pte = taper_compiled_program(made, &pte_size);
//   puts(taper_compilation_report(made));    // JSON
//   taper_free_compilation(made);
//
// Errors: taper_compile() returns a code and, if `error` is not null, describes there what is
// wrong; the report has every problem. Nothing here crashes, throws or prints, whatever the bytes
// and words are. A pointer that is not null must point to what the declaration says.
//
// Threads: any number of compilations may run at once; they share nothing. The result of one may be
// read by several threads.

#pragma once

#include <stddef.h>

#include "taper/taper.h"

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(readability-identifier-naming,modernize-use-using): C's names.

// What torch.export.save wrote, in memory, and the name of the method that it becomes.
typedef struct taper_source {
  const char* method;  // "forward"
  const void* data;
  size_t size;
} taper_source;

// What became of the sources: a program or problems, and a report in any case.
typedef struct taper_compilation taper_compilation;

// Compiles all sources into one program. `words` are what could follow `taper export` on a command
// line, one word each, and are read by the same code: the options under "Program" and "Model" of
// `taper export --help`, and paths of further .pt2 files. Besides, --external-weights (without a
// name) leaves the weights to taper_compiled_weights(). An array may be null if its count is 0.
//
// *result must be freed, after an error too. Returns
//   TAPER_INVALID_ARGUMENT   a null pointer, a word that is not understood, no program
//   TAPER_INVALID_PROGRAM    a source is damaged or cannot be read, there are problems that prevent
//                            compiling it, or it needs more memory than --memory-budget allows
//   TAPER_ACCESS_FAILED      a file of --ops cannot be read
//   TAPER_OUT_OF_MEMORY      there is not enough memory; *result may then be null
TAPER_API taper_code taper_compile(const char* const* words, size_t word_count,
                                   const taper_source* sources, size_t source_count,
                                   taper_compilation** result, taper_error* error);

// The bytes of the .pte, and of the .ptd with --external-weights, aligned to 16. They are valid
// until the result is freed. Null, with *size 0, if there are none. `size` may be null.
TAPER_API const void* taper_compiled_program(const taper_compilation* result, size_t* size);
TAPER_API const void* taper_compiled_weights(const taper_compilation* result, size_t* size);

// What happened, as JSON, ended by a 0 and valid until the result is freed:
//   ok        whether there is a program
//   error     the first problem in one text; empty if there is none
//   problems  each with id, stage, node, message, source, expected, actual and remedy
//   warnings  texts
//   methods   each with name, instructions, memory (planned_bytes, lower_bound_bytes,
//             unshared_bytes), nodes (name, op, backend, why) and text, which is what `taper export
//             --report` prints
// Keys may be added. "{}" for a null pointer.
TAPER_API const char* taper_compilation_report(const taper_compilation* result);

// Null is allowed.
TAPER_API void taper_free_compilation(taper_compilation* result);

// NOLINTEND(readability-identifier-naming,modernize-use-using)

#ifdef __cplusplus
}
#endif
