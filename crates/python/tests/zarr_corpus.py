"""Read every array of a folder of files through ZarrStore, and compare it with hyperslab itself and with h5py.

    python zarr_corpus.py FOLDER [--decoded] [--references [--inline SIZE]] [--largest BYTES]

With `--decoded`, hyperslab decodes all chunks. With `--references`, arrays are also read through kerchunk references. Prints a
line for each array that differs, and exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hyperslab
import numpy as np
import zarr
from hyperslab.zarr import ZarrStore

ARCHIVES = (".zip",)


def stores(folder: Path) -> Iterator[Path]:
    """The files and stores of a folder. Stores are not searched for files."""
    for found in sorted(folder.iterdir()):
        if found.is_symlink():
            continue
        if found.is_dir():
            try:
                hyperslab.open(found)
                yield found
            except (ValueError, OSError, KeyError, MemoryError):
                yield from stores(found)
        else:
            yield found


def same(one: Any, other: Any) -> bool:
    """Whether two arrays have the same shape and elements: numbers by their bytes, strings as strings."""
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return False
    if one.dtype.kind in "OT" or other.dtype.kind in "OT":
        return all(texts(a) == texts(b) for a, b in zip(one.reshape(-1), other.reshape(-1), strict=True))
    if one.dtype.name == "bfloat16" or other.dtype.name == "bfloat16":
        one, other = one.astype("f4"), other.astype("f4")
    if one.dtype.kind == "S" and other.dtype.kind == "S":
        # A single NumPy string is as long as its content.
        return bool(np.array_equal(one, other))
    if one.dtype.kind in "iufc" and one.dtype.byteorder != other.dtype.byteorder:
        one, other = one.astype(one.dtype.newbyteorder("=")), other.astype(other.dtype.newbyteorder("="))
    return one.tobytes() == other.tobytes()


def texts(element: Any) -> str:
    if element is None:
        return ""
    return element.decode(errors="replace") if isinstance(element, bytes) else str(element)


def reference(array: hyperslab.Array) -> Any:
    """The elements as they must appear in Zarr."""
    read = array[...]
    if isinstance(read, np.ma.MaskedArray):
        return read.filled(0), np.ma.getmaskarray(read)
    return (np.asarray(read, dtype=array.dtype) if not isinstance(read, np.ndarray) else read), None


class Corpus:
    """What was compared, and what differed."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments, self.counts = arguments, Counter[str]()
        self.reasons = Counter[str]()
        self.referenced: dict[str, Any] = {}

    def read(self, path: Path) -> None:
        try:
            store = ZarrStore(path, decoded=self.arguments.decoded)
        except (ValueError, OSError, KeyError, MemoryError):
            self.counts["files that cannot be opened"] += 1
            return
        self.counts["files"] += 1
        try:
            root = zarr.open(store, mode="r")
        except Exception as error:
            self.counts["files whose groups cannot be listed"] += 1
            print(f"{path}: {type(error).__name__}: {error}")
            return
        for name, reason in store.left_out.items():
            self.counts["left out"] += 1
            self.reasons[reason[:80]] += 1
            if self.arguments.verbose:
                print(f"{path}: {name} left out: {reason}")
        files = self._h5py(path)
        if self.arguments.references:
            root = self._referenced(path, store)
        for name, array in store._tree.arrays.items():
            if self.arguments.references and f"{name}/.zarray".lstrip("/") not in self.referenced:
                self.counts["arrays that are refused"] += 1
                continue
            self._array(path, name, array, root if name == "" else root[name], files)

    def _referenced(self, path: Path, store: ZarrStore) -> Any:
        """The arrays as read through references, without those that are refused."""
        import fsspec
        from hyperslab.virtual import references
        from zarr.storage import FsspecStore

        drop: list[str] = []
        for _ in range(2):
            try:
                made = references(path, inline=self.arguments.inline, drop=drop)
                break
            except ValueError as error:
                if "too large to inline" not in str(error):
                    raise
                drop = [part.split(": ")[0].rpartition("/")[2] for part in str(error).split("): ", 1)[1].split("; ")]
        for value in made["refs"].values():
            kind = "documents" if isinstance(value, str) and value[:1] == "{" else "inlined chunks"
            self.counts["byte ranges" if isinstance(value, list) else kind] += 1
        self.referenced = made["refs"]
        options = {"remote_protocol": "file", "remote_options": {"asynchronous": True}}
        files = fsspec.filesystem("reference", fo=made, asynchronous=True, **options)
        return zarr.open(FsspecStore(files, read_only=True), mode="r", zarr_format=2)

    def _array(self, path: Path, name: str, array: hyperslab.Array, shown: Any, files: Any) -> None:
        if array.nbytes > self.arguments.largest:
            self.counts["arrays that are too large"] += 1
            return
        try:
            expected, mask = reference(array)
        except Exception:
            self.counts["arrays that hyperslab cannot read"] += 1
            try:
                shown[...]
            except Exception:
                return
            self.fault(path, name, "zarr reads what hyperslab does not")
            return
        try:
            read = np.asarray(shown[...])
        except Exception as error:
            self.fault(path, name, f"{type(error).__name__}: {error}")
            return
        if mask is not None:
            read = np.where(mask, np.zeros((), read.dtype), read) if read.dtype.kind not in "OT" else read
            if read.dtype.kind == "i" and np.asarray(expected).dtype.kind == "b":
                read = read.astype("?")
        if not same(read, expected):
            self.fault(path, name, f"{read!r} instead of {expected!r}"[:300])
            return
        self.counts["equal"] += 1
        if files is not None:
            self._compare_h5py(path, name, read, files)

    def _h5py(self, path: Path) -> Any:
        if path.is_dir():
            return None
        import h5py

        try:
            return h5py.File(path, "r")
        except (OSError, RuntimeError):
            return None

    def _compare_h5py(self, path: Path, name: str, read: np.ndarray, files: Any) -> None:
        try:
            dataset = files[name]
            if dataset.dtype.kind not in "iufS":
                return
            expected = dataset[()]
        except Exception:
            self.counts["not readable by h5py"] += 1
            return
        if np.shape(expected) != read.shape:
            # In NetCDF, the array is as long as the unlimited dimension.
            self.counts["of another shape in h5py"] += 1
            return
        expected = np.asarray(expected)
        if read.dtype.kind == "S":
            # What follows the end of a string is not part of it.
            one = [bytes(text).split(b"\0")[0].rstrip() for text in read.reshape(-1)]
            other = [bytes(text).split(b"\0")[0].rstrip() for text in expected.reshape(-1)]
            is_same = one == other
        elif read.dtype.kind in "iuf":
            is_same = bool(np.array_equal(read, expected, equal_nan=read.dtype.kind == "f"))
        else:
            return
        if not is_same:
            self.fault(path, name, f"{read!r} instead of {expected!r} of h5py"[:300])
            return
        self.counts["equal to h5py"] += 1

    def fault(self, path: Path, name: str, what: str) -> None:
        self.counts["different"] += 1
        print(f"{path}: /{name}: {what}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--decoded", action="store_true")
    parser.add_argument("--references", action="store_true")
    parser.add_argument("--inline", default="1 MiB")
    parser.add_argument("--largest", type=int, default=1 << 28)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")
    try:
        import hdf5plugin  # noqa: F401
    except ImportError:
        pass
    corpus = Corpus(arguments)
    for path in stores(arguments.folder):
        corpus.read(path)
    for what, count in sorted(corpus.counts.items()):
        print(f"{count:7} {what}")
    for what, count in corpus.reasons.most_common(20):
        print(f"{count:7}   {what}")
    return 1 if corpus.counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
