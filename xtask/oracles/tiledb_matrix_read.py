"""Prints what a version of tiledb-py finds in TileDB arrays: all cells, slices, aggregates, and the cells for which conditions hold.

    tiledb_matrix_read.py PACKAGES DIRECTORY

PACKAGES is the folder of another tiledb-py, or - for that of this Python. Prints a line of JSON for each array and time: the path,
the time, and what is found for each attribute. Next to an array, PATH.times lists times at which to read it.
"""

import hashlib
import json
import os
import sys

if sys.argv[1] != "-":
    sys.path.insert(0, sys.argv[1])

import numpy as np
import tiledb

# The arrays are small, and have many attributes.
FEW = {"sm.compute_concurrency_level": "1", "sm.io_concurrency_level": "1", "py.init_buffer_bytes": "100000"}
# One in three numeric attributes is compared by a condition.
CONDITIONS = 3


def as_bytes(value):
    if isinstance(value, str):
        return value.encode()
    return value if isinstance(value, bytes) else np.asarray(value).tobytes()


def cells(values):
    """The bytes of each cell; for nulls only a mark."""
    nulls = np.ma.getmaskarray(values).ravel() if isinstance(values, np.ma.MaskedArray) else None
    flat = np.asarray(values.data if nulls is not None else values).ravel()
    if flat.dtype.kind == "O":
        found = [b"+" + as_bytes(value) for value in flat]
    else:
        data, size = flat.tobytes(), flat.dtype.itemsize
        found = [b"+" + data[at : at + size] for at in range(0, len(data), size)] if size else [b"+"] * len(flat)
    return found if nulls is None else [b"-" if null else cell for null, cell in zip(nulls, found)]


def digest(parts):
    return hashlib.sha256(b"".join(len(part).to_bytes(4, "little") + part for part in parts)).hexdigest()[:16]


def digests(array, found):
    """A digest of the cells of each column; those of sparse arrays sorted by their coordinates and values."""
    columns = {name: cells(values) for name, values in found.items()}
    if not array.schema.sparse:
        return {name: digest(column) for name, column in columns.items()}
    names = [array.schema.domain.dim(at).name for at in range(array.schema.domain.ndim)]
    coordinates = [b"".join(cell) for cell in zip(*(columns[name] for name in names))]
    attributes = [name for name in columns if name not in names]
    told = {name: digest(sorted(at + cell for at, cell in zip(coordinates, columns[name]))) for name in attributes}
    return {"cells": len(coordinates), **told}


def parts(array):
    """Some boxes: a corner, the middle, a line."""
    domain = array.schema.domain
    ends = [tuple(map(int, domain.dim(at).domain)) for at in range(domain.ndim)]
    third = [(last - first) // 3 for first, last in ends]
    return [
        [(first, first + step) for (first, _), step in zip(ends, third)],
        [(first + step, last - step) for (first, last), step in zip(ends, third)],
        [ends[0], *((first + step, first + step) for (first, _), step in zip(ends[1:], third[1:]))],
    ]


def slices(array):
    for box in parts(array):
        yield array.multi_index[tuple(slice(first, last) for first, last in box)]


def whole(array):
    found = array[:]
    return found if isinstance(found, dict) else {array.schema.attr(0).name: found}


def is_number(attribute):
    return attribute.dtype.kind in "iuf" and attribute.dtype.fields is None and not attribute.isvar


def read(path, time):
    with tiledb.open(path, timestamp=time) as array:
        schema = array.schema
        told = {"all": digests(array, whole(array))}
        if time is not None:
            return told
        for at, found in enumerate(slices(array)):
            told[f"slice {at}"] = digests(array, found if isinstance(found, dict) else {schema.attr(0).name: found})
        numbers = [schema.attr(at) for at in range(schema.nattr) if is_number(schema.attr(at))]
        for at, attribute in enumerate(numbers):
            name = attribute.name
            asked = ["sum", "min", "max", "mean", "count"] + (["null_count"] if attribute.isnullable else [])
            found = array.query(attrs=[name]).agg({name: asked})[:]
            told[f"aggregates of {name}"] = [None if found[key] is None else float(found[key]) for key in asked]
            if at % CONDITIONS == 0:
                found = array.query(attrs=[name], cond=f"{name} > 50")[:]
                found = found if isinstance(found, dict) else {name: found}
                told[f"{name} > 50"] = digests(array, found)
    return told


def main():
    directory = sys.argv[2]
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if not os.path.isdir(path):
            continue
        times = [None]
        if os.path.exists(f"{path}.times"):
            with open(f"{path}.times") as file:
                times += json.load(file)
        for at, time in enumerate(times):
            print(json.dumps([name, at, read(path, time)]), flush=True)


if __name__ == "__main__":
    with tiledb.scope_ctx(FEW):
        main()
