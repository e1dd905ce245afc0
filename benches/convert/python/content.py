"""Prints a hash of all elements of a store, read by a different library from the one that wrote it.

    content.py zarr|tensorstore|h5py STORE
    content.py rows STORE SOURCE

`rows` reads the rows of `data` that were written in a sparse file, and those after them, from both, which must be
the same.
"""

import os
import sys

import numpy as np
from blake3 import blake3


def by_zarr(store):
    import zarr
    for name, node in zarr.open_group(store, mode="r").members(max_depth=None):
        if isinstance(node, zarr.Array):
            yield name, node.shape, lambda part, node=node: node[part]


def by_tensorstore(store):
    import tensorstore
    for folder, _, names in os.walk(store):
        if "zarr.json" not in names:
            continue
        kvstore = {"driver": "file", "path": folder + "/"}
        try:
            array = tensorstore.open({"driver": "zarr3", "kvstore": kvstore}, open=True).result()
        except ValueError:
            # A group.
            continue
        yield os.path.relpath(folder, store), array.shape, lambda part, array=array: array[part].read().result()


def by_h5py(store):
    import h5py
    # The file stays open until everything is read.
    for name, node in h5py.File(store).items():
        yield name, node.shape, lambda part, node=node: node[part]


def hash_of_all(arrays):
    total = blake3(max_threads=blake3.AUTO)
    for name, shape, read in sorted(arrays, key=lambda array: array[0]):
        total.update(f"{name} {tuple(shape)}\n".encode())
        # Read in pieces of many rows, because a piece must fit in memory.
        step = max(1, PIECE // max(1, int(np.prod(shape[1:])))) if shape else 1
        parts = [slice(at, min(at + step, shape[0])) for at in range(0, shape[0], step)] if shape else [()]
        for part in parts:
            total.update(np.ascontiguousarray(read(part)).reshape(-1).view("u1"))
    return total.hexdigest()


def rows(store, source):
    import h5py
    import zarr
    written = zarr.open_group(store, mode="r")["data"]
    total = blake3()
    with h5py.File(source) as f:
        data = f["data"]
        assert data.shape == written.shape, f"{written.shape} instead of {data.shape}"
        every = max(1, data.shape[0] // 8)
        for row in {near for at in range(0, data.shape[0], every) for near in (at, at + 1) if near < data.shape[0]}:
            expected, found = data[row], written[row]
            if not np.array_equal(expected, found):
                sys.exit(f"row {row} is another")
            total.update(found.view("u1"))
    return total.hexdigest()


# The maximum number of elements in a piece.
PIECE = 1 << 28

if __name__ == "__main__":
    library, store, *source = sys.argv[1:]
    if library == "rows":
        print(rows(store, *source))
    else:
        print(hash_of_all({"zarr": by_zarr, "tensorstore": by_tensorstore, "h5py": by_h5py}[library](store)))
