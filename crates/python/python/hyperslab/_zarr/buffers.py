"""Memory for decoded chunks, used again when nothing refers to it any more."""

from __future__ import annotations

from collections import deque
from weakref import finalize

import numpy as np

# At most this many buffers, and this many bytes in them, are kept while they are not used.
_MOST, _MOST_BYTES = 16, 64 << 20


class Buffers:
    """Arrays of bytes of one size.

    Fresh memory costs a page fault for every 4 KiB, a third of the time in which zarr reads chunks of 1 MiB.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._most = min(_MOST, _MOST_BYTES // max(size, 1))
        self._free: deque[np.ndarray] = deque()

    def take(self) -> np.ndarray:
        """An array of any content. Its memory is free again when it and all arrays that are views of it are gone."""
        try:
            memory = self._free.pop()
        except IndexError:
            memory = np.empty(self._size, "u1")
        # Views refer to this array and not to the memory, because NumPy follows bases only as far as they are arrays.
        lent = np.frombuffer(memory.data, "u1")
        finalize(lent, self._give_back, memory).atexit = False
        return lent

    def _give_back(self, memory: np.ndarray) -> None:
        if len(self._free) < self._most:
            self._free.append(memory)
