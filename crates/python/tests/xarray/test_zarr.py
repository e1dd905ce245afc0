"""xarray's tests of Zarr: zarr-python writes, and hyperslab reads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

upstream = pytest.importorskip("xarray.tests.test_backends")
pytest.importorskip("zarr")

from instead import Instead  # noqa: E402
from xarray import open_dataset  # noqa: E402
from xarray.tests.test_backends import default_zarr_format  # noqa: E402, F401


class ReadsWithHyperslab:
    """Opens folders; stores in memory are objects of zarr-python."""

    @contextlib.contextmanager
    def open(self, path: Any, **options: Any) -> Iterator[Any]:
        with open_dataset(path, engine=Instead, **options) as dataset:
            yield dataset


class TestZarrDirectoryStore(ReadsWithHyperslab, upstream.TestZarrDirectoryStore): ...


class TestZarrWriteEmpty(ReadsWithHyperslab, upstream.TestZarrWriteEmpty): ...
