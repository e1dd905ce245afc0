#!/usr/bin/env python3
"""Writes files whose superblock extension says how the rest is to be read: shared_messages.h5,
cache_image.h5, and family_v2.h5 and split_v2.h5, of which each is one member of a split file.

Needs h5py 3.16 over HDF5 2.0.
"""

import ctypes
import os
import tempfile
from pathlib import Path

import h5py
import numpy as np
from h5py import h5f, h5p

HERE = Path(__file__).parent
LIBRARY = ctypes.CDLL(str(next((Path(h5py.__file__).parents[1] / "h5py.libs").glob("libhdf5-*.so*"))))

DATASPACE, DATATYPE, FILL, PIPELINE, ATTRIBUTE = (1 << bit for bit in (1, 3, 5, 11, 12))


class ImageConfig(ctypes.Structure):
    """H5AC_cache_image_config_t."""

    _fields_ = [
        ("version", ctypes.c_int),
        ("generate_image", ctypes.c_bool),
        ("save_resize_status", ctypes.c_bool),
        ("entry_ageout", ctypes.c_int),
    ]


def call(name, plist, *arguments):
    """h5py does not know these properties, so the library behind it is called."""
    assert getattr(LIBRARY, name)(ctypes.c_int64(plist.id), *arguments) >= 0, name


def access():
    plist = h5p.create(h5p.FILE_ACCESS)
    plist.set_libver_bounds(h5f.LIBVER_V110, h5f.LIBVER_V110)
    return plist


def create(name, fcpl=None, fapl=None):
    return h5py.File(h5f.create(str(HERE / name).encode(), h5f.ACC_TRUNC, fcpl, fapl or access()))


def shared_messages():
    fcpl = h5p.create(h5p.FILE_CREATE)
    call("H5Pset_shared_mesg_nindexes", fcpl, ctypes.c_uint(3))
    call("H5Pset_shared_mesg_index", fcpl, ctypes.c_uint(0), ctypes.c_uint(ATTRIBUTE), ctypes.c_uint(20))
    call("H5Pset_shared_mesg_index", fcpl, ctypes.c_uint(1), ctypes.c_uint(DATASPACE | DATATYPE), ctypes.c_uint(10))
    call("H5Pset_shared_mesg_index", fcpl, ctypes.c_uint(2), ctypes.c_uint(FILL | PIPELINE), ctypes.c_uint(4))
    call("H5Pset_shared_mesg_phase_change", fcpl, ctypes.c_uint(4), ctypes.c_uint(3))
    with create("shared_messages.h5", fcpl) as f:
        for name in ["a", "b", "c"]:
            data = np.arange(6, dtype="<i2").reshape(2, 3)
            made = f.create_dataset(name, data=data, chunks=(2, 3), shuffle=True, fillvalue=7)
            made.attrs["units"] = np.bytes_("a unit that all three have")
        for name in ["dense 1", "dense 2"]:
            group = f.create_group(name)
            for i in range(9):
                group.attrs[f"attribute {i}"] = np.full(3, i, "<i4")


def cache_image():
    fapl = access()
    call("H5Pset_mdc_image_config", fapl, ctypes.byref(ImageConfig(1, True, False, -1)))
    with create("cache_image.h5", fapl=fapl) as f:
        f.create_dataset("chunked", data=np.arange(40, dtype="<i4"), chunks=(4,), maxshape=(None,))
        f.create_dataset("text", data=["a", "bc"], dtype=h5py.string_dtype())
        for i in range(9):
            f.attrs[f"attribute {i}"] = i


def split():
    with tempfile.TemporaryDirectory() as folder:
        fapl = access()
        fapl.set_fapl_family(1 << 20, h5p.create(h5p.FILE_ACCESS))
        path = os.path.join(folder, "%d.h5")
        h5f.create(path.encode(), h5f.ACC_TRUNC, fapl=fapl).close()
        (HERE / "family_v2.h5").write_bytes(Path(folder, "0.h5").read_bytes())
        with h5py.File(os.path.join(folder, "s"), "w", driver="split", libver="v110"):
            pass
        (HERE / "split_v2.h5").write_bytes(Path(folder, "s-m.h5").read_bytes())


shared_messages()
cache_image()
split()
for name in ["shared_messages", "cache_image", "family_v2", "split_v2"]:
    assert (HERE / f"{name}.h5").stat().st_size <= 20_000, name
