"""Times `show --as parquet` against xarray, pandas and pyarrow, and writes the table.

    bench_tables.py HYPERSLAB DIRECTORY TABLE

Runs of both take turns; a figure is the median of all runs, measured for the whole process. Both write row groups of 2^20 rows,
with Zstandard at level 1, and must have written the same number of rows and the same sums of all columns.
"""

import os
import statistics
import sys

import pyarrow.compute
import pyarrow.parquet
import xarray

from bench_diff import CHUNK, SHAPE, make
from measure import ROUNDS, machine, run, write

PEER = """
import sys
import pyarrow
import pyarrow.parquet
import xarray

source, target = sys.argv[1:]
frame = xarray.open_dataset(source, engine="h5netcdf")["x"].to_dataframe().reset_index()
table = pyarrow.Table.from_pandas(frame, preserve_index=False)
pyarrow.parquet.write_table(table, target, compression="zstd", compression_level=1, row_group_size=1 << 20)
"""


def with_coordinates(path, source):
    """The file of 1 GB as NetCDF-4 with coordinates."""
    if os.path.exists(path):
        return
    with xarray.open_dataset(source, engine="h5netcdf", phony_dims="access", chunks={}) as opened:
        named = opened.rename(dict(zip(opened["x"].dims, ("time", "lat", "lon"), strict=True)))
        named = named.assign_coords({dim: ("%s" % dim, [float(at) / 4 for at in range(size)])
                                     for dim, size in named.sizes.items()})
        encoding = {"x": {"chunksizes": CHUNK, "zlib": True, "complevel": 4, "shuffle": True}}
        named.to_netcdf(path + ".partial", engine="h5netcdf", encoding=encoding)
    os.rename(path + ".partial", path)


def content(path):
    """The number of rows and the sums of the columns, read row group by row group."""
    file = pyarrow.parquet.ParquetFile(path)
    sums = dict.fromkeys(file.schema_arrow.names, 0.0)
    for at in range(file.num_row_groups):
        group = file.read_row_group(at)
        for name in sums:
            sums[name] += pyarrow.compute.sum(group[name].cast("float64")).as_py()
    return file.metadata.num_rows, {name: round(total, 3) for name, total in sums.items()}


def main():
    hyperslab, data, table = sys.argv[1:]
    data = os.path.join(data, "tables")
    os.makedirs(data, exist_ok=True)
    plain, source = os.path.join(data, "plain.h5"), os.path.join(data, "field.nc")
    if not os.path.exists(source):
        make(plain, chunks=CHUNK, compression=4, shuffle=True)
        with_coordinates(source, plain)
        os.remove(plain)
    ours, theirs = os.path.join(data, "ours.parquet"), os.path.join(data, "theirs.parquet")
    commands = {
        "hyperslab": [hyperslab, "show", "-q", f"{source}:/x", "--as", "parquet", "-o", ours, "--overwrite"],
        "xarray, pandas, pyarrow": [sys.executable, "-c", PEER, source, theirs],
    }
    runs = {tool: [] for tool in commands}
    for _ in range(ROUNDS):
        for tool, command in commands.items():
            runs[tool].append(run(command))
            print(tool, runs[tool][-1], flush=True)
    if content(ours) != content(theirs):
        sys.exit(f"the tables differ: {content(ours)}, {content(theirs)}")
    medians = {tool: statistics.median(taken[0] for taken in of) for tool, of in runs.items()}
    peer = "xarray, pandas, pyarrow"
    rows = SHAPE[0] * SHAPE[1] * SHAPE[2]
    lines = ["# Speed of tables",
             "",
             f"Written by `cargo xtask bench tables`. A NetCDF-4 file of 1 GB, {'×'.join(map(str, SHAPE))} float32 in deflated "
             f"chunks, with coordinates of float64, becomes a Parquet file of {rows:,} rows and 4 columns. Both sides write row "
             "groups of 2^20 rows in Zstandard of level 1. Files are in the page cache; medians of "
             f"{ROUNDS} runs in turn, of the whole process, peak memory the highest of them.",
             "",
             machine(),
             "",
             "| tool | s | peak MiB | size MB | wanted | found |",
             "|---|---|---|---|---|---|"]
    peak = {tool: max(taken[1] for taken in of) for tool, of in runs.items()}
    ratio = medians["hyperslab"] / medians[peer]
    wanted = {"hyperslab": ("≤ 0.5 × the other's time, ≤ 300 MB", f"{ratio:.2f} ×, {peak['hyperslab'] * 1.048576:.0f} MB"),
              peer: ("", "")}
    for tool, path in (("hyperslab", ours), (peer, theirs)):
        lines.append(f"| {tool} | {medians[tool]:.2f} | {peak[tool]:.0f} | {os.path.getsize(path) / 1e6:.0f} | "
                     f"{wanted[tool][0]} | {wanted[tool][1]} |")
        os.remove(path)
    print("\n".join(lines[6:]))
    write(table, lines)


if __name__ == "__main__":
    main()
