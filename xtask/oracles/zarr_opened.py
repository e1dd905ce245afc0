"""Converts small files that h5py and zarr-python write to Zarr with the default options, and opens the result.

    zarr_opened.py HYPERSLAB

Every array must be the same in zarr-python, in xarray, and in tensorstore if it has the type.
"""

import os
import subprocess
import sys
import tempfile
import warnings

import h5py
import hdf5plugin
import netCDF4
import numpy as np
import tensorstore
import xarray
import zarr

from tally import Tally

warnings.simplefilter("ignore")

tally = Tally()
cases = []


def case(function):
    cases.append(function)
    return function


def convert(source, target, *options, code=0):
    """Converts with the default options and these; the report."""
    command = [sys.argv[1], "convert", "--verify", *options, source, target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    name = f"{os.path.basename(source)} converts {' '.join(options)}".strip()
    tally.check(done.returncode == code, name, [done.stdout, done.stderr])
    return done.stdout


def in_tensorstore(store, path="", version=3):
    spec = {"driver": "zarr3" if version == 3 else "zarr", "kvstore": {"driver": "file", "path": os.path.join(store, path)}}
    return tensorstore.open(spec).result().read().result()


def equal(what, found, wanted):
    found, wanted = np.asarray(found), np.asarray(wanted)
    same = found.shape == wanted.shape and found.dtype.kind == wanted.dtype.kind and np.array_equal(
        found, wanted, equal_nan=wanted.dtype.kind in "fc"
    )
    tally.check(same, what, [f"{wanted.dtype} {wanted!r}", f"became {found.dtype} {found!r}"])


def everywhere(what, store, path, wanted, version=3):
    """Compares an array in zarr-python and in tensorstore."""
    for reader, read in [
        ("zarr-python", lambda: zarr.open(store, mode="r")[path][...]),
        ("tensorstore", lambda: in_tensorstore(store, path, version)),
    ]:
        try:
            found = read()
        except Exception as error:
            tally.check(False, f"{what} in {reader}", [f"{type(error).__name__}: {error}"[:400]])
        else:
            equal(f"{what} in {reader}", found, wanted)


@case
def filters_of_hdf5_are_read_everywhere(folder):
    source = os.path.join(folder, "filters.h5")
    values = np.round(np.sin(np.arange(40000) / 300) * 100, 1).astype("f4").reshape(200, 200)
    filters = {
        "deflate": {"compression": "gzip", "compression_opts": 4},
        "shuffled": {"compression": "gzip", "shuffle": True},
        "checked": {"compression": "gzip", "shuffle": True, "fletcher32": True},
        "sum": {"fletcher32": True},
        "shuffle": {"shuffle": True},
        "lzf": {"compression": "lzf", "shuffle": True},
        "scaled": {"scaleoffset": 1},
        "szip": {"compression": "szip"},
        "bitshuffle": hdf5plugin.Bitshuffle(),
        "blosc2": hdf5plugin.Blosc2(cname="zstd"),
        "lz4": hdf5plugin.LZ4(),
        "bzip2": hdf5plugin.BZip2(),
        "zfp": hdf5plugin.Zfp(reversible=True),
    }
    with h5py.File(source, "w") as file:
        for name, options in filters.items():
            file.create_dataset(name, data=values, chunks=(100, 100), **dict(options))
    store = os.path.join(folder, "filters.zarr")
    report = convert(source, store)
    tally.check("filters shuffle, deflate" in report and "Blosc with zlib" in report, "the report names filters", [report])
    with h5py.File(source) as file:
        for name in filters:
            everywhere(f"filter {name}", store, name, file[name][...])
            tally.check("numcodecs" not in open(os.path.join(store, name, "zarr.json")).read(), f"filter {name} is registered")
        for name in ("deflate", "shuffled", "checked"):
            before = file[name].id.get_storage_size()
            after = sum(os.path.getsize(os.path.join(at, one)) for at, _, them in os.walk(os.path.join(store, name, "c")) for one in them)
            # A chunk of 40 kB; the headers of Blosc are a few bytes each.
            tally.check(after <= 1.02 * before + 4 * 64, f"filter {name} keeps the size", [f"{before} became {after}"])


@case
def metadata_is_consolidated(folder):
    source = os.path.join(folder, "groups.h5")
    with h5py.File(source, "w") as file:
        file["a/b/c"] = np.arange(3)
    for version in (3, 2):
        for option in ("true", "false"):
            store = os.path.join(folder, f"groups{version}{option}.zarr")
            convert(source, store, f"--format=zarr{version}", f"--option=zarr.consolidated={option}")
            has = zarr.open_group(store, mode="r").metadata.consolidated_metadata is not None
            tally.check(has == (option == "true"), f"version {version}: zarr.consolidated={option} in zarr-python")
        store = os.path.join(folder, f"default{version}.zarr")
        convert(source, store, f"--format=zarr{version}")
        root = zarr.open_consolidated(store)
        tally.check(root["a/b/c"][...].tolist() == [0, 1, 2], f"version {version} is consolidated by default")


def described(location):
    done = subprocess.run([sys.argv[1], "describe", "--values", location], capture_output=True, text=True, timeout=300)
    # The first line names the location.
    return done.stdout.split("\n", 1)[1]


@case
def dimensions_without_names_are_those_of_netcdf_c(folder):
    source = os.path.join(folder, "plain.h5")
    with h5py.File(source, "w") as file:
        file["a"], file["b"], file["s"] = np.ones((4, 4)), np.ones((4, 6), "i2"), 1.5
        file["g/c"], file["g/d"] = np.ones((6, 3)), np.ones(4, np.dtype((np.int16, (2,))))
        file.create_dataset("u", data=np.arange(4), maxshape=(None,), chunks=(2,))
    store = os.path.join(folder, "plain3.zarr")
    with netCDF4.Dataset(source) as wanted:
        for version in (3, 2):
            store = os.path.join(folder, f"plain{version}.zarr")
            convert(source, store, f"--format=zarr{version}")
            for group, path in [(wanted, "/"), (wanted["g"], "/g")]:
                with xarray.open_zarr(store, group=path) as found:
                    for name, variable in group.variables.items():
                        what = f"version {version}: dimensions of {path}/{name}"
                        own = found[name].dims
                        tally.check(own[: variable.ndim] == variable.dimensions, what, [f"{variable.dimensions} became {own}"])
                        tally.check(len(set(own)) == len(own), what, [f"{own} twice"])
            with xarray.open_datatree(store, engine="zarr") as tree:
                tally.check(tree["g/c"].shape == (6, 3), f"version {version}: xarray opens the tree")
            # On the way back they are gone.
            back = os.path.join(folder, f"back{version}.zarr")
            convert(store, back)
            for location in (store, back):
                tally.check("phony" not in described(location), f"version {version}: {location} has no dimensions of its own")


@case
def empty_arrays_have_dimensions(folder):
    source = os.path.join(folder, "empty.h5")
    with h5py.File(source, "w") as file:
        file["null"], file["zero"] = h5py.Empty("f4"), np.zeros((0, 3))
    for version in (3, 2):
        store = os.path.join(folder, f"empty{version}.zarr")
        convert(source, store, f"--format=zarr{version}")
        with xarray.open_zarr(store) as found:
            tally.check(found["null"].shape == (0,) and found["zero"].shape == (0, 3), f"version {version}: xarray opens empty arrays")
        tally.check("phony" not in described(store), f"version {version}: empty arrays have no dimensions of their own")


@case
def names_of_several_sizes_are_kept_and_said(folder):
    source = os.path.join(folder, "sizes.zarr")
    root = zarr.open_group(source, mode="w", zarr_format=3)
    for name, size in [("a", 2), ("b", 3)]:
        root.create_array(name, shape=(size, 5), dtype="i4", dimension_names=["d0", "d1"])[...] = size
    for version in (3, 2):
        store = os.path.join(folder, f"sizes{version}.zarr")
        report = convert(source, store, f"--format=zarr{version}")
        tally.check("dimension name d0" in report, f"version {version}: the report names the dimension", [report])
        for name in ("a", "b"):
            array = zarr.open(store, mode="r")[name]
            names = list(array.metadata.dimension_names) if version == 3 else array.attrs["_ARRAY_DIMENSIONS"]
            tally.check(names == ["d0", "d1"], f"version {version}: names of {name}", [str(names)])


def main():
    with tempfile.TemporaryDirectory() as folder:
        for function in cases:
            try:
                function(folder)
            except Exception as error:
                tally.check(False, function.__name__, [f"{type(error).__name__}: {error}"[:600]])
    tally.close()


main()
