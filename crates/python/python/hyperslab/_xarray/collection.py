"""Pausing Python's garbage collection while many objects are created."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause garbage collection, unless the program has disabled it.

    All objects of a tree stay alive, but Python searches them for garbage again and again as their number grows: this is a
    third of the time in which a tree of 200 groups is opened.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
