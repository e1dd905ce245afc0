"""Writes kinds.h5 and chunk_k.h5: small and reordered floats, and a superblock of version 1.

Run where h5py is: python make_kinds.py
"""

import ctypes
import glob
import os
import h5py
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t

LIBRARY = ctypes.CDLL(glob.glob(os.path.join(os.path.dirname(h5py.__file__), "..", "h5py.libs", "libhdf5-*"))[0])
os.chdir(os.path.dirname(os.path.abspath(__file__)))


def small(exponent, mantissa, bias):
    made = h5t.IEEE_F16LE.copy()
    bits = 1 + exponent + mantissa
    made.set_fields(bits - 1, mantissa, exponent, 0, mantissa)
    made.set_precision(bits)
    made.set_size(1)
    made.set_ebias(bias)
    return made


KINDS = {"fp8_e4m3": (4, 3, 7), "fp8_e5m2": (5, 2, 15), "fp6_e2m3": (2, 3, 1), "fp6_e3m2": (3, 2, 3), "fp4_e2m1": (2, 1, 1)}

with h5py.File("kinds.h5", "w", libver="latest") as f:
    for name, fields in KINDS.items():
        datatype = small(*fields)
        dataset = h5d.create(f.id, name.encode(), datatype, h5s.create_simple((16,)))
        dataset.write(h5s.ALL, h5s.ALL, np.arange(16, dtype="u1"), mtype=datatype)
    for name, base in (("vax_f", h5t.IEEE_F32LE), ("vax_g", h5t.IEEE_F64LE)):
        vax = base.copy()
        vax.set_order(2)
        # The library converts from this order but not to it, and writes it into datatypes of version 1, where it
        # does not read it: words, the most significant first.
        words = np.array([1.5, -2.25, 1e10], base.dtype).view("<u2").reshape(3, -1)[:, ::-1].copy()
        dataset = h5d.create(f.id, name.encode(), vax, h5s.create_simple((3,)))
        dataset.write(h5s.ALL, h5s.ALL, words, mtype=vax)
        values = np.zeros(3)
        dataset.read(h5s.ALL, h5s.ALL, values, mtype=h5t.NATIVE_DOUBLE)
        assert list(values) == [1.5, -2.25, 1e10], values
    bfloat = h5t.IEEE_F16LE.copy()
    bfloat.set_fields(15, 7, 8, 0, 7)
    bfloat.set_ebias(127)
    dataset = h5d.create(f.id, b"bfloat16", bfloat, h5s.create_simple((3,)))
    dataset.write(h5s.ALL, h5s.ALL, np.array([1.5, -2.25, 1e10], "f8"), mtype=h5t.NATIVE_DOUBLE)

create = h5p.create(h5p.FILE_CREATE)
LIBRARY.H5Pset_istore_k.argtypes = [ctypes.c_int64, ctypes.c_uint]
assert LIBRARY.H5Pset_istore_k(create.id, 3) >= 0
access = h5p.create(h5p.FILE_ACCESS)
access.set_libver_bounds(h5f.LIBVER_EARLIEST, h5f.LIBVER_V110)
with h5py.File(h5f.create(b"chunk_k.h5", h5f.ACC_TRUNC, fcpl=create, fapl=access)) as f:
    f.create_dataset("x", (100,), "<i2", chunks=(2,), data=np.arange(100))
