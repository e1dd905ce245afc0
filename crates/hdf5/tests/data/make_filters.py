#!/usr/bin/env python3
"""Writes filters.h5: a dataset for each registered filter that is read, and chunks that did not pass all of theirs.

Needs h5py 3.16 and hdf5plugin.
"""

import ctypes
import glob
import os
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401 (registers the filters)
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z

HERE = Path(__file__).parent
LIBRARY = ctypes.CDLL(glob.glob(os.path.join(os.path.dirname(h5py.__file__), "..", "h5py.libs", "libhdf5-*"))[0])
DONT_FILTER_PARTIAL_CHUNKS = 2
FILTERS = {
    "bzip2": [(307, (9,))],
    "lzf": [(32000, ())],
    "blosc": [(32001, (0, 0, 0, 0, 5, 1, 1))],
    "blosc_zstd": [(32001, (0, 0, 0, 0, 5, 2, 5))],
    "lz4": [(32004, (64,))],
    "bitshuffle": [(32008, (0, 0))],
    "bitshuffle_lz4": [(32008, (0, 2))],
    "bitshuffle_zstd": [(32008, (0, 3, 3))],
    "zstd": [(32015, (3,))],
    "blosc2": [(32026, (0, 0, 0, 0, 5, 1, 1))],
    "several": [(2, ()), (32015, (3,)), (3, ()), (307, (1,))],
}


def create(f, name, filters, whole_edges):
    p = h5p.create(h5p.DATASET_CREATE)
    p.set_obj_track_times(False)
    p.set_chunk((8, 8))
    for number, values in filters:
        p.set_filter(number, h5z.FLAG_OPTIONAL, values)
    if whole_edges:
        LIBRARY.H5Pset_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
        assert LIBRARY.H5Pset_chunk_opts(p.id, DONT_FILTER_PARTIAL_CHUNKS) >= 0
    return h5py.Dataset(h5d.create(f.id, name.encode(), h5t.STD_I32LE, h5s.create_simple((12, 13)), p))


VALUES = np.arange(12 * 13, dtype="<i4").reshape(12, 13) // 3 * 7
with h5py.File(HERE / "filters.h5", "w", libver=("v110", "v110")) as f:
    for name, filters in FILTERS.items():
        create(f, name, filters, False)[...] = VALUES
        d = create(f, name + "_edges", filters, True)
        d[...] = VALUES
        # The first chunk again, as if none of its filters could be applied.
        raw = np.ascontiguousarray(VALUES[:8, :8]).tobytes()
        d.id.write_direct_chunk((0, 0), raw, filter_mask=(1 << len(filters)) - 1)
    # Of several filters the second did not apply.
    d = create(f, "second_skipped", [(2, ()), (32015, (3,))], False)
    shuffled = np.frombuffer(VALUES[:8, :8].tobytes(), "u1").reshape(64, 4).T.tobytes()
    d[...] = VALUES
    d.id.write_direct_chunk((0, 0), shuffled, filter_mask=0b10)

# The library remembers a chunk that was written directly without its mask, so it only reads them from a new file.
with h5py.File(HERE / "filters.h5") as f:
    for name, d in f.items():
        assert np.array_equal(d[...], VALUES), name
assert (HERE / "filters.h5").stat().st_size <= 60_000, (HERE / "filters.h5").stat().st_size
