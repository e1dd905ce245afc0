"""Many threads that read many files, compared with h5py."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import hyperslab
import numpy as np
import pytest

FILES, THREADS = 100, 8


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, dict[str, np.ndarray]]]:
    """Files of all layouts, and the values that h5py reads from them."""
    folder, made = tmp_path_factory.mktemp("threads"), []
    for number in range(FILES):
        rng = np.random.default_rng(number)
        path = folder / f"{number}.h5"
        shape = tuple(int(size) for size in rng.integers(3, 30, 3))
        with h5py.File(path, "w", libver="latest" if number % 2 else "earliest") as file:
            numbers = rng.integers(-1000, 1000, shape).astype(["<i2", ">i4", "<f4", ">f8"][number % 4])
            file["plain"] = numbers
            chunks = tuple(max(1, size // 3) for size in shape)
            file.create_dataset("deflated", data=numbers, chunks=chunks, compression="gzip", shuffle=True, fletcher32=number % 3 == 0)
            file["text"] = np.array([f"{number} å {at}" for at in range(20)], dtype=h5py.string_dtype())
        with h5py.File(path) as file:
            made.append((path, {"plain": file["plain"][()], "deflated": file["deflated"][()], "text": file["text"].asstr()[()]}))
    return made


def random_key(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[int | slice, ...]:
    key: list[int | slice] = []
    for size in shape:
        start, stop = sorted(int(at) for at in rng.integers(0, size + 1, 2))
        step = int(rng.integers(1, 4))
        key.append([int(rng.integers(0, size)), slice(start, stop, step), slice(None, None, -step)][int(rng.integers(0, 3))])
    return tuple(key)


@pytest.mark.parametrize("how", ["opened by each thread", "shared"])
def test_random_slices_in_threads(files: list[tuple[Path, dict[str, np.ndarray]]], how: str) -> None:
    shared = [hyperslab.open(path) for path, _ in files]
    begin = threading.Barrier(THREADS)

    def work(seed: int) -> int:
        rng = np.random.default_rng(seed)
        begin.wait()
        count = 0
        for at in rng.permutation(FILES):
            path, values = files[at]
            group = shared[at] if how == "shared" else hyperslab.open(path)
            for name, expected in values.items():
                for _ in range(3):
                    key = random_key(rng, expected.shape)
                    np.testing.assert_array_equal(group[name][key], expected[key])
                    count += 1
            if at % 10 == 0:
                assert group["deflated"].vindex[[0, 1], [1, 0], [2, 2]].tolist() == expected_points(values["deflated"])
        return count

    with ThreadPoolExecutor(THREADS) as pool:
        counts = list(pool.map(work, range(THREADS)))
    assert counts == [FILES * 9] * THREADS


def expected_points(values: np.ndarray) -> list[float]:
    points: list[float] = values[[0, 1], [1, 0], [2, 2]].tolist()
    return points


def test_threads_that_open_one_file_share_it(files: list[tuple[Path, dict[str, np.ndarray]]]) -> None:
    path = files[0][0]
    begin = threading.Barrier(THREADS)

    def work(_: int) -> hyperslab.Group:
        begin.wait()
        return hyperslab.open(path)

    with ThreadPoolExecutor(THREADS) as pool:
        groups = list(pool.map(work, range(THREADS)))
    assert len(set(groups)) == 1
    # A thread that opens the file later gets the one that is open.
    assert hyperslab.open(path)._opened is hyperslab.open(path)._opened
    names = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]
    assert names.count(str(path)) <= THREADS


def test_other_threads_run_while_one_reads(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "big.h5", "w") as file:
        values = np.random.default_rng(3).integers(0, 1 << 16, (64, 1 << 16), dtype="u4")
        file.create_dataset("x", data=values, chunks=(1, 1 << 16), compression="gzip", compression_opts=1)
    array = hyperslab.open(tmp_path / "big.h5", chunk_cache=0)["x"]
    ticks, over = 0, threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not over.is_set():
            ticks += 1
            over.wait(0.001)

    ticking = threading.Thread(target=tick)
    ticking.start()
    try:
        for _ in range(3):
            before = ticks
            np.testing.assert_array_equal(array[...], values)
            assert ticks > before, "no other thread ran while this one read"
    finally:
        over.set()
        ticking.join()


def test_threads_are_set_while_others_read(files: list[tuple[Path, dict[str, np.ndarray]]]) -> None:
    before = hyperslab.threads()

    def read(at: int) -> bool:
        path, values = files[at % FILES]
        return bool((hyperslab.open(path, chunk_cache=0)["deflated"][...] == values["deflated"]).all())

    try:
        with ThreadPoolExecutor(4) as pool:
            answers = [pool.submit(read, at) for at in range(200)]
            for count in (1, 2, 5, 0, 3):
                hyperslab.set_threads(count)
            assert all(answer.result() for answer in answers)
    finally:
        hyperslab.set_threads(before)
