"""Joins files with `concat`, and compares the result with what xarray's open_mfdataset shows of the same files.

    concat.py HYPERSLAB
"""

import os
import subprocess
import sys
import tempfile
import warnings

import netCDF4
import numpy as np
import xarray as xr

from tally import Tally

warnings.simplefilter("ignore")

tally = Tally()
rng = np.random.default_rng(7)


def concat(sources, target, *options, code=0):
    command = [sys.argv[1], "concat", "--verify", *sources, target, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    tally.check(done.returncode == code, f"concat {os.path.basename(target)}", [done.stdout, done.stderr])
    return done.stderr


def identical(what, sources, target, dimension, **options):
    """Compares a joined store with the same files in xarray, with decoded values and with stored ones."""
    engine = "zarr" if sources[0].endswith(".zarr") else "netcdf4"
    for decoded in options.pop("decoded", (True, False)):
        known = dict(combine="nested", concat_dim=dimension, data_vars="minimal", coords="minimal", compat="override",
                     combine_attrs="override", join="override")
        wanted = xr.open_mfdataset(sources, engine=engine, decode_cf=decoded, **{**known, **options}).load()
        found = xr.open_zarr(target, decode_cf=decoded).load()
        try:
            xr.testing.assert_identical(wanted, found)
        except AssertionError as error:
            tally.check(False, f"{what}, decoded: {decoded}", str(error).splitlines())
        else:
            tally.check(True, what)
        wanted.close()


def hours(folder, count, format="NETCDF4", units=lambda day: "hours since 2020-01-01", chunks=(4, 5, 6), bounds_units=True,
          **options):
    """Files of one day each: packed values with missing ones along an unlimited time, and data that is the same in all."""
    paths = []
    for day in range(count):
        path = os.path.join(folder, f"day{day:03}.nc")
        with netCDF4.Dataset(path, "w", format=format) as file:
            file.title = "hourly values"
            file.createDimension("time", None)
            file.createDimension("lat", 5)
            file.createDimension("lon", 6)
            file.createDimension("bound", 2)
            time = file.createVariable("time", "f8", ("time",))
            time.units = units(day)
            time.bounds = "time_bounds"
            start = netCDF4.num2date(24 * day, "hours since 2020-01-01")
            first = netCDF4.date2num(start, time.units)
            step = netCDF4.date2num(netCDF4.num2date(24 * day + 1, "hours since 2020-01-01"), time.units) - first
            time[:] = first + step * np.arange(24)
            bounds = file.createVariable("time_bounds", "f8", ("time", "bound"))
            # Bounds without units have the units of the times.
            if bounds_units:
                bounds.units = time.units
            bounds[:] = np.stack([time[:] - step / 2, time[:] + step / 2], axis=1)
            for name, length in (("lat", 5), ("lon", 6)):
                file.createVariable(name, "f4", (name,))[:] = np.arange(length) * 10.0
            file.createVariable("height", "f4", ("lat", "lon"))[:] = np.arange(30).reshape(5, 6)
            file.createVariable("crs", "i4", ()).grid_mapping_name = "latitude_longitude"
            chunked = dict(chunksizes=chunks, **options) if format == "NETCDF4" else {}
            t = file.createVariable("t2m", "i2", ("time", "lat", "lon"), fill_value=-999, **chunked)
            t.scale_factor, t.add_offset, t.units = 0.01, 273.15, "K"
            values = rng.uniform(250, 300, (24, 5, 6))
            t[:] = np.ma.masked_array(values, rng.random((24, 5, 6)) < 0.1)
        paths.append(path)
    return paths


def member(folder, number, name="member"):
    """A file of one member of an ensemble: a time and bounds that differ from file to file, a height that does not."""
    path = os.path.join(folder, f"{name}{number}.nc")
    with netCDF4.Dataset(path, "w") as file:
        file.title = "ensemble"
        for dimension, length in (("lat", 5), ("lon", 6), ("bound", 2)):
            file.createDimension(dimension, length)
        for dimension, length in (("lat", 5), ("lon", 6)):
            file.createVariable(dimension, "f4", (dimension,))[:] = np.arange(length) * 10.0
        file.createVariable(name, "i4", ())[...] = number
        time = file.createVariable("time", "f8", ())
        time.units, time.bounds = "hours since 2020-01-01", "time_bounds"
        time[...] = 6.0 * number
        file.createVariable("time_bounds", "f8", ("bound",))[:] = [6.0 * number, 6.0 * number + 6]
        file.createVariable("height", "f8", ())[...] = 2.0
        file.createVariable("area", "f4", ("lat", "lon"))[:] = np.arange(30).reshape(5, 6)
        t = file.createVariable("t2m", "i2", ("lat", "lon"), fill_value=-999, zlib=True, chunksizes=(5, 3))
        t.scale_factor, t.add_offset, t.units = 0.01, 273.15, "K"
        t.coordinates = f"time height area {name}"
        t[:] = np.ma.masked_array(rng.uniform(250, 300, (5, 6)), rng.random((5, 6)) < 0.1)
        label = file.createVariable("label", str, ("lat",))
        label[:] = np.array([f"row {number}.{row}" for row in range(5)], dtype=object)
    return path


def new_dimensions(folder):
    """Files that are one step of a dimension each, as `xarray.concat` joins them."""
    for name in ("member", "time"):
        files = [member(folder, number, name if name == "member" else "run") for number in (1, 2, 5)]
        for suffix in (".zarr", ".nc"):
            target = os.path.join(folder, f"new_{name}{suffix}")
            concat(files, target, "--new-dimension", name)
            for decoded in (True, False):
                each = [xr.open_dataset(file, engine="netcdf4", decode_cf=decoded) for file in files]
                if not decoded:
                    # Without decoding, xarray does not know which variables describe others.
                    each = [one.set_coords([of for of in ("time", "time_bounds", "height", "area", "member", "run") if of in one])
                            for one in each]
                wanted = xr.concat(each, dim=name, coords="different", compat="equals", data_vars="all",
                                   combine_attrs="override", join="exact").load()
                found = (xr.open_zarr(target, decode_cf=decoded) if suffix == ".zarr"
                         else xr.open_dataset(target, engine="netcdf4", decode_cf=decoded)).load()
                found = found.set_coords([of for of in wanted.coords if of in found])
                wanted = wanted.set_coords([of for of in found.coords if of in wanted])
                try:
                    xr.testing.assert_identical(wanted, found)
                except AssertionError as error:
                    tally.check(False, f"a new {name} in {suffix}, decoded: {decoded}", str(error).splitlines())
                else:
                    tally.check(True, f"a new {name}")
    # No variable has its name, which is kept as that of a dimension.
    files = [os.path.join(folder, f"bare{number}.nc") for number in range(2)]
    for number, file in enumerate(files):
        xr.Dataset({"tas": ("x", [1.0, 2.0 + number])}).to_netcdf(file)
    wanted = xr.concat([xr.open_dataset(file) for file in files], dim="member", join="exact").load()
    for name in ("bare.zarr", "bare.nc", "bare3.nc", "bare.h5"):
        target = os.path.join(folder, name)
        concat(files, target, "--new-dimension", "member", *(["--format", "netcdf3"] if name == "bare3.nc" else []))
        found = xr.open_zarr(target) if name.endswith(".zarr") else xr.open_dataset(target, engine="netcdf4")
        tally.check(found.load().identical(wanted), f"a new dimension without a variable in {name}", [str(found)])
    files = [member(folder, number) for number in (1, 2, 5)]
    said = concat(files, os.path.join(folder, "none.zarr"), "--along", "member", code=2)
    tally.check("--new-dimension" in said, "a missing dimension can be a new one", [said])


def units_and_types(folder):
    """Times that the unit and type of the first file cannot represent, as open_mfdataset joins them."""
    def month(name, times, **encoding):
        path = os.path.join(folder, name)
        values = np.arange(len(times), dtype="f4")
        one = xr.Dataset({"tas": ("time", values)}, {"time": np.array(times, "M8[ns]")})
        one.to_netcdf(path, unlimited_dims=["time"], encoding={"time": encoding})
        return path

    days = dict(units="days since 2019-01-01")
    for name, files in {
        "months": [month(f"month{number}.nc", [time]) for number, time in
                   enumerate(("2019-01-16T12", "2019-02-15T00", "2019-03-16T12"))],
        "integers": [month("short.nc", ["2019-01-01"], dtype="i4", **days), month("long.nc", ["2019-01-02"], dtype="i8", **days)],
        "numbers": [month("whole.nc", ["2019-01-01"], dtype="i8", **days),
                    month("part.nc", ["2019-01-02T06", "2019-01-03T18"], dtype="f8", **days)],
    }.items():
        wanted = xr.open_mfdataset(files, combine="nested", concat_dim="time", combine_attrs="override").load()
        for suffix in (".nc", ".zarr"):
            target = os.path.join(folder, name + suffix)
            said = concat(files, target)
            tally.check("units or types differ" in said, f"{name} are noted", [said])
            found = (xr.open_zarr(target) if suffix == ".zarr" else xr.open_dataset(target)).load()
            tally.check(found.equals(wanted), f"{name} in {suffix}", [str(found), str(wanted)])


def marks(folder):
    """A Zarr store written by xarray, whose _FillValue is base64, equals its NetCDF file."""
    paths = [os.path.join(folder, name) for name in ("first.zarr", "second.nc")]
    for number, path in enumerate(paths):
        one = xr.Dataset({"a": ("x", np.array([1, np.nan], "f4"))}, {"x": [2 * number, 2 * number + 1]})
        one.to_zarr(path) if path.endswith(".zarr") else one.to_netcdf(path)
    target = os.path.join(folder, "both.nc")
    concat(paths, target)
    found = xr.open_dataset(target).load()
    tally.check(np.array_equal(found.a, np.array([1, np.nan] * 2, "f4"), equal_nan=True), "joined marks", [str(found)])
    single = os.path.join(folder, "single.nc")
    for command in (["convert", paths[0], single], ["diff", paths[0], single]):
        done = subprocess.run([sys.argv[1], *command], capture_output=True, text=True, timeout=300)
        tally.check(done.returncode == 0, f"{command[0]} of a store with marks", [done.stdout, done.stderr])


def main():
    with tempfile.TemporaryDirectory() as folder:
        def place(name):
            path = os.path.join(folder, name)
            os.makedirs(path)
            return path

        for name, options in {
            "deflated": dict(zlib=True, complevel=3, shuffle=True),
            "plain": {},
            "torn": dict(chunks=(7, 5, 6)),
            "classic": dict(format="NETCDF3_64BIT_OFFSET"),
        }.items():
            files = hours(place(name), 6, **options)
            target = os.path.join(folder, f"{name}.zarr")
            said = concat(files, target, "--along", "time", *(["-f", "keep"] if name == "deflated" else []))
            tally.check("gap" not in said and "order" not in said, f"{name} has no gaps", [said])
            identical(name, files, target, "time")

        # Zarr as the source, and by_coords, which sorts as --sort does.
        stores = []
        for number, file in enumerate(hours(place("stores"), 4)):
            stores.append(os.path.join(folder, f"store{number}.zarr"))
            xr.open_dataset(file).to_zarr(stores[-1], zarr_format=2)
        target = os.path.join(folder, "stores.zarr")
        concat(stores, target)
        identical("stores of Zarr", stores, target, "time")
        target = os.path.join(folder, "sorted.zarr")
        concat(stores[::-1], target, "--sort", "--along", "time")
        identical("sorted", stores, target, "time", combine="by_coords", concat_dim=None)

        # Other epochs: the same times, as counts since the first epoch.
        epochs = lambda day: f"days since 2020-01-{day + 1:02}"
        files = hours(place("epochs"), 5, units=epochs, bounds_units=False)
        target = os.path.join(folder, "epochs.zarr")
        said = concat(files, target)
        tally.check("other units" in said, "other units are noted", [said])
        wanted = xr.open_mfdataset(files, combine="nested", concat_dim="time", data_vars="minimal", coords="minimal",
                                   compat="override", combine_attrs="override").load()
        found = xr.open_zarr(target).load()
        for name in ("time", "time_bounds"):
            apart = np.abs((wanted[name].values - found[name].values).astype("timedelta64[us]"))
            tally.check((apart <= np.timedelta64(1, "us")).all(), f"{name} since other epochs has the same moments")
        tally.check(np.array_equal(wanted.t2m.values, found.t2m.values, equal_nan=True), "values with other epochs")

        # Along a dimension other than the first, fixed and decreasing.
        tiles = []
        for number in range(3):
            lat = 90.0 - 10 * (4 * number + np.arange(4))
            data = xr.Dataset(
                {"z": (("level", "lat", "lon"), rng.random((3, 4, 5)).astype("f4")), "names": (("lat",), [f"row {n}" for n in lat])},
                {"lat": lat, "lon": np.arange(5.0)},
            )
            tiles.append(os.path.join(folder, f"tile{number}.nc"))
            data.to_netcdf(tiles[-1], encoding={"z": {"chunksizes": (1, 2, 5), "zlib": True}})
        target = os.path.join(folder, "tiles.zarr")
        concat(tiles, target)
        identical("along the second dimension", tiles, target, "lat")

        # What xarray accepts without checking, and hyperslab rejects by name.
        os.makedirs(os.path.join(folder, "other"))
        with netCDF4.Dataset(os.path.join(folder, "other", "other.nc"), "w") as file:
            file.createDimension("time", None)
            file.createVariable("time", "f8", ("time",)).units = "hours since 2020-01-01"
            file["time"][:] = [9999.0]
        said = concat([files[0], os.path.join(folder, "other", "other.nc")], os.path.join(folder, "none.zarr"), code=2)
        tally.check("is missing here" in said, "a missing variable is named", [said])
        new_dimensions(place("new"))
        units_and_types(place("types"))
        marks(place("marks"))
    tally.close()


if __name__ == "__main__":
    main()
