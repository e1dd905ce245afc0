"""Reading chunks for event loops."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary

# Number of threads for remote storage, where they mostly wait.
_FAR = 32

# Executors for remote storage, since the default executor of a loop may have fewer threads. Stores share them.
_executors: WeakKeyDictionary[asyncio.AbstractEventLoop, ThreadPoolExecutor] = WeakKeyDictionary()


class Requests:
    """Reads for an event loop in a few threads, each of which continues with the next request when it has finished one.

    More threads than the processor has would wait for each other, and for the thread of the loop: with a thread for each
    request of zarr, which is what `asyncio.to_thread` starts, reading takes a sixth longer.
    """

    def __init__(self, threads: int, executor: ThreadPoolExecutor | None = None) -> None:
        self._threads = threads
        self._executor = executor
        self._waiting: deque[tuple[asyncio.Future[Any], Callable[[], Any]]] = deque()
        # Only the loop changes this counter, so no lock is needed.
        self._busy = 0

    @classmethod
    def far(cls, loop: asyncio.AbstractEventLoop) -> Requests:
        """Requests to remote storage."""
        executor = _executors.get(loop)
        if executor is None:
            executor = _executors[loop] = ThreadPoolExecutor(_FAR, "hyperslab")
        return cls(_FAR, executor)

    def ask(self, read: Callable[[], Any]) -> asyncio.Future[Any]:
        """A future for the result of `read`."""
        loop = asyncio.get_running_loop()
        answer = loop.create_future()
        self._waiting.append((answer, read))
        self._begin(loop)
        return answer

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._waiting and self._busy < self._threads:
            self._busy += 1
            loop.run_in_executor(self._executor, self._work, loop)

    def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        self._busy -= 1
        # Requests may have arrived after the thread last looked.
        self._begin(loop)

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            try:
                answer, read = self._waiting.popleft()
            except IndexError:
                break
            if answer.cancelled():
                continue
            loop.call_soon_threadsafe(_settle, answer, *_outcome(read))
        loop.call_soon_threadsafe(self._end, loop)


def _outcome(read: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return read(), None
    except BaseException as error:
        return None, error


def _settle(answer: asyncio.Future[Any], found: Any, error: BaseException | None) -> None:
    # The waiter may have cancelled the request.
    if answer.done():
        return
    if error is None:
        answer.set_result(found)
    else:
        answer.set_exception(error)
