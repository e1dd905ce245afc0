"""Compares what `show --decode` prints with what xarray shows of the same variables.

    decoded.py HYPERSLAB EXAMPLES

The examples, the files of netcdf_samples.py, some of them converted to Zarr, and files made from seeds are shown as CSV,
JSON and NumPy. Numbers, dates and missing values must be those of xarray. This script adds three things that xarray omits:
the valid range and the default fill values, as the NetCDF library masks them, and the words of flags.
"""

import csv
import datetime
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

import cftime
import netCDF4
import numpy as np
import xarray

import netcdf_samples
from tally import Reasons, Tally

warnings.simplefilter("ignore")

SEEDS = 32
CONVERTED = ("classic.nc", "classic_model.nc", "cmip_netcdf4.nc", "packed_netcdf4.nc", "roms_netcdf4.nc")
SECONDS = {"days": 86400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6}
CALENDARS = ("standard", "gregorian", "proleptic_gregorian", "julian", "noleap", "365_day", "all_leap", "366_day", "360_day")


class Wanted:
    """What is expected of one variable: its values, which of them are missing, and how close they must be."""

    def __init__(self, values, missing, near=0.0):
        self.values, self.missing, self.near = np.asarray(values), np.asarray(missing), near


def read_unsigned(raw, attributes):
    """Integers as `_Unsigned` declares them, and a function that reads numbers of attributes in the same way."""
    if raw.dtype.kind in "iu" and (word := attributes.get("_Unsigned")) in ("true", "false"):
        kind = np.dtype(("u" if word == "true" else "i") + str(raw.dtype.itemsize))
        return raw.astype(kind), lambda value: np.asarray(value).astype(kind)
    return raw, np.asarray


def words_of(raw, attributes):
    """Flags as words, by CF 3.5. A value without words is its number; None if the numbers are not flags."""
    words = str(attributes.get("flag_meanings", "")).split()
    whole = lambda name: [int(n) for n in np.ravel(attributes[name])] if name in attributes else None
    numbers, of = read_unsigned(raw, attributes)
    lists = [whole(name) for name in ("flag_values", "flag_masks")]
    values, masks = ([int(of(n)) for n in given] if given and len(given) == len(words) else None for given in lists)
    if raw.dtype.kind not in "iu" or not (values or masks):
        return None

    def text(number):
        if masks and values:
            found = [word for word, value, mask in zip(words, values, masks, strict=True) if mask and number & mask == value]
        elif masks:
            found = [word for word, mask in zip(words, masks, strict=True) if mask and number & mask == mask]
        else:
            found = [word for word, value in zip(words, values, strict=True) if number == value]
        return " ".join(found) or str(number)

    return np.array([text(int(n)) for n in np.ravel(numbers)], object).reshape(raw.shape)


def outside(raw, attributes):
    """Which values are outside of the valid range, which is given in packed numbers."""
    if raw.dtype.kind not in "iuf":
        return np.zeros(raw.shape, bool)
    numbers, of = read_unsigned(raw, attributes)
    low, high = (of(attributes[name]) if name in attributes else None for name in ("valid_min", "valid_max"))
    if np.size(attributes.get("valid_range", ())) == 2:
        low, high = of(attributes["valid_range"])
    missing = np.zeros(raw.shape, bool)
    if low is not None:
        missing |= numbers < low
    if high is not None:
        missing |= numbers > high
    return missing


def of_variable(name, stored, units, masked):
    """What is expected of a variable as it is stored. `units` are those of the times that it bounds, `masked` states which
    values the NetCDF library considers missing."""
    raw, attributes = stored.values, {**units, **stored.attrs}

    def decode(raw, without=(), **options):
        kept = {name: value for name, value in attributes.items() if name not in without}
        variable = xarray.Variable(stored.dims, raw, kept)
        return xarray.conventions.decode_cf_variable(name, variable, decode_timedelta=False, **options).values

    values = decode(raw, decode_times=False)
    missing = outside(raw, attributes) | (masked if masked is not None and masked.shape == raw.shape else False)
    if values.dtype.kind == "f":
        missing |= np.isnan(values)
    packed = "scale_factor" in attributes or "add_offset" in attributes
    if "since" in str(attributes.get("units", "")) and raw.dtype.kind in "iuf":
        try:
            # For missing times in other calendars xarray returns the first moment, or fails.
            times = decode(np.where(missing, raw.dtype.type(0), raw), ("_FillValue", "missing_value"))
        except ValueError:
            # Units that are not times, or have no fixed length.
            pass
        else:
            return Wanted(times, missing, noise(raw, missing, attributes) if raw.dtype.kind == "f" or packed else 0.0)
    if not packed and (words := words_of(raw, attributes)) is not None:
        return Wanted(words, missing)
    if values.dtype.kind in "SOUT":
        text = lambda v: v.decode() if isinstance(v, bytes) else str(v)
        missing = np.array([isinstance(v, float) for v in values.flat], bool).reshape(values.shape)
        return Wanted(np.array([text(v) for v in values.flat], object).reshape(values.shape), missing)
    # xarray rounds a product of float32 before the addition, and uses float64 for an offset alone.
    singles = packed and all(np.asarray(attributes.get(n, np.float32(0))).dtype == np.float32 for n in ("scale_factor", "add_offset"))
    return Wanted(values, missing, 3e-7 if singles else 0.0)


def noise(raw, missing, attributes):
    """The precision in seconds of dates from fractional counts: the resolution of a number of that size."""
    step = SECONDS[attributes["units"].split()[0].lower().rstrip("s") + "s"]
    largest = np.max(np.abs(raw[~missing]), initial=0)
    if "scale_factor" in attributes or "add_offset" in attributes:
        largest = np.abs(largest * attributes.get("scale_factor", 1.0)) + np.abs(attributes.get("add_offset", 0.0))
    last_place = 4 * np.spacing(np.float64(largest)) * step
    # xarray and cftime have microseconds.
    return 2e-6 if last_place < 1e-6 else 1e-3


def moment(text, like):
    """The date of an ISO 8601 text, of the same type as another."""
    date, _, clock = text.partition("T")
    sign = -1 if date.startswith("-") else 1
    year, month, day = date.lstrip("-").split("-")
    hour, minute, second = clock.split(":")
    whole, _, fraction = second.partition(".")
    micro = round(int((fraction + "0" * 9)[:9]) / 1000) if fraction else 0
    fields = (sign * int(year), int(month), int(day), int(hour), int(minute), int(whole))
    begin = cftime.datetime(*fields, calendar=like.calendar, has_year_zero=like.has_year_zero)
    return begin + datetime.timedelta(microseconds=micro)


def same(found, wanted, near):
    """Whether an element is the expected one, which is not missing."""
    match wanted:
        case np.datetime64():
            unit = "ns" if np.datetime_data(wanted.dtype)[0] == "ns" else "us"
            apart = np.datetime64(found).astype(f"M8[{unit}]") - wanted.astype(f"M8[{unit}]")
            return abs(apart / np.timedelta64(1, "s")) <= near
        case cftime.datetime():
            return abs((moment(str(found), wanted) - wanted).total_seconds()) <= near
        case str():
            return str(found) == wanted
        case _ if isinstance(found, str):
            # CSV.
            number = float if wanted.dtype.kind == "f" else int
            return found.strip("-")[:1] in "0123456789i" and same(number(found), wanted, near)
        case _:
            if wanted.dtype.kind == "f" and wanted.dtype.itemsize < 8:
                # The shortest text that names a float32.
                found = wanted.dtype.type(found)
            return found == wanted or abs(float(found) - float(wanted)) <= near * max(abs(float(wanted)), near and 1e-2)


def is_missing(cell):
    return cell is None or cell == "" or cell != cell


def differences(cells, wanted):
    reasons = Reasons()
    # Values that JSON cannot represent as numbers.
    cells = [{"Infinity": np.inf, "-Infinity": -np.inf}.get(cell, cell) if isinstance(cell, str) else cell for cell in cells]
    for at, (cell, value, missing) in enumerate(zip(cells, wanted.values.flat, wanted.missing.flat, strict=True)):
        is_right = is_missing(cell) if missing else not (is_missing(cell) and value != "") and same(cell, value, wanted.near)
        reasons.expect(is_right, f"element {at}: {cell!r}, expected {'none' if missing else repr(value)}")
    return reasons


def flat(lists):
    return [cell for item in lists for cell in flat(item)] if isinstance(lists, list) else [lists]


def compare(tally, hyperslab, location, wanted, folder):
    def show(form):
        run = subprocess.run([hyperslab, "show", "-q", "--decode", location, "--as", form], capture_output=True, timeout=300)
        return run.returncode, run.stdout, run.stderr.decode()

    code, printed, said = show("lists")
    if code or wanted.values.size == 0:
        tally.check(code == 0, f"{location} as lists", [said])
        return
    cells = flat(json.loads(printed))
    tally.check(len(cells) == wanted.values.size, f"{location} has {wanted.values.size} elements", [f"{len(cells)}"])
    if len(cells) != wanted.values.size:
        return
    for form in ("lists", "csv", "json", "npy"):
        code, printed, said = show(form)
        if form == "npy" and code:
            # Types for which NumPy has no missing value.
            is_text = wanted.values.dtype == object
            refused = "use --as csv or --as json" in said and wanted.missing.any() and (is_text or wanted.values.dtype.itemsize == 8)
            tally.check(refused, f"{location} as npy", [said])
            continue
        match form:
            case "lists":
                cells = flat(json.loads(printed))
            case "csv":
                cells = [row[-1] for row in list(csv.reader(io.StringIO(printed.decode(), newline="")))[1:]]
            case "json":
                rows = json.loads(printed)
                has_rows = isinstance(rows, list) and rows and isinstance(rows[0], dict)
                cells = [list(row.values())[-1] for row in rows] if has_rows else flat(rows)
            case "npy":
                array = np.load(io.BytesIO(printed))
                if array.dtype.kind == "U" and wanted.missing.any():
                    tally.check(False, f"{location} as npy", ["missing elements as texts"])
                    continue
                kinds = {"M": "MU", "O": "MU", "f": "f" + "iu" * (wanted.values.dtype.kind == "f")}
                kind = array.dtype.kind in kinds.get(wanted.values.dtype.kind, "iufUb")
                tally.check(kind, f"{location}: {array.dtype} in NumPy", [f"expected {wanted.values.dtype}"])
                cells = [None if cell != cell else cell for cell in array.ravel()]
                if array.dtype.kind == "M":
                    cells = [None if np.isnat(cell) else str(cell) for cell in array.ravel()]
        tally.check(not (reasons := differences(cells, wanted)), f"{location} as {form}", reasons)


def units_of_times(dataset):
    """The units and calendar of each variable that bounds times (CF 7.1)."""
    units = {}
    for variable in dataset.variables.values():
        if "since" in str(variable.attrs.get("units", "")):
            own = {name: variable.attrs[name] for name in ("units", "calendar") if name in variable.attrs}
            units.update({variable.attrs[name]: own for name in ("bounds", "climatology") if name in variable.attrs})
    return units


def groups(path):
    """The groups of a store: the engine that reads it, and their paths."""
    if path.endswith(".zarr"):
        for folder, _, files in os.walk(path):
            if ".zgroup" in files or "zarr.json" in files and '"group"' in open(os.path.join(folder, "zarr.json")).read():
                yield "zarr", os.path.relpath(folder, path).strip(".")
        return
    with netCDF4.Dataset(path) as file:
        left = [file]
        while left:
            group = left.pop()
            yield "netcdf4", group.path.strip("/")
            left.extend(group.groups.values())


def masks(path, group):
    """Which values the NetCDF library considers missing, by variable."""
    found = {}
    with netCDF4.Dataset(path) as file:
        for name, variable in (file[group] if group else file).variables.items():
            # One-byte types have no default fill value, but are masked in classic files.
            if isinstance(variable.datatype, np.dtype) and variable.dtype.kind in "iuf" and variable.dtype.itemsize > 1:
                variable.set_auto_scale(False)
                found[name] = np.ma.getmaskarray(variable[...])
    return found


def can_compare(variable):
    """Whether it has numbers or strings: no enumerations and sequences, and no xarray booleans, which CF does not have."""
    of = variable.dtype
    is_enum = "enum" in (getattr(variable.encoding.get("dtype"), "metadata", None) or ())
    texts = of.kind != "O" or all(isinstance(value, str | bytes) for value in variable.values.flat)
    return of.kind in "iufSOUT" and texts and not is_enum and variable.attrs.get("dtype") != "bool"


def compare_store(tally, hyperslab, path, folder):
    for engine, group in groups(path):
        options = dict(consolidated=False) if engine == "zarr" else {}
        try:
            dataset = xarray.open_dataset(path, engine=engine, group=group or None, decode_cf=False, **options)
        except (ValueError, TypeError, KeyError):
            # Groups that xarray does not see as groups.
            continue
        masked = masks(path, group) if engine == "netcdf4" else {}
        with dataset:
            units = units_of_times(dataset)
            unlimited = dataset.encoding.get("unlimited_dims", set())
            for name, variable in dataset.variables.items():
                # Beyond the end of a variable, the library finds no fill values along a second unlimited dimension.
                if len(unlimited.intersection(variable.dims)) < 2 and can_compare(variable.load()):
                    wanted = of_variable(name, variable.load(), units.get(name, {}), masked.get(name))
                    inner = f"/{group}/{name}".replace("//", "/")
                    compare(tally, hyperslab, f"{path}:{inner}", wanted, folder)


def made(seed):
    """Variables of all kinds to which attributes give another meaning."""
    of = random.Random(seed)
    rng = np.random.default_rng(seed)
    count = of.choice((1, 5, 40))
    variables = {}

    def add(name, values, **attributes):
        variables[name] = (np.asarray(values), {key: value for key, value in attributes.items() if value is not None})

    for number in range(4):
        unit = of.choice(list(SECONDS))
        begin = of.choice(("2000-01-01", "1970-01-01 00:00:00", "1850-01-01T06:30:00", "1900-1-1", "1999-12-31 12:00:00.5", "1500-03-01", "0001-01-01"))
        calendar = of.choice((*CALENDARS, None))
        most = int(2e9 / SECONDS[unit])
        kind = of.choice(("i4", "i8", "f8", "f8"))
        counts = rng.integers(0, min(most, 2**31 - 2), count).astype(kind)
        if kind == "f8":
            counts += rng.integers(0, 1000, count) / of.choice((1, 2, 1000, 3))
        fill = of.choice((None, -999))
        if fill is not None:
            counts[rng.random(count) < 0.2] = fill
        add(f"time{number}", counts, units=f"{unit} since {begin}", calendar=calendar,
            _FillValue=None if fill is None else counts.dtype.type(fill))
    for number in range(4):
        kind = np.dtype(of.choice(("i1", "u1", "i2", "u2", "i4", "f4")))
        parameter = of.choice((np.float32, np.float64))
        values = rng.integers(0, 100, count).astype(kind)
        attributes = dict(scale_factor=parameter(of.choice((0.01, 2.0, -0.5, 1 / 3))))
        if of.random() < 0.7:
            attributes["add_offset"] = parameter(of.choice((273.15, -5.0, 1e4)))
        if of.random() < 0.5:
            attributes["_FillValue"] = kind.type(7)
        if of.random() < 0.5:
            attributes["missing_value"] = kind.type(8)
        if of.random() < 0.3:
            attributes["valid_range"] = np.array([10, 90], kind)
        elif of.random() < 0.3:
            attributes["valid_max"] = kind.type(80)
        add(f"packed{number}", values, units="K", **attributes)
    for number in range(2):
        kind = np.dtype(of.choice(("i1", "i2", "i4", "u1")))
        add(f"count{number}", rng.integers(0, 100, count).astype(kind), _FillValue=of.choice((None, kind.type(5))))
        add(f"real{number}", rng.integers(0, 9, count).astype(of.choice(("f4", "f8"))) / 3, valid_min=of.choice((None, 1.0)))
    add("bytes", rng.integers(-128, 128, count).astype("i1"), _Unsigned="true", _FillValue=np.int8(-1))
    add("shorts", rng.integers(-2**15, 2**15, count).astype("i2"), _Unsigned="true", scale_factor=np.float64(0.5))
    add("state", rng.integers(0, 4, count).astype("i1"), flag_values=np.array([0, 1, 2], "i1"), flag_meanings="off on  unknown")
    add("bits", rng.integers(0, 8, count).astype("u1"), flag_masks=np.array([1, 2, 4], "u1"), flag_meanings="cloud snow smoke",
        _FillValue=of.choice((None, np.uint8(7))))
    add("both", rng.integers(0, 16, count).astype("i2"), flag_masks=np.array([1, 2, 12, 12, 12], "i2"),
        flag_values=np.array([1, 2, 4, 8, 12], "i2"), flag_meanings="low hardware offline calibration maintenance")
    return count, variables


def write_netcdf(path, seed, format):
    count, variables = made(seed)
    with netCDF4.Dataset(path, "w", format=format) as file:
        file.createDimension("x", count)
        file.createDimension("bnds", 2)
        for name, (values, attributes) in variables.items():
            netcdf_samples.variable(file, name, values.dtype, ("x",), values, fill=attributes.pop("_FillValue", None), **attributes)
        netcdf_samples.variable(file, "x", "f8", ("x",), np.arange(count), units="days since 2001-02-03", calendar="noleap", bounds="x_bnds")
        netcdf_samples.variable(file, "x_bnds", "f8", ("x", "bnds"), np.arange(2.0 * count).reshape(count, 2) / 2)


def write_zarr(path, seed, version):
    count, variables = made(seed)
    dataset = xarray.Dataset({name: ("x", values, dict(attributes)) for name, (values, attributes) in variables.items()})
    # Without a fill value of its own, a float array would get NaN.
    dataset.to_zarr(path, zarr_format=version, consolidated=False)
    assert count


def main():
    hyperslab, examples = sys.argv[1:]
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        stores = [os.path.join(examples, name) for name in sorted(os.listdir(examples)) if name.endswith(".nc")]
        stores += netcdf_samples.make(folder)
        # Except those with types that only hyperslab restores from Zarr: enumerations, attribute numbers that are float32.
        for source in stores.copy():
            if os.path.basename(source).startswith(CONVERTED):
                target = os.path.join(folder, os.path.basename(source) + ".zarr")
                subprocess.run([hyperslab, "convert", "-q", source, target], check=True, timeout=300)
                stores.append(target)
        for seed in range(SEEDS):
            path = os.path.join(folder, f"seed{seed}")
            if seed % 2:
                write_zarr(f"{path}.zarr", seed, 2 + seed % 4 // 2)
                stores.append(f"{path}.zarr")
            else:
                write_netcdf(f"{path}.nc", seed, "NETCDF4")
                stores.append(f"{path}.nc")
        for store in stores:
            compare_store(tally, hyperslab, store, folder)
    tally.close()


if __name__ == "__main__":
    main()
