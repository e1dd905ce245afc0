"""Read every array of the files in a folder into NumPy, and compare its content digest, computed from that, with the library's.

    python corpus_digests.py FOLDER [--step N [--first K]]

The elements of sparse arrays have no positions, so they are read as tables. Prints a line for each array that differs, and exits
with 1 if there is one.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import hyperslab
import numpy as np
from digests import TIMES, Encoder, Type, digest, oracle, parsed
from netCDF4 import default_fillvals

LARGEST = 32 << 20
"""The maximum number of bytes of elements that are read at once."""

CUT = {("tstring-at.h5", "/dset1")}
"""Files and arrays with strings that are NUL, padded with spaces. NumPy treats NUL at the end of a string as padding."""


def blocks(array: hyperslab.Array, rank: int) -> Iterator[np.ndarray]:
    """The elements in row-major order, in parts that are not too large. Axes of the elements themselves follow the first axis."""
    shape, inner = array.shape[:rank], array.shape[rank:]
    each = math.prod(inner) * array.dtype.itemsize
    if array.nbytes <= LARGEST or not shape:
        yield as_array(array, array[...]).reshape(-1, *inner)
        return
    # Reads whole rows of the first dimension whose rows are small enough, and loops over the dimensions before it.
    along = next((at for at in range(rank) if math.prod(shape[at + 1 :]) * each <= LARGEST), rank - 1)
    rows = max(LARGEST // (math.prod(shape[along + 1 :]) * each), 1)
    for outer in np.ndindex(*shape[:along]):
        for start in range(0, shape[along], rows):
            yield as_array(array, array[(*outer, slice(start, start + rows))]).reshape(-1, *inner)


def as_array(array: hyperslab.Array, read: Any) -> np.ndarray:
    """What was read, as an array; a single element is a NumPy scalar or an object."""
    if isinstance(read, np.ndarray):
        if read.dtype != array.dtype and array.dtype.kind != "O":
            raise TypeError(f"elements of dtype {read.dtype}, expected {array.dtype}")
        return read
    made = np.empty((), array.dtype)
    made[()] = read
    return made


def column(of: Type, cells: Any) -> Iterator[np.ndarray]:
    """The elements of an Arrow column, as arrays of the shapes and dtypes that `read` returns."""
    for part in cells.chunks:
        if hasattr(part, "indices"):
            part = part.indices.cast(base_of(of).word)
        if of.word in TIMES:
            (unit,) = of.names
            part = part.view("int64") if part.type.bit_width == 64 else part.cast("int64")
            kind = TIMES[of.word]
            yield np.asarray(part).view(kind if unit == "generic" else f"{kind}[{unit}]")
        elif of.word in ("string", "nullable", "vlen", "array", "opaque"):
            values = np.empty(len(part), object)
            for at, value in enumerate(part):
                values[at] = of_scalar(of, value)
            yield values
        else:
            yield np.asarray(part.to_numpy(zero_copy_only=False))


def base_of(of: Type) -> Type:
    """The integer type of an enumeration."""
    return base_of(of.of[0]) if of.of else of


def of_scalar(of: Type, value: Any) -> Any:
    """An element of Arrow; lists become NumPy arrays."""
    if not value.is_valid:
        return None
    if of.word == "nullable":
        return of_scalar(of.of[0], value)
    if of.word in ("vlen", "array") and hasattr(value, "values"):
        return value.values.to_numpy(zero_copy_only=False)
    return value.as_py()


class Store:
    """An open store."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._root: Any = hyperslab.open(path)
        except hyperslab.NoObjectError:
            # A Zarr store can be a single array.
            self._root = None
        self._tables: dict[str, Any] = {}
        self._encoder = Encoder(lambda target: len(self._root[target].shape))

    def array(self, path: str) -> hyperslab.Array:
        if self._root is None:
            return hyperslab.open_array(self.path, path)
        if path not in self._root and "/" in path[1:]:
            # A TileDB attribute with a slash in its name is a member without one.
            group, _, name = path.rpartition("/")
            path = next((f"/{found}" for found in self._root if found.replace("\ufffd2f", "/") == path[1:]), f"{group}/{name}")
        found: hyperslab.Array = self._root[path]
        return found

    def table(self, group: str) -> Any:
        if group not in self._tables:
            self._tables[group] = hyperslab.table(self._root[group]).to_pyarrow()
        return self._tables[group]

    def digest(self, line: Any, parts: Iterable[np.ndarray]) -> str:
        of = parsed(line.type)
        return digest(line.type, line.shape, (self._encoder.encoded(of, part) for part in parts))


def stored_part(path: Path, array: hyperslab.Array) -> hyperslab.Array:
    """The array as it is stored, if it ends before its unlimited dimensions do. The rest must be the fill value."""
    stored: hyperslab.Array = hyperslab.open(path, raw=True)[array.path]
    inside = tuple(slice(size) for size in stored.shape)
    read, is_more = array[...], np.ones(array.shape, bool)
    is_more[inside] = False
    fill = array.attrs.get("_FillValue", default_fillvals[array.dtype.str[1:]])
    if not np.array_equal(read[inside], stored[...]) or not (read[is_more] == fill).all():
        raise ValueError("what follows the stored elements is not the fill value")
    return stored


def is_cut(path: Path, array: hyperslab.Array) -> bool:
    """Whether strings end with NUL and are padded with spaces, which no NumPy string can. They must then be those of h5py."""
    if (path.name, array.path) not in CUT:
        return False
    import h5py

    with h5py.File(path) as file:
        if not np.array_equal(array[...], file[array.path][...]):
            raise ValueError("the texts are not those of h5py")
    return True


class Compared:
    """What was compared, and what differed."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self.faults: list[str] = []

    def store(self, path: Path) -> None:
        try:
            store = Store(path)
        except (ValueError, OSError):
            self._unopened(path)
            return
        self.counts["files"] += 1
        lines = [line for line in hyperslab.digest(path) if line.kind == "array"]
        sparse = {line.path.partition("/__dim/")[0] or "/" for line in lines if "/__dim/" in line.path}
        for line in lines:
            group = line.path.replace("/__dim/", "/").rpartition("/")[0] or "/"
            try:
                if line.error is not None:
                    self._refused(store, line)
                elif group in sparse:
                    self._of_cells(store, line, group)
                else:
                    self._of_array(store, line)
            except Exception as error:
                self._fault(path, line, f"{type(error).__name__}: {error}")

    def _of_cells(self, store: Store, line: Any, group: str) -> None:
        of, cells = parsed(line.type), store.table(group)[line.path.rpartition("/")[2]]
        self._judge(store, line, "columns of cells", store.digest(line, column(of, cells)))

    def _of_array(self, store: Store, line: Any) -> None:
        array = store.array(line.path)
        if line.shape is None or array.is_empty_space:
            if line.shape is not None or not array.is_empty_space:
                raise ValueError("one of both has no elements")
            self._judge(store, line, "null dataspaces", store.digest(line, ()))
            return
        rank = len(line.shape)
        if list(array.shape[:rank]) != line.shape:
            array = stored_part(store.path, array)
            self.counts["arrays that end before their dimensions"] += 1
        if list(array.shape[:rank]) != line.shape:
            raise ValueError(f"the shape is {array.shape}, expected {line.shape}")
        if is_cut(store.path, array):
            self.counts["arrays with texts that NumPy cuts"] += 1
            return
        self._judge(store, line, "arrays", store.digest(line, blocks(array, rank)))

    def _judge(self, store: Store, line: Any, what: str, found: str) -> None:
        if found != line.digest:
            self._fault(store.path, line, f"{line.type[:80]}: NumPy has {found}, expected {line.digest}")
            return
        self.counts[what] += 1
        self.counts[f"of {line.type.partition('(')[0]}"] += 1

    def _unopened(self, path: Path) -> None:
        """A file that cannot be opened must not be readable by the library either."""
        self.counts["files that are not read"] += 1
        with contextlib.suppress(ValueError, OSError):
            self.faults.append(f"{path}: is not opened, and has {len(hyperslab.digest(path))} digests")

    def _refused(self, store: Store, line: Any) -> None:
        """An array that the library does not read must be an error here too."""
        try:
            store.array(line.path)[...]
        except (hyperslab.Error, KeyError, MemoryError):
            self.counts["arrays that are not read"] += 1
            return
        self._fault(store.path, line, f"is read, and has no digest: {line.error}")

    def _fault(self, path: Path, line: Any, what: str) -> None:
        self.faults.append(f"{path}: {line.path}: {what}")


def compared(folder: Path, step: int = 1, first: int = 0) -> Compared:
    """Compares every Nth store of a folder."""
    done = Compared()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in oracle("corpus").stores(folder)[first::step]:
            done.store(Path(path))
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    done = compared(arguments.folder, arguments.step, arguments.first)
    for what, count in sorted(done.counts.items()):
        print(f"{count:7} {what}")
    print(*done.faults, sep="\n")
    return 1 if done.faults else 0


if __name__ == "__main__":
    sys.exit(main())
