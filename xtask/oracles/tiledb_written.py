"""Converts files and stores to TileDB, and opens all of them with tiledb-py.

    tiledb_written.py HYPERSLAB DIRECTORY [STEP]

Every STEPth file or store below DIRECTORY is converted. Its digest must be that of the source, or the report must have named what
is lost before anything was written. tiledb-py must read every array and its metadata, find what h5py finds in a numeric
dataset, and compute the same sums, minima, maxima and null counts as NumPy. At most one source in seven may have a loss.
"""

import math
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import tiledb

import corpus
from tally import Reasons, Tally

# Arrays with more cells are only opened.
CELLS = 1_000_000
NUMBERS = "iuf"
tiledb.default_ctx({"sm.compute_concurrency_level": "1", "sm.io_concurrency_level": "1"})


def run(hyperslab, *words):
    done = subprocess.run([hyperslab, *words], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout, done.stderr


def cells(array):
    """The number of cells in the part of a dense array that may be written."""
    domain = array.schema.domain
    if not array.schema.current_domain.is_empty:
        ranges = array.schema.current_domain.ndrectangle
        return math.prod(int(high) - int(low) + 1 for low, high in (ranges.range(at) for at in range(domain.ndim)))
    # The ends of dates are dates.
    ends = ([int(np.asarray(end).astype("i8")) if domain.dim(at).dtype.kind == "M" else int(end) for end in domain.dim(at).domain]
            for at in range(domain.ndim))
    return math.prod(last - first + 1 for first, last in ends)


def whole(array):
    """All cells that may be written, as a dictionary of columns."""
    domain = array.schema.domain
    if array.schema.sparse or array.schema.current_domain.is_empty:
        return array[:]
    ranges = array.schema.current_domain.ndrectangle
    return array[tuple(slice(int(low), int(high) + 1) for low, high in (ranges.range(at) for at in range(domain.ndim)))]


def column(found, name):
    return found[name] if isinstance(found, dict) else found


def aggregates(array, name, values, reasons, path):
    """Compares what the library computes from the minima and sums of tiles with NumPy."""
    found = array.query(attrs=[name]).agg({name: ["sum", "min", "max", "count"]})[:]
    nulls = np.ma.getmaskarray(values)
    numbers = np.asarray(values)[~nulls] if nulls.any() else np.asarray(values).ravel()
    reasons.equal(f"{path}: count", int(found["count"]), values.size)
    if not numbers.size or (numbers.dtype.kind == "f" and not np.isfinite(numbers).all()):
        return
    reasons.equal(f"{path}: min", found["min"], numbers.min())
    reasons.equal(f"{path}: max", found["max"], numbers.max())
    if numbers.dtype.kind == "f":
        near = np.isclose(found["sum"], numbers.sum(dtype="f8"), rtol=1e-6, atol=1e-3, equal_nan=True)
        reasons.expect(near, f"{path}: sum {found['sum']}, expected {numbers.sum(dtype='f8')}")
    elif np.abs(numbers.astype("f8")).sum() < 2**62:
        reasons.equal(f"{path}: sum", int(found["sum"]), int(numbers.sum()))


def judge_array(uri, path, source, reasons):
    with tiledb.open(uri) as array:
        dict(array.meta)
        schema = array.schema
        if not schema.sparse and cells(array) > CELLS:
            return
        found = whole(array)
        for at in range(schema.nattr):
            attribute = schema.attr(at)
            values = column(found, attribute.name)
            is_number = attribute.dtype.kind in NUMBERS and attribute.dtype.fields is None and not attribute.isvar
            is_number = is_number and not attribute.enum_label
            # For an array that was never written the library computes zeros, whatever the fill value.
            if is_number and not schema.sparse and len(tiledb.array_fragments(uri)):
                aggregates(array, attribute.name, values, reasons, path)
            dataset = source.get(path) if source else None
            if schema.sparse or not is_number or not isinstance(dataset, h5py.Dataset):
                continue
            try:
                expected = np.asarray(dataset[()])
            except (OSError, TypeError):
                # A filter or a datatype that h5py does not support.
                continue
            # A variable of NetCDF may have another name in the file, where another dataset has its name.
            is_it = expected.shape in (np.shape(values), ())
            if is_it and expected.dtype.kind in NUMBERS and expected.dtype.fields is None and expected.size:
                same = expected.size == np.asarray(values).size and np.array_equal(
                    expected.ravel(), np.asarray(values).ravel(), equal_nan=expected.dtype.kind == "f")
                reasons.expect(same, f"{path}: other values than h5py finds")


def judge(uri, path, source, reasons):
    kind = tiledb.object_type(uri)
    try:
        if kind == "array":
            judge_array(uri, path, source, reasons)
        elif kind == "group":
            with tiledb.Group(uri) as group:
                dict(group.meta)
                for member in group:
                    judge(member.uri, f"{path.rstrip('/')}/{member.name}", source, reasons)
        else:
            reasons.append(f"{path}: {kind}, expected an array or a group")
    except (tiledb.TileDBError, ValueError, TypeError, UnicodeError, KeyError, IndexError) as error:
        reasons.append(f"{path}: {type(error).__name__}: {str(error)[:200]}")


def hdf5(path):
    """The file as h5py opens it; None if it cannot."""
    try:
        return h5py.File(path) if os.path.isfile(path) and h5py.is_hdf5(path) else None
    except OSError:
        return None


def main():
    hyperslab, directory = sys.argv[1:3]
    step = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    tally, whole_sources, lossy = Tally(), 0, 0
    for path in corpus.stores(directory)[::step]:
        name = os.path.relpath(path, directory)
        status, expected, _ = run(hyperslab, "digest", "-q", path)
        if status == 2 or not expected:
            continue
        with tempfile.TemporaryDirectory() as folder:
            to = os.path.join(folder, "written.tdb")
            status, report, message = run(hyperslab, "convert", path, to)
            if status != 0:
                # A file that cannot be opened is not a source; any other failure must be a loss that was named.
                if "--allow-loss" in message:
                    lossy += 1
                    tally.check(not os.path.exists(to), f"{name}: written in spite of a loss")
                continue
            whole_sources += 1
            reasons = Reasons()
            _, found, _ = run(hyperslab, "digest", "-q", to)
            # The columns are as wide as the longest path.
            wanted = {tuple(line.split()) for line in expected.splitlines()}
            differing = [line for line in found.splitlines() if tuple(line.split()) not in wanted]
            # For arrays that are too large for their store, the error names the size of the store.
            differing = [line for line in differing if "raise the allocation limit" not in line]
            # Fill values of Zarr that mark missing values become attributes, and the report says so.
            if "the attribute _FillValue" in report:
                differing = [line for line in differing if not line.startswith("attribute") or "@_FillValue" not in line]
            reasons.expect(not differing, f"digest: {differing[:2]}")
            status, findings, _ = run(hyperslab, "check", "-q", to)
            reasons.expect(status == 0, f"check: {findings.splitlines()[:2]}")
            source = hdf5(path)
            judge(to, "/", source, reasons)
            if source:
                source.close()
            tally.check(not reasons, name, reasons)
            shutil.rmtree(to, ignore_errors=True)
    tally.check(lossy * 7 <= whole_sources, f"{lossy} sources with a loss, and {whole_sources} without")
    tally.close()


if __name__ == "__main__":
    main()
