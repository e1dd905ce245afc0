"""Times `describe` and `ls -r` against ncdump and h5py, and writes the table.

    bench_describe.py HYPERSLAB DIRECTORY TABLE

Runs of all tools take turns; a figure is the median of 7. For hyperslab and ncdump the whole
process is measured; for h5py only the walk, not the start of Python.
"""

import os
import statistics
import subprocess
import sys

from measure import ROUNDS, machine, run, write


def walk(path):
    seconds, memory, last, size = run([sys.executable, os.path.join(os.path.dirname(__file__), "bench_visit.py"), path])
    return float(last[0].split()[0]), memory, last, size


def row(what, ours, theirs, wanted_ratio, wanted_memory):
    runs = [(ours(), theirs()) for _ in range(ROUNDS)]
    mine, other = zip(*runs)
    seconds = [statistics.median(r[0] for r in side) for side in (mine, other)]
    spread = [max(r[0] for r in side) / min(r[0] for r in side) for side in (mine, other)]
    memory = [max(r[1] for r in side) for side in (mine, other)]
    ratio = seconds[1] / seconds[0]
    good = ratio >= wanted_ratio and memory[0] <= wanted_memory
    return (f"| {what} | {seconds[0]:.4f} | {seconds[1]:.4f} | **{ratio:.1f}** | {wanted_ratio} | "
            f"{memory[0]:.1f} | {memory[1]:.1f} | {wanted_memory} | {spread[0]:.2f} / {spread[1]:.2f} |"), good


def main():
    hyperslab, data, table = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([sys.executable, os.path.join(here, "bench_files.py"), data], check=True)

    def file(name):
        return os.path.join(data, name)

    cases = [
        ("`describe` of 10,000 variables; `ncdump -h`", lambda: run([hyperslab, "describe", file("variables.nc")]),
         lambda: run(["ncdump", "-h", file("variables.nc")]), 5, 40),
    ]
    for name, order in [("in_order.h5", "laid out in order"), ("interleaved.h5", "interleaved over 200 groups")]:
        cases.append((f"`ls -r` of 200,000 objects, {order}; h5py `visititems` with shape and dtype",
                      lambda name=name: run([hyperslab, "ls", "-r", file(name)]),
                      lambda name=name: walk(file(name)), 50, 64))
    lines = ["# Speed of describe and ls",
             "",
             "Written by `cargo xtask bench describe`. Files are in the page cache; medians of "
             f"{ROUNDS} runs in turn, peak memory the highest of them; the last column is slowest ÷ fastest run of each.",
             "",
             machine(),
             "",
             "| what; beside | hyperslab s | other s | times as fast | wanted | hyperslab MiB | other MiB | allowed MiB | spread |",
             "|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(lines[6:]), flush=True)
    all_good = True
    for case in cases:
        line, good = row(*case)
        print(line, flush=True)
        lines.append(line)
        all_good &= good
    write(table, lines)
    if not all_good:
        print("a figure falls short of what is wanted")


if __name__ == "__main__":
    main()
