"""HDF5, NetCDF, Zarr and TileDB without a lock: read, describe, compare, check and convert.

    >>> import hyperslab
    >>> ocean = hyperslab.open("ocean.nc")
    >>> ocean["salinity"].sel(time="2026-03-01", lat=slice(59, 60))

`hyperslab.open` returns a `Group`, which is a mapping of groups and arrays; arrays are read with `[...]`, as in h5py.
For xarray there is ``engine="hyperslab"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import (
    AccessError,
    ArgumentError,
    DocumentWarning,
    Error,
    ExistsError,
    FileWarning,
    FormatError,
    JoinWarning,
    LeftOutWarning,
    LimitError,
    LossError,
    NoFileError,
    NoObjectError,
    ReadError,
    UnsupportedError,
    UnwrittenWarning,
)
from ._hyperslab import __version__, threads
from ._objects import Array, Group, open, open_array
from ._threads import set_threads

if TYPE_CHECKING:
    from ._differences import Difference, Report
    from ._joined import open_joined
    from ._losses import LossReport
    from ._records import ChunkTable, Datatype, Dimension
    from ._reports import Digest, Listing, Statistics
    from ._table import Table, table
    from ._verbs import check, concat, convert, create, describe, diff, digest, ls, repack, stat
    from ._writing import Schema, Writer, create_store, write_store

__all__ = [
    "AccessError",
    "ArgumentError",
    "Array",
    "ChunkTable",
    "Datatype",
    "Difference",
    "Digest",
    "Dimension",
    "DocumentWarning",
    "Error",
    "ExistsError",
    "FileWarning",
    "FormatError",
    "Group",
    "JoinWarning",
    "LeftOutWarning",
    "LimitError",
    "Listing",
    "LossError",
    "LossReport",
    "NoFileError",
    "NoObjectError",
    "ReadError",
    "Report",
    "Schema",
    "Statistics",
    "Table",
    "UnsupportedError",
    "UnwrittenWarning",
    "Writer",
    "__version__",
    "check",
    "concat",
    "convert",
    "create",
    "create_store",
    "describe",
    "diff",
    "digest",
    "ls",
    "open",
    "open_array",
    "open_joined",
    "repack",
    "set_threads",
    "stat",
    "table",
    "threads",
    "write_store",
]

# What few programs need is imported on first use.
_LATER = {
    **dict.fromkeys(("Schema", "Writer", "create_store", "write_store"), "._writing"),
    **dict.fromkeys(("check", "concat", "convert", "create", "describe", "diff", "digest", "ls", "repack", "stat"), "._verbs"),
    **dict.fromkeys(("Difference", "Report"), "._differences"),
    **dict.fromkeys(("ChunkTable", "Datatype", "Dimension"), "._records"),
    **dict.fromkeys(("Digest", "Listing", "Statistics"), "._reports"),
    "LossReport": "._losses",
    "open_joined": "._joined",
    **dict.fromkeys(("Table", "table"), "._table"),
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_LATER[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
