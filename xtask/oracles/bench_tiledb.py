"""Times reading TileDB arrays against tiledb-py, and writes the table.

    bench_tiledb.py HYPERSLAB DIRECTORY TABLE

Both sides open the array and read into new memory, with two threads, in processes that repeat the job; runs take turns. For
`describe` the whole process is measured. The program of our side is `benches/read`.
"""

import os
import statistics
import subprocess
import sys

import numpy as np
import tiledb

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "benches", "side", "python"))

from bench_side import Work, hash_of, serve
from measure import ROUNDS, machine, run_with_cpu, write

SIDE, TILE, CELLS, FRAGMENTS = 16384, 1024, 20_000_000, 1000
THREADS = 2
FILTERS = {"none": [], "zstd": [tiledb.ZstdFilter(3)], "byteshuffle-zstd": [tiledb.ByteShuffleFilter(), tiledb.ZstdFilter(3)]}


def make_dense(path, filters):
    dims = [tiledb.Dim(name, domain=(0, SIDE - 1), tile=TILE, dtype="i4") for name in "yx"]
    attribute = tiledb.Attr("a", dtype="f4", filters=tiledb.FilterList(filters))
    tiledb.Array.create(path, tiledb.ArraySchema(tiledb.Domain(*dims), [attribute]))
    x, random = np.arange(SIDE), np.random.default_rng(1)
    with tiledb.open(path, "w") as array:
        for y in range(0, SIDE, TILE):
            wave = np.sin(x / 500) * 20 + np.arange(y, y + TILE)[:, None] / 100
            array[y : y + TILE, :] = np.round(wave + random.normal(0, 0.5, wave.shape), 2).astype("f4")


def make_sparse(path):
    x = tiledb.Dim("x", domain=(0, 10**9), tile=10**6, dtype="i8")
    attributes = [tiledb.Attr("a", dtype="f8", filters=[tiledb.ZstdFilter(3)]), tiledb.Attr("b", dtype="i4", filters=[tiledb.ZstdFilter(3)])]
    tiledb.Array.create(path, tiledb.ArraySchema(tiledb.Domain(x), attributes, sparse=True, capacity=10_000))
    at = np.arange(CELLS, dtype="i8")
    with tiledb.open(path, "w") as array:
        array[at * 50] = {"a": np.round(np.sin(at / 1000), 3), "b": (at % 1000).astype("i4")}


def make_fragments(path):
    schema = tiledb.ArraySchema(tiledb.Domain(tiledb.Dim("x", domain=(0, FRAGMENTS * 100 - 1), tile=100, dtype="i4")), [tiledb.Attr("a", dtype="f4")])
    tiledb.Array.create(path, schema)
    with tiledb.open(path, "w") as array:
        for at in range(0, FRAGMENTS * 100, 100):
            array[at : at + 100] = np.arange(100, dtype="f4") + at


def make_cells(path):
    """100 M cells in fragments that overlap everywhere."""
    x = tiledb.Dim("x", domain=(0, 10**9), tile=10**6, dtype="i8")
    attribute = tiledb.Attr("a", dtype="i4", filters=[tiledb.ZstdFilter(3)])
    tiledb.Array.create(path, tiledb.ArraySchema(tiledb.Domain(x), [attribute], sparse=True, capacity=100_000))
    at = np.arange(CELLS, dtype="i8")
    for fragment in range(5):
        with tiledb.open(path, "w") as array:
            array[at * 50 + fragment * 7] = (at % 1000).astype("i4")


class Reading(Work):
    """tiledb-py's side."""

    def __init__(self, name, job):
        self.name, self.job, self.out = name, job, None
        self.ctx = tiledb.Ctx({"sm.compute_concurrency_level": THREADS, "sm.io_concurrency_level": THREADS})

    def output_bytes(self):
        out = self.out.values() if isinstance(self.out, dict) else [] if self.out is None else [self.out]
        return sum(each.nbytes for each in out)

    def run(self):
        with tiledb.open(self.job["file"], ctx=self.ctx) as array:
            if self.name == "part":
                starts, counts = ([int(each) for each in self.job[key].split(",")] for key in ("start", "count"))
                self.out = array[tuple(slice(start, start + count) for start, count in zip(starts, counts))]
            else:
                low, high = map(int, self.job["bounds"].split(",")) if "bounds" in self.job else (0, 10**9)
                self.out = array.query(order="U").multi_index[low:high]

    def total(self):
        if self.name == "cells":
            return str(self.output_bytes())
        return hash_of(self.out["a"] if isinstance(self.out, dict) else self.out)

    def release(self):
        self.out = None


def started(command):
    side = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    answer = side.stdout.readline().strip()
    if answer != "ready":
        sys.exit(f"{command}: {answer}")
    return side


def asked(side, what):
    side.stdin.write(f"{what}\n")
    side.stdin.flush()
    return dict(word.split("=", 1) for word in side.stdout.readline().split())


def row(program, name, keys):
    """Medians of wall and CPU seconds of both sides, and the peak memory of ours in addition to its output."""
    keys = [f"{key}={value}" for key, value in keys.items()] + [f"threads={THREADS}"]
    sides = [started([program, "ours", name, *keys]), started([sys.executable, os.path.abspath(__file__), "--side", "tiledb", name, *keys])]
    sums = [asked(side, "check")["sum"] for side in sides]
    if sums[0] != sums[1]:
        sys.exit(f"{name} {keys}: the sides differ: {sums}")
    taken = [[asked(side, "run") for side in sides] for _ in range(ROUNDS)]
    for side in sides:
        side.stdin.close()
        side.wait()
    median = lambda at, key: statistics.median(float(of[at][key]) for of in taken)
    beside = max(int(of[0]["peak"]) - int(of[0]["output"]) for of in taken) / 1e6
    return [median(at, key) for at in (0, 1) for key in ("wall", "cpu")], beside


def main():
    if sys.argv[1] == "--side":
        sys.argv = sys.argv[1:]
        serve(lambda _, name, job: Reading(name, job))
        return
    hyperslab, data, table = sys.argv[1:]
    data = os.path.join(data, "tiledb")
    os.makedirs(data, exist_ok=True)
    made = {f"dense-{name}": (lambda path, of=of: make_dense(path, of)) for name, of in FILTERS.items()}
    for name, make in (made | {"sparse": make_sparse, "cells": make_cells, "fragments": make_fragments}).items():
        path = os.path.join(data, name)
        if not os.path.exists(path):
            make(path + ".part")
            os.rename(path + ".part", path)
    benches = os.path.join(ROOT, "target", "benches")
    subprocess.run(["cargo", "build", "--release", "--manifest-path", os.path.join(ROOT, "benches", "Cargo.toml"), "--target-dir", benches,
                    "--package", "bench-read"], check=True)
    program = os.path.join(benches, "release", "bench-read")
    at = lambda name: {"file": os.path.join(data, name), "path": "/a"}
    part = lambda start, count: {"start": start, "count": count}
    whole = part("0,0", f"{SIDE},{SIDE}")
    rows = [("1 GB of float32, no filter", "part", at("dense-none") | whole, 0.3, 0.4), ("1 GB, zstd", "part", at("dense-zstd") | whole, 0.4, 0.65),
            ("1 GB, byteshuffle and zstd", "part", at("dense-byteshuffle-zstd") | whole, 0.35, 0.6),
            ("1000² of it, zstd", "part", at("dense-zstd") | part("5500,3300", "1000,1000"), 0.5, None),
            ("20 M cells", "cells", at("sparse"), 0.7, None), ("2 % of them", "cells", at("sparse") | {"bounds": "300000000,319999999"}, 0.7, None),
            ("1,000 fragments opened, one read", "part", at("fragments") | part("50000", "100"), 0.5, None)]
    lines = ["# Speed of TileDB", "", f"Written by `cargo xtask bench tiledb`. Both sides open the array and read into new memory with {THREADS} threads; medians of "
             f"{ROUNDS} runs in turn, files in the page cache. Wanted: our wall and CPU seconds as parts of those of tiledb-py {tiledb.__version__}, and "
             "at most 128 MB beside the output.", "", machine(), "",
             "| read | s | CPU s | tiledb-py s | CPU s | wanted | found | MB beside |", "|---|---|---|---|---|---|---|---|"]
    for what, name, keys, wall, cpu in rows:
        figures, beside = row(program, name, keys)
        wanted = f"≤ {wall}" + (f", CPU {cpu}" if cpu else "")
        found = f"{figures[0] / figures[2]:.2f}, CPU {figures[1] / figures[3]:.2f}"
        lines.append(f"| {what} | " + " | ".join(f"{figure:.4f}" for figure in figures) + f" | {wanted} | {found} | {beside:.0f} |")
        print(lines[-1], flush=True)
    described = [run_with_cpu([hyperslab, "describe", os.path.join(data, "fragments")]) for _ in range(ROUNDS)]
    lines.append(f"| `describe` of 1,000 fragments | {statistics.median(of[0] for of in described):.4f} | "
                 f"{statistics.median(of[1] for of in described):.4f} | | | | | |")
    seconds, cpu, peak, *_ = run_with_cpu([hyperslab, "digest", "--quiet", os.path.join(data, "cells")])
    lines.append(f"| `digest` of 100 M cells in five fragments that overlap | {seconds:.1f} | {cpu:.1f} | | | ≤ 512 MB in all | {peak * 1.048576:.0f} MB | |")
    print(lines[-1], flush=True)
    write(table, lines)


if __name__ == "__main__":
    main()
