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
import numcodecs
import numpy as np
import tensorstore
import xarray
import zarr

from tally import Tally
from verified import convert

warnings.simplefilter("ignore")

tally = Tally()
cases = []


def case(function):
    cases.append(function)
    return function


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
    report = convert(tally, source, store)
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
            convert(tally, source, store, f"--format=zarr{version}", f"--option=zarr.consolidated={option}")
            has = zarr.open_group(store, mode="r").metadata.consolidated_metadata is not None
            tally.check(has == (option == "true"), f"version {version}: zarr.consolidated={option} in zarr-python")
        store = os.path.join(folder, f"default{version}.zarr")
        convert(tally, source, store, f"--format=zarr{version}")
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
            convert(tally, source, store, f"--format=zarr{version}")
            for group, path in [(wanted, "/"), (wanted["g"], "/g")]:
                with xarray.open_zarr(store, group=path) as found:
                    for name, variable in group.variables.items():
                        what = f"version {version}: dimensions of {path}/{name}"
                        own = found[name].dims
                        tally.check(own[: variable.ndim] == variable.dimensions, what, [f"{variable.dimensions} became {own}"])
                        tally.check(len(set(own)) == len(own), what, [f"{own} twice"])
            with xarray.open_datatree(store, engine="zarr") as tree:
                tally.check(tree["g/c"].shape == (6, 3), f"version {version}: xarray opens the tree")
            # They are removed on the way back.
            back = os.path.join(folder, f"back{version}.zarr")
            convert(tally, store, back)
            for location in (store, back):
                tally.check("phony" not in described(location), f"version {version}: {location} has no dimensions of its own")


@case
def empty_arrays_have_dimensions(folder):
    source = os.path.join(folder, "empty.h5")
    with h5py.File(source, "w") as file:
        file["null"], file["zero"] = h5py.Empty("f4"), np.zeros((0, 3))
    for version in (3, 2):
        store = os.path.join(folder, f"empty{version}.zarr")
        convert(tally, source, store, f"--format=zarr{version}")
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
        report = convert(tally, source, store, f"--format=zarr{version}")
        tally.check("dimension name d0" in report, f"version {version}: the report names the dimension", [report])
        for name in ("a", "b"):
            array = zarr.open(store, mode="r")[name]
            names = list(array.metadata.dimension_names) if version == 3 else array.attrs["_ARRAY_DIMENSIONS"]
            tally.check(names == ["d0", "d1"], f"version {version}: names of {name}", [str(names)])


@case
def booleans_and_complex_numbers_of_h5py(folder):
    source = os.path.join(folder, "numbers.h5")
    values = {
        "complex64": np.array([1 + 2j, 3 - 4j], "c8"),
        "complex128": np.array([[1 + 2j, np.nan], [0, -1j]]),
        "big": np.array([1 + 2j, 5], ">c16"),
        "bool": np.array([True, False, True]),
        "scalar": np.bool_(True),
    }
    with h5py.File(source, "w") as file:
        for name, value in values.items():
            file[name] = value
    before = described(source)
    for version in (3, 2):
        store = os.path.join(folder, f"numbers{version}.zarr")
        convert(tally, source, store, f"--format=zarr{version}")
        for name, value in values.items():
            everywhere(f"version {version}: {name}", store, name, value, version)
            with xarray.open_zarr(store, mask_and_scale=False) as found:
                equal(f"version {version}: {name} in xarray", found[name].values, value)
        # The types of h5py are restored.
        types = lambda text: [line for line in text.splitlines() if "type:" in line]
        tally.check(types(described(store)) == types(before), f"version {version}: types", [described(store)])


@case
def structs_and_big_endian_numbers_are_read_by_zarr_python(folder):
    source = os.path.join(folder, "structs.h5")
    values = np.array([(1, 2.5), (-3, 0.5)], [("a", ">i4"), ("b", ">f8")])
    with h5py.File(source, "w") as file:
        file["s"] = values
    report = convert(tally, source, os.path.join(folder, "new.zarr"))
    tally.check("zarr.struct=legacy" in report, "the report names the option for zarr-python 3.1", [report])
    store = os.path.join(folder, "old.zarr")
    report = convert(tally, source, store, "--option=zarr.struct=legacy")
    tally.check("little-endian" in report, "the report names the byte order", [report])
    found = zarr.open(store, mode="r")["s"][...]
    tally.check(found.tolist() == values.tolist(), "big-endian structs in zarr-python", [str(found)])

    source = os.path.join(folder, "delta.zarr")
    values = np.array([1, 300, 5, 70000], ">i4")
    options = dict(shape=4, chunks=4, dtype=">i4", filters=[numcodecs.Delta(">i4")], compressors=None)
    zarr.open_group(source, mode="w", zarr_format=2).create_array("a", **options)[...] = values
    for option in ("--filter=keep", "--filter=delta", "--endian=keep"):
        store = os.path.join(folder, f"delta{option[2]}{option[-1]}.zarr")
        convert(tally, source, store, option)
        equal(f"big-endian differences with {option} in zarr-python", zarr.open(store, mode="r")["a"][...], values)


@case
def codecs_of_numcodecs_read_as_zarr_python_reads_them(folder):
    from zarr.codecs import numcodecs as codecs

    values = np.array([5, 6, 7, 8, 100, -3, 250, 300])
    for order in ("big", "little"):
        for kind in ("i4", "f8"):
            for dtype in (">", "<"):
                for inner in (">", "<"):
                    given, stored = inner + kind, inner + kind.replace("8", "4")
                    integers = dtype + "i4"
                    of = {"i4": {"delta": codecs.Delta(dtype=given)}, "f8": {
                        "fixedscaleoffset": codecs.FixedScaleOffset(offset=1, scale=10, dtype=given, astype=integers),
                        "quantize": codecs.Quantize(digits=2, dtype=given),
                        "astype": codecs.AsType(encode_dtype=stored, decode_dtype=dtype + kind),
                        "bitround": codecs.BitRound(keepbits=20),
                    }}[kind]
                    for name, codec in of.items():
                        case = f"{order}-{dtype}-{inner}-{name}".replace("<", "le").replace(">", "be")
                        store = os.path.join(folder, f"{case}.zarr")
                        try:
                            array = zarr.create_array(store, shape=8, chunks=8, dtype=dtype + kind, filters=codec,
                                                      compressors=None, serializer=zarr.codecs.BytesCodec(endian=order))
                            array[...] = values
                            wanted = zarr.open_array(store, mode="r")[...]
                        except KeyError:
                            # zarr-python cannot round bits of numbers that are big-endian in memory.
                            continue
                        shown = os.path.join(folder, f"{case}.npy")
                        command = [sys.argv[1], "show", "--as", "npy", "-o", shown, store]
                        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
                        tally.check(done.returncode == 0, f"{case} is shown", [done.stderr])
                        equal(case, np.load(shown), wanted)


@case
def nodes_of_version_2_have_any_name(folder):
    source = os.path.join(folder, "names.zspy")
    root = zarr.open_group(source, mode="w", zarr_format=2)
    root.create_group("__signal").create_array("data", shape=3, dtype="i4")[...] = [1, 2, 3]
    root.create_array("__learning_results", shape=2, dtype="f4")[...] = 1
    store = os.path.join(folder, "names.zarr")
    done = subprocess.run([sys.argv[1], "digest", source], capture_output=True, text=True, timeout=300)
    tally.check("/__signal/data" in done.stdout and "/__learning_results" in done.stdout, "all arrays are read", [done.stdout])
    convert(tally, source, store)
    tally.check(sum(1 for _ in zarr.open(store, mode="r").arrays()) == 1, "all arrays are written")
    tally.check(described(store).count("__signal") > 0, "the names come back")


@case
def attributes_are_those_of_the_source(folder):
    source = os.path.join(folder, "attributes.h5")
    values = {
        "nan": np.float64("nan"),
        "single": np.float32("nan"),
        "list": np.array([1.5, np.inf, -np.inf, np.nan], "f4"),
        "flag": np.bool_(True),
        "flags": np.array([True, False]),
        "large": np.uint64(2**64 - 1),
    }
    with h5py.File(source, "w") as file:
        file["a"] = np.arange(3.0)
        file["a"].attrs["missing_value"] = np.nan
        file["a"].attrs.update(values)
        file.attrs.update(values)
        file.attrs["complex"], file.attrs["complexes"] = 1 + 2j, np.array([1 + 2j, np.nan])
    for version in (3, 2):
        store = os.path.join(folder, f"attributes{version}.zarr")
        report = convert(tally, source, store, f"--format=zarr{version}")
        tally.check("NaN or infinity" in report, f"version {version}: the report names what is not JSON", [report])
        with xarray.open_zarr(store) as found:
            for of in (found.attrs, found["a"].attrs):
                for name, value in values.items():
                    equal(f"version {version}: attribute {name} in xarray", np.asarray(of[name]).astype(np.asarray(value).dtype), value)
                    kind = np.asarray(of[name]).dtype.kind
                    tally.check(kind in ("f", "b", "u"), f"version {version}: attribute {name} is a number in xarray", [repr(of[name])])
            missing = found["a"].encoding["missing_value"]
            tally.check(isinstance(missing, float) and np.isnan(missing), f"version {version}: missing_value", [repr(missing)])
            tally.check(found.attrs["complex"] == [1, 2], f"version {version}: complex", [repr(found.attrs["complex"])])
        differs = subprocess.run([sys.argv[1], "diff", source, store], capture_output=True, text=True, timeout=300)
        tally.check(differs.returncode == 0, f"version {version}: attributes come back", [differs.stdout[:400]])
        checked = subprocess.run([sys.argv[1], "check", store], capture_output=True, text=True, timeout=300)
        tally.check(checked.returncode == 0, f"version {version}: check", [checked.stdout[:400]])


def main():
    with tempfile.TemporaryDirectory() as folder:
        for function in cases:
            try:
                function(folder)
            except Exception as error:
                tally.check(False, function.__name__, [f"{type(error).__name__}: {error}"[:600]])
    tally.close()


main()
