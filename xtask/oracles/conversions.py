"""Converts files to Zarr, reads them with zarr-python, xarray, netCDF-C and GDAL, and compares with h5py and netCDF4.

    conversions.py HYPERSLAB DIRECTORY [STRIDE]

Every STRIDE-th HDF5 and NetCDF-4 file below DIRECTORY is converted to versions 3 and 2, with the losses that its
report names. Each dataset must be an array of the same shape and values, and each variable of a NetCDF file the same
in xarray; where a variable ends before its dimension, the rest is fill. An array that a reader
cannot read needs a reason below. Whatever a reader reads must be right.
"""

import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

import h5py
import hdf5plugin  # noqa: F401, filters of files
import netCDF4
import numpy as np
import xarray
import zarr

import records
from tally import Tally

warnings.simplefilter("ignore")

# The reasons why an array or a variable cannot be compared.
NO_TYPE = "no type of Zarr as zarr-python has it"
NO_FILL = "xarray decodes no _FillValue of fixed-length bytes in version 3"
TANGLED = "netCDF-C reads other elements of a variable that ends before dimensions behind the first"
MASKED = "xarray masks elements that equal the fill value in version 2"
NO_JSON = "the type of an attribute that JSON does not have"
DOUBLE = "scale_factor is a double in JSON, so that values are decoded to doubles"
NOT_READ = "the source is not read by h5py"
JSON = "elements are JSON strings"
NO_STORE = "NetCDF-C does not open the store"
NOT_THERE = "NetCDF-C lacks it"
USER_TYPE = "user-defined type"
NO_SOURCE = "xarray does not open the source"
NO_TREE = "xarray opens the source as no tree"
LARGE = "larger than 64 MiB"
MAX_BYTES = 1 << 26
# The exact number of comparisons of the example files that each reason prevents.
NOT_COMPARED = {
    NO_STORE: 4, NOT_THERE: 2, JSON: 6, TANGLED: 8, NO_TYPE: 8, DOUBLE: 2, NOT_READ: 10, USER_TYPE: 14, MASKED: 7,
    NO_FILL: 1, NO_TREE: 2,
}


# Attributes by which HDF5 and NetCDF know dimensions. In Zarr these are names of dimensions.
BOOKKEEPING = {
    "CLASS", "NAME", "DIMENSION_LABELS", "DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "_NCProperties",
    "_ARRAY_DIMENSIONS",
}


class Skip(Exception):
    """The comparison is not possible, with the reason."""


def converted(hyperslab, source, target, version, *options):
    command = [hyperslab, "convert", "--quiet", "--allow-loss=all", f"--format=zarr{version}"]
    # zarr-python 3.1 reads only the old form of structs.
    command += ["--option=zarr.struct=legacy", *options, source, target]
    done = subprocess.run(command, capture_output=True, timeout=300)
    return done.returncode, done.stderr.decode(errors="replace").strip()


def record_of(node):
    """What hyperslab records about a node because Zarr cannot represent it."""
    member = getattr(node.metadata, "extra_fields", {}).get("hyperslab")
    return member or json.loads(node.attrs.get("_nc_hyperslab", "{}"))


def resolve(root, path):
    """The node at a path. Links are resolved with the records."""
    node, rest = root, [name for name in path.split("/") if name]
    for _ in range(100):
        if not rest:
            return node
        name, *rest = rest
        link = record_of(node).get("links", {}).get(name)
        if link and "hard" in link:
            node, rest = root, [part for part in link["hard"].split("/") if part] + rest
        elif name in node:
            node = node[name]
        else:
            for key, member in node.members():
                if record_of(member).get("name") == name:
                    node = member
                    break
            else:
                raise KeyError(path)
    raise KeyError(path)


def datasets(file):
    """All datasets that are variables, by their first path."""
    found = []

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            about = item.attrs.get("NAME", b"")
            if not (isinstance(about, bytes) and about.startswith(b"This is a netCDF dimension but not")):
                found.append((name, item))

    file.visititems(visit)
    return found


def expected(dataset):
    """The expected values of a dataset after its conversion."""
    try:
        dtype = dataset.dtype
        if dataset.size is not None and dataset.size * dtype.itemsize > MAX_BYTES:
            raise Skip(LARGE)
        values = dataset[()]
    except Skip:
        raise
    except Exception:
        raise Skip(NOT_READ) from None
    if isinstance(values, h5py.Empty):
        return np.zeros((0,), dtype)
    return values


def same_texts(found, values):
    plain = lambda text: text if isinstance(text, bytes) else str(text).encode()
    return [plain(text) for text in found.reshape(-1)] == [plain(text or b"") for text in np.asarray(values, object).reshape(-1)]


def same(dataset, array, values):
    dtype = dataset.dtype
    found = np.asarray(array[...])
    if h5py.check_string_dtype(dtype) and dtype.kind == "O":
        return found.shape == np.shape(values) and same_texts(found, values)
    if h5py.check_ref_dtype(dtype):
        return found.shape == np.shape(values)
    if dtype.kind == "O":
        if found.dtype.kind in "TU":
            raise Skip(JSON)
        base = h5py.check_vlen_dtype(dtype)
        if base is None or base.kind == "O":
            raise Skip(JSON)
        # h5py does not swap big-endian elements, but declares them as native.
        ordered = lambda item: np.asarray(item).view(base).astype(base.newbyteorder("=")).tobytes()
        sequences = [values] if dataset.shape == () else np.asarray(values, object).reshape(-1)
        # NumPy makes fixed-length bytes of one element, and cuts zeros off its value.
        stored = [found.tobytes()] if found.dtype.kind == "S" else [bytes(item) for item in found.reshape(-1)]
        return stored == [ordered(item) for item in sequences]
    values = np.asarray(values)
    if values.dtype.hasobject and found.dtype.kind in "TUO":
        raise Skip(JSON)
    if found.dtype.kind == "V" and values.dtype.kind in "fiu":
        raise Skip(NO_TYPE)
    if found.shape != values.shape:
        return False
    if dtype.kind == "S":
        # h5py shows some opaque elements as bytes, which NumPy cuts at their zeros.
        plain = lambda item: item.tobytes().rstrip(b"\0").rstrip(b" ")
        return list(map(plain, found.reshape(-1))) == list(map(plain, values.reshape(-1)))
    return same_elements(found, values)


def same_elements(found, values):
    if values.dtype.names:
        if found.dtype.names is None:
            raise Skip(NO_TYPE)
        if any(values.dtype[name].kind in "OV" and not values.dtype[name].names for name in values.dtype.names):
            raise Skip(JSON if values.dtype.hasobject else NO_TYPE)
        return all(same_elements(found[name], values[name]) for name in values.dtype.names)
    if values.dtype.hasobject:
        raise Skip(JSON)
    if values.dtype.kind == "b":
        found = found.astype(bool)
    if values.dtype.kind == "V" or found.dtype.kind == "V":
        return found.tobytes() == values.tobytes()
    if found.shape != values.shape or found.dtype.kind not in (values.dtype.kind, "b"):
        return False
    return np.array_equal(found, values, equal_nan=values.dtype.kind in "fc")


def by_zarr(tally, skipped, name, source, store, version):
    root = zarr.open(store, mode="r")
    with h5py.File(source) as file:
        for path, dataset in datasets(file):
            what = f"zarr-python, version {version}: {name}:/{path}"
            try:
                values = expected(dataset)
                clean = "/".join(part.removeprefix("_nc4_non_coord_") for part in path.split("/"))
                array = resolve(root, clean)
                good = same(dataset, array, values) if not is_short(dataset, array) else same_part(dataset, array, values)
                why = "" if good else f"{dataset.dtype} {dataset.shape} became {array.dtype} {array.shape}"
                tally.check(good, what, [why])
                same_attributes(tally, skipped, what, dataset, array)
            except Skip as skip:
                skipped[str(skip)] += 1
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                if "No Zarr data type found" in reason and has_no_type(dataset):
                    skipped[NO_TYPE] += 1
                elif isinstance(error, KeyError) and not has_type(dataset):
                    skipped[NOT_READ] += 1
                else:
                    tally.check(False, what, [reason[:400]])


def same_attributes(tally, skipped, what, item, node):
    """Compares the attributes of an object with those that zarr-python reads."""
    for key in item.attrs:
        if key in BOOKKEEPING or key == "_FillValue":
            continue
        try:
            value = item.attrs[key]
        except Exception:
            skipped[NOT_READ] += 1
            continue
        values = np.asarray(value)
        if isinstance(value, h5py.Empty) or values.dtype.kind not in "biufSUO" or h5py.check_ref_dtype(values.dtype):
            skipped[NO_JSON] += 1
            continue
        if values.dtype.kind == "O" and not all(isinstance(of, (str, bytes)) for of in values.reshape(-1)):
            skipped[NO_JSON] += 1
            continue
        found = node.attrs.get(key, "nothing")
        tally.check(equal_attribute(value, found), f"{what}@{key}", [f"{value!r} became {found!r}"[:300]])


def is_short(dataset, array):
    """Whether a dataset is shorter than its extendible dimensions, unlike the converted array."""
    own, full, most = dataset.shape, array.shape, dataset.maxshape
    return own is not None and own != full and len(own) == len(full) and all(
        size == there or size < there and limit is None for size, there, limit in zip(own, full, most)
    )


class Part:
    """The part of an array that a shorter dataset contains."""

    def __init__(self, array, shape):
        self.array, self.shape = array, shape

    def __getitem__(self, _):
        return records.within(np.asarray(self.array[...]), self.shape)


def same_part(dataset, array, values):
    rest, fill = records.beyond(np.asarray(array[...]), dataset.shape), dataset.fillvalue
    is_text = rest.dtype.kind in "TUO"
    is_fill = all(item in ("", b"") for item in rest) if is_text else same_elements(rest, np.full_like(rest, fill))
    return is_fill and same(dataset, Part(array, dataset.shape), values)


def has_type(dataset):
    try:
        return dataset.dtype is not None
    except Exception:
        return False


def has_no_type(dataset):
    """Whether Zarr stores the type as raw bytes, which zarr-python does not read in version 3."""
    kind = dataset.id.get_type().get_class()
    if kind in (h5py.h5t.OPAQUE, h5py.h5t.BITFIELD, h5py.h5t.TIME, h5py.h5t.COMPOUND):
        return True
    return kind == h5py.h5t.FLOAT or dataset.dtype.kind == "V" or dataset.dtype.itemsize > 8


def groups(group, path="/"):
    yield path, group
    for name, below in group.groups.items():
        yield from groups(below, f"{path.rstrip('/')}/{name}")


def user_types(group):
    """The variables with types that xarray does not support."""
    types = (netCDF4.CompoundType, netCDF4.VLType)
    return [name for name, variable in group.variables.items() if isinstance(variable.datatype, types)]


def equal_attribute(one, other):
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.kind in "SUO" or other.dtype.kind in "SUOT":
        text = lambda of: [item.decode() if isinstance(item, bytes) else str(item) for item in of.reshape(-1)]
        return text(one) == text(other)
    return one.size == other.size and np.array_equal(one.reshape(-1), other.reshape(-1), equal_nan=True)


def compare_datasets(tally, skipped, what, wanted, found, own):
    for name, variable in wanted.variables.items():
        place = f"{what}{name}"
        if name not in found.variables:
            tally.check(False, place, ["is not there"])
            continue
        other = found.variables[name]
        problems = []
        if variable.dims != other.dims:
            problems.append(f"dimensions {variable.dims} became {other.dims}")
        attributes = dict(other.attrs)
        if set(variable.attrs) != set(attributes):
            problems.append(f"attributes {sorted(variable.attrs)} became {sorted(attributes)}")
        problems += [
            f"attribute {key}: {variable.attrs[key]!r} became {attributes[key]!r}"
            for key in set(variable.attrs) & set(attributes)
            if not equal_attribute(variable.attrs[key], attributes[key])
        ]
        if other.encoding.get("_FillValue") is not None and "_FillValue" not in variable.encoding and own(name) != variable.shape:
            skipped[MASKED] += 1
        fills = [of.encoding.get("_FillValue") for of in (variable, other)]
        if isinstance(fills[0], bytes) and fills[1] is None:
            # xarray could not open the store with this attribute, so it is only in the record.
            skipped[NO_FILL] += 1
        elif fills[0] is not None and (fills[1] is None or not equal_attribute(*fills)):
            problems.append(f"_FillValue {fills[0]!r} became {fills[1]!r}")
        if variable.dtype == np.float32 and other.dtype == np.float64 and "scale_factor" in variable.encoding:
            skipped[DOUBLE] += 1
            if not np.allclose(variable.values, other.values, rtol=1e-6, atol=0, equal_nan=True):
                problems.append("values become others")
        elif own(name) is not None and own(name)[1:] != variable.shape[1:]:
            skipped[TANGLED] += 1
        elif not same_values(variable, other, own(name)):
            problems.append(f"{variable.dtype} values became others, {other.dtype}")
        tally.check(not problems, place, problems)
    extra = set(found.variables) - set(wanted.variables)
    tally.check(not extra, f"{what}: variables that are not in the source", sorted(extra))
    attributes = dict(found.attrs)
    wrong = [
        key for key in set(wanted.attrs) | set(attributes)
        if key not in wanted.attrs or key not in attributes or not equal_attribute(wanted.attrs[key], attributes[key])
    ]
    tally.check(not wrong, f"{what}: attributes of the group", wrong)


def same_values(variable, other, own):
    try:
        one, two = variable.values, other.values
    except Exception:
        return False
    if one.shape != two.shape:
        return False
    one, two = records.within(one, own), records.within(two, own)
    if two.dtype.kind == "f" and one.dtype.kind in "iu" and not np.isnan(two).any():
        two = two.astype(one.dtype)
    if one.dtype.kind in "SUO" or two.dtype.kind in "SUOT":
        return equal_attribute(one, two)
    return np.array_equal(one, two, equal_nan=one.dtype.kind in "fcmM")


def is_netcdf(source):
    """Whether the NetCDF library wrote a file. It cannot open all other files, and crashes on some."""
    with h5py.File(source) as file:
        return "_NCProperties" in file.attrs


def by_xarray(tally, skipped, name, source, store, version):
    dataset = netCDF4.Dataset(source)
    with dataset:
        paths = [(path, user_types(group)) for path, group in groups(dataset)]
    for path, types in paths:
        what = f"xarray, version {version}: {name}:{path.rstrip('/')}/"
        skipped[USER_TYPE] += len(types)
        try:
            wanted = xarray.open_dataset(source, engine="netcdf4", group=path, drop_variables=types)
        except Exception:
            skipped[NO_SOURCE] += 1
            continue
        with wanted:
            try:
                with xarray.open_zarr(store, group=path, consolidated=False, drop_variables=types) as found:
                    with h5py.File(source) as file:
                        own = lambda variable: records.own_shape(file, f"{path.strip('/')}/{variable}".lstrip("/"))
                        compare_datasets(tally, skipped, what, wanted, found, own)
            except Exception as error:
                if is_fill_of_bytes(error):
                    skipped[NO_FILL] += 1
                else:
                    tally.check(False, what, [f"{type(error).__name__}: {error}"[:400]])
    try:
        tree = xarray.open_datatree(source, engine="netcdf4")
    except Exception:
        skipped[NO_TREE] += 1
        return
    with tree:
        try:
            with xarray.open_datatree(store, engine="zarr", consolidated=False) as found:
                tally.check(set(tree.groups) == set(found.groups), f"xarray, version {version}: {name} as a tree of groups")
        except Exception as error:
            if is_fill_of_bytes(error):
                skipped[NO_FILL] += 1
            else:
                tally.check(False, f"xarray, version {version}: {name} as a tree", [f"{type(error).__name__}: {error}"[:400]])


def is_fill_of_bytes(error):
    return "Failed to decode fill_value. Unsupported dtype |S" in str(error)


def by_gdal(tally, name, store):
    """GDAL must list every group and array, even if it does not know the type."""
    done = subprocess.run(["gdalmdiminfo", store], capture_output=True, timeout=120)
    # GDAL reports unknown types on standard error, one line per array.
    tally.check(done.returncode == 0, f"GDAL: {name}", [done.stderr.decode(errors="replace")[:300]])


def by_netcdf(tally, skipped, name, source, store):
    """NetCDF-C must read the numbers of all variables that it lists."""
    try:
        dataset = netCDF4.Dataset(f"file://{os.path.abspath(store)}#mode=zarr,file")
    except OSError:
        skipped[NO_STORE] += 1
        return
    with dataset, netCDF4.Dataset(source) as original:
        for variable in original.variables.values():
            variable.set_auto_maskandscale(False)
            found = dataset.variables.get(variable.name)
            if found is None or not isinstance(variable.dtype, np.dtype) or variable.dtype.kind not in "iuf":
                skipped[NOT_THERE] += 1
                continue
            found.set_auto_maskandscale(False)
            if variable.shape == () or 0 in variable.shape:
                continue
            what = f"NetCDF-C: {name}:/{variable.name}"
            with h5py.File(source) as file:
                own = records.own_shape(file, variable.name)
            try:
                one, two = records.within(variable[...], own), records.within(found[...], own)
                same_ = found.shape == variable.shape and np.array_equal(one, two, equal_nan=variable.dtype.kind == "f")
                tally.check(same_, what, ["other values"])
            except Exception as error:
                tally.check(False, what, [str(error)])


def sources(directory):
    for at, folders, names in os.walk(directory):
        folders.sort()
        if {"zarr.json", ".zarray", ".zgroup"} & set(names):
            folders.clear()
            continue
        for name in sorted(names):
            path = os.path.join(at, name)
            if h5py.is_hdf5(path):
                yield path


def main():
    hyperslab, directory, stride = sys.argv[1], sys.argv[2], int((sys.argv + ["1"])[3])
    tally, skipped, unread = Tally(), collections.Counter(), 0
    has_gdal = shutil.which("gdalmdiminfo") is not None
    if stride == 1 and not has_gdal:
        tally.skip("GDAL is not installed: apt-get install gdal-bin")
    with tempfile.TemporaryDirectory() as folder:
        chosen = list(sources(directory))[::stride]
        if stride == 1:
            chosen += records.make(folder)
        for number, source in enumerate(chosen):
            name = os.path.relpath(source, directory if source.startswith(directory) else folder)
            for version in (3, 2):
                store = os.path.join(folder, f"{number}.{version}.zarr")
                code, said = converted(hyperslab, source, store, version)
                if code == 2 and stride > 1:
                    unread += 1
                    continue
                tally.check(code == 0, f"{name} to version {version}", [said[-300:]])
                if code != 0:
                    continue
                try:
                    by_zarr(tally, skipped, name, source, store, version)
                    if is_netcdf(source):
                        by_xarray(tally, skipped, name, source, store, version)
                        if version == 2 and stride == 1:
                            by_netcdf(tally, skipped, name, source, store)
                            marked = os.path.join(folder, f"{number}.nczarr")
                            code, said = converted(hyperslab, source, marked, version, "--option=zarr.nczarr")
                            tally.check(code == 0, f"{name} to NCZarr", [said[-300:]])
                            records.by_nczarr(tally, name, source, marked)
                            shutil.rmtree(marked, ignore_errors=True)
                    if version == 2 and stride == 1 and has_gdal:
                        by_gdal(tally, name, store)
                except Exception as error:
                    tally.check(False, f"{name}, version {version}", [f"{type(error).__name__}: {error}"[:400]])
                shutil.rmtree(store, ignore_errors=True)
    for why, count in sorted(skipped.items()):
        print(f"not compared, {count}: {why}")
    if stride == 1:
        for why in sorted(skipped.keys() | NOT_COMPARED.keys()):
            found, wanted = skipped[why], NOT_COMPARED.get(why, 0)
            tally.check(found == wanted, f"not compared, {found}, expected {wanted}: {why}")
    if unread:
        print(f"not converted, {unread}: no HDF5 file that opens")
    tally.close()


if __name__ == "__main__":
    main()
