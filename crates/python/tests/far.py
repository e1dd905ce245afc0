"""Files for tests of remote storage, and a storage in which each request takes a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import xarray as xr

WAIT = 0.02
"""Seconds that a request takes."""

RECORDS, Y, X, CHUNK = 16, 128, 128, 64
COORDINATES = {"time": RECORDS, "y": Y, "x": X}
# Together with the coordinates, there are 14.
VARIABLES = [f"v{number}" for number in range(11)]


class Requests:
    """Requests, each of which takes a while."""

    def __init__(self, wait: float = WAIT) -> None:
        self._wait, self._lock = wait, threading.Lock()
        self.requests: list[tuple[float, float]] = []
        self.bytes = 0

    def request(self, count: int = 0) -> None:
        """Take as long as a request that is answered with this number of bytes."""
        start = time.monotonic()
        time.sleep(self._wait)
        with self._lock:
            self.requests.append((start, time.monotonic()))
            self.bytes += count

    def rounds(self) -> int:
        """How many rounds of requests there were, each of which waits for the one before. Simultaneous requests are one round."""
        rounds, until = 0, 0.0
        for start, stop in sorted(self.requests):
            if start >= until:
                rounds, until = rounds + 1, stop
        return rounds

    def begin(self) -> None:
        """Forget the requests so far."""
        self.requests.clear()
        self.bytes = 0


class Far(Requests):
    """Bytes in memory. Ranges that are requested together count as one request."""

    is_far = True

    def __init__(self, content: bytes, wait: float = WAIT) -> None:
        super().__init__(wait)
        self._content = content

    def size(self) -> int:
        return len(self._content)

    def ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        self.request(sum(stop - start for start, stop in ranges))
        return [self._content[start:stop] for start, stop in ranges]


def values(name: str) -> np.ndarray:
    """The elements of a variable."""
    if name in COORDINATES:
        return np.arange(COORDINATES[name], dtype="f8")
    made: np.ndarray = np.random.default_rng(VARIABLES.index(name)).normal(size=(RECORDS, Y, X)).astype("f4")
    return made


def by_netcdf4(path: Path, *, at_once: bool) -> None:
    """A file written by netCDF4. All variables are declared before any is written, or each is written when it is declared."""
    with netCDF4.Dataset(path, "w") as file:
        for name, size in COORDINATES.items():
            file.createDimension(name, None if name == "time" else size)
        file.title = "far"
        later = []
        for name in [*COORDINATES, *VARIABLES]:
            of: dict[str, Any] = {"zlib": True, "complevel": 1, "chunksizes": (1, CHUNK, CHUNK)}
            is_coordinate = name in COORDINATES
            made = file.createVariable(name, "f8" if is_coordinate else "f4", (name,) if is_coordinate else tuple(COORDINATES), **({} if is_coordinate else of))
            made.units, made.long_name = "hours since 2000-01-01" if name == "time" else "m", f"variable {name}"
            later.append((made, name))
            if at_once:
                made[:] = values(name)
        if not at_once:
            for made, name in later:
                made[:] = values(name)


def by_xarray(path: Path) -> None:
    """A file that xarray writes with netCDF4."""
    hours = np.datetime64("2000-01-01", "ns") + values("time").astype("m8[h]")
    made = xr.Dataset(
        {name: (tuple(COORDINATES), values(name), {"long_name": f"variable {name}"}) for name in VARIABLES},
        {"time": hours, "y": values("y"), "x": values("x")},
    )
    encoding = {name: {"zlib": True, "complevel": 1, "chunksizes": (1, CHUNK, CHUNK)} for name in VARIABLES}
    made.to_netcdf(path, engine="netcdf4", encoding={**encoding, "time": {"units": "hours since 2000-01-01"}})


def by_h5py(path: Path, *, at_once: bool) -> None:
    """A file written by h5py with the newest structures and with dimension scales."""
    with h5py.File(path, "w", libver="latest") as file:
        for name in COORDINATES:
            file[name] = values(name)
            file[name].make_scale(name)
            file[name].attrs["units"] = "hours since 2000-01-01" if name == "time" else "m"
        for name in VARIABLES:
            options = {"chunks": (1, CHUNK, CHUNK), "compression": "gzip", "compression_opts": 1}
            made = file.create_dataset(name, tuple(COORDINATES.values()), "f4", **options)
            made.attrs["long_name"] = f"variable {name}"
            for at, scale in enumerate(COORDINATES):
                made.dims[at].attach_scale(file[scale])
            if at_once:
                made[...] = values(name)
        if not at_once:
            for name in VARIABLES:
                file[name][...] = values(name)
