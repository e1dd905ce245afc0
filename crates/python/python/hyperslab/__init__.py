"""HDF5, NetCDF, Zarr and TileDB without a lock: read, describe, compare, check and convert.

    >>> import hyperslab
    >>> ocean = hyperslab.open("ocean.nc")
    >>> ocean["salinity"].sel(time="2026-03-01", lat=slice(59, 60))

`hyperslab.open` gives a `Group`, which is a mapping of groups and arrays; arrays are read with `[...]`, as those of h5py are.
For xarray there is ``engine="hyperslab"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import (
    ArgumentError,
    Error,
    ExistsError,
    FormatError,
    LimitError,
    NoFileError,
    NoObjectError,
    ReadError,
    UnsupportedError,
)
from ._hyperslab import __version__, set_threads, threads
from ._objects import Array, ChunkTable, Datatype, Dimension, Group, open, open_array

if TYPE_CHECKING:
    from ._writing import Schema, Writer, create_store, write_store

__all__ = [
    "ArgumentError",
    "Array",
    "ChunkTable",
    "Datatype",
    "Dimension",
    "Error",
    "ExistsError",
    "FormatError",
    "Group",
    "LimitError",
    "NoFileError",
    "NoObjectError",
    "ReadError",
    "Schema",
    "UnsupportedError",
    "Writer",
    "__version__",
    "create_store",
    "open",
    "open_array",
    "set_threads",
    "threads",
    "write_store",
]

# What few programs need is imported when it is asked for.
_LATER = {name: "._writing" for name in ("Schema", "Writer", "create_store", "write_store")}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_LATER[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
