"""Reads sparse arrays as tables of cells with xarray, zarr-python, h5py and netCDF4.

    cell_tables.py HYPERSLAB

A document of cells is converted to Zarr, HDF5, NetCDF-4 and NetCDF classic. Other programs must find an array for each
column, along one dimension and sorted; xarray must find the coordinates as coordinates, and times as times. Converted
back to NDL, the document must have the same digests.
"""

import os
import random
import subprocess
import sys
import tempfile

import h5py
import netCDF4
import numpy as np
import xarray
import zarr

from tally import Reasons, Tally

STATIONS = ["bergen", "oslo", "tromsø", "å"]


def cells(seed, count):
    of = random.Random(seed)
    rows = []
    for _ in range(count):
        value = None if of.random() < 0.2 else of.randrange(-100, 100)
        rows.append((of.choice(STATIONS), of.randrange(1000), of.uniform(-40, 40), value))
    return rows


def document(rows):
    hour = lambda h: str(np.datetime64(h, "h"))
    shown = [f'- ["{s}", "{hour(h)}", {t!r}, {"null" if q is None else q}]' for s, h, t, q in rows]
    return "\n".join([
        "attributes: {Conventions: CF-1.11}",
        "dimcoords:",
        "  station: {size: null, type: string, attributes: {long_name: name of the station}}",
        "  time: {size: 1000, type: {datetime: {unit: h}}, storage: {domain: ['1970-01-01T00', '1970-02-11T15'], tile: 10}}",
        "ndarrays:",
        "  t: {shape: [station, time], type: float64, attributes: {units: degC}}",
        "  quality: {shape: [station, time], type: {nullable: {base: int16}}}",
        "cells:",
        "  columns: [station, time, t, quality]",
        "  rows:",
        *[f"  {row}" for row in shown],
        "storage:",
        "  tiledb: {array: sparse, capacity: 100}",
        "",
    ])


def key(row):
    """The order of cells: by coordinates, then by the bytes of the attributes."""
    station, hour, t, quality = row
    value = b"\0" if quality is None else b"\1" + np.int16(quality).astype("<i2").tobytes()
    return station.encode(), hour, np.float64(t).astype("<f8").tobytes(), value


def texts(values):
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values]


def compare(reasons, rows, station, hours, t, quality, valid):
    reasons.equal("stations", texts(station), [row[0] for row in rows])
    reasons.equal("hours", [int(hour) for hour in hours], [row[1] for row in rows])
    reasons.equal("t", [float(value) for value in t], [row[2] for row in rows])
    found = [int(value) if is_valid else None for value, is_valid in zip(quality, valid)]
    reasons.equal("quality", found, [row[3] for row in rows])


def hours_of(times):
    return (times.astype("datetime64[h]") - np.datetime64("1970-01-01T00", "h")).astype("i8")


def by_xarray(reasons, rows, dataset):
    reasons.equal("dimensions", dict(dataset.sizes), {"cell": len(rows)})
    reasons.equal("coordinates", sorted(map(str, dataset.coords)), ["station", "time"])
    reasons.equal("dimensions of t", dataset["t"].dims, ("cell",))
    reasons.equal("units of t", dataset["t"].attrs.get("units"), "degC")
    names = ["station", "time", "t", "quality", "quality_valid"]
    station, time, t, quality, valid = (dataset[name].values for name in names)
    compare(reasons, rows, station, hours_of(time), t, quality, valid)


def arrays(reasons, rows, get):
    names = ["station", "time", "t", "quality", "quality_valid"]
    station, time, t, quality, valid = (np.asarray(get(name)) for name in names)
    hours = hours_of(time) if time.dtype.kind == "M" else time
    compare(reasons, rows, station, hours, t, quality, valid)


def main():
    hyperslab = sys.argv[1]
    tally = Tally()

    def run(*args):
        done = subprocess.run([hyperslab, *args], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{args}: {done.stderr}")
        return done.stdout

    for seed, count in [(1, 1), (2, 37), (3, 2000)]:
        with tempfile.TemporaryDirectory() as folder:
            rows = cells(seed, count)
            source = os.path.join(folder, "cells.yaml")
            with open(source, "w", encoding="utf-8") as file:
                file.write(document(rows))
            rows.sort(key=key)
            digests = run("digest", "--json", source)
            paths = {}
            for name, format in [("a.zarr", "zarr3"), ("b.zarr", "zarr2"), ("c.h5", "hdf5"), ("d.nc", "netcdf4"),
                                 ("e.nc", "cdf5")]:
                paths[format] = path = os.path.join(folder, name)
                run("convert", source, path, "--format", format, "--quiet")
                tally.check(run("digest", "--json", path) == digests, f"{format}: the digests of {count} cells")
                back = os.path.join(folder, f"{format}.yaml")
                with open(back, "w", encoding="utf-8") as file:
                    file.write(run("describe", "--values=1000000", path))
                tally.check(run("digest", "--json", back) == digests, f"{format}: {count} cells back in NDL")

            def read(what, by):
                reasons = Reasons()
                try:
                    by(reasons)
                except Exception as error:  # Any exception of a reader is a failure of the check.
                    reasons.append(repr(error))
                tally.check(not reasons, f"{what} of {count} cells", reasons)

            for format in ["zarr3", "zarr2"]:
                group = zarr.open_group(paths[format], mode="r")
                read(f"zarr-python: {format}", lambda reasons: arrays(reasons, rows, lambda name: group[name][:]))
                read(f"xarray: {format}", lambda reasons: by_xarray(reasons, rows, xarray.open_zarr(paths[format])))
            with h5py.File(paths["hdf5"]) as file:
                read("h5py", lambda reasons: arrays(reasons, rows, lambda name: file[name][:]))
                scales = [file[name].dims[0][0].name for name in ("station", "time", "t", "quality")]
                tally.check(scales == ["/cell"] * 4, "h5py: the scale of every column", scales)
            with netCDF4.Dataset(paths["netcdf4"]) as file:
                read("netCDF4", lambda reasons: arrays(reasons, rows, lambda name: file[name][:]))
            for format, engine in [("hdf5", "h5netcdf"), ("netcdf4", "netcdf4"), ("cdf5", "netcdf4")]:
                with xarray.open_dataset(paths[format], engine=engine) as dataset:
                    read(f"xarray: {format}", lambda reasons: by_xarray(reasons, rows, dataset))
    tally.close()


main()
