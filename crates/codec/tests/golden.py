"""Writes golden.txt: chunks as libhdf5 stores them, read back undecoded. Needs h5py."""

import os
import tempfile

import h5py
import numpy as np


def pipeline(filters):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    for name, *args in filters:
        getattr(plist, "set_" + name)(*args)
    return plist


def stored(file, raw, dtype, filters):
    data = np.frombuffer(raw, dtype)
    plist = pipeline(filters)
    plist.set_chunk(data.shape)
    space = h5py.h5s.create_simple(data.shape)
    kind = h5py.h5t.py_create(data.dtype)
    dataset = h5py.h5d.create(file.id, None, kind, space, plist)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, data)
    mask, chunk = dataset.read_direct_chunk((0,))
    assert mask == 0
    return chunk


RAMP = (np.arange(23) * 1000 - 7).astype("<i4").tobytes()
SUM, SHUFFLE, DEFLATE = ("fletcher32",), ("shuffle",), ("deflate", 6)
CASES = [
    ("even", RAMP, "<i4", [SUM]),
    ("odd", bytes(range(5)), "u1", [SUM]),
    ("one byte", b"\xab", "u1", [SUM]),
    ("all ones", b"\xff" * 8, "u1", [SUM]),
    ("all zeros", bytes(8), "u1", [SUM]),
    ("many words", bytes(i * i % 251 for i in range(2001)), "u1", [SUM]),
    ("elements of 1", bytes(range(9)), "u1", [SHUFFLE]),
    ("elements of 2", bytes(range(10)), "<i2", [SHUFFLE]),
    ("elements of 3", bytes(range(15)), "V3", [SHUFFLE]),
    ("elements of 4", RAMP, "<i4", [SHUFFLE]),
    ("elements of 8", bytes(range(24)), "<f8", [SHUFFLE]),
    ("elements of 11", bytes(range(44)), "V11", [SHUFFLE]),
    ("zlib stream", RAMP, "<i4", [DEFLATE]),
    ("usual order", RAMP, "<i4", [SHUFFLE, DEFLATE, SUM]),
    ("sum in the middle", RAMP, "<i4", [SHUFFLE, SUM, DEFLATE]),
    ("shuffle with a tail of one byte", bytes(range(15)), "V3", [SUM, SHUFFLE]),
    ("stream in a stream", bytes(3000), "u1", [DEFLATE, DEFLATE]),
]

with tempfile.TemporaryDirectory() as folder:
    here = os.path.dirname(os.path.abspath(__file__))
    with h5py.File(os.path.join(folder, "golden.h5"), "w") as file, open(os.path.join(here, "golden.txt"), "w") as out:
        for name, raw, dtype, filters in CASES:
            size = np.dtype(dtype).itemsize
            codecs = [f"shuffle {size}" if f == SHUFFLE else " ".join(map(str, f)) for f in filters]
            out.write(f"{name}; {', '.join(codecs)}; {raw.hex()}; {stored(file, raw, dtype, filters).hex()}\n")
