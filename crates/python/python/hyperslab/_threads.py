"""The threads of the process."""

from __future__ import annotations

from . import _hyperslab
from ._errors import ArgumentError


def set_threads(count: int) -> None:
    """Set the number of threads shared by all work of the process; 0 for as many as there are processors."""
    if count < 0:
        raise ArgumentError(f"{count} threads, expected a positive number, or 0 for the number of processors")
    _hyperslab.set_threads(count)
