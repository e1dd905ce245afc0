"""Compares NetCDF classic files as hyperslab reads them with netCDF4, and their conversions with xarray.

    classic.py HYPERSLAB

The files are generated: each version of the format and each of its types, written by netCDF-C and by SciPy, without
records and with one, several and no record variables. Each must be described as netCDF4 reads it, have no finding
of `check`, have the content of the same file in NetCDF-4, and be the same in xarray after a conversion to Zarr.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import netCDF4
import numpy as np
import scipy.io
import xarray

import conversions
import netcdf
from tally import Tally

warnings.simplefilter("ignore")

CLASSIC = ["i1", "S1", "i2", "i4", "f4", "f8"]
ALL = CLASSIC + ["u1", "u2", "u4", "i8", "u8"]
WRITERS = {
    "NETCDF3_CLASSIC": CLASSIC, "NETCDF3_64BIT_OFFSET": CLASSIC, "NETCDF3_64BIT_DATA": ALL, "scipy 1": CLASSIC,
    "scipy 2": CLASSIC,
}
# Records, length of the inner dimension, and the variables along (time, x), (time,), (x,) and of no dimension.
LAYOUTS = {
    "no records": (None, 3, "..xs"),
    "one variable of records": (4, 3, "r..."),
    "one odd variable beside others": (3, 5, "r.xs"),
    "records of different sizes": (5, 3, "rtxs"),
    "no record written": (0, 2, "rtx."),
    "large": (70, 999, "rtx."),
}


def values(kind, shape, seed):
    """Numbers that differ from all neighbouring elements, including the extremes of the type."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(kind)
    if dtype.kind == "S":
        return rng.choice(list(b"abcxyz 09"), shape).astype("u1").view("S1").reshape(shape)
    if dtype.kind == "f":
        # Multiples of one half, which all programs write with the same digits.
        found = np.asarray(np.rint(rng.normal(size=shape) * 2e3) / 2, dtype)
    else:
        of = np.iinfo(dtype)
        found = np.asarray(rng.integers(of.min, of.max, shape, dtype, endpoint=True), dtype)
    flat = found.reshape(-1)
    if flat.size > 2:
        flat[1] = np.nan if dtype.kind == "f" else np.iinfo(dtype).max
    return found


def specification(kind, layout, seed):
    """A list of variables: name, type, dimensions, values, attributes."""
    records, length, which = layout
    other = "i2" if kind != "i2" else "f8"
    shapes = {"r": (("time", "x"), (records, length)), "t": (("time",), (records,)), "x": (("x",), (length,)), "s": ((), ())}
    variables = []
    for number, letter in enumerate(letter for letter in which if letter != "."):
        dims, shape = shapes[letter]
        dtype = other if letter == "t" else kind
        attributes = {"long_name": f"elements along {' '.join(dims) or 'nothing'}", "valid": np.rint(values(dtype, (2,), seed)) if dtype[0] == "f" else values(dtype, (2,), seed)}
        if np.dtype(dtype).kind == "S":
            attributes.pop("valid")
        elif number == 0:
            attributes["_FillValue"] = np.asarray(values(dtype, (), seed + 1))[()]
        variables.append((f"v_{letter}", dtype, dims, values(dtype, shape, seed + number), attributes))
    if "t" in which:
        variables.append(("time", "f8", ("time",), np.arange(records) * 0.5, {"units": "days since 2000-02-28"}))
    if "x" in which and np.dtype(kind).kind != "S":
        variables.append(("x", "i4", ("x",), np.arange(length, dtype="i4") * 10, {"axis": "X"}))
    return records, length, variables


def write(path, writer, content):
    records, length, variables = content
    if writer.startswith("scipy"):
        with scipy.io.netcdf_file(path, "w", version=int(writer[-1])) as file:
            file.title, file.numbers = "generated", np.array([1, -2, 3], "i4")
            if records is not None:
                file.createDimension("time", None)
            file.createDimension("x", length)
            for name, kind, dims, data, attributes in variables:
                variable = file.createVariable(name, np.dtype(kind), dims)
                for key, value in attributes.items():
                    setattr(variable, key, value)
                if dims[:1] == ("time",):
                    for record in range(records):
                        variable[record] = data[record]
                elif dims:
                    variable[:] = data
                else:
                    variable.data[...] = data
            file.flush()
        return
    with netCDF4.Dataset(path, "w", format=writer) as file:
        file.title, file.numbers = "generated", np.array([1, -2, 3], "i4")
        if records is not None:
            file.createDimension("time", None)
        file.createDimension("x", length)
        for name, kind, dims, data, attributes in variables:
            fill = attributes.get("_FillValue")
            variable = file.createVariable(name, kind, dims, fill_value=fill)
            variable.set_auto_maskandscale(False)
            variable.setncatts({key: value for key, value in attributes.items() if key != "_FillValue"})
            if dims[:1] == ("time",):
                variable[:records] = data
            else:
                variable[...] = data


def run(hyperslab, *args):
    done = subprocess.run([hyperslab, *args], capture_output=True, timeout=300)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace").strip()[-300:]


def ask(hyperslab, path, twin, stores):
    """Runs all commands for one file. Several files run in parallel."""
    answers = {
        "described": run(hyperslab, "describe", "--json", "--values", path),
        "sound": run(hyperslab, "check", path),
        "as in NetCDF-4": run(hyperslab, "diff", path, twin),
    }
    for version, store in stores.items():
        command = ["convert", "--quiet", "--allow-loss=all", f"--format=zarr{version}", path, store]
        answers[f"converted to version {version}"] = run(hyperslab, *command)
    return answers


def compare(tally, skipped, name, path, stores, answers):
    for what, (code, out, said) in answers.items():
        tally.check(code == 0, f"{name}: {what}", [f"exit code {code}", said or out[-300:]])
    code, out, _ = answers["described"]
    if code == 0:
        with netCDF4.Dataset(path) as file:
            shapes = {f"/{key}": variable.shape for key, variable in file.variables.items()}
            comparison = netcdf.Comparison(json.loads(out), shapes)
            comparison.group("/", file)
        tally.check(not comparison.reasons, f"{name}: as netCDF4 reads it", comparison.reasons)
    for (version, store), decode in itertools.product(stores.items(), (True, False)):
        if answers[f"converted to version {version}"][0] != 0:
            continue
        what = f"{name}, version {version}, {'decoded' if decode else 'as stored'}: "
        try:
            with xarray.open_dataset(path, engine="netcdf4", decode_cf=decode) as wanted:
                with xarray.open_zarr(store, consolidated=False, decode_cf=decode) as found:
                    own = lambda variable: wanted.variables[variable].shape
                    conversions.compare_datasets(tally, skipped, what, wanted, found, own)
        except Exception as error:
            tally.check(False, what, [f"{type(error).__name__}: {error}"[:400]])


def main():
    hyperslab, = sys.argv[1:]
    tally, skipped = Tally(), Counter()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        asked = []
        for writer, kinds in WRITERS.items():
            for kind, (layout, shape) in itertools.product(kinds, LAYOUTS.items()):
                number = len(asked)
                path, twin = (os.path.join(folder, f"{number}.{suffix}.nc") for suffix in ("3", "4"))
                content = specification(kind, shape, number)
                if writer.startswith("scipy") and shape[0] == 0:
                    # SciPy then writes all record variables at the same offset, and netCDF-C cannot open the file.
                    continue
                if writer.startswith("scipy") and shape[0] is not None:
                    # SciPy writes scalars inside the records, where scalars and records overwrite each other.
                    content = (*content[:2], [variable for variable in content[2] if variable[2]])
                write(path, writer, content)
                write(twin, "NETCDF4" if kind not in CLASSIC else "NETCDF4_CLASSIC", content)
                stores = {version: os.path.join(folder, f"{number}.{version}.zarr") for version in (3, 2)}
                answers = pool.submit(ask, hyperslab, path, twin, stores)
                asked.append((f"{writer}, {kind}, {layout}", path, stores, answers))
        for name, path, stores, answers in asked:
            compare(tally, skipped, name, path, stores, answers.result())
        print(f"{len(asked)} files")
    for why, count in sorted(skipped.items()):
        print(f"not compared, {count}: {why}")
    tally.close()


if __name__ == "__main__":
    main()
