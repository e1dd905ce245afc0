"""Remote storage: opening a file takes at most the time of four requests, and reading 64 chunks that of three.

The time is counted in rounds of requests that wait for each other. A clock would also count how long a machine takes to run at
full speed again after it was idle, which can be as long as a request.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

import far  # noqa: E402
import h5py  # noqa: E402
import hyperslab  # noqa: E402
import xarray as xr  # noqa: E402
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402

OPENING, READING = 4, 3
"""The maximum number of rounds of requests. Those of a round are made at the same time."""

FILES: dict[str, Callable[[Path], None]] = {
    "netCDF4": partial(far.by_netcdf4, at_once=False),
    "xarray": far.by_xarray,
    "h5py": partial(far.by_h5py, at_once=False),
}
# If variables are written as soon as they are declared, their headers lie between the elements of others, and are only known
# once the index of the root group has been found, which takes two steps.
SCATTERED: dict[str, Callable[[Path], None]] = {
    "netCDF4": partial(far.by_netcdf4, at_once=True),
    "h5py": partial(far.by_h5py, at_once=True),
}


@pytest.fixture(scope="module")
def content(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with 14 variables, of which 11 have 64 chunks."""
    path = tmp_path_factory.mktemp("far") / "far.nc"
    request.param(path)
    return path.read_bytes()


def by_name(files: dict[str, Callable[[Path], None]]) -> Any:
    return pytest.mark.parametrize("content", files.values(), ids=files.keys(), indirect=True)


def all_of(storage: Any) -> hyperslab.Group:
    """An open file whose members are all known, with their types and attributes."""
    group = hyperslab.open(storage)
    assert len(group) >= 14
    for array in group.arrays.values():
        assert array.attrs and array.shape
    return group


def dataset_of(storage: Any) -> xr.Dataset:
    return xr.open_dataset(storage, engine="hyperslab")


@by_name(FILES)
@pytest.mark.parametrize("opened", [all_of, dataset_of])
def test_rounds(content: bytes, opened: Callable[[Any], Any]) -> None:
    storage = far.Far(content)
    found = opened(storage)
    assert storage.rounds() <= OPENING, storage.requests
    # No more is fetched than a round may transfer over a slow network.
    assert storage.bytes < 2 << 20
    for name in ("v5", "v10"):
        storage.begin()
        np.testing.assert_array_equal(np.asarray(found[name][...]), far.values(name))
        assert storage.rounds() <= READING, storage.requests
    np.testing.assert_array_equal(np.asarray(found["y"][...]), far.values("y"))


@by_name(SCATTERED)
@pytest.mark.parametrize("opened", [all_of, dataset_of])
def test_rounds_of_scattered_headers(content: bytes, opened: Callable[[Any], Any]) -> None:
    storage = far.Far(content)
    found = opened(storage)
    assert storage.rounds() <= OPENING + 1, storage.requests
    storage.begin()
    np.testing.assert_array_equal(np.asarray(found["v5"][...]), far.values("v5"))
    assert storage.rounds() <= READING, storage.requests


class Sleeping(MemoryFileSystem):
    """An fsspec file system in which each request takes a while."""

    protocol = "sleeping"
    cachable = False

    def __init__(self, storage: far.Far) -> None:
        super().__init__()
        self.far = storage

    def cat_ranges(self, paths: list[str], starts: Any, ends: Any, **_: Any) -> list[bytes]:
        return self.far.ranges(list(zip(starts, ends, strict=True)))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        self.far.ranges([])
        return {"name": path, "size": self.far.size(), "type": "file"}


@by_name(FILES)
@pytest.mark.parametrize("opened", [all_of, dataset_of])
def test_rounds_of_fsspec(content: bytes, opened: Callable[[Any], Any]) -> None:
    storage = far.Far(content)
    found = opened((Sleeping(storage), "/far.nc"))
    # One request asks for the size of the file.
    assert storage.rounds() <= OPENING + 1, storage.requests
    storage.begin()
    np.testing.assert_array_equal(np.asarray(found["v5"][...]), far.values("v5"))
    assert storage.rounds() <= READING, storage.requests


@pytest.mark.parametrize("side", [256 << 10, 1 << 20])
def test_rounds_of_large_chunks(tmp_path: Path, side: int) -> None:
    expected = np.random.default_rng(1).integers(0, 256, (64, side), dtype="u1")
    path = tmp_path / "large.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=expected, chunks=(1, side), fletcher32=True)
    # Each request takes so long that reading the elements and waiting for each other takes less.
    storage = far.Far(path.read_bytes(), wait=0.2)
    array = hyperslab.open(storage)["x"]
    storage.begin()
    assert np.array_equal(array[...], expected)
    assert storage.rounds() <= READING, storage.requests


def test_rounds_are_counted() -> None:
    storage = far.Far(bytes(100), wait=0)
    storage.requests = [(0.0, 2.0), (0.1, 2.1), (2.2, 4.0), (2.3, 4.1), (4.2, 6.0)]
    assert storage.rounds() == 3
    assert storage.ranges([(0, 3), (5, 6)]) == [bytes(3), bytes(1)] and storage.bytes == 4
    storage.begin()
    assert storage.rounds() == 0
