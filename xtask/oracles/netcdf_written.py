"""Converts stores to NetCDF-4; programs that open the result must find the same content as in the source.

    netcdf_written.py HYPERSLAB DIRECTORY [--every N] [--samples] [--seeds N]
    netcdf_written.py HYPERSLAB DIRECTORY --zarr [--every N]

All NetCDF files below the directory, NetCDF-4 and classic, with --samples those of netcdf_samples.py, and with --seeds N files of netcdf_seeded.py,
are converted to .nc. For each result:

* `check` has no finding; `diff` and the digests find the content of the source, except for what the report of losses names;
* xarray finds every group identical to that of the source (`xarray.testing.assert_identical`, engines netcdf4 and
  h5netcdf), decoded and not;
* netCDF4 finds the same dimensions, unlimited or not, in the same order, and the same types, fill values and filters;
* h5py finds the same dimension scales as in what netCDF-C wrote;
* `ncdump -h` prints the same, and `nccopy` copies it;
* `ncgen` generates from the text of `ncdump` what it generates for the source, and reproduces the result if it reproduces
  the source;
* a file created from the description of the source has the same description as the source;
* netCDF4 can continue it like the source: a dimension, a variable, attributes and records are added to both, and
  xarray finds the same content in both.

With --zarr, all groups of Zarr stores that xarray opens are converted, and xarray must find in the file what it finds in
the store, apart from what the report names.
"""

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

import netcdf_samples
from netcdf_seeded import seeded
from conversions import groups
from corpus import stores
from identical import differing, is_random_beyond
from tally import Tally

warnings.simplefilter("ignore")

CLASSIC, HDF5 = b"CDF", b"\x89HDF\r\n\x1a\n"
BOOKKEEPING = {"_NCProperties", "_Netcdf4Coordinates", "_Netcdf4Dimid", "_nc3_strict"}


def run(*words, **how):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=300, **how)


# Files that the programs read differently for reasons of their own.
UNLIKE = {
    "f03tst_open_mem.nc": "the NetCDF library returns random memory for a variable",
    "air_linked.nc": "dimensions have second names by hard links, and the NetCDF library uses those",
    "nc4_groups.nc": "the NetCDF library takes the dimension of another group for one of the root",
    "SS_VIIRS_NPP-NAVO-L2P-v3.0.nc": "attributes without an order come in that of their hashes",
    "test_gold.nc": "attributes are texts without characters that are not pointers, which print as NIL",
}


def is_netcdf(path):
    """Whether netCDF4 opens a file, except HDF5 files that only netCDF4 can interpret."""
    with open(path, "rb") as file:
        first = file.read(8)
    if not (first.startswith(CLASSIC) or first == HDF5):
        return False
    if first == HDF5:
        described = run(HYPERSLAB, "describe", "--json", path)
        if described.returncode or '"netcdf4"' not in described.stdout[:2000].lower().replace("-", ""):
            return False
    try:
        netCDF4.Dataset(path).close()
        return True
    except Exception:
        return False


def of_netcdf4(path):
    """Everything that netCDF4 finds apart from values, which xarray compares."""
    found = {}

    def visit(group, path):
        found[f"{path} dimensions"] = [(d.name, len(d), d.isunlimited()) for d in group.dimensions.values()]
        found[f"{path} types"] = sorted([*group.cmptypes, *group.vltypes, *group.enumtypes])
        found[f"{path} variables"] = list(group.variables)
        for name, variable in group.variables.items():
            kind = variable.datatype
            kind = getattr(kind, "name", None) or getattr(kind, "dtype", kind)
            filters = variable.filters()
            # A single byte has no byte order.
            order = "" if getattr(variable.dtype, "itemsize", 0) == 1 else variable.endian()
            found[f"{path}/{name}"] = (str(kind), variable.dimensions, filters, order)
        for name, member in group.groups.items():
            visit(member, f"{path}/{name}")

    with netCDF4.Dataset(path) as file:
        visit(file, "")
    return found


def scales(path):
    """The dimension scales of a file, as h5py finds them."""
    found = {}

    def visit(name, item):
        if not isinstance(item, h5py.Dataset):
            return
        if item.attrs.get("CLASS") == b"DIMENSION_SCALE":
            label = item.attrs.get("NAME", b"")
            users = item.attrs["REFERENCE_LIST"] if "REFERENCE_LIST" in item.attrs else []
            users = sorted((item.file[reference].name, int(at)) for reference, at in users if reference)
            found[f"/{name}"] = (bytes(label), users, item.dtype, item.maxshape)
        elif "DIMENSION_LIST" in item.attrs:
            lists = item.attrs["DIMENSION_LIST"]
            found[f"/{name}"] = [[item.file[reference].name for reference in scales] for scales in lists]

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def open_group(path, group, engine, decode):
    options = {} if decode else {"decode_cf": False}
    return xarray.open_dataset(path, engine=engine, group=group or None, **options)


def attached(one, other):
    """The scales of a source, where old versions of netCDF-C left out variables or counted in 32 bits."""
    found = {}
    for path, scale in one.items():
        if isinstance(scale, tuple) and isinstance(other.get(path), tuple):
            label, users, dtype, maximum = scale
            more = other[path][1] if set(users) <= set(other[path][1]) else users
            label = other[path][0] if maximum[0] and maximum[0] >= 2**31 else label
            scale = (label, more, dtype, maximum)
        found[path] = scale
    return found


def paths(source):
    with netCDF4.Dataset(source) as file:
        return [path for path, _ in groups(file)]


def compare_xarray(tally, name, source, written, lost):
    for engine in ("netcdf4", "h5netcdf"):
        for decode in (False, True):
            what = f"{name} by xarray with {engine}, {'decoded' if decode else 'not decoded'}"
            for group in paths(source):
                # An engine that cannot read the source cannot judge the result.
                try:
                    one = open_group(source, group, engine, decode)
                    one.load()
                except Exception:
                    continue
                try:
                    with open_group(written, group, engine, decode) as other:
                        found = differing(one, other)
                        found = {
                            name: why for name, why in found.items()
                            if not is_lost(lost, group, name)
                            and not is_random_beyond(source, group, name, one, other)
                            and not equal_sequences(one, other, name)
                        }
                    tally.check(not found, f"{what} {group or '/'}", [f"{k}: {v}" for k, v in found.items()])
                except Exception as error:
                    tally.check(False, f"{what} {group or '/'}", [repr(error)[:300]])
                one.close()


def same_attributes(one, other):
    return xarray.Dataset(attrs=one.attrs).identical(xarray.Dataset(attrs=other.attrs))


def equal_sequences(one, other, name):
    """Whether two variables whose elements are arrays are the same, which xarray cannot compare."""
    if name not in one.variables or name not in other.variables or one[name].dtype != object:
        return False
    one, other = one.variables[name], other.variables[name]
    if one.dims != other.dims or one.shape != other.shape or not same_attributes(one, other):
        return False
    pairs = zip(one.values.reshape(-1), other.values.reshape(-1))
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)


def is_lost(lost, group, variable):
    place = f"/{group.strip('/')}/{variable}".replace("//", "/")
    return any(of == place or of.startswith(place + "@") for of in lost)


def convert(source, written):
    """Converts with all losses allowed; returns the places that the report names, or None and the error."""
    if os.path.exists(written):
        os.remove(written)
    words = [HYPERSLAB, "convert", "--json", "--allow-loss=all", source, written]
    done = run(*words)
    if done.returncode:
        return None, (done.stderr or done.stdout)[-400:]
    report = json.loads(done.stdout.splitlines()[0])["report"]
    return {place for row in report for place in row["places"]}, None


def go_on(path):
    """Adds a dimension, a variable, attributes and records to a file."""
    with netCDF4.Dataset(path, "a") as file:
        file.set_auto_maskandscale(False)
        file.createDimension("added_dimension", 3)
        first = next(iter(file.dimensions.values()))
        along = ("added_dimension",) + ((first.name,) if first.name != "added_dimension" and len(first) < 100 else ())
        added = file.createVariable("added_variable", "f8", along, fill_value=-1.0)
        added.units = "m"
        added[:] = np.arange(added.size, dtype="f8").reshape(added.shape)
        file.added_attribute = "text"
        for variable in list(file.variables.values()):
            variable.added = np.int32([1, 2])
            growing = [file.dimensions[d].isunlimited() for d in variable.dimensions if d in file.dimensions]
            if len(growing) == variable.ndim and growing[:1] == [True] and not any(growing[1:]) and variable.dtype != str:
                if np.issubdtype(variable.dtype, np.number) and variable.size < 1e6:
                    count = variable.shape[0]
                    variable[count:count + 2] = np.ones((2,) + variable.shape[1:], variable.dtype)


def compare_continued(tally, name, source, written, folder):
    theirs = os.path.join(folder, "theirs.nc")
    shutil.copy(source, theirs)
    os.chmod(theirs, 0o644)
    try:
        go_on(theirs)
        groups_of = paths(theirs)
    except Exception:
        # The library cannot continue its own file, or cannot open the continued file.
        return False
    try:
        go_on(written)
        for group in groups_of:
            with open_group(theirs, group, "netcdf4", False) as one, open_group(written, group, "netcdf4", False) as other:
                found = differing(one.load(), other.load())
                found = {
                    k: v for k, v in found.items()
                    if not equal_sequences(one, other, k) and not is_random_beyond(theirs, group, k, one, other)
                }
            tally.check(not found, f"{name}: continued {group}", [f"{k}: {v}" for k, v in found.items()])
        found = run(HYPERSLAB, "check", written)
        errors = [line for line in found.stdout.splitlines() if "  error  " in line]
        tally.check(not errors, f"{name}: continued, check", errors)
    except Exception as error:
        tally.check(False, f"{name}: continued", [repr(error)[:300]])
    return True


# The text of larger files takes long.
MAX_TEXT = 4 << 20


def compare_ncgen(tally, name, source, written, folder):
    if os.path.getsize(source) > MAX_TEXT:
        return
    made = []
    for number, path in enumerate((source, written)):
        kind = run("ncdump", "-k", path).stdout.strip()
        text, back = os.path.join(folder, f"{number}.cdl"), os.path.join(folder, f"{number}.nc")
        with open(text, "wb") as file:
            dumped = subprocess.run(["ncdump", "-p", "9,17", path], stdout=file, stderr=subprocess.DEVNULL, timeout=300)
        if dumped.returncode or os.path.getsize(text) > MAX_TEXT:
            return
        generated = run("ncgen", "-k", kind, "-o", back, text)
        made.append(back if generated.returncode == 0 else None)
    # Text that ncgen does not understand says nothing about either file.
    if made[0] is None and made[1] is None:
        return
    if None in made:
        tally.check(False, f"{name}: ncdump | ncgen", [f"ncgen makes a file of one text only: {made}"])
        return
    is_kept = run(HYPERSLAB, "diff", source, made[0]).returncode == 0
    if is_kept or h5py.is_hdf5(source):
        same = run(HYPERSLAB, "diff", written if is_kept else made[0], made[1])
        tally.check(same.returncode == 0, f"{name}: ncdump | ncgen", [same.stdout[-400:] + same.stderr[-300:]])


def compare_text(tally, name, source, folder):
    if os.path.getsize(source) > MAX_TEXT:
        return
    created, text = os.path.join(folder, "created.nc"), os.path.join(folder, "source.yaml")
    if os.path.exists(created):
        os.remove(created)
    # In NetCDF-4, variables with an unlimited dimension are chunked.
    words = [HYPERSLAB, "describe", "--values", *([] if h5py.is_hdf5(source) else ["--storage=none"])]
    described = run(*words, source)
    if described.returncode or len(described.stdout) > MAX_TEXT:
        return
    with open(text, "w") as file:
        file.write(described.stdout)
    done = run(HYPERSLAB, "create", "-q", text, created)
    again = run(*words, created)
    one, other = [without_comments(of.stdout) for of in (described, again)]
    wrong = [f"- {a}\n       + {b}" for a, b in zip(one, other) if a != b][:4]
    is_same = one == other or name in UNORDERED and sorted(one) == sorted(other)
    tally.check(is_same, f"{name}: NDL", [done.stderr[-300:], *wrong])


def without_comments(text):
    """The lines of a description without comments, and without the padding of characters, of which NetCDF has one kind."""
    return [line for line in text.splitlines() if not line.startswith("#") and line.strip() != "pad: nullpad"]


# The text does not show the order of dimensions that have the names of variables relative to others.
UNORDERED = {"crossed_netcdf4.nc"}


def test(tally, source, name, folder):
    """The checks of one file. Returns whether netCDF4 has continued it."""
    written = os.path.join(folder, "written.nc")
    lost, error = convert(source, written)
    if lost is None:
        tally.check(False, f"{name}: convert", [error])
        return
    found = run(HYPERSLAB, "check", written)
    # Filters that are not decoded are copied with their chunks.
    is_noted = "unknown-filter" in found.stdout and "unknown-filter" in run(HYPERSLAB, "check", source).stdout
    tally.check("no findings" in found.stdout or is_noted, f"{name}: check", [found.stdout[-400:]])
    if not lost:
        found = run(HYPERSLAB, "diff", source, written)
        tally.check(found.returncode == 0, f"{name}: diff", [found.stdout[-400:] + found.stderr[-300:]])
    compare_xarray(tally, name, source, written, lost)
    is_classic = not h5py.is_hdf5(source)
    for what, view in [("netCDF4", of_netcdf4), ("scales by h5py", scales)]:
        if is_classic and view is scales:
            continue
        try:
            one = view(source)
        except Exception:
            # This reader cannot read the source.
            continue
        try:
            other = view(written)
        except Exception as error:
            tally.check(False, f"{name}: {what}", [repr(error)[:300]])
            continue
        if is_classic:
            # The storage differs.
            one, other = [{k: v[:2] if isinstance(v, tuple) else v for k, v in of.items()} for of in (one, other)]
        if view is scales:
            one, other = attached(one, other), other
        wrong = [f"{key}: {one.get(key)}\n       became {other.get(key)}" for key in {**one, **other} if one.get(key) != other.get(key)]
        tally.check(not wrong or bool(lost), f"{name}: {what}", wrong[:5])
    heads = [run("ncdump", "-h", path) for path in (source, written)]
    # ncdump breaks the lines of strings only in classic files.
    if heads[0].returncode == 0 and not is_classic:
        heads = [head.stdout.split("\n", 1)[-1] for head in heads]
        wrong = [f"- {a}\n       + {b}" for a, b in zip(*[head.splitlines() for head in heads]) if a != b][:4]
        tally.check(heads[0] == heads[1] or bool(lost), f"{name}: ncdump -h", wrong)
    copy = os.path.join(folder, "copied.nc")
    copied = run("nccopy", written, copy)
    is_fine = copied.returncode == 0 or run("nccopy", source, copy).returncode != 0
    tally.check(is_fine, f"{name}: nccopy", [copied.stderr[-300:]])
    if not lost:
        compare_ncgen(tally, name, source, written, folder)
        if not is_noted:
            compare_text(tally, name, source, folder)
    return not lost and not is_classic and not is_noted and compare_continued(tally, name, source, written, folder)


ACROSS_GROUPS = """\
/a:
  dimcoords:
    x: {size: 3, type: int32, value: [1, 2, 3]}
    n: {size: 2}

/b/c:
  ndarrays:
    v: {shape: [/a/x, /a/n], type: int16, value: [[1, 2], [3, 4], [5, 6]]}

/n:
  ndarrays:
    w: {shape: [/a/n], type: int16, value: [7, 8]}
"""


def test_hoisted(tally, folder):
    """Dimensions of other groups: others in their place, or moved."""
    text, written = os.path.join(folder, "across.yaml"), os.path.join(folder, "across.nc")
    with open(text, "w") as file:
        file.write(ACROSS_GROUPS)
    refused = run(HYPERSLAB, "create", "-q", text, written)
    tally.check(refused.returncode != 0 and "names" in refused.stderr, "dimensions of other groups: refused", [refused.stderr])
    done = run(HYPERSLAB, "create", "-q", "-O", "netcdf.hoist-dims", text, written)
    tally.check(done.returncode == 0, "dimensions of other groups: moved", [done.stderr])
    if done.returncode:
        return
    with netCDF4.Dataset(written) as file:
        found = [list(file.dimensions), list(file["a"].dimensions), list(file["a"].variables), file["a/x"].dimensions,
                 file["b/c/v"].dimensions, file["n/w"].dimensions, file["b/c/v"][:].tolist(), file["a/x"][:].tolist()]
    # The root has a group of the name n.
    expected = [["x", "n_2"], [], ["x"], ("x",), ("x", "n_2"), ("n_2",), [[1, 2], [3, 4], [5, 6]], [1, 2, 3]]
    tally.check(found == expected, "dimensions of other groups: netCDF4", [found, expected])
    found = run(HYPERSLAB, "check", written)
    tally.check("no findings" in found.stdout, "dimensions of other groups: check", [found.stdout])


FORBIDDEN_NAMES = """\
/:
  attributes:
    "@x": 1
  ndarrays:
    "@a": {shape: [2], type: int32, value: [1, 2]}
    "b ": {shape: [2], type: int32, value: [3, 4]}
    "c\\td": {shape: [2], type: {compound: [{"m m ": int32}]}, value: [{"m m ": 5}, {"m m ": 6}]}
    "%": {shape: [], type: int32, value: 7}
    "_25": {shape: [], type: int32, value: 8}
"""


def test_names(tally, folder):
    """Names that the library forbids, and one that is taken."""
    text, written, copy = [os.path.join(folder, name) for name in ("names.yaml", "names.nc", "names-copied.nc")]
    with open(text, "w") as file:
        file.write(FORBIDDEN_NAMES)
    done = run(HYPERSLAB, "create", "-q", "--allow-loss=types", text, written)
    tally.check(done.returncode == 0, "forbidden names: create", [done.stderr])
    if done.returncode:
        return
    with netCDF4.Dataset(written) as file:
        found = [sorted(file.variables), file.ncattrs(), file["_40a"][:].tolist(), int(file["_25"][...])]
    tally.check(found == [["_25", "_40a", "b_20", "c_09d"], ["_40x", "_hyperslab_names"], [1, 2], 7], "forbidden names: netCDF4", [found])
    copied = run("nccopy", written, copy)
    tally.check(copied.returncode == 0, "forbidden names: nccopy", [copied.stderr])


def test_zarr(tally, store, name, folder):
    """The checks of one Zarr store."""
    written = os.path.join(folder, "written.nc")
    try:
        tree = zarr.open_group(store, mode="r")
        below = [""] + sorted(path for path, node in tree.members(max_depth=None) if isinstance(node, zarr.Group))
    except Exception:
        return
    opened = []
    for group in below:
        for decode in (False, True):
            try:
                options = {} if decode else {"decode_cf": False}
                with xarray.open_zarr(store, group=group or None, consolidated=False, chunks=None, **options) as found:
                    opened.append((group, decode, found.load()))
            except Exception:
                continue
    # A group without arrays has nothing to compare.
    if not any(dataset.variables for _, _, dataset in opened):
        return
    lost, error = convert(store, written)
    if lost is None:
        tally.check(False, f"{name}: convert", [error])
        return
    found = run(HYPERSLAB, "check", written)
    tally.check("no findings" in found.stdout, f"{name}: check", [found.stdout[-400:]])
    for group, decode, one in opened:
        what = f"{name} {'decoded' if decode else 'not decoded'} {group or '/'}"
        try:
            with open_group(written, group, "netcdf4", decode) as other:
                found = {k: v for k, v in differing(one, other).items() if not is_lost(lost, group, k)}
            tally.check(not found, what, [f"{k}: {v}" for k, v in found.items()])
        except Exception as error:
            tally.check(False, what, [repr(error)[:300]])


def main():
    directory = sys.argv[2]
    every = int(sys.argv[sys.argv.index("--every") + 1]) if "--every" in sys.argv else 1
    tally, count, continued = Tally(), 0, 0
    is_zarr = "--zarr" in sys.argv
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as samples:
        made = netcdf_samples.make(samples) if "--samples" in sys.argv else []
        for seed in range(int(sys.argv[sys.argv.index("--seeds") + 1]) if "--seeds" in sys.argv else 0):
            made.append(os.path.join(samples, f"seed {seed}.nc"))
            seeded(made[-1], seed)
        for source in [*stores(directory), *made]:
            if os.path.isdir(source) != is_zarr or not is_zarr and not is_netcdf(source):
                continue
            count += 1
            if count % every == 0 and os.path.basename(source) not in UNLIKE:
                name = os.path.relpath(source, samples if source in made else directory)
                continued += bool((test_zarr if is_zarr else test)(tally, source, name, folder))
        if not is_zarr:
            test_hoisted(tally, folder)
            test_names(tally, folder)
    print(f"{count} stores, {continued} continued")
    tally.close()


HYPERSLAB = sys.argv[1]

if __name__ == "__main__":
    main()
