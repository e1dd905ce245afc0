"""xarray's own tests of engines, with the engine of hyperslab doing the reading."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("xarray")

from exceptions import EXCEPTIONS  # noqa: E402
from instead import Instead  # noqa: E402
from xarray.tests.conftest import byte_attrs_dataset, create_test_datatree, simple_datatree  # noqa: E402, F401

_HERE = Path(__file__).parent
# Where xarray's own tests run.
_UPSTREAM = {"test_datatree.py", "test_netcdf.py", "test_written.py", "test_zarr.py"}
# The number of calls from which the share of our writer is checked.
_ENOUGH = 100


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Makes xarray open with hyperslab what it would open with netCDF4 or h5netcdf, whichever function is called.

    Stores that are already open are left to the engines that opened them. The value is the list of engines that were replaced.
    """
    from xarray.backends import plugins
    from xarray.backends.common import AbstractDataStore

    original, replaced = plugins.get_backend, []

    class Chosen(Instead):
        def __init__(self, other: Any) -> None:
            self.other = other

        def _of(self, location: Any, method: str) -> Any:
            return getattr(self.other if isinstance(location, AbstractDataStore) else Instead(), method)

        def open_dataset(self, filename_or_obj: Any, **options: Any) -> Any:  # type: ignore[override]
            return self._of(filename_or_obj, "open_dataset")(filename_or_obj, **options)

        def open_datatree(self, filename_or_obj: Any, **options: Any) -> Any:  # type: ignore[override]
            return self._of(filename_or_obj, "open_datatree")(filename_or_obj, **options)

        def open_groups_as_dict(self, filename_or_obj: Any, **options: Any) -> Any:  # type: ignore[override]
            return self._of(filename_or_obj, "open_groups_as_dict")(filename_or_obj, **options)

    Chosen.open_dataset_parameters = Instead.open_dataset_parameters

    def get_backend(engine: Any) -> Any:
        backend = original(engine)
        if engine in ("netcdf4", "h5netcdf"):
            replaced.append(engine)
            return Chosen(backend)
        return backend

    monkeypatch.setattr(plugins, "get_backend", get_backend)
    yield replaced


@pytest.fixture(scope="session")
def written_counts() -> Iterator[Counter[str]]:
    """How many stores our writer has written in place of the others, and how many were left to them, by the reason.

    Our writer must write most of those that do not add to an existing store.
    """
    counts: Counter[str] = Counter()
    yield counts
    whole = counts.total() - counts["added"]
    assert whole < _ENOUGH or counts["ours"] > 0.8 * whole, f"few stores are written by ours: {dict(counts)}"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, written_counts: Counter[str]) -> None:
    """Makes xarray write with hyperslab what it would write with netCDF4, h5netcdf or zarr, whichever function is called."""
    import xarray
    from written import as_netcdf, as_zarr

    for kind in (xarray.Dataset, xarray.DataArray, xarray.DataTree):
        monkeypatch.setattr(kind, "to_netcdf", as_netcdf(kind.to_netcdf, written_counts))
        monkeypatch.setattr(kind, "to_zarr", as_zarr(kind.to_zarr, written_counts))


@pytest.fixture(params=["s", "ms", "us", "ns"])
def time_unit(request: pytest.FixtureRequest) -> Any:
    """Units that tests of xarray request through a fixture that xarray does not install."""
    return request.param


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks xarray's own tests, and the exceptions among them. An exception that passes is a failure, so the list stays correct.

    With HYPERSLAB_UPSTREAM_STEP=N, only every Nth of xarray's own tests runs.
    """
    step = int(os.environ.get("HYPERSLAB_UPSTREAM_STEP", "1"))
    upstream = [item for item in items if item.path.parent == _HERE and item.path.name in _UPSTREAM]
    for item in upstream:
        item.add_marker(pytest.mark.upstream)
    left_out = {item for number, item in enumerate(upstream) if number % step}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
    for item in items:
        cls = getattr(item, "cls", None)
        names = [f"{cls.__name__}::{item.name}", f"{cls.__name__}::{item.name.partition('[')[0]}"] if cls else [item.name]
        for name in names:
            if name in EXCEPTIONS:
                item.add_marker(pytest.mark.xfail(reason=EXCEPTIONS[name], strict=True))
