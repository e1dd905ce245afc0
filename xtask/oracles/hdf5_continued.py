"""Lets libhdf5 modify a file that we wrote, and a copy that libhdf5 made: the results must be the same.

    hdf5_continued.py SEED

The file of the seed of `hdf5_written.py` is in the working folder. Prints what differs.
"""

import os
import sys

import h5py
import hdf5plugin  # noqa: F401 (registers the filters)
import numpy as np
from h5py import h5a, h5f, h5o, h5p, h5s, h5t

from hdf5_documents import Trial
from tally import Reasons

COPY = "copy"
# The exit code if there is nothing to compare with.
NOT_COPIED = 3
VERSIONS = {"earliest": h5f.LIBVER_EARLIEST, "v108": h5f.LIBVER_V18, "v110": h5f.LIBVER_V110, "v112": h5f.LIBVER_V112,
            "v114": h5f.LIBVER_V114, "v200": h5f.LIBVER_V200}
# The number of links and attributes at which their storage changes is 8.
MANY, FEW = 12, 3


def goes_on(trial):
    own = f"{trial.name}-own.h5"
    with h5py.File(trial.path) as file, new_file(trial, own) as copy:
        try:
            h5o.copy(file.id, b"/", copy.id, COPY.encode())
        except RuntimeError as error:
            print(f"libhdf5 cannot copy the file: {error}")
            sys.exit(NOT_COPIED)
    reasons = Reasons()
    with h5py.File(trial.path, "r+", libver=bounds(trial)) as file, h5py.File(own, "r+", libver=bounds(trial)) as copy:
        edit(trial, file["/"])
        edit(trial, copy[COPY])
    with h5py.File(trial.path, "r+") as file, h5py.File(own, "r+") as copy:
        # Mappings of the copy refer to its original location.
        for path in [path for path, data in trial.data.items() if data.elsewhere]:
            del file[path], copy[COPY + path]
        compare(reasons, file["/"], copy[COPY], "/")
    os.remove(own)
    return reasons


def new_file(trial, path):
    """An empty file. libhdf5 corrupts memory when it copies strings to addresses of another size."""
    creation, access = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
    creation.set_sizes(trial.width, trial.width)
    access.set_libver_bounds(*(VERSIONS[name] for name in bounds(trial)))
    return h5py.File(h5f.create(path.encode(), h5f.ACC_TRUNC, creation, access))


def bounds(trial):
    names = {"earliest": "earliest", "v1.8": "v108", "v1.10": "v110", "v1.12": "v112", "v1.14": "v114", "v2.0": "v200"}
    return names[trial.low], names[trial.high]


def edit(trial, root):
    """The same edits of any file with the content of the document."""
    for number, path in enumerate(sorted(trial.groups)):
        group = root[path.lstrip("/") or "."]
        for index in range(MANY):
            group[f"added {index}"] = h5py.SoftLink("/target") if index % 3 else root["target"]
            group.attrs[f"added {index}"] = np.arange(index, dtype="i4")
        if number % 2:
            for name in list(group)[FEW:]:
                if group.get(name, getclass=True, getlink=True) is not h5py.HardLink or name.startswith("added"):
                    del group[name]
            remove_attributes(group)
        group.create_group("new group").attrs["text"] = "new"
    for number, path in enumerate(sorted(trial.data)):
        data, dataset = trial.data[path], root[path.lstrip("/")]
        for index in range(MANY):
            dataset.attrs[f"added {index}"] = f"text {index}"
        if number % 2:
            remove_attributes(dataset)
        # Where Blosc does not make a chunk smaller, libhdf5 loses its bytes.
        if data.shape is None or data.elsewhere or not data.is_plain or data.kind.dtype is None or trial.scales and path in ("/x", *trial.scales):
            continue
        append(dataset, data)
    new = root.create_dataset("new", (20, 6), "i4", chunks=(4, 3), maxshape=(None, 6), compression=1, shuffle=True)
    new[3:17] = np.arange(14 * 6).reshape(14, 6)
    new.resize(90, 0)
    new[80:] = 7


def remove_attributes(thing):
    for name in [name for name in thing.attrs if name.startswith("added")][FEW:]:
        del thing.attrs[name]


def append(dataset, data):
    """Grows a dataset along all dimensions that can grow, and writes there and elsewhere."""
    shape = [n + 7 if most is None else most for n, most in zip(data.shape, data.maximum)]
    if data.chunk and shape != data.shape:
        dataset.resize(shape)
    if 0 not in dataset.shape:
        last = tuple(n - 1 for n in dataset.shape)
        dataset[last] = 5
        if data.shape:
            half = tuple(slice(n // 2, n) for n in dataset.shape)
            dataset[half] = np.ones([n - n // 2 for n in dataset.shape], data.kind.dtype)


def compare(reasons, one, other, path):
    attributes(reasons, one, other, path)
    if isinstance(one, h5py.Dataset):
        reasons.equal(f"shape of {path}", one.shape, other.shape)
        if one.size and is_fixed(one.id.get_type()):
            reasons.expect(read(one) == read(other), f"elements of {path}")
        return
    reasons.equal(f"links of {path}", list(one), list(other))
    for name in set(one) & set(other):
        link, copied = one.get(name, getlink=True), other.get(name, getlink=True)
        reasons.equal(f"link {path}/{name}", type(link), type(copied))
        if isinstance(link, h5py.SoftLink):
            reasons.equal(f"target of {path}/{name}", link.path, copied.path)
        elif isinstance(link, h5py.HardLink):
            reasons.equal(f"kind of {path}/{name}", type(one[name]), type(other[name]))
            compare(reasons, one[name], other[name], f"{path.rstrip('/')}/{name}")


def attributes(reasons, one, other, path):
    reasons.equal(f"attributes of {path}", sorted(one.attrs), sorted(other.attrs))
    for name in set(one.attrs) & set(other.attrs):
        first, second = (h5a.open(thing.id, name.encode()) for thing in (one, other))
        reasons.equal(f"shape of {path}@{name}", first.shape, second.shape)
        if is_fixed(first.get_type()) and first.get_space().get_simple_extent_type() != h5s.NULL:
            reasons.expect(read(first) == read(second), f"elements of {path}@{name}")


def is_fixed(kind):
    """Whether elements have all their bytes in place."""
    if kind.get_class() == h5t.COMPOUND:
        return all(is_fixed(kind.get_member_type(index)) for index in range(kind.get_nmembers()))
    if kind.get_class() == h5t.ARRAY:
        return is_fixed(kind.get_super())
    return kind.get_class() not in (h5t.VLEN, h5t.REFERENCE) and not (kind.get_class() == h5t.STRING and kind.is_variable_str())


def read(source):
    """The bytes of all elements."""
    source = source.id if isinstance(source, h5py.Dataset) else source
    kind = source.get_type()
    raw = np.zeros(kind.get_size() * int(np.prod(source.shape)), "u1")
    if isinstance(source, h5a.AttrID):
        source.read(raw, mtype=kind)
    else:
        source.read(h5s.ALL, h5s.ALL, raw, mtype=kind)
    return raw.tobytes()


if __name__ == "__main__":
    found = goes_on(Trial(int(sys.argv[1])))
    print("\n".join(found))
    sys.exit(bool(found))
