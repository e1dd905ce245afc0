"""Writes vds_*.hex. Run with h5py 3.16 (HDF5 2.0.0)."""

import os
import tempfile

import h5py

from hextext import offsets, uint, write


def block(low, layout, shape, maximum):
    """The heap object of a virtual dataset in a file not older than `low`."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.h5")
        with h5py.File(path, "w", libver=(low, "latest")) as file:
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            for mapping in layout:
                plist.set_virtual(*mapping)
            space = h5py.h5s.create_simple(shape, maximum)
            h5py.h5d.create(file.id, b"virtual", h5py.h5t.STD_I32LE, space, plist)
        with open(path, "rb") as file:
            data = file.read()
    (at,) = offsets(data, b"GCOL")
    return data[at + 32 : at + 32 + uint(data, at + 24, 8)]


def row(number):
    space = h5py.h5s.create_simple((4, 10))
    space.select_hyperslab((number, 0), (1, 10))
    return space


source = h5py.h5s.create_simple((10,))
mappings = [
    (row(0), b"a file with a name.h5", b"a dataset with a name", source),
    (row(1), b"a file with a name.h5", b"other", source),
    (row(2), b".", b"a dataset with a name", source),
    (row(3), b".", b"other", source),
]
write("vds_v0", "4 mappings, 2 of the same file", block("v110", mappings, (4, 10), (4, 10)))
write("vds_v1", "the same with shared names", block("v200", mappings, (4, 10), (4, 10)))

UNLIMITED = h5py.h5s.UNLIMITED
endless = h5py.h5s.create_simple((0, 10), (UNLIMITED, 10))
endless.select_hyperslab((0, 0), (UNLIMITED, 1), (2, 10), (2, 10))
part = h5py.h5s.create_simple((2, 10))
write("vds_unlimited", "as many files of 2 rows as there are", block("v110", [(endless, b"part-%b.h5", b"d", part)], (0, 10), (UNLIMITED, 10)))
