"""Compares the report of each conversion with what h5py finds in the source and zarr-python in the target.

    reported.py HYPERSLAB DIRECTORY [PART_OF_A_NAME...]

Each HDF5 file below the directory is converted to Zarr 3 as plain HDF5. Two things are checked, neither of them with our own reader:

* What a reader can see: every dataset that h5py reads is an array with the same shape, type, values and attributes for
  zarr-python. Any difference must be in the report, at this object or attribute. Arrays of numbers are the same for tensorstore.
* What a reader cannot see in the target: links, committed datatypes, enumerations and the like, as h5py finds them in the
  source. The report must name exactly these objects, no more and no less (FACTS).

"""

import collections
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

import h5py
import hdf5plugin  # noqa: F401, filters of files
import numpy as np
import tensorstore
import zarr
from h5py import h5d, h5g, h5l, h5o, h5s, h5t

from apart import apart
from conversions import BOOKKEEPING, Skip, equal_attribute, expected, is_short, resolve, same, same_part, sources
from tally import Tally

warnings.simplefilter("ignore")
# zarr-python reads all members of a group at once, and logs those that it cannot read.
logging.getLogger("asyncio").setLevel(logging.CRITICAL)

# Empty strings of NetCDF, which are null dataspaces in HDF5.
EMPTY_TEXTS = {"Unidata+netcdf-c/ncdump/ref_nc_test_netcdf4_4_0.nc:/b@c"}

# Words of the report.
SOFT, EXTERNAL, USER, SECOND = "soft link", "external link", "link of class", "second path"
NOT_FINITE, REPEATED = "NaN or infinity in an attribute", "dimension used twice in one array"
SHORT, OTHER_TYPE = "array shorter than its dimensions", "type that Zarr does not have"
COMMITTED, UNREADABLE = "committed datatype", "cannot be read"
NOT_BY_ZARR = "type that zarr-python 3.1 does not read"


class Found:
    """What h5py finds in a file: objects with their first path, and links that are not objects."""

    def __init__(self, file):
        self.file, self.objects, self.first, self.links, self.unread = file, {}, {}, {}, []
        self.lengths, self.hard = {}, collections.Counter()
        self.walk(h5g.open(file.id, b"/"), "/")

    def walk(self, item, path):
        place = place_of(item)
        self.hard[place] += 1
        if is_length(item):
            self.lengths[place] = item
            self.first.setdefault(place, path)
            return
        if place in self.objects:
            return
        self.objects[place] = item
        self.first[place] = path
        if not isinstance(item, h5g.GroupID):
            return
        try:
            names = list(item)
        except Exception:
            self.unread.append(path)
            return
        for name in names:
            shown = name.decode("utf-8", "surrogateescape").removeprefix("_nc4_non_coord_")
            below = f"{path.rstrip('/')}/{shown}"
            try:
                kind = item.links.get_info(name).type
                if kind == h5l.TYPE_HARD:
                    self.walk(h5o.open(item, name), below)
                else:
                    self.links[place, shown] = {h5l.TYPE_SOFT: SOFT, h5l.TYPE_EXTERNAL: EXTERNAL}.get(kind, USER)
            except Exception:
                self.unread.append(below)

    def place(self, path):
        """The object at a path of the report."""
        for name in (path, "_nc4_non_coord_".join(os.path.split(path.replace("/", "//", 1))).replace("//", "/")):
            try:
                return place_of(self.file[name or "/"].id)
            except Exception:
                continue
        return path

    def link(self, path):
        """The group of a link and its name."""
        group, _, name = path.rpartition("/")
        return self.place(group), name


def place_of(item):
    info = h5o.get_info(item)
    return info.fileno, info.addr


def is_length(item):
    """Whether a dataset is a dimension of NetCDF without a variable: a length, no array."""
    if not isinstance(item, h5d.DatasetID):
        return False
    name = h5py.Dataset(item).attrs.get("NAME", b"")
    return isinstance(name, bytes) and name.startswith(b"This is a netCDF dimension but not")


def type_of(item):
    return item.get_type() if isinstance(item, h5d.DatasetID) else None


def is_boolean(kind):
    if not isinstance(kind, h5t.TypeEnumID) or kind.get_nmembers() != 2:
        return False
    return {kind.get_member_name(at).upper(): kind.get_member_value(at) for at in range(2)} == {b"FALSE": 0, b"TRUE": 1}


def is_complex(kind):
    if not isinstance(kind, h5t.TypeCompoundID) or kind.get_nmembers() != 2:
        return False
    return [kind.get_member_name(at) for at in range(2)] == [b"r", b"i"]


def of_class(wanted):
    return lambda item: (kind := type_of(item)) is not None and kind.get_class() == wanted


def is_variable(kind):
    """Whether elements have parts of variable length."""
    if isinstance(kind, h5t.TypeCompoundID):
        return any(is_variable(kind.get_member_type(at)) for at in range(kind.get_nmembers()))
    if isinstance(kind, h5t.TypeStringID):
        return kind.is_variable_str()
    if isinstance(kind, h5t.TypeArrayID):
        return is_variable(kind.get_super())
    return isinstance(kind, h5t.TypeVlenID)


def is_nested(item):
    kind = type_of(item)
    if isinstance(kind, (h5t.TypeVlenID, h5t.TypeArrayID)):
        return is_variable(kind.get_super())
    return isinstance(kind, h5t.TypeCompoundID) and is_variable(kind)


def grows(item):
    if not isinstance(item, h5d.DatasetID) or item.get_space().get_simple_extent_type() != h5s.SIMPLE:
        return False
    space = item.get_space()
    return space.get_simple_extent_dims() != space.get_simple_extent_dims(True)


def has_labels(item):
    return isinstance(item, h5d.DatasetID) and any(dimension.label for dimension in h5py.Dataset(item).dims)


def has_other_scales(item):
    """Whether a dimension has a second scale, or one that cannot be the coordinates of a dimension."""
    if not isinstance(item, h5d.DatasetID) or item.get_space().get_simple_extent_type() != h5s.SIMPLE:
        return False

    def is_coordinate(scale):
        return scale.ndim == 1 or "_Netcdf4Dimid" in scale.attrs

    dimensions = h5py.Dataset(item).dims
    return any(len(scales) > 1 or not all(is_coordinate(scales[at]) for at in range(len(scales))) for scales in dimensions)


def has_user_block(item):
    is_root = isinstance(item, h5g.GroupID) and h5py.h5i.get_name(item) == b"/"
    # A larger one is lost, which another row reports.
    return is_root and 0 < h5py.h5i.get_file_id(item).get_create_plist().get_userblock() <= 1 << 16


# The statements of the report about objects, and how h5py determines them.
FACTS = {
    "enumeration": lambda item: of_class(h5t.ENUM)(item) and not is_boolean(type_of(item)),
    "enumeration of FALSE and TRUE": lambda item: is_boolean(type_of(item)),
    "array type": lambda item: of_class(h5t.ARRAY)(item) and not is_nested(item),
    # Zarr has a type for sequences of bytes.
    "variable-length sequences": lambda item: of_class(h5t.VLEN)(item) and not is_nested(item) and type_of(item).get_super() != h5t.STD_U8LE,
    "elements with variable-length parts": is_nested,
    "references": of_class(h5t.REFERENCE),
    "compound of r and i": lambda item: is_complex(type_of(item)),
    "committed datatype as an object": lambda item: isinstance(item, h5t.TypeID),
    COMMITTED: lambda item: (kind := type_of(item)) is not None and kind.committed(),
    "null dataspace": lambda item: isinstance(item, h5d.DatasetID) and item.get_space().get_simple_extent_type() == h5s.NULL,
    "extendible dimension": grows,
    "hdf5 directive labels": has_labels,
    "hdf5 directive scales": has_other_scales,
    "hdf5 directive user_block": has_user_block,
}


def row_of(what):
    """The statement of a row, without the name of the committed datatype."""
    return COMMITTED if what.startswith(f"{COMMITTED} /") else what


class Report:
    """The rows of a report."""

    def __init__(self, text, messages):
        self.rows = json.loads(text)["report"]
        for path in re.findall("^warning: left out: (.*?): ", messages, re.MULTILINE):
            # Found damaged only when it was read.
            self.rows.append({"places": [path], "count": 1, "what": UNREADABLE})
        self.is_whole = all(row["count"] == len(row["places"]) for row in self.rows)

    def saying(self, is_so):
        """The paths for which the report contains this statement."""
        return [place for row in self.rows if is_so(row["what"]) for place in row["places"]]

    def of_objects(self, found):
        """The statements of the report about each object, and about each attribute with its object."""
        said = collections.defaultdict(list)
        for row in self.rows:
            for place in row["places"]:
                path, at, name = place.partition("@")
                said[found.place(path), name].append(row["what"])
        return said


def facts(tally, name, found, report):
    """The objects about which the report states something must be those for which h5py finds it."""
    def is_read(place):
        path = f"{found.first.get(place[0], '').rstrip('/')}/{place[1]}" if place in links else place
        return not isinstance(path, str) or path not in found.unread and os.path.dirname(path) not in found.unread

    def check(what, wanted, said):
        said = {place for place in said - left_out if is_read(place)}
        shown = lambda place: place if isinstance(place, str) else found.first.get(place, place)
        reasons = [f"{shown(place)}: only h5py finds it" for place in wanted - said]
        reasons += [f"{shown(place)}: only the report says it" for place in said - wanted]
        tally.check(wanted == said, f"{name}: {what}", sorted(map(str, reasons)))

    links = set()
    left_out = {found.place(path) for path in report.saying(lambda of: of.startswith(UNREADABLE))}
    for what, is_so in FACTS.items():
        items = found.objects if is_so is not grows else {**found.objects, **found.lengths}
        wanted = set()
        for place, item in items.items():
            try:
                wanted |= {place} if is_so(item) else set()
            except Exception:
                # Damaged, so it cannot be determined.
                left_out.add(place)
        wanted -= left_out
        said = {found.place(path) for path in report.saying(lambda of: row_of(of) == what) if "@" not in path}
        if what == COMMITTED:
            # A datatype without a link has no name that could be lost.
            wanted = {place for place in wanted if place_of(type_of(items[place])) in items}
            # The NetCDF library stores copies of user-defined types with variables.
            named = [item for item in items.values() if isinstance(item, h5t.TypeID)]
            said -= {place for place in said - wanted if any(type_of(items[place]).equal(kind) for kind in named)}
        check(what, wanted, said)
    for kind in (SOFT, EXTERNAL, USER):
        wanted = {link for link, of in found.links.items() if of == kind}
        said = {found.link(path) for path in report.saying(lambda of: of.startswith(kind))}
        links |= said
        check(kind, wanted, said)
    second = collections.Counter(found.place(path) for path in report.saying(lambda of: of.startswith(SECOND)))
    wanted = collections.Counter({place: count - 1 for place, count in found.hard.items() if count > 1 and place not in found.lengths})
    check(SECOND, set(wanted.items()), set(second.items()))


def contents(tally, skipped, counts, name, found, report, root):
    of_objects = report.of_objects(found)
    for place, item in found.objects.items():
        path, said = found.first[place], of_objects[place, ""]
        if isinstance(item, h5t.TypeID):
            continue
        try:
            node = resolve(root, path)
        except Exception as error:
            if any(of.startswith(UNREADABLE) for of in said):
                skipped["in the report: cannot be read"] += 1
                continue
            is_said = NOT_BY_ZARR in said or OTHER_TYPE in said
            tally.check(is_said, f"{name}:{path}", [f"{type(error).__name__}: {error}"[:200], *said])
            counts["arrays in the report that zarr-python does not read"] += is_said
            continue
        is_dataset = isinstance(item, h5d.DatasetID)
        if is_dataset:
            of_attributes = [of for (at, _), rows in of_objects.items() if at == place for of in rows]
            is_refused = NOT_FINITE in of_attributes or REPEATED in said
            dataset(tally, skipped, counts, f"{name}:{path}", h5py.Dataset(item), node, said, is_refused)
        source = h5py.Dataset(item) if is_dataset else h5py.Group(item)
        attributes(tally, skipped, counts, f"{name}:{path}", source, node, lambda key: of_objects[place, key])


def by_tensorstore(tally, counts, what, array, is_refused):
    """Whether tensorstore reads an array, with the elements that zarr-python reads."""
    path = os.path.join(str(array.store.root), array.path)
    try:
        found = tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": path}}).result().read().result()
    except ValueError as error:
        tally.check(is_refused, f"tensorstore: {what}", [str(error)[:300]])
        counts["arrays in the report that tensorstore does not read"] += is_refused
        return
    wanted = np.asarray(array[...])
    same_type = found.dtype == wanted.dtype.newbyteorder("=")
    equal = same_type and np.array_equal(found, wanted, equal_nan=wanted.dtype.kind in "fc")
    tally.check(equal, f"tensorstore: {what}", [f"{wanted.dtype} {wanted.shape} became {found.dtype} {found.shape}"])
    counts["datasets by tensorstore"] += equal


def dataset(tally, skipped, counts, what, source, array, said, is_refused):
    try:
        values = expected(source)
        short = is_short(source, array)
        good = (same_part if short else same)(source, array, values)
        why = [f"{source.dtype} {source.shape} became {array.dtype} {array.shape}", *said]
        tally.check(good, what, why)
        counts["datasets"] += good
        if array.dtype.kind in "iufcb" and not short:
            by_tensorstore(tally, counts, what, array, is_refused)
        tally.check(not short or SHORT in said, f"{what}: longer", why)
        kind = source.dtype.newbyteorder("=")
        if kind.kind in "iufcb" and h5py.check_enum_dtype(kind) is None:
            tally.check(kind == array.dtype.newbyteorder("=") or OTHER_TYPE in said, f"{what}: type", why)
        extent = source.shape if source.shape is not None else (0,)
        tally.check(short or array.shape == extent or "array type" in said, f"{what}: shape", why)
    except Skip as skip:
        skipped[str(skip)] += 1
    except Exception as error:
        tally.check(False, what, [f"{type(error).__name__}: {error}"[:400], *said])


def attributes(tally, skipped, counts, what, source, node, report):
    try:
        names = list(source.attrs)
    except Exception:
        skipped["h5py does not list the attributes of an object"] += 1
        return
    extra = set(node.attrs) - set(names) - {"_nc_hyperslab"}
    tally.check(not extra, f"{what}: attributes that are not in the source", sorted(extra))
    for key in (name for name in names if name not in BOOKKEEPING):
        said = report(key)
        try:
            value = source.attrs[key]
        except Exception as error:
            skipped[f"h5py does not read an attribute: {type(error).__name__}"] += 1
            continue
        found = node.attrs.get(key, "nothing")
        try:
            equal = not isinstance(value, h5py.Empty) and key in node.attrs and equal_attribute(value, found)
        except Exception:
            equal = False
        equal = equal or isinstance(value, h5py.Empty) and f"{what}@{key}" in EMPTY_TEXTS and found == ""
        tally.check(equal or said, f"{what}@{key}", [f"{value!r} became {found!r}"[:300]])
        counts["attributes" if equal else "attributes in the report"] += 1


def look_at(tally, skipped, counts, folder, hyperslab, source, name):
    store = os.path.join(folder, "target.zarr")
    shutil.rmtree(store, ignore_errors=True)
    command = [hyperslab, "convert", "--json", "--allow-loss=all"]
    command += ["--option=zarr.struct=legacy", source, store]
    done = subprocess.run(command, capture_output=True, timeout=300)
    if done.returncode == 2 and not os.path.exists(store):
        skipped["not converted"] += 1
        return
    if not os.path.exists(store):
        tally.check(False, f"{name}: no target", [done.stderr.decode(errors="replace")[-300:]])
        return
    try:
        file = h5py.File(source)
    except Exception:
        skipped["h5py does not open the file"] += 1
        return
    with file:
        try:
            found = Found(file)
        except Exception:
            skipped["h5py does not read the root group"] += 1
            return
        report = Report(done.stdout, done.stderr.decode(errors="replace"))
        if found.unread:
            skipped["h5py does not open an object"] += len(found.unread)
        if report.is_whole:
            facts(tally, name, found, report)
        else:
            skipped["more places than the report lists"] += 1
        contents(tally, skipped, counts, name, found, report, zarr.open(store, mode="r"))


def main():
    hyperslab, directory = sys.argv[1:3]
    chosen = sys.argv[3:]
    tally, skipped, counts = Tally(), collections.Counter(), collections.Counter()
    names = [os.path.relpath(source, directory) for source in sources(directory)]
    names = [name for name in names if not chosen or any(part in name for part in chosen)]

    def work(name):
        def look(own, why, of):
            with tempfile.TemporaryDirectory() as folder:
                look_at(own, why, of, folder, hyperslab, os.path.join(directory, name), name)

        return apart(look)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in pool.map(work, names):
            if done is None:
                skipped["h5py or zarr-python crashes"] += 1
            else:
                done.add_to(tally, skipped, counts)
    print("compared:", ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items())))
    for reason, number in sorted(skipped.items()):
        print(f"not compared, {number}: {reason}")
    tally.close()


if __name__ == "__main__":
    main()
