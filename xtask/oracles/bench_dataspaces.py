"""Times the conversion of NetCDF-4 to TileDB against tiledb-cf, and writes the table.

    bench_dataspaces.py HYPERSLAB DIRECTORY TABLE [PEERS]

PEERS is a Python that has tiledb-cf; without it, only hyperslab is measured. Both sides are processes that read the same uncompressed chunks
from the page cache and write the same tiles with the same number of threads and the same filters: one array for
each variable (simple-0.3.0 and cf-0.3.0), or one for all variables with the same dimensions (cf-0.3.0). tiledb-cf waits for the disk when it closes
a file, hyperslab only with --sync: a library that is loaded into both prevents either from waiting.
"""

import os
import shutil
import statistics
import subprocess
import sys

import netCDF4
import numpy as np

from bench_tiledb_written import size
from measure import machine, run_with_cpu, write

ROUNDS = int(os.environ.get("HYPERSLAB_BENCH_ROUNDS", "7"))
THREADS = 2
LEVEL = 3
SHAPE, CHUNK, VARIABLES = (64, 1024, 1024), (4, 256, 256), "abcd"
HERE = os.path.dirname(os.path.abspath(__file__))

PEER = """
import sys
import tiledb
few = {key: sys.argv[4] for key in ("sm.compute_concurrency_level", "sm.io_concurrency_level")}
context = tiledb.default_ctx(few)
from tiledb.cf import from_netcdf
level = int(sys.argv[5])
filters = tiledb.FilterList([tiledb.ZstdFilter(level)]) if level else None
from_netcdf(input_file=sys.argv[1], output_uri=sys.argv[2], collect_attrs=sys.argv[3] == "1", attrs_filters=filters, output_ctx=context)
"""
VERSIONS = "import importlib.metadata as m; print('tiledb-cf', m.version('tiledb-cf'), 'on tiledb', m.version('tiledb'))"


def make(path):
    random, x = np.random.default_rng(1), np.arange(SHAPE[2])
    with netCDF4.Dataset(path, "w") as file:
        file.Conventions = "CF-1.8"
        for name, length in zip(("time", "y", "x"), SHAPE):
            file.createDimension(name, length)
            own = file.createVariable(name, "f8", (name,))
            own.units = "days since 2000-01-01" if name == "time" else "m"
            own[:] = np.arange(length)
        for number, name in enumerate(VARIABLES):
            data = file.createVariable(name, "f4", ("time", "y", "x"), chunksizes=CHUNK, fill_value=np.float32(-999))
            data.units = "K"
            for t in range(0, SHAPE[0], CHUNK[0]):
                of = np.sin(x / 500 + number) * 20 + x[:, None] / 100 + np.arange(t, t + CHUNK[0])[:, None, None] / 100
                data[t : t + CHUNK[0]] = np.round(of + random.normal(0, 0.5, of.shape), 2)


def make_text(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("station", 3)
        file.createVariable("name", str, ("station",))[:] = np.array(["Aberdeen", "Zürich", ""], object)
        file.createVariable("height", "f4", ("station",))[:] = [1, 2, 3]


def make_list(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("station", 3)
        height = file.createVariable("height", "f4", ("station",))
        height.setncattr_string("sources", ["tide gauge", "satellite"])
        height[:] = [1, 2, 3]


def without_sync(folder):
    """The words before a command that keep it from waiting for the disk; none where this is not possible."""
    library = os.path.join(folder, "no_sync.so")
    if sys.platform != "linux" or not shutil.which("cc"):
        return []
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, os.path.join(HERE, "no_sync.c")], check=True)
    return ["env", f"LD_PRELOAD={library}"]


def main():
    hyperslab, data, table, *peers = sys.argv[1:]
    peers = peers[0] if peers else None
    data = os.path.join(data, "dataspaces")
    os.makedirs(data, exist_ok=True)
    source, texts, listed, ours, theirs = (os.path.join(data, name) for name in ("floats.nc", "texts.nc", "list.nc", "ours.tdb", "theirs.tdb"))
    for path, of in ((source, make), (texts, make_text), (listed, make_list)):
        if not os.path.exists(path):
            of(path + ".part")
            os.rename(path + ".part", path)
    before = without_sync(data)
    convert = lambda path, *words: [*before, hyperslab, "convert", "-q", "-j", str(THREADS), path, ours, *words]
    python = lambda path, collect, level: [*before, peers, "-W", "ignore", "-c", PEER, path, theirs, str(int(collect)), str(THREADS), str(level)]

    def clear():
        for path in (ours, theirs):
            shutil.rmtree(path, ignore_errors=True)

    def differs(path, store, *words):
        """The differences between a store and its source."""
        done = subprocess.run([hyperslab, "diff", "-q", *words, path, store], capture_output=True, text=True)
        return (done.stdout + done.stderr)[-500:] if done.returncode else ""

    version = subprocess.run([peers, "-c", VERSIONS], capture_output=True, text=True, check=True).stdout.strip() if peers else "tiledb-cf"
    waits = "neither waits for the disk" if before else "only tiledb-cf waits for the disk"
    lines = ["# Speed of NetCDF to TileDB", "",
             f"Written by `cargo xtask bench dataspaces`. {len(VARIABLES)} variables of float32, {'×'.join(map(str, SHAPE))}, "
             f"{os.path.getsize(source) / 1e9:.2f} GB of NetCDF-4 without compression, in chunks and tiles of {'×'.join(map(str, CHUNK))}. Both sides are processes with "
             f"{THREADS} threads; medians of {ROUNDS} runs in turn, files in the page cache, {waits}. Beside: {version}.", "", machine(), "",
             "| written | s | CPU s | MB | tiledb-cf s | CPU s | MB | wanted | found | CPU | bytes, of theirs |", "|---|---|---|---|---|---|---|---|---|---|---|"]
    for collect, what in ((False, "one array for each variable"), (True, "collected")):
        for level in (0, LEVEL):
            words = ["-f", f"zstd={level}" if level else "none", *(["-O", "tiledb.collect"] if collect else [])]
            taken, bytes_ = [[], []], ""
            for number in range(ROUNDS):
                clear()
                taken[0].append(run_with_cpu(convert(source, *words)))
                if peers:
                    taken[1].append(run_with_cpu(python(source, collect, level)))
                    bytes_ = f"{size(ours) / size(theirs):.3f}"
                if number == 0 and (found := differs(source, ours)):
                    sys.exit(f"what is written differs from the source: {found}")
            figures = [[statistics.median(run[key] for run in runs) for key in (0, 1)] + [max(run[2] for run in runs) * 1.048576] for runs in taken if runs]
            own, other = figures[0], figures[1] if peers else None
            shown = lambda of: f"{of[0]:.3f} | {of[1]:.3f} | {of[2]:.0f}"
            found = f"{own[0] / other[0]:.2f} | {own[1] / other[1]:.2f}" if peers else " | "
            lines.append(f"| {what}, {f'zstd {level}' if level else 'no filters'} | {shown(own)} | {shown(other) if peers else 'not measured | | '} | "
                         f"{'≤ 0.4, bytes 1.02' if level else '≤ 0.25'}, 300 MB | {found} | {bytes_} |")
            print(lines[-1], flush=True)
    lines.append("")
    for path, what in ((texts, "a variable of strings"), (listed, "an attribute that is a list of strings")):
        clear()
        subprocess.run(convert(path), check=True)
        told = "writes it, and it differs" if differs(path, ours) else "writes it without a difference"
        said = "was not measured"
        if peers:
            done = subprocess.run(python(path, False, 0), capture_output=True, text=True)
            said = f"stops: `{(done.stderr.strip().splitlines() or [''])[-1]}`" if done.returncode else "writes it too"
        lines.append(f"* A file with {what}: hyperslab {told}; tiledb-cf {said}.")
        print(lines[-1], flush=True)
    clear()
    write(table, lines)


if __name__ == "__main__":
    main()
