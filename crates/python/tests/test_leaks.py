"""Nothing is left behind: no open files, no objects, no memory."""

from __future__ import annotations

import gc
import os
import resource
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import hyperslab
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="only Linux tells which files are open")


def held(path: Path) -> int:
    """How many times this process has a file open."""
    found = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{name}") == str(path)
        except OSError:
            continue
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("group/x", data=np.arange(1000), chunks=(100,), compression="gzip")
        file["word"] = "text"
    return tmp_path / "a.h5"


def test_ten_thousand_opens_leave_no_descriptor(file: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, before + 64), hard))
    gc.disable()
    try:
        for number in range(10_000):
            group = hyperslab.open(file, chunk_cache=number % 7)
            assert group["group/x"][5] == 5
            if number % 100 == 0:
                assert held(file) <= 2
    finally:
        gc.enable()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    del group
    assert held(file) == 0
    assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_failing_opens_leave_no_descriptor(tmp_path: Path) -> None:
    path = tmp_path / "broken.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(500))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(1000):
        with pytest.raises(hyperslab.Error):
            list(hyperslab.open(path))
    gc.collect()
    assert held(path) == 0 and len(os.listdir("/proc/self/fd")) <= before + 1


def whole_tree(group: hyperslab.Group) -> list[Any]:
    return [group, *group.walk(), group["group"], group["group"].parent]


def read_everything(group: hyperslab.Group) -> list[Any]:
    array = group["group/x"]
    keys = (array.oindex, array.vindex, array.attrs, array.storage, array.dims, array.chunk_table(), list(array.blocks()))
    return [array, keys, array[...], array[[1, 2]], group._repr_html_(), repr(array), group["word"][()], hash(group), group == array]


@pytest.mark.parametrize("use", [whole_tree, read_everything])
def test_no_cycle_keeps_a_store(file: Path, use: Callable[[hyperslab.Group], list[Any]]) -> None:
    gc.collect()
    gc.disable()
    try:
        group = hyperslab.open(file)
        known = weakref.ref(group), weakref.ref(group._opened)
        used = use(group)
        assert held(file) == 1
        del group, used
        assert [ref() for ref in known] == [None, None] and held(file) == 0
    finally:
        gc.enable()


def test_an_array_keeps_its_store(file: Path) -> None:
    array = hyperslab.open(file)["group/x"]
    gc.collect()
    assert held(file) == 1 and array[999] == 999
    kept = array.oindex
    del array
    assert kept[999] == 999
    del kept
    assert held(file) == 0


def test_a_store_ends_with_its_block(file: Path) -> None:
    with hyperslab.open(file) as group:
        assert group["group/x"][1] == 1
    del group
    assert held(file) == 0


def test_a_storage_of_python_is_let_go(file: Path) -> None:
    class Storage:
        is_far = False

        def size(self) -> int:
            return len(content)

        def ranges(self, ranges: Any) -> list[bytes]:
            return [content[start:stop] for start, stop in ranges]

    content = file.read_bytes()
    storage = Storage()
    known = weakref.ref(storage)
    group = hyperslab.open(storage)
    assert group["group/x"][...].sum() == 499500
    del storage, group
    assert known() is None


def test_reading_again_and_again_takes_no_memory(file: Path) -> None:
    def resident() -> int:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()

    def work(count: int) -> None:
        for _ in range(count):
            group = hyperslab.open(file)
            group["group/x"][...], group["word"][()], group["group/x"].vindex[[1, 2, 3]], group.attrs, repr(group)
            with pytest.raises(KeyError):
                group["missing"]

    work(500)
    before = resident()
    work(3000)
    assert resident() - before < 8 << 20, f"{resident() - before:,} bytes more"
