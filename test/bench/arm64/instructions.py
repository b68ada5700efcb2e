#!/usr/bin/env python3
"""Counts the instructions of one inference on 64-bit ARM, and estimates its cycles, without ARM hardware.

    instructions.py --taper build/arm64-tests/bin/taper --root build/arm64-tests/cortex-a76 \\
        --cpu cortex-a76 MODEL.pte...

A program runs under user-mode qemu with a plugin that counts the executions of every block of
instructions (count_blocks.c). Two runs with different numbers of inferences are subtracted, so
loading and packing do not count. The cycles are those of llvm-mca for the hottest blocks, times
their executions: it knows the width of the processor and the latencies of its instructions, and
takes every load as a hit and every branch as foreseen. peers.json holds figures of other runtimes.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
ATTRIBUTES = "-mattr=+v8.6a,+fp16fml"
PAGE = 4096  # Bytes, where qemu ends a block.
COVERED = 0.985  # The share of the instructions whose cycles are estimated and added.
FEW, MANY = 2, 12  # Inferences of the two runs. The first differs from the following ones.
SMALL = 10e6  # Instructions of an inference below which the second run has MANY_SMALL.
MANY_SMALL = 200

# The first pattern that matches a mnemonic and its operands gives the class.
CLASSES = [
    ("multiply", r"(fml[as]|bfmmla|[us]+mmla|[us]+dot|bfdot)\b"),
    ("load", r"ld\w*\b"),
    ("store", r"st\w*\b"),
    ("branch", r"(b|bl|br|blr|ret|cbn?z|tbn?z|b\.\w+)\b"),
]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+", help=".pte files")
    parser.add_argument("--taper", required=True, help="the command line, built for 64-bit ARM")
    parser.add_argument("--root", default="/usr/aarch64-linux-gnu", help="where qemu finds libraries")
    parser.add_argument("--cpu", default="cortex-a76", help="the processor that qemu imitates")
    parser.add_argument("--model", default="neoverse-n1", help="the processor of the estimate")
    parser.add_argument("--hot", type=int, default=0, help="also prints that many of the hottest blocks")
    return parser.parse_args()


def build_plugin(folder):
    plugin = folder / "libcount_blocks.so"
    subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-o", plugin, HERE / "count_blocks.c"], check=True)
    return plugin


def executions(options, plugin, command, folder):
    """The executions of each block, by its address and instructions."""
    out = folder / "blocks"
    said = subprocess.run(
        ["qemu-aarch64", "-L", options.root, "-cpu", options.cpu, "-plugin", f"{plugin},out={out}",
         *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # fmt: skip
    if said.returncode != 0:
        raise RuntimeError(([""] + said.stderr.strip().splitlines())[-1] or "it ended with an error")
    blocks = {}
    for line in out.read_text().splitlines():
        address, times, words = line.split(" ", 2)
        key = int(address, 16), tuple(words.split())
        blocks[key] = blocks.get(key, 0) + int(times)
    return blocks


def per_inference(options, plugin, command):
    """The executions of blocks in an inference; command(N) runs N of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        few = executions(options, plugin, command(FEW), folder)
        counts = difference(few, executions(options, plugin, command(MANY), folder), MANY)
        if sum(times * len(words) for (_, words), times in counts.items()) < SMALL:
            many = executions(options, plugin, command(MANY_SMALL), folder)
            counts = difference(few, many, MANY_SMALL)
    return counts


def difference(few, many, inferences):
    """The executions of blocks in one of the inferences beyond FEW."""
    counts = {}
    for key, times in many.items():
        more = (times - few.get(key, 0)) / (inferences - FEW)
        if more > 0:
            counts[key] = more
    return counts


def joined(counts):
    """Blocks that follow each other and run equally often, as one: qemu cuts blocks at page ends and
    at targets of jumps. Returns pairs of executions and instructions, the hottest first. At a page
    end it is the hottest block that goes on: others lead into its loop."""
    by_address, hottest_until = {}, {}
    for (address, words), times in counts.items():
        if times > by_address.get(address, (0,))[0]:
            by_address[address] = [times, list(words)]
    for address, (times, words) in by_address.items():
        end = address + 4 * len(words)
        hottest_until[end] = max(times, hottest_until.get(end, 0))
    for address in sorted(by_address):
        while address in by_address:
            times, words = by_address[address]
            following = address + 4 * len(words)
            if following not in by_address or len(words) > 2000:
                break
            goes_on = following % PAGE == 0 and times == hottest_until[following]
            if not goes_on and abs(by_address[following][0] - times) > 0.02 * times:
                break
            words += by_address.pop(following)[1]
    return sorted(by_address.values(), key=lambda block: -block[0] * len(block[1]))


def disassembled(words):
    """The assembly of each word; '.inst' for those that are unknown."""
    data = "\n".join(" ".join("0x" + word[i : i + 2] for i in (6, 4, 2, 0)) for word in words)
    said = subprocess.run(["llvm-mc-19", "--disassemble", "--triple=aarch64", ATTRIBUTES],
                          input=data, capture_output=True, text=True).stdout  # fmt: skip
    return [line.strip() for line in said.splitlines() if line.strip() and ".text" not in line]


def classify(counts):
    """Millions of instructions by class."""
    distinct = sorted({word for _, words in counts for word in words})
    class_of = {}
    lines = disassembled(distinct)
    if len(lines) == len(distinct):
        for word, line in zip(distinct, lines):
            found = [name for name, pattern in CLASSES if re.match(pattern, line)]
            class_of[word] = found[0] if found else "other"
    else:  # Some word is no instruction, for which the assembler prints nothing.
        for word in distinct:
            line = (disassembled([word]) or [""])[0]
            found = [name for name, pattern in CLASSES if re.match(pattern, line)]
            class_of[word] = found[0] if found else "other"
    totals = dict.fromkeys(["total", "other"] + [name for name, _ in CLASSES], 0.0)
    for (_, words), times in counts.items():
        totals["total"] += times * len(words) / 1e6
        for word in words:
            totals[class_of[word]] += times / 1e6
    return totals


def cycles_of(words, model):
    """The cycles of a block when it repeats, or none if it cannot be estimated."""
    text = "\n".join(disassembled(words))
    said = subprocess.run(["llvm-mca-19", "-mtriple=aarch64", f"-mcpu={model}", "-iterations=50",
                           ATTRIBUTES], input=text, capture_output=True, text=True)  # fmt: skip
    found = re.search(r"Total Cycles:\s+(\d+)", said.stdout)
    return int(found[1]) / 50 if found else None


def estimate(counts, options):
    """Millions of cycles."""
    total = sum(times * len(words) for (_, words), times in counts.items())
    covered = cycles = 0.0
    for place, (times, words) in enumerate(joined(counts)):
        if covered > COVERED * total:
            break
        each = cycles_of(words, options.model)
        if each is None:
            continue
        covered += times * len(words)
        cycles += times * each
        if place < options.hot:
            print(f"  {100 * times * len(words) / total:5.1f} % of instructions, "
                  f"{times * each / 1e6:7.2f} Mcycles, {len(words)} instructions in "
                  f"{each:.1f} cycles: {'; '.join(disassembled(words)[:6])}".replace("\t", " "))
    return cycles / 1e6


def main():
    options = arguments()
    peers = json.loads((HERE / "peers.json").read_text())["models"]
    ratios = []
    print("| model | millions of instructions | multiply | load | store | branch | "
          "estimated megacycles | others: instructions (megacycles) |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        plugin = build_plugin(pathlib.Path(folder))
        for program in options.models:
            name = pathlib.Path(program).stem
            counts = per_inference(options, plugin, lambda inferences: [
                options.taper, "run", program, "-t", "1", "-n", str(inferences)])  # fmt: skip
            totals, cycles = classify(counts), estimate(counts, options)
            figures = peers.get(name, {})
            others = "; ".join(f"{peer} {count} ({each})" for peer, (count, each) in figures.items())
            if figures:
                ratios.append(cycles / min(each for _, each in figures.values()))
            shown = [totals[k] for k in ("total", "multiply", "load", "store", "branch")]
            print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in shown) +
                  f" | {cycles:.3g} | {others} |", flush=True)
    if ratios:
        print(f"\nEstimated cycles, ours over the least of the others', in {len(ratios)} rows: "
              f"{statistics.geometric_mean(ratios):.2f} in the geometric mean, from "
              f"{min(ratios):.2f} to {max(ratios):.2f}.")


if __name__ == "__main__":
    main()
