"""Times `diff` of a file and its copy against cmp and h5diff, and writes the table.

    bench_diff.py HYPERSLAB DIRECTORY TABLE

Runs of all tools take turns; a figure is the median of 7 runs, measured for the whole process.
"""

import os
import shutil
import statistics
import sys

import h5py
import numpy as np

from measure import ROUNDS, machine, run, write

SHAPE = (240, 1024, 1024)
CHUNK = (8, 256, 256)


def make(path, **options):
    """1 GB of float32, smooth with noise in the last bits."""
    if os.path.exists(path):
        return
    random = np.random.default_rng(3)
    with h5py.File(path + ".partial", "w") as f:
        x = f.create_dataset("x", SHAPE, "f4", **options)
        y, z = np.mgrid[0:SHAPE[1], 0:SHAPE[2]].astype("f4")
        for at in range(0, SHAPE[0], CHUNK[0]):
            smooth = np.stack([np.sin(y / 50 + t / 9) + np.cos(z / 70) for t in range(at, at + CHUNK[0])])
            noise = random.integers(0, 64, smooth.shape).astype("f4") / 65536
            x[at:at + CHUNK[0]] = (smooth + noise).astype("f4")
    os.rename(path + ".partial", path)


def copy(path, other):
    """A copy of the file with the same bytes."""
    if not os.path.exists(other):
        shutil.copyfile(path, other + ".partial")
        os.rename(other + ".partial", other)


def rewritten(path, other):
    """A copy with the same elements except for the first one, in chunks of another shape."""
    if os.path.exists(other):
        return
    with h5py.File(path) as one, h5py.File(other + ".partial", "w") as two:
        x = two.create_dataset("x", SHAPE, "f4", chunks=(24, 128, 256), compression=1, shuffle=True)
        for at in range(0, SHAPE[0], 24):
            x[at:at + 24] = one["x"][at:at + 24]
        x[0, 0, 0] = -1
    os.rename(other + ".partial", other)


def main():
    hyperslab, data, table = sys.argv[1:]
    data = os.path.join(data, "diff")
    os.makedirs(data, exist_ok=True)

    def file(name):
        return os.path.join(data, name)

    make(file("deflate.h5"), chunks=CHUNK, compression=4, shuffle=True)
    make(file("contiguous.h5"))
    for name in ("deflate", "contiguous"):
        copy(file(f"{name}.h5"), file(f"{name}_copy.h5"))
    rewritten(file("deflate.h5"), file("rewritten.h5"))
    cases = [
        ("1 GB in deflated chunks and its copy", "deflate.h5", "deflate_copy.h5", ["cmp", "h5diff"], 3, 0),
        ("1 GB in one piece and its copy", "contiguous.h5", "contiguous_copy.h5", ["cmp", "h5diff"], 3, 0),
        ("1 GB in deflated chunks and in others, one element changed", "deflate.h5", "rewritten.h5", ["h5diff"], None, 1),
    ]
    lines = ["# Speed of diff",
             "",
             "Written by `cargo xtask bench diff`. Files are in the page cache; medians of "
             f"{ROUNDS} runs in turn, peak memory the highest of them; the spread is slowest ÷ fastest run.",
             "",
             machine(),
             "",
             "| what | tool | s | spread | peak MiB | hyperslab's time over its | wanted |",
             "|---|---|---|---|---|---|---|"]
    print("\n".join(lines[6:]), flush=True)
    short = False
    for what, one, two, others, most, code in cases:
        # h5diff takes minutes where cmp takes half a second, so it runs only once.
        commands = {"hyperslab": [hyperslab, "diff", file(one), file(two)]}
        commands |= {tool: [tool, *(["-q"] if tool == "h5diff" else []), file(one), file(two)] for tool in others}
        runs = {tool: [] for tool in commands}
        for at in range(ROUNDS):
            for tool, command in commands.items():
                if at == 0 or tool != "h5diff":
                    runs[tool].append(run(command, allowed=(code,)))
        medians = {tool: statistics.median(taken[0] for taken in of) for tool, of in runs.items()}
        for tool, of in runs.items():
            seconds = [taken[0] for taken in of]
            ratio = "" if tool == "hyperslab" else f"{medians['hyperslab'] / medians[tool]:.2f}"
            wanted = f"≤ {most}" if tool == "cmp" else ""
            short |= tool == "cmp" and medians["hyperslab"] > most * medians[tool]
            line = (f"| {what} | {tool} | {medians[tool]:.3f} | {max(seconds) / min(seconds):.2f} | "
                    f"{max(taken[1] for taken in of):.0f} | {ratio} | {wanted} |")
            print(line, flush=True)
            lines.append(line)
    write(table, lines)
    if short:
        print("a figure falls short of what is wanted")


if __name__ == "__main__":
    main()
