#!/usr/bin/env python3
"""Estimates the innermost loops of the fast kernels on several ARM cores, beside XNNPACK's.

    inner_loops.py --taper build/arm64-tests/bin/taper

The loops are found in the machine code. A loop ends with a jump back and holds no other loop; of a
function's loops, the one that has the most multiply-adds an instruction counts, since a large layer
spends its time there. llvm-mca tells how many cycles it takes when it repeats for ever.
"""

import argparse
import re
import subprocess

import instructions

# The cores, and the model of each in llvm-mca 19. That of the Cortex-A76 is the Neoverse N1's,
# which has the same core; the A14's is made from an older one's.
CORES = {"Cortex-A55": "cortex-a55", "Cortex-A76": "neoverse-n1", "Neoverse N2": "neoverse-n2",
         "Apple A14": "apple-a14"}  # fmt: skip
MATRIX_CORES = {"Neoverse N2"}  # Have products of matrices of bytes.

# What is computed; our function, as the source file and a part of its name (None: the delegate
# leaves this to XNNPACK); XNNPACK's for a Cortex-A76; and, if it has another, for a Cortex-A55.
LOOPS = [
    ("f32 product", ("gemm.cpp", "run_tile<8, 2>"),
     "f32_gemm_minmax_ukernel_6x8__asm_aarch64_neonfma_cortex_a75_prfm",
     "f32_gemm_minmax_ukernel_6x8__asm_aarch64_neonfma_cortex_a55"),
    ("f32 product of any rows", ("constant_product.cpp", "multiply_tiles<5, 4>"),
     "f32_gemm_minmax_ukernel_6x8__asm_aarch64_neonfma_cortex_a75_prfm",
     "f32_gemm_minmax_ukernel_6x8__asm_aarch64_neonfma_cortex_a55"),
    ("f32 convolution", ("conv_direct.cpp", "run_tile<8, 2>"),
     "f32_igemm_minmax_ukernel_6x8__asm_aarch64_neonfma_cortex_a75_prfm",
     "f32_igemm_minmax_ukernel_6x8__asm_aarch64_neonfma_cortex_a55"),
    ("f32 convolution of planes", ("planes.cpp", "run_tile<2, 10, 1>"),
     "f32_igemm_minmax_ukernel_6x8__asm_aarch64_neonfma_cortex_a75_prfm",
     "f32_igemm_minmax_ukernel_6x8__asm_aarch64_neonfma_cortex_a55"),
    ("f32 convolution of groups", ("grouped_rows.cpp", "run_rows<1, 2>"),
     "f32_igemm_minmax_ukernel_6x8__asm_aarch64_neonfma_cortex_a75_prfm",
     "f32_igemm_minmax_ukernel_6x8__asm_aarch64_neonfma_cortex_a55"),
    ("f32 depthwise, 5 x 5", ("depthwise.cpp", "run_strip<5, 1, 7>"),
     "f32_dwconv_minmax_ukernel_25p8c__neonfma_acc2", None),
    ("LSTM step", ("recurrent_step.cpp", "multiply<1, 1, 16>"),
     "f32_gemm_minmax_ukernel_1x8__asm_aarch64_neonfma_cortex_a75_prfm", None),
    ("GRU step", ("recurrent_step.cpp", "multiply<1, 1, 12>"),
     "f32_gemm_minmax_ukernel_1x8__asm_aarch64_neonfma_cortex_a75_prfm", None),
    ("f16 product", None, "f16_gemm_minmax_ukernel_6x16__asm_aarch64_neonfp16arith_cortex_a75",
     "f16_gemm_minmax_ukernel_6x16__asm_aarch64_neonfp16arith_cortex_a55"),
    ("f16 depthwise, 3 x 3", None, "f16_dwconv_minmax_ukernel_9p16c__neonfp16arith", None),
    ("int8 product, SDOT", None,
     "qs8_qc8w_gemm_minmax_fp32_ukernel_4x16c4__asm_aarch64_neondot_ld128",
     "qs8_qc8w_gemm_minmax_fp32_ukernel_4x16c4__asm_aarch64_neondot_cortex_a55"),
    ("int8 product, SMMLA", None, "qs8_qc8w_gemm_minmax_fp32_ukernel_4x16c8__neoni8mm", None),
    ("int8 depthwise, 3 x 3", ("byte_depthwise.cpp", "run_block<3, 1>"),
     "qs8_qc8w_dwconv_minmax_fp32_ukernel_9p16c__neonv8_mla8_ld64", None),
    ("int8 depthwise, 5 x 5", ("byte_depthwise.cpp", "run_block<5, 1>"),
     "qs8_qc8w_dwconv_minmax_fp32_ukernel_25p16c__neonv8_mla8_ld64", None),
]  # fmt: skip

# The multiply-adds of a lane of the result. A first product starts a sum, so it counts too.
PRODUCTS = [
    (r"[us]dot$", 4),
    (r"[us]+mmla$", 8),
    (r"fml[as]$|ml[as]$|[us]ml[as]l2?$|[us]mull2?$", 1),
]


def functions(program):
    """The functions of a program: (source file, name, address, size)."""
    said = subprocess.run(["aarch64-linux-gnu-readelf", "-sWC", program],
                          check=True, capture_output=True, text=True).stdout  # fmt: skip
    found, file = [], ""
    for line in said.splitlines():
        columns = line.split(None, 7)
        if len(columns) < 8:
            continue
        if columns[3] == "FILE":
            file = columns[7]
        elif columns[3] == "FUNC":
            found.append((file, columns[7], int(columns[1], 16), int(columns[2], 0)))
    return found


def code_of(program, address, size):
    """The instructions of a function: (address, word, text)."""
    said = subprocess.run(["llvm-objdump-19", "-d", "--mattr=+all", f"--start-address={address}",
                           f"--stop-address={address + size}", program],
                          check=True, capture_output=True, text=True).stdout  # fmt: skip
    lines = re.findall(r"^\s*(\w+): (\w{8})\s+(.*)$", said, re.MULTILINE)
    return [(int(place, 16), word, text) for place, word, text in lines]


def multiply_adds(text):
    vector = re.match(r"(\w+)\s+v\d+\.(\d+)[bhsd]\b", text)
    if vector is None:
        return 1 if re.match(r"fn?m(add|sub)\b", text) else 0
    for pattern, count in PRODUCTS:
        if re.match(pattern, vector[1]):
            return count * int(vector[2])
    return 0


def innermost_loops(code):
    index = {address: i for i, (address, _, _) in enumerate(code)}
    loops = []
    for i, (_, _, text) in enumerate(code):
        jump = re.match(r"(?:b|b\.\w+|cbn?z|tbn?z)\s.*\b0x(\w+) <", text)
        begin = index.get(int(jump[1], 16)) if jump else None
        if begin is not None and begin <= i:
            loops.append((begin, i + 1))
    return [code[a:b] for a, b in loops
            if not any((a, b) != (c, d) and a <= c and d <= b for c, d in loops)]  # fmt: skip


def total(loop):
    return sum(multiply_adds(text) for _, _, text in loop)


def densest_loop(program, known, file, name):
    """The loop of the functions in `file` (if not empty) whose name has `name` in it."""
    loops = []
    for source, function, address, size in known:
        if name in function and file in ("", source):
            loops += innermost_loops(code_of(program, address, size))
    best = max(loops, key=lambda loop: (total(loop) / len(loop), len(loop)), default=[])
    if total(best) == 0:
        raise SystemExit(f"inner_loops.py: {program} has no loop of multiply-adds in {file} {name}")
    return best


def cycles(loop, model):
    """Cycles of a hundred multiply-adds."""
    each = instructions.cycles_of([word for _, word, _ in loop], model)
    return f"{100 * each / total(loop):.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--taper", required=True, help="the command line, built for 64-bit ARM")
    program = parser.parse_args().taper
    known = functions(program)
    print("| inner loop | " + " | ".join(CORES) + " |\n|---|" + "---|" * len(CORES))
    for work, ours, others, small in LOOPS:
        own = densest_loop(program, known, *ours) if ours else None
        peer = densest_loop(program, known, "", f"xnn_{others}")
        peer_of = {"Cortex-A55": densest_loop(program, known, "", f"xnn_{small}")} if small else {}
        cells = []
        for core, model in CORES.items():
            if "SMMLA" in work and core not in MATRIX_CORES:
                cells.append("-")
                continue
            beside = cycles(peer_of.get(core, peer), model)
            cells.append(f"{cycles(own, model)} / {beside}" if own else f"- / {beside}")
        print(f"| {work} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
