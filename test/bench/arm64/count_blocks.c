// A plugin for user-mode qemu that counts how often each block of instructions is executed. When the
// program ends, it writes a line for each block: address, executions, and the instructions as words.
//
//   qemu-aarch64 -plugin libcount_blocks.so,out=FILE PROGRAM...
//
// The generated code adds 1 to a counter for each execution, without a call. A block that is
// translated twice gives two lines, and one that faults is counted whole. instructions.py reads the
// file. Debian's qemu does not ship the header of the interface (version 1), so what is used of it
// is declared here.

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
enum { kAddU64 = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
                                           void (*call)(uint64_t, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* tb, int op, void* pointer,
                                              uint64_t value);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*call)(uint64_t, void*), void* context);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb* tb);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* tb, size_t i);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* insn);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

struct block {
  struct block* next;
  uint64_t executions;
  uint64_t address;
  size_t count;
  uint32_t words[];
};

// qemu translates one block at a time.
static struct block* all_blocks;
static const char* out_path;

static void on_translation(uint64_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(tb);
  struct block* block = calloc(1, sizeof(struct block) + count * sizeof(uint32_t));
  if (block == NULL) abort();
  block->address = qemu_plugin_tb_vaddr(tb);
  block->count = count;
  for (size_t i = 0; i < count; i++) {
    memcpy(&block->words[i], qemu_plugin_insn_data(qemu_plugin_tb_get_insn(tb, i)),
           sizeof(uint32_t));
  }
  block->next = all_blocks;
  all_blocks = block;
  qemu_plugin_register_vcpu_tb_exec_inline(tb, kAddU64, &block->executions, 1);
}

static void on_exit_of_program(uint64_t id, void* context) {
  (void)id;
  (void)context;
  FILE* out = fopen(out_path, "w");
  if (out == NULL) {
    perror(out_path);
    return;
  }
  for (const struct block* block = all_blocks; block != NULL; block = block->next) {
    if (block->executions == 0) continue;
    fprintf(out, "%" PRIx64 " %" PRIu64, block->address, block->executions);
    for (size_t i = 0; i < block->count; i++) fprintf(out, " %08" PRIx32, block->words[i]);
    fputc('\n', out);
  }
  fclose(out);
}

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id,
                                                               const struct qemu_info* info,
                                                               int argc, char** argv) {
  (void)info;
  if (argc != 1 || strncmp(argv[0], "out=", 4) != 0) {
    fprintf(stderr, "count_blocks: expected out=FILE\n");
    return 1;
  }
  out_path = strdup(argv[0] + 4);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
  return 0;
}
