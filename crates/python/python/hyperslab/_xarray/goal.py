"""The format of a target, and what it means for the encoding of variables."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _hyperslab

# The names that xarray uses for formats.
_FORMATS = {
    "NETCDF3_CLASSIC": "netcdf3",
    "NETCDF3_64BIT": "netcdf3-64bit-offset",
    "NETCDF3_64BIT_OFFSET": "netcdf3-64bit-offset",
    "NETCDF3_64BIT_DATA": "netcdf3-64bit-data",
    "NETCDF4": "netcdf4",
    "NETCDF4_CLASSIC": "netcdf4-classic",
}


@dataclass(frozen=True)
class Goal:
    """The format of a target.

    is_classic: whether strings are stored as characters
    has_long: whether 64-bit integers are stored as such
    """

    format: str
    is_zarr: bool
    is_netcdf: bool
    is_classic: bool
    has_long: bool

    @classmethod
    def of(cls, target: str, format: str | None) -> Goal:
        name = _hyperslab.target_format(target, _FORMATS.get(format or "", format))
        is_classic = name.startswith("netcdf3") or name == "netcdf4-classic"
        return cls(
            name,
            is_zarr=name.startswith("zarr"),
            is_netcdf=name.startswith("netcdf"),
            is_classic=is_classic,
            has_long=not is_classic or name == "netcdf3-64bit-data",
        )
