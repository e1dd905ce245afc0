"""Writes external/: datasets whose elements are in files of raw bytes; and sets/: files split over several.

Run where h5py is: python make_external.py
"""

import ctypes
import glob
import os
import h5py
import numpy as np
from h5py import h5f, h5p

LIBRARY = ctypes.CDLL(glob.glob(os.path.join(os.path.dirname(h5py.__file__), "..", "h5py.libs", "libhdf5-*"))[0])
HERE = os.path.dirname(os.path.abspath(__file__))


def external():
    os.chdir(os.path.join(HERE, "external"))
    with open("a.raw", "wb") as f:
        f.write(b"head" + np.arange(6, dtype="<i4").tobytes())
    with open("b.raw", "wb") as f:
        f.write(np.arange(6, 10, dtype="<i4").tobytes())
    with h5py.File("external.h5", "w", libver="earliest") as f:
        # Six elements of a, the last of them cut in two; then b, which ends too early.
        f.create_dataset("two", (3, 4), "<i4", external=[("a.raw", 4, 22), ("b.raw", 2, 26)])
        f.create_dataset("endless", (12,), "<i4", external=[("a.raw", 4, 8), ("b.raw", 0, h5f.UNLIMITED)])
        f.create_dataset("missing", (4,), "<i4", external=[("a.raw", 4, 8), ("no.raw", 0, 8)])
        f.create_dataset("swapped", (2,), ">i4", external=[("b.raw", 0, 8)])
        f.create_dataset("outside", (2,), "<i4", external=[("../elements_that_are_outside", 0, 8)])
    # More missing files than a check looks for.
    with h5py.File("many.h5", "w", libver="earliest") as f:
        f.create_dataset("x", (1100,), "i1", external=[(f"{number}.raw", 0, 1) for number in range(1100)])


def sets():
    os.chdir(os.path.join(HERE, "sets"))

    def fill(f):
        f["x"] = np.arange(300, dtype="<i4")
        f.create_dataset("c", (40, 10), "<i2", chunks=(8, 10), data=np.arange(400).reshape(40, 10))
        f["x"].attrs["units"] = "m"

    for name, low in (("old_%d.h5", "earliest"), ("new-%03d.h5", "latest")):
        with h5py.File(name, "w", driver="family", memb_size=1000, libver=low) as f:
            fill(f)
    with h5py.File("split", "w", driver="split", libver="earliest") as f:
        fill(f)
    with h5py.File("splitn", "w", driver="split", libver="latest") as f:
        fill(f)
    # h5py has no name for this driver.
    access = h5p.create(h5p.FILE_ACCESS)
    LIBRARY.H5Pset_fapl_multi.argtypes = [ctypes.c_int64] + [ctypes.c_void_p] * 4 + [ctypes.c_bool]
    assert LIBRARY.H5Pset_fapl_multi(access.id, None, None, None, None, True) >= 0
    with h5py.File(h5f.create(b"multi", h5f.ACC_TRUNC, fapl=access)) as f:
        fill(f)


if __name__ == "__main__":
    external()
    sets()
