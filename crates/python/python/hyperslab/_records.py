"""Named tuples that describe parts of a store.

They are imported on first use, because Python takes a fifth of the time of `import hyperslab` to create them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._arrays import Attributes


class Dimension(NamedTuple):
    """A dimension of a group."""

    name: str
    size: int
    unlimited: bool

    @property
    def attrs(self) -> Attributes:
        """Always empty, as a dimension without coordinates has no attributes. For programs that read `attrs` of all members."""
        return Attributes()


class Datatype(NamedTuple):
    """A named datatype of a group, and its attributes."""

    path: str
    attrs: Attributes


class ChunkTable(NamedTuple):
    """Where the chunks of an array are stored, with one row for each chunk.

    index: positions of the first element along each dimension, divided by the chunk shape
    offset, length: bytes in the file
    mask: filters that were skipped; bit 0 is the first filter
    file: names of the files; None is the opened file
    which: for each chunk, the position of its file in `file`
    """

    index: np.ndarray  # type: ignore[assignment]  # a tuple has a method of this name
    offset: np.ndarray
    length: np.ndarray
    mask: np.ndarray
    file: list[str | None]
    which: np.ndarray
