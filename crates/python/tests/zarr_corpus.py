"""Read every array of a folder of files through ZarrStore, and compare it with hyperslab itself and with h5py.

    python zarr_corpus.py FOLDER [--stored] [--step N]

By default hyperslab decodes all chunks, and arrays are read by both codec pipelines; with `--stored`, zarr decodes the chunks of
the files where it can. Prints a line for each array that differs, and exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import hyperslab
import numpy as np
import zarr
from digests import oracle
from hyperslab.zarr import ZarrStore

LARGEST = 32 << 20
"""The maximum number of bytes of an array that is compared."""

PIPELINE = {"codec_pipeline.path": "hyperslab.zarr.CodecPipeline"}


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
    """The elements as they must appear in Zarr, and which of them are missing."""
    read = array[...]
    if isinstance(read, np.ma.MaskedArray):
        return read.filled(0), np.ma.getmaskarray(read)
    return (np.asarray(read, dtype=array.dtype) if not isinstance(read, np.ndarray) else read), None


class Compared:
    """What was compared, and what differed."""

    def __init__(self, *, stored: bool) -> None:
        self.is_stored = stored
        self.counts, self.reasons = Counter[str](), Counter[str]()
        self.faults: list[str] = []

    def store(self, path: Path) -> None:
        try:
            store = ZarrStore(path, decoded=not self.is_stored)
        except (hyperslab.Error, OSError):
            self.counts["files that cannot be opened"] += 1
            return
        try:
            root = zarr.open(store, mode="r")
        except (hyperslab.Error, KeyError, OSError) as error:
            self._unlisted(path, store, error)
            return
        self.counts["files"] += 1
        self.reasons.update(reason[:80] for reason in store.left_out.values())
        file = None if path.is_dir() else _h5py(path)
        for name, array in store._tree.arrays.items():
            if array.nbytes > LARGEST:
                self.counts["arrays that are too large"] += 1
                continue
            shown = [_opened(store, root, name)]
            if not self.is_stored:
                with zarr.config.set(PIPELINE):
                    shown.append(_opened(store, root, name))
            self._array(path, name, array, shown, file)

    def _unlisted(self, path: Path, store: ZarrStore, error: Exception) -> None:
        """A store that zarr cannot open must have nothing to show, or damaged groups."""
        try:
            if store._tree.arrays:
                self._fault(path, "", f"{type(error).__name__}: {error}")
        except hyperslab.Error:
            pass
        self.counts["files whose groups cannot be listed"] += 1

    def _array(self, path: Path, name: str, array: hyperslab.Array, shown: list[Any], file: Any) -> None:
        try:
            expected, mask = reference(array)
        except (hyperslab.Error, KeyError, MemoryError, UnicodeDecodeError):
            self.counts["arrays that are not read"] += 1
            for one in shown:
                try:
                    one[...]
                except Exception:
                    continue
                self._fault(path, name, "zarr reads what hyperslab does not")
            return
        for one in shown:
            try:
                read = np.asarray(one[...])
            except Exception as error:
                self._fault(path, name, f"{type(error).__name__}: {error}")
                return
            if mask is not None:
                read = np.where(mask, np.zeros((), read.dtype), read) if read.dtype.kind not in "OT" else read
                if read.dtype.kind == "i" and np.asarray(expected).dtype.kind == "b":
                    read = read.astype("?")
            if not same(read, expected):
                self._fault(path, name, f"{read!r} instead of {expected!r}"[:300])
                return
        self.counts["arrays"] += 1
        if file is not None:
            self._compare_h5py(path, name, read, file)

    def _compare_h5py(self, path: Path, name: str, read: np.ndarray, file: Any) -> None:
        try:
            dataset = file[name]
            if dataset.dtype.kind not in "iufS":
                return
            expected = dataset[()]
        except Exception:
            self.counts["arrays that h5py does not read"] += 1
            return
        if np.shape(expected) != read.shape:
            # In NetCDF, the array is as long as the unlimited dimension.
            self.counts["arrays of another shape in h5py"] += 1
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
            self._fault(path, name, f"{read!r} instead of {expected!r} of h5py"[:300])
            return
        self.counts["arrays of h5py"] += 1

    def _fault(self, path: Path, name: str, what: str) -> None:
        self.faults.append(f"{path}: /{name}: {what}")


def _opened(store: ZarrStore, root: Any, name: str) -> Any:
    """An array, with the codec pipeline that is set."""
    return root[name] if name else zarr.open_array(store, mode="r")


def _h5py(path: Path) -> Any:
    import h5py

    try:
        return h5py.File(path, "r", locking=False)
    except (OSError, RuntimeError):
        return None


def compared(folder: Path, *, stored: bool, step: int = 1) -> Compared:
    """Compares every Nth store of a folder."""
    done = Compared(stored=stored)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in oracle("corpus").stores(folder)[::step]:
            done.store(Path(path))
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--stored", action="store_true")
    parser.add_argument("--step", type=int, default=1)
    arguments = parser.parse_args()
    done = compared(arguments.folder, stored=arguments.stored, step=arguments.step)
    for what, count in sorted(done.counts.items()):
        print(f"{count:7} {what}")
    for what, count in done.reasons.most_common(20):
        print(f"{count:7}   left out: {what}")
    for fault in done.faults:
        print(fault)
    return 1 if done.faults else 0


if __name__ == "__main__":
    sys.exit(main())
