"""The dataset that the engine gives to xarray, which then creates the indexes of its coordinates.

xarray assigns the indexed coordinates as if they might differ from those of the dataset: it copies the dataset, compares and
aligns the coordinates and merges them. Here they are the coordinates of the dataset itself, so none of this changes anything,
but it takes a quarter of the time in which a file of 14 variables is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xarray import Coordinates, Dataset


class UnindexedDataset(Dataset):
    """A dataset that becomes an ordinary one when xarray has finished opening it. Nobody else gets one, and nobody keeps it, so
    the final dataset shares its variables."""

    __slots__ = ()

    def assign_coords(self, coords: Mapping[Any, Any] | None = None, **more: Any) -> Any:
        """The dataset with these coordinates, as in `Dataset`."""
        made = _with_indexes(self, coords) if isinstance(coords, Coordinates) and not more else None
        return _ordinary(self).assign_coords(coords, **more) if made is None else made

    def set_close(self, close: Callable[[], None] | None) -> None:
        """Register the function that closes the file, which is the last step of opening."""
        _ordinary(self).set_close(close)


def unindexed(dataset: Dataset) -> Dataset:
    """The same dataset, without indexes so far, whose indexes xarray creates faster."""
    dataset.__class__ = UnindexedDataset
    return dataset


def _ordinary(dataset: UnindexedDataset) -> Dataset:
    ordinary: Dataset = dataset
    ordinary.__class__ = Dataset  # pyright: ignore[reportAttributeAccessIssue]
    return ordinary


def _with_indexes(dataset: Dataset, coords: Coordinates) -> Dataset | None:
    """The dataset with these coordinates, if they are its own with an index each; None if this has to be left to xarray."""
    # This class method is not public; if it is missing, opening takes longer.
    construct: Callable[..., Dataset] | None = getattr(Dataset, "_construct_direct", None)
    own, indexes = dataset.variables, coords.xindexes
    if construct is None or dataset.xindexes or len(indexes) != len(coords):
        return None
    indexed = coords.variables
    if any(name not in own or variable.dims != own[name].dims or variable.shape != own[name].shape for name, variable in indexed.items()):
        return None
    return construct(
        {**own, **indexed}, {*dataset.coords, *indexed}, dict(dataset.sizes), dataset.attrs, dict(indexes), dataset.encoding
    )
