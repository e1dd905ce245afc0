"""Compares the tables that `show --as csv` prints with the data frames that xarray makes.

    tidy.py HYPERSLAB DIRECTORY [MAX]

From the NetCDF files below the directory, up to MAX variables (default: all) are printed with and without --decode, and read
as CSV. `xarray.Dataset.to_dataframe` of the same variable must have the same columns and rows: the coordinates along the
dimensions, then the value. Where hyperslab finds a value missing and xarray does not, netCDF4 must mask it: xarray knows
neither valid ranges nor the default fill values of NetCDF. Parquet and Arrow files of the same variables must contain the
same tables (tables.py).
"""

import csv
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings

import cftime
import h5py
import hdf5plugin  # noqa: F401, filters of files
import netCDF4
import numpy as np
import xarray

import tables
from apart import apart
from tally import Tally

warnings.simplefilter("ignore")

# Numbers that netCDF4 masks without an attribute.
DEFAULT_FILLS = set(netCDF4.default_fillvals.values())
LARGEST = 20_000
DATE = re.compile(r"(-?\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?$")
TIMES = xarray.coders.CFDatetimeCoder(use_cftime=True)


def files(directory):
    for at, folders, names in os.walk(directory):
        folders.sort()
        if {"zarr.json", ".zarray", ".zgroup"} & set(names):
            folders.clear()
            continue
        for name in sorted(names):
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                head = file.read(8)
            if name.endswith((".nc", ".nc4", ".cdf")) and (head.startswith(b"CDF") or head == b"\x89HDF\r\n\x1a\n"):
                yield path


def variables(path):
    """The variables with a table of their own: those whose elements are numbers or strings."""
    def of(group, at):
        for name, variable in group.variables.items():
            is_plain = isinstance(variable.datatype, np.dtype) or variable.datatype is str
            if is_plain and len(set(variable.dimensions)) == len(variable.dimensions) and 0 < variable.size <= LARGEST:
                yield at, name
        for name, inner in group.groups.items():
            yield from of(inner, f"{at}/{name}")

    with netCDF4.Dataset(path) as file:
        return list(of(file, ""))


def frame(path, group, name, decode):
    """The columns of the data frame, and the units and the mask of the variable."""
    options = {"mask_and_scale": decode, "decode_times": TIMES if decode else False, "decode_timedelta": False,
               "concat_characters": True, "decode_coords": False}
    with xarray.open_dataset(path, engine="netcdf4", group=group or None, **options) as dataset:
        array = joined(dataset[name].load())
        # Dimensions of parent groups have their coordinates there.
        for above in parents(group):
            with xarray.open_dataset(path, engine="netcdf4", group=above or None, **options) as outer:
                missing = [dim for dim in array.dims if dim not in array.coords and dim in outer.coords]
                array = array.assign_coords({dim: outer[dim].load() for dim in missing})
        dims = [dim for dim in array.dims if dim != name]
        if array.ndim == 0 or array.dims == (name,):
            columns = {name: array.values.ravel()}
        else:
            own = array.drop_vars([coord for coord in array.coords if coord not in array.dims]).rename("value")
            table = own.to_dataset().to_dataframe().reset_index()
            columns = {dim: table[dim].to_numpy() for dim in dims} | {name: table["value"].to_numpy()}
    with netCDF4.Dataset(path) as file:
        variable = file[f"{group}/{name}"]
        variable.set_auto_chartostring(False)
        attributes = set(variable.ncattrs())
        mask = np.ma.getmaskarray(np.ma.asarray(variable[...])).ravel() if variable.dtype.kind in "iuf" else None
    return columns, attributes, mask


def joined(array):
    """Characters along the last dimension as strings. xarray joins them only if no other variable has that dimension."""
    if array.dtype != "S1" or not array.dims:
        return array
    texts = netCDF4.chartostring(array.values, encoding="bytes")
    return xarray.DataArray(texts, dims=array.dims[:-1],
                            coords={name: coord for name, coord in array.coords.items() if array.dims[-1] not in coord.dims})


def parents(group):
    while group:
        group = group.rpartition("/")[0]
        yield group


def is_link(path, group, name):
    """Whether a variable has several names, of which we show the first."""
    if not h5py.is_hdf5(path):
        return False
    with h5py.File(path) as file:
        if isinstance(file.get(f"{group}/{name}", getlink=True), h5py.SoftLink):
            return True
        return f"{group}/{name}" in file and h5py.h5o.get_info(file[f"{group}/{name}"].id).rc > 1


def is_short(path, group, name):
    """Whether a variable has fewer records than its dimension: the NetCDF library returns random memory for the others."""
    if not h5py.is_hdf5(path):
        return False
    with h5py.File(path) as file, netCDF4.Dataset(path) as shown:
        for stored in (name, f"_nc4_non_coord_{name}"):
            if f"{group}/{stored}" in file:
                return file[f"{group}/{stored}"].shape != shown[f"{group}/{name}"].shape
    return False


def same_date(text, value):
    found = DATE.match(text)
    if not found:
        return False
    *fields, fraction = found.groups()
    own = [int(field) for field in fields]
    wanted = [value.year, value.month, value.day, value.hour, value.minute, value.second]
    seconds = abs(float(fraction or 0) - value.microsecond / 1e6)
    if own == wanted:
        return seconds < 2e-3
    # A moment just before a full second is rounded to that second.
    return value.microsecond > 999_000 and fraction is None


def same(text, value):
    if isinstance(value, cftime.datetime):
        return same_date(text, value)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, str):
        return text == value
    if value is None or isinstance(value, (float, np.floating)) and np.isnan(value):
        return text in ("", "NaN")
    try:
        number = float(text)
    except ValueError:
        return False
    if isinstance(value, (np.integer, int)):
        return int(text) == value if re.fullmatch(r"-?\d+", text) else number == value
    value = np.asarray(value)
    close = 4e-7 if value.dtype == np.float32 else 1e-12
    return number == value or abs(number - float(value)) <= close * abs(float(value))


def compare(tally, counts, hyperslab, path, name, group, variable):
    if is_short(path, group, variable):
        counts["variables shorter than their dimension, of which the NetCDF library gives random memory"] += 1
        return
    if is_link(path, group, variable):
        counts["variables with several names"] += 1
        return
    for decode in (False, True):
        what = f"{name}:{group}/{variable}{' decoded' if decode else ''}"
        try:
            columns, attributes, mask = frame(path, group, variable, decode)
        except Exception as error:
            counts[f"xarray refuses the file or the variable: {type(error).__name__}"] += 1
            continue
        if decode and "flag_meanings" in attributes:
            counts["flags, which xarray shows as numbers"] += 1
            continue
        command = [hyperslab, "show", "-q", "--as", "csv", f"{path}:{group}/{variable}", *(["--decode"] if decode else [])]
        run = subprocess.run(command, capture_output=True)
        if run.returncode:
            tally.check(False, what, [run.stderr.decode()[:300]])
            continue
        header, *rows = csv.reader(io.StringIO(run.stdout.decode(), newline=""))
        reasons = []
        if header != [str(column) for column in columns]:
            reasons.append(f"columns {header}, expected {list(columns)}")
        elif len(rows) != len(columns[variable]):
            reasons.append(f"{len(rows)} rows, expected {len(columns[variable])}")
        else:
            for at, row in enumerate(rows):
                if len(row) != len(columns):
                    reasons.append(f"row {at}: {row}, expected {len(columns)} cells")
                    continue
                for column, text in zip(columns, row, strict=True):
                    value = columns[column][at]
                    is_masked = decode and text == "" and (
                        mask is not None and mask[at] if column == variable else value in DEFAULT_FILLS)
                    if not (same(text, value) or is_masked):
                        reasons.append(f"row {at}, {column}: {text!r}, expected {value!r}")
        tally.check(not reasons, what, reasons)
        with tempfile.TemporaryDirectory() as folder:
            tables.compare(tally, hyperslab, f"{path}:{group}/{variable}", decode, folder)
        counts["tables"] += 1
        counts["rows"] += len(rows)


def main():
    hyperslab, directory = sys.argv[1:3]
    tally, total = Tally(), {}
    chosen = []
    for path in files(directory):
        def look(own, why, of, path=path):
            try:
                print("\n".join(f"{group}\t{name}" for group, name in variables(path)))
            except Exception:
                of["files that netCDF4 refuses"] += 1

        done = apart(look)
        if done is not None:
            for kind, number in done.counts.items():
                total[kind] = total.get(kind, 0) + number
            chosen += [(path, *line.split("\t")) for line in done.lines if line]
    if len(sys.argv) > 3:
        # Distributed evenly over all files.
        step = max(1, len(chosen) // int(sys.argv[3]))
        chosen = chosen[::step]
    for path, group, name in chosen:
        def look(own, why, of, path=path, group=group, name=name):
            compare(own, of, hyperslab, path, os.path.relpath(path, directory), group, name)

        done = apart(look)
        if done is None:
            total["a library crashes"] = total.get("a library crashes", 0) + 1
            continue
        for line in done.lines:
            print(line)
        tally.passed, tally.failed = tally.passed + done.passed, tally.failed + done.failed
        for kind, number in done.counts.items():
            total[kind] = total.get(kind, 0) + number
    print("compared:", ", ".join(f"{number} {kind}" for kind, number in sorted(total.items())))
    tally.close()


if __name__ == "__main__":
    main()
