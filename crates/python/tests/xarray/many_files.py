"""Open 300 files at the same time, again and again: ``python many_files.py FOLDER RUNS``.

Each run opens all files with `open_mfdataset(parallel=True)` and reads everything in Dask's threads. Each time, the values must
be those that were written. The last line states how long it took; a crash ends the process.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import dask
import netCDF4
import numpy as np
import xarray as xr

FILES, RECORDS, Y, X = 300, 4, 12, 10


def expected() -> dict[str, np.ndarray]:
    """The content of all files together."""
    random = np.random.default_rng(7)
    count = FILES * RECORDS
    packed = random.integers(-900, 900, (count, Y, X)).astype("i2")
    packed[random.random(packed.shape) < 0.01] = -999
    return {
        "time": np.arange(count) * 3600,
        "packed": packed,
        "single": random.normal(size=(count, Y, X)).astype("f4"),
        "name": np.array([f"record {number}" for number in range(count)], dtype=object),
    }


def make(folder: Path) -> list[Path]:
    """Files with a few records each, as netCDF4 writes them."""
    values, paths = expected(), []
    for number in range(FILES):
        own = slice(number * RECORDS, (number + 1) * RECORDS)
        paths.append(folder / f"part-{number:03}.nc")
        with netCDF4.Dataset(paths[-1], "w") as file:
            for name, size in (("time", None), ("y", Y), ("x", X)):
                file.createDimension(name, size)
            of_time = file.createVariable("time", "i8", ("time",))
            of_time.units = "seconds since 2020-01-01"
            of_time[:] = values["time"][own]
            packed = file.createVariable("packed", "i2", ("time", "y", "x"), zlib=True, fill_value=-999)
            packed.set_auto_maskandscale(False)
            packed.scale_factor, packed.add_offset = 0.5, 10.0
            packed[:] = values["packed"][own]
            file.createVariable("single", "f4", ("time", "y", "x"), zlib=True, shuffle=True, chunksizes=(1, Y, X))[:] = values["single"][own]
            file.createVariable("name", str, ("time",))[:] = values["name"][own]
    return paths


def run(paths: list[Path], values: dict[str, np.ndarray]) -> None:
    with xr.open_mfdataset(paths, engine="hyperslab", parallel=True, combine="nested", concat_dim="time") as found:
        found = found.load()
    packed = np.where(values["packed"] == -999, np.nan, values["packed"] * 0.5 + 10.0)
    np.testing.assert_array_equal(found["packed"].values, packed)
    np.testing.assert_array_equal(found["single"].values, values["single"])
    assert found["name"].values.tolist() == values["name"].tolist()
    times = np.datetime64("2020-01-01", "s") + values["time"].astype("m8[s]")
    np.testing.assert_array_equal(found["time"].values, times)


def main(folder: Path, runs: int) -> None:
    paths, values = make(folder), expected()
    with dask.config.set(scheduler="threads", num_workers=8):
        started = time.monotonic()
        for _ in range(runs):
            run(paths, values)
        took = time.monotonic() - started
    print(f"{runs} runs of {len(paths)} files: {took:.1f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
