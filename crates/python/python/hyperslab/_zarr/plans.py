"""How groups and arrays appear in Zarr: types, chunks and codecs of arrays, and what Zarr cannot represent."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._errors import Error, LeftOutWarning, UnsupportedError
from .._objects import Array, Group, opened_object
from .._storage import local
from .._stores import DEFAULTS, named
from .._warnings import warn
from .buffers import Buffers
from .codecs import Codec, codecs_of, encoded, stored_dtype

# Chunk sizes in bytes for arrays without chunks: large enough for fast reads, small enough to hold many at a time.
_SMALLEST, _WANTED, _LARGEST = 1 << 20, 4 << 20, 8 << 20

# Arrays within a compound become compounds with a member for each element, up to this many.
_MAX_MEMBERS = 64


# Formats with sparse arrays.
_WITH_COLUMNS = ("TileDB", "NDL")


class Unpresentable(ValueError):
    """An object that Zarr cannot represent."""


@dataclass(frozen=True)
class Plan:
    """How an array appears in Zarr.

    dtype: dtype of elements in Zarr, in the byte order of chunks; None for variable-length strings
    shape: shape of the array, including the inner dimensions of elements
    chunks: shape of the chunks
    codecs: numcodecs configurations of the codecs that encode the bytes of elements
    is_stored: whether chunks are those of the file; otherwise they are made from elements
    """

    array: Array
    dtype: np.dtype[Any] | None
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    codecs: tuple[Codec, ...]
    is_stored: bool

    @cached_property
    def grid(self) -> tuple[int, ...]:
        """Number of chunks along each dimension."""
        return tuple(-(-size // step) for size, step in zip(self.shape, self.chunks, strict=True))

    @cached_property
    def placement(self) -> tuple[Any, ...]:
        """Where the chunks of the file are stored, as returned by `Array.places`: the inner chunks, if there are shards."""
        return self.array.places(True)

    @cached_property
    def has_chunks_of_file(self) -> bool:
        """Whether chunks have the shape and the places of those in the file, although they are made from elements."""
        if self.dtype is None or self.is_masked or not self.array.chunks:
            return False
        sides = zip(self.array.chunks, self.chunks, self.shape, strict=False)
        return all(own == step or own >= size for own, step, size in sides) and self.placement[-1] == "all"

    @property
    def chunk_bytes(self) -> int:
        """Size of a chunk in bytes before it is encoded; an estimate for strings."""
        return math.prod(self.chunks) * (self.dtype.itemsize if self.dtype is not None else 16)

    @cached_property
    def fill(self) -> Any:
        """Value of elements whose chunk does not exist."""
        stated = self.array.storage.get("fill")
        if self.dtype is None:
            return stated if isinstance(stated, str) and self.array.datatype.startswith("string") else ""
        if isinstance(stated, str) and self.dtype.kind in "SU":
            return np.array(stated.encode() if self.dtype.kind == "S" else stated, self.dtype)[()]
        zero = np.zeros((), self.dtype)[()]
        if stated is None:
            # Some formats have default fill values, such as NetCDF.
            stated = self.missing if self.is_masked else self.array.fill_element()
        if stated is None or isinstance(stated, (str, list)):
            return self.missing if self.is_masked else zero
        made = np.asarray(stated)
        if made.size != 1 and (made.size == 0 or not (made == made.reshape(-1)[0]).all()):
            return zero
        return cast(made.reshape(-1)[:1], self.dtype)[0]

    @property
    def is_masked(self) -> bool:
        """Whether elements may be missing. Zarr has no notion of this, so a reserved value represents missing elements."""
        return self.array.datatype.startswith("nullable")

    @cached_property
    def missing(self) -> Any:
        """Value of missing elements."""
        assert self.dtype is not None
        stated = self.array.attrs.get("_FillValue")
        if isinstance(stated, np.generic) and stated.dtype == self.dtype:
            return stated
        absent = self.array.absent_integer() if self.dtype == self.array.dtype and self.dtype.kind in "iu" else None
        return _missing(self.dtype) if absent is None else self.dtype.type(absent)

    def region(self, index: tuple[int, ...]) -> tuple[slice, ...]:
        """The elements of a chunk that are in the array."""
        bounds = zip(index, self.chunks, self.shape, strict=True)
        return tuple(slice(at * step, min((at + 1) * step, size)) for at, step, size in bounds)

    def elements(self, index: tuple[int, ...]) -> bytes | np.ndarray:
        """The bytes of the elements of a chunk, read by the engine; elements beyond the array are the fill value."""
        region = self.region(index)
        # The inner dimensions of elements are always read whole.
        key = region[: self.array_rank]
        count = tuple(part.stop - part.start for part in region)
        if self.dtype is None:
            return self._texts(key, count)
        if self._is_direct and count == self.chunks:
            lent = self._buffers.take()
            self.array.read(key, out=lent.view(self.dtype).reshape(count))
            return lent
        # A single element is not an array, and does not know the fixed length of strings.
        read = self.array[key] if key else np.asarray(self.array[()], dtype=self.array.dtype)
        if read.dtype == self.dtype and count == self.chunks and not self.is_masked:
            return np.ascontiguousarray(read).reshape(-1).view("u1")
        if self.is_masked:
            read = np.ma.filled(np.ma.asarray(read).astype(self.dtype), self.missing)
        read = cast(np.asarray(read), self.dtype).reshape(count)
        if count != self.chunks:
            whole = np.full(self.chunks, self.fill, self.dtype)
            whole[tuple(slice(0, part) for part in count)] = read
            read = whole
        return np.ascontiguousarray(read).reshape(-1).view("u1")

    @cached_property
    def _is_direct(self) -> bool:
        """Whether the engine can read the elements of a chunk into given memory."""
        assert self.dtype is not None
        return self.dtype.kind in "biufc" and self.array.dtype == self.dtype and self.array_rank > 0 and not self.is_masked

    def reads_into(self, out: np.ndarray) -> bool:
        """Whether the engine can read selected elements into an array."""
        if self.is_stored or self.dtype is None or not self._is_direct or self.array_rank != len(self.shape):
            return False
        return out.dtype == self.dtype and out.ndim > 0 and out.flags.c_contiguous and out.flags.writeable

    @cached_property
    def _buffers(self) -> Buffers:
        return Buffers(self.chunk_bytes)

    def _texts(self, key: tuple[slice, ...], count: tuple[int, ...]) -> bytes:
        from numcodecs.vlen import VLenUTF8

        read = np.empty(count, dtype=object)
        read.reshape(-1)[:] = np.asarray(self.array.read(key), dtype=object).reshape(-1)
        # Nulls of the array, and dangling references, become empty strings.
        read = np.where(np.equal(read, np.array(None)), "", read)
        if count != self.chunks:
            whole = np.full(self.chunks, self.fill, dtype=object)
            whole[tuple(slice(0, part) for part in count)] = read
            read = whole
        return bytes(VLenUTF8().encode(read.reshape(-1)))

    def chunk(self, index: tuple[int, ...]) -> bytes | np.ndarray:
        """A chunk encoded with its codecs, made from elements that the engine reads."""
        made = self.elements(index)
        return encoded(self.codecs, bytes(made)) if self.codecs else made

    @cached_property
    def array_rank(self) -> int:
        """Number of dimensions without the inner dimensions of elements."""
        return len(self.array.dimension_paths)


def cast(of: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Elements converted to their dtype in Zarr."""
    if of.dtype == dtype:
        return of
    if dtype.kind == "V" and of.dtype.itemsize == dtype.itemsize:
        return np.ascontiguousarray(of).view(dtype)
    return of.astype(dtype)


def plan(array: Array, *, as_stored: bool, whole: bool = False) -> Plan:
    """How an array appears in Zarr.

    as_stored: whether to use the chunks of the file where Zarr codecs can decode them
    whole: whether chunks that are not those of the file must not reach beyond the array

    Raises Unpresentable.
    """
    dtype, shape = zarr_dtype(array), tuple(array.shape)
    if as_stored and dtype is not None:
        stored, codecs = stored_dtype(array), codecs_of(array)
        if stored is not None and codecs is not None and stored.newbyteorder("=") == dtype:
            chunks = _stored_chunks(array)
            if chunks is not None:
                made = Plan(array, stored, shape, chunks + shape[len(chunks) :], codecs, True)
                from .places import agrees

                if agrees(made):
                    return made
    rank = len(array.dimension_paths)
    itemsize = (dtype.itemsize if dtype is not None else 16) * math.prod(shape[rank:])
    if array.chunks and len(array.chunks) <= len(shape):
        along = tuple(array.chunks) + shape[len(array.chunks) :]
        chunks = tuple(max(1, min(step, size)) for step, size in zip(along, shape, strict=True))
    else:
        chunks = cut(shape[:rank], itemsize, whole=whole) + tuple(max(1, size) for size in shape[rank:])
    return Plan(array, dtype, shape, chunks, (), False)


def _stored_chunks(array: Array) -> tuple[int, ...] | None:
    """The shape of the chunks in the file; None if it has none."""
    rank = len(array.dimension_paths)
    told = array.storage.get("native", {}).get("zarr", {})
    if "chunk_grid" in told or _is_in_fortran_order(array):
        return None
    if array.chunks:
        # The chunk shape that is shown for a Zarr array is clipped to the array; the stored one is not.
        chunks = tuple(told.get("chunk_shape", told.get("chunks", array.chunks)))
        return chunks if len(chunks) == rank else None
    if array._opened.file.format.startswith("NetCDF-3"):
        shape = array.shape[:rank]
        # Each record is a chunk, as the records of several variables are interleaved.
        return (1, *shape[1:]) if array.unlimited[:1] == [True] else tuple(max(1, size) for size in shape)
    if array.storage.get("layout") == "contiguous":
        return tuple(max(1, size) for size in array.shape[:rank])
    return None


def _is_in_fortran_order(array: Array) -> bool:
    """Whether the elements of chunks may be in column-major order, which only Zarr v2 documents state."""
    if not array._opened.file.format.startswith("Zarr v2") or array.ndim < 2:
        return False
    try:
        path = os.path.join(local(array.location), array.name.lstrip("/"), ".zarray")
        with open(path, "rb") as file:
            return bool(json.load(file)["order"] != "C")
    except (OSError, TypeError, ValueError, KeyError):
        return True


def cut(shape: tuple[int, ...], itemsize: int, *, whole: bool = False) -> tuple[int, ...]:
    """The shape of chunks of 1 to 8 MiB that divide an array along its leading dimensions.

    whole: whether no chunk may reach beyond the array; a dimension without a suitable divisor is then not cut
    """
    chunks = [max(1, size) for size in shape]
    for at, size in enumerate(chunks):
        below = itemsize * math.prod(chunks[at + 1 :])
        if size * below <= _LARGEST:
            break
        if below > _LARGEST:
            chunks[at] = 1
            continue
        wanted = max(1, _WANTED // below)
        divisors = [step for step in range(wanted, 0, -1) if size % step == 0 and step * below >= _SMALLEST]
        if divisors:
            chunks[at] = divisors[0]
        elif not whole:
            chunks[at] = wanted
        break
    return tuple(chunks)


def zarr_dtype(array: Array) -> np.dtype[Any] | None:
    """The dtype of an array in Zarr; None for variable-length strings. Raises Unpresentable."""
    if array.is_empty_space:
        raise Unpresentable("it has a null dataspace")
    if 0 in array.shape or array._opened.file.format in _WITH_COLUMNS:
        try:
            # Strings that are not UTF-8 do not matter here.
            array.read((slice(0, 1),) * len(array.dimension_paths), errors="replace")
        except UnsupportedError as error:
            # These are columns of sparse arrays, which have values in cells only.
            raise Unpresentable(error.detail) from None
    dtype, told = array.dtype, array.datatype
    inner = told.removeprefix("nullable(")
    if dtype.kind == "O":
        # References become strings: the paths of their targets.
        if inner.startswith(("string", "objref", "regref", "reference")):
            return None
        raise Unpresentable(f"its elements are of type {told}, which Zarr cannot represent")
    if dtype.hasobject:
        raise Unpresentable(f"its elements are of type {told}, which has variable-length parts")
    if dtype.name == "bfloat16":
        return np.dtype("<f4")
    if dtype.itemsize == 0:
        if dtype.kind in "SU":
            return np.dtype(f"{dtype.kind}1")
        raise Unpresentable("its elements have zero size")
    if dtype.kind == "b" and told.startswith("nullable"):
        # This leaves a value for missing elements.
        return np.dtype("i1")
    return _plain(dtype)


def _plain(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype without metadata and without arrays within elements."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        count = math.prod(shape)
        if count > _MAX_MEMBERS:
            return np.dtype(f"V{dtype.itemsize}")
        return np.dtype([(str(at), _plain(base)) for at in range(count)])
    if dtype.names is not None:
        return np.dtype([(name, _plain(dtype[name])) for name in dtype.names])
    if dtype.kind == "V":
        return np.dtype(f"V{dtype.itemsize}")
    return np.dtype(dtype.str)


# The default fill values of NetCDF.
_NETCDF_FILL = {
    "i1": -127,
    "u1": 255,
    "i2": -32767,
    "u2": 65535,
    "i4": -2147483647,
    "u4": 4294967295,
    "i8": -9223372036854775806,
    "u8": 18446744073709551614,
}


def _missing(dtype: np.dtype[Any]) -> Any:
    """The value of missing elements, if the array does not state one."""
    if dtype.kind in "fc":
        return dtype.type(np.nan)
    if dtype.kind in "Mm":
        return np.array("NaT", dtype)[()]
    return dtype.type(_NETCDF_FILL.get(dtype.str[1:], 0)) if dtype.kind in "iu" else np.zeros((), dtype)[()]


@dataclass(frozen=True)
class Tree:
    """The part of a group that appears in Zarr.

    groups: groups by their paths in Zarr
    arrays: arrays by their paths in Zarr
    dims: names of dimensions by the paths of arrays; unnamed ones are `phony_dim_0` and so on in their group
    left_out: objects that Zarr cannot represent, with the reasons
    """

    groups: dict[str, Group]
    arrays: dict[str, Array]
    dims: dict[str, tuple[str, ...]]
    left_out: dict[str, str]


def tree(root: Group | Array) -> Tree:
    """The part of a group or an array that appears in Zarr. Paths are relative to it: "" is the object itself."""
    found = Tree({}, {}, {}, {})
    if isinstance(root, Array):
        _add_arrays(found, "", {"": root})
        return found
    pending = [("", root)]
    while pending:
        path, group = pending.pop()
        below = f"{path}/" if path else ""
        arrays: dict[str, Array] = {}
        try:
            members = list(_members(found, group, below))
        except Error as error:
            if not path:
                raise
            found.left_out[path] = str(error)
            continue
        found.groups[path] = group
        for name, member in members:
            if isinstance(member, Array):
                arrays[name] = member
            else:
                pending.append((below + name, member))
        _add_arrays(found, below, arrays)
    return found


def _members(found: Tree, group: Group, below: str) -> Iterator[tuple[str, Group | Array]]:
    for name, (path, kind, told) in group._listed().items():
        if kind == "unreadable":
            found.left_out[below + name] = str(told)
        if kind not in ("group", "array", "coordinate", "link"):
            continue
        # Zarr reserves names that begin with two underscores, but its readers accept them, and xarray uses one.
        if not name.strip(".") or name == "zarr.json" or "/" in name or "\\" in name:
            found.left_out[below + name] = "it has a name that Zarr does not allow"
            continue
        try:
            member = group[name] if kind == "link" else group._object(path, kind, told)
        except (OSError, KeyError, ValueError, MemoryError) as error:
            found.left_out[below + name] = str(error)
            continue
        if isinstance(member, Group) and kind == "link":
            # A link may lead to a group above it. The target is in the store under its own path.
            found.left_out[below + name] = f"it is a link to the group {member.name}"
        elif isinstance(member, (Group, Array)):
            yield name, member


def _add_arrays(found: Tree, below: str, arrays: dict[str, Array]) -> None:
    known: dict[tuple[int, int], str] = {}
    for name, array in arrays.items():
        path = below + name if name else below.rstrip("/")
        try:
            zarr_dtype(array)
        except Unpresentable as reason:
            found.left_out[path] = str(reason)
            continue
        found.arrays[path] = array
        named = list(array.dims) + [None] * (len(array.shape) - len(array.dims))
        seen: dict[int, int] = {}
        dims = []
        for dim, size in zip(named, array.shape, strict=True):
            if dim is None:
                # As in NetCDF, dimensions of the same length are the same dimension, but not within one array.
                nth = seen[size] = seen.get(size, -1) + 1
                dim = known.setdefault((size, nth), f"phony_dim_{len(known)}")
            dims.append(dim)
        found.dims[path] = tuple(dims)


def warn_of_left_out(root: Group | Array, left_out: Mapping[str, str]) -> None:
    """Warn about objects that Zarr cannot represent, since Zarr readers cannot see that they are missing."""
    if left_out:
        told = [f"{path or '/'}: {reason}" for path, reason in list(left_out.items())[:_MOST_TOLD]]
        more = f"; and {len(left_out) - len(told)} more, listed in ZarrStore.left_out" if len(left_out) > len(told) else ""
        warn(f"Zarr cannot represent these objects of {named(root._opened)}: {'; '.join(told)}{more}", LeftOutWarning)


# The maximum number of left-out objects that a warning names.
_MOST_TOLD = 10


def opened(location: Any, path: str, options: dict[str, Any], storage_options: Any) -> Group | Array:
    """The group or array at a path of a location, which may also be an open group or array."""
    if isinstance(location, (Group, Array)):
        if options or storage_options:
            raise TypeError("options for opening do not apply to an open group or array")
        if path in ("", "/"):
            return location
        if isinstance(location, Array):
            raise KeyError(path)
        found = location[path.lstrip("/")]
    else:
        unknown = options.keys() - DEFAULTS.keys()
        if unknown:
            raise TypeError(f"unexpected option {sorted(unknown)[0]!r}")
        found = opened_object(location, path or "/", DEFAULTS | options, storage_options)
    if not isinstance(found, (Group, Array)):
        raise KeyError(f"{path} is not a group or an array")
    return found
