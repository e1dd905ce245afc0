"""xarray's own tests of engines, with reading done by the engine of hyperslab."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("xarray")

from exceptions import EXCEPTIONS  # noqa: E402
from hyperslab.xarray import HyperslabBackendEntrypoint  # noqa: E402


class Instead(HyperslabBackendEntrypoint):
    """Our engine in the place of another: it leaves out the options that only the other one has, such as locks."""

    def open_dataset(self, filename_or_obj: Any, **options: Any) -> Any:  # type: ignore[override]
        return super().open_dataset(filename_or_obj, **_known(super().open_dataset, options))

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> Any:  # type: ignore[override]
        return super().open_datatree(filename_or_obj, **_known(super().open_datatree, options))

    def open_groups_as_dict(self, filename_or_obj: Any, **options: Any) -> Any:  # type: ignore[override]
        return super().open_groups_as_dict(filename_or_obj, **_known(super().open_groups_as_dict, options))


# xarray asks for the options by the signature.
Instead.open_dataset_parameters = tuple(  # type: ignore[assignment]
    name for name in inspect.signature(HyperslabBackendEntrypoint.open_dataset).parameters if name != "self"
)


def _known(method: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    names = inspect.signature(method).parameters
    return {name: value for name, value in options.items() if name in names}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Makes xarray open with hyperslab what it would open with netCDF4 or h5netcdf, whichever function is called.

    Stores that are open already are left to those that opened them. The value is the list of engines that were replaced.
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the exceptions. One that passes fails, so that the list stays true."""
    for item in items:
        cls = getattr(item, "cls", None)
        names = [f"{cls.__name__}::{item.name}", f"{cls.__name__}::{item.name.partition('[')[0]}"] if cls else [item.name]
        for name in names:
            if name in EXCEPTIONS:
                item.add_marker(pytest.mark.xfail(reason=EXCEPTIONS[name], strict=True))
