"""Times and measures files of very many objects, and writes the table.

    bench_many.py HYPERSLAB DIRECTORY TABLE

A figure is the median of 7 runs that take turns, in CPU seconds of the whole process.
"""

import os
import shutil
import statistics
import sys

import h5py
import numpy as np

from measure import ROUNDS, machine, run_with_cpu, write

# The goal: the maximum memory in MiB.
DOCUMENT_MEMORY = 200
FILE_MEMORY = 400
# The maximum time for the file of a document, as a multiple of the time for checking the document alone.
CREATED = 1.3


def file(path, groups):
    """A file of groups of a thousand datasets of ten numbers each, using calls that are faster than `create_dataset`."""
    if os.path.exists(path):
        return
    space = h5py.h5s.create_simple((10,))
    numbers = np.arange(10.0)
    with h5py.File(path + ".part", "w") as f:
        for g in range(groups):
            group = f.create_group(f"group{g:04}").id
            for d in range(1000):
                dataset = h5py.h5d.create(group, f"dataset{d:05}".encode(), h5py.h5t.IEEE_F64LE, space)
                dataset.write(space, space, numbers)
    os.rename(path + ".part", path)


def document(hyperslab, source, path, *options):
    """A document with the content of a file, which does not state where it comes from."""
    run_with_cpu([hyperslab, "describe", source, "-o", path, "--overwrite", "-q", *options])
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write("# NDL 0.6.1\n" + text.partition("\n")[2])


def main():
    hyperslab, data, table = sys.argv[1:]
    data = os.path.join(data, "many")
    os.makedirs(data, exist_ok=True)
    at = lambda name: os.path.join(data, name)
    file(at("200000.h5"), 200)
    file(at("1000000.h5"), 1000)
    document(hyperslab, at("200000.h5"), at("shapes.yaml"))
    document(hyperslab, at("200000.h5"), at("values.yaml"), "--values")
    target = at("target.zarr")
    rows = [
        ("200,000 datasets", ["ls", "-r", at("200000.h5")], None),
        ("200,000 datasets", ["describe", at("200000.h5")], None),
        ("200,000 datasets", ["convert", "-n", at("200000.h5"), target], None),
        ("200,000 datasets", ["h5repack", at("200000.h5"), at("repacked.h5")], None),
        ("1,000,000 datasets in 1,000 groups", ["ls", "-r", at("1000000.h5")], FILE_MEMORY),
        ("1,000,000 datasets in 1,000 groups", ["describe", at("1000000.h5")], FILE_MEMORY),
        ("a document of 200,000 shapes", ["create", "-n", at("shapes.yaml")], DOCUMENT_MEMORY),
        ("a document of 200,000 arrays with values", ["create", "-n", at("values.yaml")], None),
        ("a document of 200,000 arrays with values", ["create", "-n", at("values.yaml"), target], None),
    ]
    # Creating the file of a document, and only planning it.
    for of, text in (("a document of 200,000 shapes", "shapes.yaml"), ("a document of 200,000 arrays with values", "values.yaml")):
        planned = DOCUMENT_MEMORY if text == "shapes.yaml" else None
        rows.append((of, ["create", "-n", "--overwrite", at(text), at("created.h5")], planned))
        rows.append((of, ["create", "-q", "--overwrite", at(text), at("created.h5")], None))
    if not shutil.which("h5repack"):
        rows = [row for row in rows if row[1][0] != "h5repack"]
    taken = [[] for _ in rows]
    for _ in range(ROUNDS):
        for (_, command, _), runs in zip(rows, taken):
            program = command if command[0] == "h5repack" else [hyperslab, *command]
            runs.append(run_with_cpu(program))
    lines = ["# Files of very many objects", "",
             "Written by `cargo xtask bench many`. Each dataset has 10 float64. Medians of "
             f"{ROUNDS} runs in turn, peak memory the highest of them;\nthe spread is slowest ÷ fastest run.", "",
             machine(), "",
             "| of | command | CPU s | spread | peak MiB | allowed |", "|---|---|---|---|---|---|"]
    short = False
    for (of, command, allowed), runs in zip(rows, taken):
        seconds = [run[1] for run in runs]
        peak = max(run[2] for run in runs)
        short |= allowed is not None and peak > allowed
        shown = " ".join(os.path.basename(word) for word in command)
        if "--overwrite" in command and "-n" not in command:
            planned = statistics.median(run[1] for run in taken[rows.index((of, command, allowed)) - 1])
            times = statistics.median(seconds) / planned
            allowed = f"{CREATED} × planning: {times:.2f}"
            short |= times > CREATED
        lines.append(f"| {of} | `{shown}` | {statistics.median(seconds):.2f} | {max(seconds) / min(seconds):.2f} | "
                     f"{peak:.0f} | {allowed or ''} |")
    print("\n".join(lines[6:]))
    write(table, lines)
    if short:
        print("a figure falls short of what is wanted")


if __name__ == "__main__":
    main()
