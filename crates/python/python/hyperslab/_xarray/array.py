"""Arrays of stores as lazy xarray arrays."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import numpy as np
from xarray.backends.common import BackendArray
from xarray.coding.strings import create_vlen_dtype
from xarray.core.indexing import BasicIndexer, ExplicitIndexer, IndexingSupport, VectorizedIndexer, explicit_indexing_adapter

from .._objects import Array

TEXT = create_vlen_dtype(str)

# The time units that xarray supports; longer ones become seconds.
_UNITS = ("s", "ms", "us", "ns")

# Time units that are too short for xarray. Such times are shown as counts.
_SHORT_UNITS = ("ps", "fs", "as")

# All integers up to this one are exact as float64.
_EXACT = 2**53

# The key of all elements of one dimension.
_WHOLE = (slice(None),)

# Reading a single element costs about as much as placing this many elements that are read together with their neighbours.
_ELEMENTS_A_POINT = 8


class LazyArray(BackendArray):
    """An array that is read when its elements are requested. It can be pickled if the store was opened by a path."""

    __slots__ = ("_array", "_cast", "_early", "dtype", "shape")

    def __init__(self, array: Array) -> None:
        self._array = array
        self.shape = array.shape
        self.dtype, self._cast = _shown(array)
        self._early: np.ndarray | None = None

    @property
    def has_counts_of_nat(self) -> bool:
        """Whether missing elements are the integer that xarray interprets as NaT."""
        return self._cast and self.dtype.kind == "i" and self._array.datatype.startswith("nullable(int")

    @property
    def has_missing_as_nan(self) -> bool:
        """Whether stored elements are not floats, but xarray represents the missing ones as NaN."""
        return self._cast and self.dtype.kind in "fO" and self._array.datatype.startswith("nullable(") and self._array.dtype.kind in "biu"

    def read_early(self) -> None:
        """Read all elements of one dimension now, and keep them until all are requested. Errors occur here, where the array can still
        be left out."""
        self._early = self._read(_WHOLE)

    def __reduce__(self) -> tuple[Any, ...]:
        return (LazyArray, (self._array,))

    def __getitem__(self, key: ExplicitIndexer) -> Any:
        early = self._early
        if early is not None and isinstance(key, BasicIndexer) and key.tuple == _WHOLE:
            self._early = None
            return early
        if isinstance(key, VectorizedIndexer) and _is_scattered(key.tuple):
            return self._shaped(self._array.vindex[key.tuple])
        return explicit_indexing_adapter(key, self.shape, IndexingSupport.OUTER, self._read)

    async def async_getitem(self, key: ExplicitIndexer) -> Any:
        return await asyncio.to_thread(self.__getitem__, key)

    def _read(self, key: tuple[Any, ...]) -> np.ndarray:
        early = self._early
        if early is None:
            read, is_shaped = self._array[key], False
        else:
            # Only one-dimensional arrays are read early, for which keys have the same meaning as in NumPy.
            read, is_shaped = early[key], True
        if not isinstance(read, np.ndarray) or (self.dtype.kind == "O" and not _keeps_dimensions(key)):
            if self._cast and isinstance(read, np.generic) and read.dtype.names is None and self.dtype.kind != "O":
                return self._shaped(np.asarray(read))
            # A single element: a string would get a dtype of its own, and a sequence would be mistaken for the array.
            one = np.empty(1, self.dtype)
            one[0] = as_complex(read)
            return one.reshape(())
        return read.copy() if is_shaped else self._shaped(read)

    def _shaped(self, read: np.ndarray) -> np.ndarray:
        if not self._cast:
            return read
        if read.dtype.names is not None:
            return np.ascontiguousarray(read).view(self.dtype)
        # Missing elements are masked.
        masked: Any = np.ma.asarray(read)
        if read.dtype.kind in "mM":
            return self._in_unit(masked.filled(np.array("NaT", read.dtype)))
        self._check_exact(masked)
        filled: np.ndarray = masked.astype(self.dtype).filled(_missing(self.dtype))
        return filled

    def _check_exact(self, read: Any) -> None:
        """Refuse integers that floats cannot represent exactly, since xarray uses floats for integers with missing values."""
        if self.dtype != "f8" or read.dtype.kind not in "iu" or read.dtype.itemsize < 8:
            return
        present = read.compressed()
        beyond = present[(present > _EXACT) | ((present < -_EXACT) if read.dtype.kind == "i" else False)]
        if beyond.size:
            raise ValueError(
                f"{self._array.path} contains {beyond[0]}, which float64 cannot represent exactly, and xarray has no integers with"
                f" missing values; read it with hyperslab.open(…)[{self._array.path!r}][...], which returns a masked array of"
                f" {read.dtype}, or leave it out with drop_variables"
            )

    def _in_unit(self, read: np.ndarray) -> np.ndarray:
        """Times converted to a unit that xarray supports, or their counts. Times that do not fit are refused: NumPy lets some wrap."""
        if self.dtype.kind == "i":
            return read.astype(self.dtype)
        try:
            made = read.astype(self.dtype)
            if bool(np.all((made.astype(read.dtype) == read) | np.isnat(read))):
                return made
        except OverflowError:
            pass
        raise ValueError(
            f"{self._array.path} has times that {self.dtype}, which xarray uses for {read.dtype}, cannot represent;"
            f" read it with hyperslab.open(…)[{self._array.path!r}][...], or leave it out with drop_variables"
        )


def _shown(array: Array) -> tuple[np.dtype[Any], bool]:
    """The dtype that is reported to xarray, and whether elements have to be cast to it."""
    dtype = array.dtype
    if dtype.metadata is not None:
        if "vlen" in dtype.metadata:
            return TEXT, False
        # The encoding has the members of an enumeration.
        dtype = np.dtype(dtype.str)
    if dtype.names is not None:
        of = complex_of(dtype)
        return (dtype, False) if of is None else (of, True)
    if array.datatype.startswith("nullable("):
        if dtype == "i8" and is_counted_since(array.attributes()):
            return dtype, True
        # xarray promotes integers with missing values in the same way.
        if dtype.kind in "iu":
            return np.dtype("f4" if dtype.itemsize <= 2 else "f8"), True
        if dtype.kind in "mM":
            return _shown_times(dtype), True
        return (np.dtype("O") if dtype.kind in "bSUO" else dtype), True
    if dtype.kind in "mM":
        return (of := _shown_times(dtype)), of != dtype
    return dtype, False


def _shown_times(dtype: np.dtype[Any]) -> np.dtype[Any]:
    unit, count = np.datetime_data(dtype)
    if unit in _SHORT_UNITS:
        return np.dtype("i8")
    if unit == "generic" or (unit in _UNITS and count == 1):
        return dtype
    return np.dtype(f"{dtype.kind}8[{unit if unit in _UNITS else 's'}]")


def counted(array: Array) -> dict[str, str]:
    """Attributes that define the counts of times whose unit is too short for xarray; empty for other arrays."""
    dtype = array.dtype
    if dtype.kind not in "mM":
        return {}
    unit, count = np.datetime_data(dtype)
    if unit not in _SHORT_UNITS:
        return {}
    # xarray would take "ps since" for a time unit to decode, which it cannot do.
    told = {"units": unit if count == 1 else f"{count} {unit}"}
    return told if dtype.kind == "m" else told | {"epoch": "1970-01-01T00:00:00"}


def labels(array: Array) -> dict[str, int]:
    """The labels of an enumeration; empty for other arrays."""
    metadata = array.dtype.metadata
    return dict(metadata.get("enum", {})) if metadata is not None else {}


def complex_of(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """The complex type of the compounds that h5py and NetCDF use for it, with a real and an imaginary part named r and i."""
    if dtype.names != ("r", "i") or dtype.itemsize not in (8, 16):
        return None
    parts = [dtype[name] for name in ("r", "i")]
    is_float = parts[0] == parts[1] and parts[0].kind == "f" and parts[0].itemsize * 2 == dtype.itemsize
    return np.dtype(f"c{dtype.itemsize}") if is_float else None


def as_complex(value: Any) -> Any:
    """The complex number that a compound represents; other values are returned unchanged."""
    if isinstance(value, (np.void, np.ndarray)) and value.dtype.names is not None:
        of = complex_of(value.dtype)
        return value if of is None else np.asarray(value).view(of)[()]
    return value


def _keeps_dimensions(key: tuple[Any, ...]) -> bool:
    return any(isinstance(along, (slice, np.ndarray)) for along in key)


def is_counted_since(attributes: Mapping[str, Any]) -> bool:
    """Whether integers are times. xarray recognizes missing ones as NaT, while as floats the times would not be exact."""
    return " since " in str(attributes.get("units", ""))


def _missing(dtype: np.dtype[Any]) -> Any:
    if dtype.kind in "mM":
        return np.array("NaT", dtype)
    return np.nan if dtype.kind != "i" else np.iinfo(dtype).min


def _is_scattered(key: tuple[Any, ...]) -> bool:
    """Whether points are so scattered that their rows and columns have many more elements than there are points."""
    if not key or any(isinstance(along, slice) for along in key):
        return False
    count = np.broadcast(*key).size
    product = 1
    for along in key:
        product *= len(np.unique(along))
    return bool(product > _ELEMENTS_A_POINT * count)
