// Start-up code of a RISC-V board: sets the stack, enables the FPU, installs a trap handler and
// zeroes memory before main(). The image is loaded where it runs, so data is not copied.

#include <stdint.h>

#include "test/firmware/semihosting.h"

extern "C" {
extern uint32_t bss_start[], bss_end[];
extern void (*__init_array_start[])();
extern void (*__init_array_end[])();
int main();
[[noreturn]] void begin();
[[noreturn]] void fault();
}

__asm(
    ".section .start, \"ax\"\n"
    ".global start\n"
    "start:\n"
    ".option push\n"
    ".option norelax\n"
    "la gp, __global_pointer$\n"
    ".option pop\n"
    "la sp, stack_top\n"
    "li t0, 0x2000\n"  // mstatus.FS
    "csrs mstatus, t0\n"
    "la t0, fault\n"
    "csrw mtvec, t0\n"
    "j begin\n"
    ".text\n");

extern "C" {

__attribute__((aligned(4))) void fault() { leave(2); }

// Exits with 3 if there is any static constructor.
void begin() {
  for (uint32_t* to = bss_start; to != bss_end;) *to++ = 0;
  leave(&__init_array_start[0] == &__init_array_end[0] ? main() : 3);
}

}  // extern "C"
