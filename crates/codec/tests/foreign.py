"""Reads with other libraries the chunks that this crate encodes.

    foreign.py ENCODED

ENCODED is the file that the test `encodes_chunks_for_other_libraries` writes. `cargo xtask test --only oracles` runs both.
"""

import os
import sys
import tempfile

import blosc2
import h5py
import hdf5plugin  # noqa: F401 (registers the filters)
import numcodecs
import numpy as np

from tally import Tally

IDS = {"lzf": 32000, "blosc": 32001, "lz4": 32004, "bzip2": 307, "bitshuffle": 32008, "zstd": 32015, "blosc2": 32026}
BLOSC = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]
SHUFFLES = ["none", "byte", "bit"]


def set_filter(plist, text, size):
    """Sets one filter; gives the bytes of an element and the shape of a chunk that it implies."""
    name, *words = text.split()
    if name in ("shuffle", "fletcher32", "deflate"):
        if name == "deflate":
            plist.set_deflate(int(words[0]))
        else:
            getattr(plist, "set_" + name)()
        return (int(words[0]) if name == "shuffle" else None), None
    if name == "bitshuffle":
        element, block, codec = int(words[0]), int(words[1]), {"none": 0, "lz4": 2, "zstd": 3}[words[2]]
        plist.set_filter(IDS[name], h5py.h5z.FLAG_MANDATORY, (block, codec) + ((3,) if codec == 3 else ()))
        return element, None
    if name in ("blosc", "blosc2"):
        codec, level, shuffle, element = BLOSC.index(words[0]), int(words[1]), SHUFFLES.index(words[2]), int(words[3])
        plist.set_filter(IDS[name], h5py.h5z.FLAG_MANDATORY, (0, 0, 0, 0, level, shuffle, codec))
        return element, tuple(map(int, words[5:])) or None
    plist.set_filter(IDS[name], h5py.h5z.FLAG_MANDATORY, tuple(map(int, words)))
    return None, None


def through_hdf5(file, codecs, raw, stored):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    element, shape = 1, None
    for text in codecs.split(", "):
        size, extent = set_filter(plist, text, element)
        element, shape = size or element, extent or shape
    if len(raw) % element:
        element = 1
    shape = shape or (len(raw) // element,)
    plist.set_chunk(shape)
    kind = h5py.h5t.py_create(np.dtype(f"V{element}"))
    dataset = h5py.h5d.create(file.id, None, kind, h5py.h5s.create_simple(shape), plist)
    dataset.write_direct_chunk((0,) * len(shape), stored)
    out = np.empty(shape, f"V{element}")
    dataset.read(h5py.h5s.ALL, h5py.h5s.ALL, out)
    return out.tobytes()


def through_frame(codecs, stored):
    name = codecs.split()[0]
    if name == "gzip":
        return bytes(numcodecs.GZip().decode(stored))
    if name == "blosc":
        return bytes(numcodecs.Blosc().decode(stored))
    if name == "blosc2":
        found = blosc2.from_cframe(stored)
        return found[()].tobytes() if isinstance(found, blosc2.NDArray) else bytes(found[:])
    return None


with tempfile.TemporaryDirectory() as folder, h5py.File(os.path.join(folder, "foreign.h5"), "w") as file:
    tally = Tally()
    for line in open(sys.argv[1]):
        name, codecs, raw, stored = line.rstrip("\n").split("; ")
        raw, stored = bytes.fromhex(raw), bytes.fromhex(stored)
        found = []
        if not codecs.startswith("gzip"):
            found.append(("HDF5", lambda: through_hdf5(file, codecs, raw, stored)))
        if codecs.split()[0] in ("gzip", "blosc", "blosc2") and "," not in codecs:
            found.append(("its library", lambda: through_frame(codecs, stored)))
        for what, read in found:
            try:
                good, why = read() == raw, "other bytes"
            except Exception as error:
                good, why = False, str(error)
            tally.check(good, f"{name} ({codecs}), read through {what}", [why])
    tally.close()
