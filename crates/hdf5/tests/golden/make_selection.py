"""Writes selection_*.hex and encoded_dataspace_*.hex. Run with h5py 3.16 (HDF5 2.0.0)."""

import ctypes
import glob
import os

import h5py
import numpy

from hextext import uint, write

FOLDER = os.path.join(os.path.dirname(h5py.__file__), os.pardir)
LIBRARY = ctypes.CDLL(glob.glob(os.path.join(FOLDER, "h5py.libs", "libhdf5-*.so*"))[0])
LIBRARY.H5Sencode2.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]


def encoded(space, low):
    """The dataspace as H5Sencode2 encodes it for files not older than `low`."""
    plist = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    plist.set_libver_bounds(low, h5py.h5f.LIBVER_LATEST)
    size = ctypes.c_size_t()
    assert LIBRARY.H5Sencode2(space.id, None, ctypes.byref(size), plist.id) >= 0
    buffer = ctypes.create_string_buffer(size.value)
    assert LIBRARY.H5Sencode2(space.id, buffer, ctypes.byref(size), plist.id) >= 0
    return buffer.raw[: size.value]


def selection(name, what, space, low):
    data = encoded(space, low)
    write("selection_" + name, what, data[7 + uint(data, 3, 4) :])


def simple(shape=(10, 20), maximum=None):
    return h5py.h5s.create_simple(shape, maximum)


def points(shape, coordinates):
    space = simple(shape)
    space.select_elements(numpy.array(coordinates, dtype="u8"))
    return space


def regular(shape, start, count, stride, block, maximum=None):
    space = simple(shape, maximum)
    space.select_hyperslab(start, count, stride, block)
    return space


def irregular(shape, *boxes):
    space = simple(shape)
    space.select_none()
    for start, block in boxes:
        space.select_hyperslab(start, (1,) * len(shape), block=block, op=h5py.h5s.SELECT_OR)
    return space


V18, V110, V112 = h5py.h5f.LIBVER_V18, h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V112
UNLIMITED = h5py.h5s.UNLIMITED

none = simple()
none.select_none()
selection("none", "nothing", none, V18)
selection("all", "everything", simple(), V18)

few = points((10, 20), [(0, 1), (7, 2), (3, 3)])
selection("points_v1", "points (0 1) (7 2) (3 3)", few, V18)
selection("points_v2_2", "the same in 2 bytes", few, V112)
selection("points_v2_4", "points (70000) (3)", points((100000,), [(70000,), (3,)]), V112)
selection("points_v2_8", "points (2^40) (3)", points((1 << 41,), [(1 << 40,), (3,)]), V112)

four = regular((10, 20), (1, 2), (2, 2), (4, 5), (2, 3))
selection("regular_v1", "start 1 2, count 2 2, stride 4 5, block 2 3", four, V18)
selection("regular_v2", "the same", four, V110)
selection("regular_v3_2", "the same in 2 bytes", four, V112)
selection("regular_v3_4", "start 70000, count 3, stride 10, block 2", regular((100000,), (70000,), (3,), (10,), (2,)), V112)
selection("regular_v3_8", "start 2^40, count 3, stride 10, block 2", regular((1 << 41,), (1 << 40,), (3,), (10,), (2,)), V112)
endless = regular((10, 20), (1, 2), (UNLIMITED, 2), (4, 5), (2, 3), (UNLIMITED, 20))
selection("unlimited_v2", "start 1 2, count unlimited 2, stride 4 5, block 2 3", endless, V110)
selection("unlimited_v3", "the same", endless, V112)

two = irregular((10, 20), ((0, 0), (2, 2)), ((4, 5), (3, 1)))
selection("irregular_v1", "boxes (0 0) to (1 1) and (4 5) to (6 5)", two, V18)
selection("irregular_v3_2", "the same in 2 bytes", two, V112)
selection("irregular_v3_4", "boxes 5 to 6 and 70000 to 70002", irregular((100000,), ((5,), (2,)), ((70000,), (3,))), V112)
selection("irregular_v3_8", "boxes 5 to 6 and 2^40 to 2^40 + 2", irregular((1 << 41,), ((5,), (2,)), ((1 << 40,), (3,))), V112)

write("encoded_dataspace_v18", "dataspace of 10 by 20 with a regular selection", encoded(four, V18))
write("encoded_dataspace_latest", "the same", encoded(four, V112))
write("encoded_dataspace_scalar", "scalar dataspace", encoded(h5py.h5s.create(h5py.h5s.SCALAR), V18))
