"""Times writing, consolidation and vacuum of TileDB arrays against tiledb-py, and writes the table.

    bench_tiledb_written.py HYPERSLAB DIRECTORY TABLE

Both sides are processes that read the same source from the page cache and write a new array with two threads; runs take turns.
tiledb-py reads HDF5 with h5py, or the sparse array that is the source. Both consolidate and vacuum copies of the same arrays.
"""

import os
import shutil
import statistics
import subprocess
import sys

import h5py
import numpy as np
import tiledb

from bench_tiledb import SIDE, THREADS, TILE, make_sparse
from measure import ROUNDS, machine, run_with_cpu, write

FILTERS = {
    "none": ("none", []),
    "zstd": ("zstd=3", [tiledb.ZstdFilter(3)]),
    "byteshuffle and zstd": ("shuffle,zstd=3", [tiledb.ByteShuffleFilter(), tiledb.ZstdFilter(3)]),
}
FEW = {"sm.compute_concurrency_level": THREADS, "sm.io_concurrency_level": THREADS}


def wave(y):
    x, random = np.arange(SIDE), np.random.default_rng(y)
    of = np.sin(x / 500) * 20 + np.arange(y, y + TILE)[:, None] / 100
    return np.round(of + random.normal(0, 0.5, of.shape), 2).astype("f4")


def make_plain(path):
    with h5py.File(path, "w") as file:
        data = file.create_dataset("a", (SIDE, SIDE), "f4")
        for y in range(0, SIDE, TILE):
            data[y : y + TILE] = wave(y)


def make_deflated(path):
    with h5py.File(path, "w") as file:
        data = file.create_dataset("a", (SIDE, SIDE), "f4", chunks=(TILE, TILE), compression="gzip", compression_opts=1, shuffle=True)
        for y in range(0, SIDE, TILE):
            data[y : y + TILE] = wave(y)


def make_dense_fragments(path):
    schema = tiledb.ArraySchema(tiledb.Domain(tiledb.Dim("x", domain=(0, 10_000_000 - 1), tile=10_000, dtype="i4")), [tiledb.Attr("a", dtype="f4")])
    tiledb.Array.create(path, schema)
    with tiledb.open(path, "w") as array:
        for at in range(0, 10_000_000, 10_000):
            array[at : at + 10_000] = np.arange(10_000, dtype="f4") + at


def make_sparse_fragments(path):
    x = tiledb.Dim("x", domain=(0, 10**9), tile=10**6, dtype="i8")
    tiledb.Array.create(path, tiledb.ArraySchema(tiledb.Domain(x), [tiledb.Attr("a", dtype="f8")], sparse=True, capacity=10_000))
    random = np.random.default_rng(1)
    for _ in range(20):
        with tiledb.open(path, "w") as array:
            array[np.unique(random.integers(0, 10**9, 100_000))[:99_000]] = np.arange(99_000, dtype="f8")


def side(job, *words):
    """tiledb-py's side, in a separate process."""
    if job == "dense":
        source, target, filters = words
        with h5py.File(source) as file:
            data = file["a"][()]
        dims = [tiledb.Dim(name, domain=(0, SIDE - 1), tile=TILE, dtype="u8") for name in "yx"]
        attribute = tiledb.Attr("a", dtype="f4", filters=tiledb.FilterList(FILTERS[filters][1]))
        tiledb.Array.create(target, tiledb.ArraySchema(tiledb.Domain(*dims), [attribute]))
        with tiledb.open(target, "w") as array:
            array[:] = data
    elif job == "sparse":
        source, target = words
        with tiledb.open(source) as array:
            found = array[:]
            tiledb.Array.create(target, array.schema)
        with tiledb.open(target, "w") as array:
            array[found["x"]] = {"a": found["a"], "b": found["b"]}
    elif job == "consolidate":
        tiledb.consolidate(words[0])
    elif job == "vacuum":
        tiledb.vacuum(words[0])


def size(path):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(path) for name in names)


def main():
    if sys.argv[1] == "--side":
        with tiledb.scope_ctx(FEW):
            side(*sys.argv[2:])
        return
    hyperslab, data, table = sys.argv[1:]
    data = os.path.join(data, "tiledb-written")
    os.makedirs(data, exist_ok=True)
    sources = {"plain.h5": make_plain, "deflated.h5": make_deflated, "sparse": make_sparse, "fragments": make_dense_fragments,
               "sparse-fragments": make_sparse_fragments}
    at = {name: os.path.join(data, name) for name in sources}
    for name, make in sources.items():
        if not os.path.exists(at[name]):
            make(at[name] + ".part")
            os.rename(at[name] + ".part", at[name])
    ours, theirs = os.path.join(data, "ours.tdb"), os.path.join(data, "theirs.tdb")
    python = lambda *words: [sys.executable, os.path.abspath(__file__), "--side", *words]
    convert = lambda source, *words: [hyperslab, "convert", "-q", "-j", str(THREADS), "--memory", "300MB", source, ours, *words]
    lines = ["# Speed of writing TileDB", "", f"Written by `cargo xtask bench tiledb-written`. Both sides are processes that read the same source and write with {THREADS} "
             f"threads; medians of {ROUNDS} runs in turn, files in the page cache. Wanted: our wall and CPU seconds as parts of those of tiledb-py {tiledb.__version__}.",
             "", machine(), "", "| written | s | CPU s | tiledb-py s | CPU s | wanted | found | bytes, of theirs | MB |", "|---|---|---|---|---|---|---|---|---|"]

    def row(what, commands, wanted, prepare):
        taken, bytes_ = [], 0.0
        for _ in range(ROUNDS):
            pair = []
            for command, path in zip(commands, (ours, theirs)):
                shutil.rmtree(path, ignore_errors=True)
                prepare(path)
                pair.append(run_with_cpu(command))
            taken.append(pair)
            bytes_ = size(ours) / size(theirs)
        median = lambda which, key: statistics.median(pair[which][key] for pair in taken)
        figures = [median(which, key) for which in (0, 1) for key in (0, 1)]
        peak = max(pair[0][2] for pair in taken) * 1.048576
        found = f"{figures[0] / figures[2]:.2f}, CPU {figures[1] / figures[3]:.2f}"
        lines.append(f"| {what} | " + " | ".join(f"{figure:.3f}" for figure in figures) + f" | {wanted} | {found} | {bytes_:.3f} | {peak:.0f} |")
        print(lines[-1], flush=True)

    nothing = lambda path: None
    wanted = {"none": "≤ 0.3", "zstd": "≤ 0.5, CPU 0.75", "byteshuffle and zstd": "≤ 0.5, CPU 0.75"}
    for name, (words, _) in FILTERS.items():
        commands = [convert(at["plain.h5"], "--chunk", f"{TILE},{TILE}", "-f", words), python("dense", at["plain.h5"], theirs, name)]
        row(f"1 GB of float32, {name}", commands, wanted[name], nothing)
    row("20 M cells", [convert(at["sparse"]), python("sparse", at["sparse"], theirs)], "≤ 0.15", nothing)
    for name, what in (("fragments", "1,000 dense fragments consolidated"), ("sparse-fragments", "20 sparse fragments of 99,000 cells consolidated")):
        copy = lambda path, name=name: shutil.copytree(at[name], path)
        row(what, [[hyperslab, "edit", "-q", ours, "--consolidate"], python("consolidate", theirs)], "≤ 0.3", copy)

    def consolidated(path):
        shutil.copytree(at["fragments"], path)
        tiledb.consolidate(path)

    row("1,000 fragments vacuumed", [[hyperslab, "edit", "-q", ours, "--vacuum"], python("vacuum", theirs)], "≤ 0.5", consolidated)
    shutil.rmtree(ours, ignore_errors=True)
    shutil.rmtree(theirs, ignore_errors=True)
    taken = []
    for _ in range(ROUNDS):
        shutil.rmtree(ours, ignore_errors=True)
        passed = run_with_cpu(convert(at["deflated.h5"]))
        taken.append((passed, run_with_cpu([hyperslab, "show", "-q", "--as", "raw", "-o", os.devnull, at["deflated.h5"] + ":/a"])))
    passed, decoded = (statistics.median(pair[which][0] for pair in taken) for which in (0, 1))
    peak = max(pair[0][2] for pair in taken) * 1.048576
    lines.append(f"| 1 GB of HDF5, shuffled and deflated, beside decoding it alone | {passed:.3f} | | {decoded:.3f} | | ≤ 1.3, 300 MB | {passed / decoded:.2f} | | {peak:.0f} |")
    print(lines[-1], flush=True)
    write(table, lines)


if __name__ == "__main__":
    main()
