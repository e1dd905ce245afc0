"""Exceptions: which ones are raised, and what their attributes are."""

from __future__ import annotations

import errno
import gc
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import hyperslab
import numpy as np
import pytest


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A file with a chunk that does not inflate, one with a wrong checksum, and one with an unknown filter."""
    path = tmp_path / "damaged.h5"
    values = np.arange(1000, dtype="<i4")
    with h5py.File(path, "w") as file:
        for name, options in (("deflated", {"compression": "gzip"}), ("summed", {"fletcher32": True}), ("whole", {})):
            file.create_dataset(name, data=values, chunks=(100,), **options)
        places = {name: file[name].id.get_chunk_info(5) for name in ("deflated", "summed")}
    with open(path, "r+b") as raw:
        for place in places.values():
            raw.seek(place.byte_offset + place.size // 2)
            raw.write(b"\xff\x00\xff\x00\xff\x00")
    return path


CASES: list[tuple[type[BaseException], type[BaseException], str, Callable[[Path], Any]]] = [
    (hyperslab.NoFileError, FileNotFoundError, "file-not-found", lambda examples: hyperslab.open(examples / "missing.nc")),
    (hyperslab.NoObjectError, KeyError, "not-found", lambda examples: hyperslab.open(examples / "ocean.nc")["missing"]),
    (hyperslab.NoObjectError, KeyError, "not-found", lambda examples: hyperslab.open(examples / "ocean.nc", "/missing")),
    (hyperslab.NoObjectError, KeyError, "not-found", lambda examples: hyperslab.open(examples / "ocean.nc", "/salinity")),
    (hyperslab.FormatError, ValueError, "malformed", lambda _: hyperslab.open(b"\x89HDF\r\n\x1a\n" + bytes(100))),
    (hyperslab.ArgumentError, ValueError, "invalid-argument", lambda _: hyperslab.open(b"nothing that is known")),
    (hyperslab.ArgumentError, ValueError, "invalid-argument", lambda examples: hyperslab.open(examples / "ocean.nc", format="tar")),
    (
        hyperslab.UnsupportedError,
        NotImplementedError,
        "unsupported",
        lambda examples: hyperslab.open(examples / "tides.zarr")["harmonics/residual"][...],
    ),
    (
        hyperslab.LimitError,
        MemoryError,
        "limit-exceeded",
        lambda examples: hyperslab.open(examples / "ocean.nc", limits={"allocation": 10})["salinity"][...],
    ),
]


@pytest.mark.parametrize(("own", "python", "kind", "call"), CASES)
def test_errors_are_those_of_python_too(
    examples: Path, own: type[BaseException], python: type[BaseException], kind: str, call: Callable[[Path], Any]
) -> None:
    with pytest.raises(own) as caught:
        call(examples)
    error = caught.value
    assert isinstance(error, python) and isinstance(error, hyperslab.Error)
    assert error.kind == kind
    assert type(error) is own
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is own and str(again) == str(error) and again.args == error.args
    for name in ("kind", "detail", "file", "object", "structure", "offset", "help"):
        assert getattr(again, name) == getattr(error, name), name


def test_a_missing_file_has_its_number_and_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        hyperslab.open(tmp_path / "missing.nc")
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert error.errno == errno.ENOENT and error.filename == str(tmp_path / "missing.nc")
        assert str(tmp_path / "missing.nc") in str(error)


def test_other_errors_of_the_system_have_their_number(tmp_path: Path) -> None:
    with pytest.raises(hyperslab.ReadError) as caught:
        hyperslab.open(tmp_path / ("x" * 300))
    assert isinstance(caught.value, OSError) and caught.value.errno == errno.ENAMETOOLONG


def test_a_directory_in_the_way_of_a_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError) as caught:
        hyperslab.open(tmp_path / "file" / "below.h5")
    assert isinstance(caught.value, hyperslab.Error)
    assert caught.value.errno in (errno.ENOTDIR, errno.ENOENT)


def test_damaged_chunks(damaged: Path) -> None:
    group = hyperslab.open(damaged)
    for name in ("deflated", "summed"):
        with pytest.raises(hyperslab.FormatError) as caught:
            group[name][...]
        assert caught.value.object == f"/{name}" and caught.value.structure == "chunk" and caught.value.offset
        assert caught.value.kind in ("malformed", "checksum")
        with pytest.raises(hyperslab.FormatError):
            group[name][550]
        # The other chunks can still be read.
        assert group[name][:500].tolist() == list(range(500)) and group[name][600] == 600
    assert group["whole"][...].tolist() == list(range(1000))


def test_errors_name_the_file(damaged: Path) -> None:
    for call in (lambda group: group["deflated"][...], lambda group: group["missing"]):
        with pytest.raises(hyperslab.Error) as caught:
            call(hyperslab.open(damaged))
        assert caught.value.file == str(damaged)


def test_a_file_of_which_the_end_is_missing(examples: Path, tmp_path: Path) -> None:
    whole = (examples / "ocean.nc").read_bytes()
    for length in (0, 4, 100, 1000, len(whole) // 2, len(whole) - 1):
        path = tmp_path / f"{length}.nc"
        path.write_bytes(whole[:length])
        try:
            group = hyperslab.open(path)
            for found in group.walk():
                if isinstance(found, hyperslab.Array):
                    found[...]
        except hyperslab.Error:
            continue
        # What is left of the file can still be read.
        assert "truncated" in group.warnings[0] and group.unreadable, length


def test_an_object_that_cannot_be_read_is_told(examples: Path) -> None:
    group = hyperslab.open(examples / "tides.zarr")
    for found in group.walk():
        assert isinstance(found, (hyperslab.Group, hyperslab.Array))
    for name, why in group.unreadable.items():
        assert why
        with pytest.raises(KeyError):
            group[name]


def test_wrong_arguments(examples: Path) -> None:
    ocean = examples / "ocean.nc"
    with pytest.raises(ValueError, match="unknown limit"):
        hyperslab.open(ocean, limits={"sheep": 3})
    with pytest.raises(TypeError):
        hyperslab.open(12)
    with pytest.raises(TypeError):
        hyperslab.open(None)
    with pytest.raises((TypeError, OverflowError)):
        hyperslab.open(ocean, chunk_cache=-1)
    with pytest.raises((ValueError, OSError)):
        hyperslab.open("with\0zero")
    with pytest.raises(hyperslab.Error):
        hyperslab.open(ocean, key=b"short")["salinity"]


def test_an_error_keeps_nothing_open(damaged: Path) -> None:
    def held() -> int:
        gc.collect()
        return sum(os.readlink(f"/proc/self/fd/{name}") == str(damaged) for name in _descriptors())

    try:
        hyperslab.open(damaged)["deflated"][...]
    except hyperslab.FormatError as caught:
        error: Exception = caught
    error.__traceback__ = None
    assert held() == 0 and error.args


def _descriptors() -> list[str]:
    return [name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]


def test_bytes_that_no_file_has() -> None:
    rng = np.random.default_rng(1)
    head = b"\x89HDF\r\n\x1a\n"
    for length in (8, 50, 500, 5000):
        for start in (head, b"CDF\x01", b"CDF\x05", b"PK\x03\x04", b""):
            content = start + rng.integers(0, 256, length, dtype="u1").tobytes()
            with pytest.raises(hyperslab.Error):
                list(hyperslab.open(content).walk())
