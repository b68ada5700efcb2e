// Start-up code of a Cortex-M4 board: the vector table; start() copies data, zeroes memory and
// enables the FPU before main(). The program exits through semihosting, which QEMU provides.

#include <stdint.h>

#include "test/firmware/semihosting.h"

extern "C" {
extern uint32_t data_start[], data_end[], data_load[], bss_start[], bss_end[], stack_top[];
extern void (*__init_array_start[])();
extern void (*__init_array_end[])();
int main();
void start();
void fault();
}

namespace {

using Handler = void (*)();

struct Vectors {
  uint32_t* stack;
  Handler handlers[15];
};

}  // namespace

extern "C" {

__attribute__((section(".vectors"), used))
const Vectors kVectors = {stack_top, {start, fault, fault, fault, fault, fault}};

void fault() { leave(2); }

// Exits with 3 if there is any static constructor.
void start() {
  for (uint32_t *to = data_start, *from = data_load; to != data_end;) *to++ = *from++;
  for (uint32_t* to = bss_start; to != bss_end;) *to++ = 0;
  *reinterpret_cast<volatile uint32_t*>(0xE000ED88) |= 0xFu << 20;  // Enables the FPU.
  __asm volatile("dsb\n isb");
  leave(&__init_array_start[0] == &__init_array_end[0] ? main() : 3);
}

}  // extern "C"
