"""Times `concat` of daily NetCDF files against xarray's open_mfdataset and to_zarr, and writes the table.

    bench_concat.py HYPERSLAB DIRECTORY TABLE
    bench_concat.py xarray CODEC TARGET FILE…

Both sides read the same files and write the same chunks with the same codec and level, with as many threads as there are
processors. Runs take turns. HYPERSLAB_BENCH_FILES (365) and HYPERSLAB_BENCH_MB (50) set the number of files and the
megabytes of elements in each, HYPERSLAB_BENCH_ROUNDS (3) the number of runs, HYPERSLAB_BENCH_CODECS (keep,zstd) the codecs.
"""

import os
import shutil
import statistics
import sys

from measure import machine, run_with_cpu, write

FILES = int(os.environ.get("HYPERSLAB_BENCH_FILES", "365"))
MB = int(os.environ.get("HYPERSLAB_BENCH_MB", "50"))
ROUNDS = int(os.environ.get("HYPERSLAB_BENCH_ROUNDS", "3"))
WANTED = 0.2
HOURS, ROWS = 24, 512
# A few fields are reused in turn, because making and compressing one takes a second.
FIELDS = 4
CODECS = {
    "keep": ("shuffle and deflate 4, as in the files", ["-f", "keep"]),
    "zstd": ("zstd 3", ["-f", "zstd=3"]),
}
CHOSEN = os.environ.get("HYPERSLAB_BENCH_CODECS", ",".join(CODECS)).split(",")


def main():
    hyperslab, data, table = sys.argv[1:]
    folder = os.path.join(data, f"concat-{FILES}x{MB}")
    files = make(folder)
    stored = sum(map(os.path.getsize, files))
    lines = ["# Speed of concat",
             "",
             "Written by `cargo xtask bench concat`. "
             f"{FILES} NetCDF-4 files of a day each, {MB} MB of float32 in each, {stored / 1e9:.1f} GB stored (shuffle and "
             "deflate 4, chunks of 6 hours and 128 rows),\nare joined along `time` to Zarr version 2. xarray: `open_mfdataset(files, "
             "combine='nested', concat_dim='time', data_vars='minimal', coords='minimal',\ncompat='override', chunks={})` and "
             f"`to_zarr`, with threads. Medians of runs in turn of whole processes ({ROUNDS}); the share is that of xarray's time.",
             "",
             machine(),
             "",
             "| codec of the target | side | s | CPU s | peak MiB | peak MiB of a quarter of the files | share | wanted |",
             "|---|---|---|---|---|---|---|---|"]
    print("\n".join(lines[5:]), flush=True)
    short = False
    for codec, (title, options) in ((codec, CODECS[codec]) for codec in CHOSEN):
        ours, theirs = (os.path.join(data, f"concat-{side}.zarr") for side in ("hyperslab", "xarray"))
        sides = {
            "hyperslab": lambda some: [hyperslab, "concat", *some, ours, "--format", "zarr2", "-q", *options],
            "xarray": lambda some: [sys.executable, __file__, "xarray", codec, theirs, *some],
        }
        quarter = {}
        for side, command in sides.items():
            remove(ours, theirs)
            quarter[side] = run_with_cpu(command(files[: max(len(files) // 4, 1)]))[2]
        runs = {side: [] for side in sides}
        for _ in range(ROUNDS):
            remove(ours, theirs)
            for side, command in sides.items():
                runs[side].append(run_with_cpu(command(files)))
        same(ours, theirs)
        remove(ours, theirs)
        medians = {side: statistics.median(run[0] for run in taken) for side, taken in runs.items()}
        for side, taken in runs.items():
            share = medians[side] / medians["xarray"]
            says = (f"{share:.2f}", f"≤ {WANTED}") if side == "hyperslab" else ("", "")
            short |= side == "hyperslab" and share > WANTED
            cpu = statistics.median(run[1] for run in taken)
            line = (f"| {title} | {side} | {medians[side]:.2f} | {cpu:.1f} | {max(run[2] for run in taken):.0f} | "
                    f"{quarter[side]:.0f} | {says[0]} | {says[1]} |")
            print(line, flush=True)
            lines.append(line)
    write(table, lines)
    if short:
        print("a figure falls short of what is wanted")


def make(folder):
    """The files, made once."""
    import h5py
    import netCDF4
    import numpy as np

    paths = [os.path.join(folder, f"day{day:05}.nc") for day in range(FILES)]
    done = os.path.join(folder, "complete")
    if os.path.exists(done):
        return paths
    os.makedirs(folder, exist_ok=True)
    columns = max(round(MB * 1e6 / 4 / HOURS / ROWS), 1)
    rng = np.random.default_rng(1)
    for day, path in enumerate(paths):
        if day < FIELDS:
            rows, cols = np.mgrid[:ROWS, :columns]
            with netCDF4.Dataset(path, "w") as file:
                file.title = "hourly temperature"
                for name, length in (("time", None), ("lat", ROWS), ("lon", columns)):
                    file.createDimension(name, length)
                time = file.createVariable("time", "i4", ("time",), chunksizes=(HOURS,))
                time.units, time.calendar = "hours since 2020-01-01", "proleptic_gregorian"
                time[:] = np.arange(HOURS)
                file.createVariable("lat", "f4", ("lat",))[:] = np.linspace(-90, 90, ROWS)
                file.createVariable("lon", "f4", ("lon",))[:] = np.linspace(0, 360, columns, endpoint=False)
                t = file.createVariable("t2m", "f4", ("time", "lat", "lon"), zlib=True, complevel=4, shuffle=True,
                                        chunksizes=(6, min(128, ROWS), columns))
                t.units = "K"
                for hour in range(HOURS):
                    wave = 280 + 20 * np.sin(rows / 60 + day) + 5 * np.cos((cols + 15 * hour) / 40)
                    t[hour] = np.round(wave + rng.normal(0, 0.5, rows.shape), 2)
        else:
            shutil.copyfile(paths[day % FIELDS], path)
    for day, path in enumerate(paths):
        with h5py.File(path, "r+") as file:
            file["time"][:] = HOURS * day + np.arange(HOURS)
    open(done, "w").close()
    return paths


def xarray_side(codec, target, *files):
    """Joins the files as xarray does."""
    import dask
    import numcodecs
    import xarray

    joined = xarray.open_mfdataset(files, combine="nested", concat_dim="time", data_vars="minimal", coords="minimal",
                                   compat="override", chunks={})
    encoding = {}
    for name in joined.variables:
        # The encoding of the files, such as their chunks, does not apply to the target.
        joined[name].encoding = {key: value for key, value in joined[name].encoding.items() if key in ("units", "calendar", "dtype")}
    if codec == "keep":
        encoding["t2m"] = {"compressor": numcodecs.Zlib(4), "filters": [numcodecs.Shuffle(4)]}
    else:
        encoding["t2m"] = {"compressor": numcodecs.Zstd(3), "filters": None}
    with dask.config.set(scheduler="threads", num_workers=os.cpu_count()):
        joined.to_zarr(target, mode="w", encoding=encoding, zarr_format=2, consolidated=True)


def same(ours, theirs):
    """Both sides must have written the same."""
    import xarray

    one, other = xarray.open_zarr(ours, chunks={}), xarray.open_zarr(theirs, chunks={})
    for name in ("time", "lat", "lon"):
        if not bool((one[name] == other[name]).all()):
            sys.exit(f"{name} is not the same in both")
    # Of the values, only one hour of every twentieth day, because reading takes as long as writing.
    for time in range(0, one.sizes["time"], 20 * HOURS + 1):
        if not bool((one.t2m[time] == other.t2m[time]).all().compute()):
            sys.exit(f"t2m is not the same in both at {time}")
    if one.t2m.encoding["chunks"] != other.t2m.encoding["chunks"]:
        sys.exit(f"chunks are {one.t2m.encoding['chunks']} and {other.t2m.encoding['chunks']}")


def remove(*paths):
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1] == "xarray":
        xarray_side(*sys.argv[2:])
    else:
        main()
