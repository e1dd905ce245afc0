"""Fixed-length strings of HDF5 end as their padding defines, wherever they are in an element; those of NumPy have NUL padding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import hyperslab
import numpy as np
import pytest
from h5py import h5d, h5s, h5t

PADDINGS = {"terminated": h5t.STR_NULLTERM, "zeros": h5t.STR_NULLPAD, "spaces": h5t.STR_SPACEPAD}
# Three strings of four bytes as they are stored, and what is read from them for each padding.
STORED = b"a\0zzab  x\0\0\0"
READ = {"terminated": [b"a", b"ab  ", b"x"], "zeros": [b"a\0zz", b"ab  ", b"x"], "spaces": [b"a\0zz", b"ab", b"x"]}


def text(padding: str) -> Any:
    made = h5t.C_S1.copy()
    made.set_size(4)
    made.set_strpad(PADDINGS[padding])
    return made


def compound(*members: tuple[str, Any]) -> Any:
    made = h5t.create(h5t.COMPOUND, sum(of.get_size() for _, of in members))
    at = 0
    for name, of in members:
        made.insert(name.encode(), at, of)
        at += of.get_size()
    return made


def write(path: Path, of: Any, count: int, content: bytes) -> hyperslab.Array:
    with h5py.File(path, "w") as file:
        made = h5d.create(file.id, b"x", of, h5s.create_simple((count,)))
        made.write(h5s.ALL, h5s.ALL, np.frombuffer(content, f"V{of.get_size()}"), mtype=of)
    array: hyperslab.Array = hyperslab.open(path)["x"]
    return array


def in_all_ways(array: hyperslab.Array) -> list[list[Any]]:
    """All elements, in every way of reading them."""
    count = len(array)
    return [
        list(array[...]),
        [array[at] for at in range(count)],
        [array[at : at + 1][0] for at in range(count)],
        list(array.vindex[list(range(count))]),
    ]


@pytest.mark.parametrize("padding", PADDINGS)
def test_texts(tmp_path: Path, padding: str) -> None:
    array = write(tmp_path / "a.h5", text(padding), 3, STORED)
    for read in in_all_ways(array):
        assert read == READ[padding]
    out = np.full(3, b"!!!!", "S4")
    assert array.read(out=out).tolist() == READ[padding]


@pytest.mark.parametrize("padding", PADDINGS)
def test_members_of_compounds(tmp_path: Path, padding: str) -> None:
    inner = compound(("n", h5t.STD_I16LE), ("t", text(padding)))
    of = compound(("one", inner), ("many", h5t.array_create(text(padding), (2,))))
    content = b"".join(b"\1\0" + STORED[at : at + 4] + STORED[:8] for at in (0, 4, 8))
    array = write(tmp_path / "a.h5", of, 3, content)
    for read in in_all_ways(array):
        assert [row["one"]["t"] for row in read] == READ[padding]
        assert [row["one"]["n"] for row in read] == [1, 1, 1]
        assert [row["many"].tolist() for row in read] == [READ[padding][:2]] * 3


@pytest.mark.parametrize("padding", PADDINGS)
def test_arrays_of_texts(tmp_path: Path, padding: str) -> None:
    array = write(tmp_path / "a.h5", h5t.array_create(text(padding), (3,)), 2, STORED * 2)
    for read in in_all_ways(array):
        assert [row.tolist() for row in read] == [READ[padding]] * 2


def test_texts_beside_what_has_no_fixed_size(tmp_path: Path) -> None:
    of = np.dtype([("fixed", "S6"), ("free", h5py.string_dtype())])
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.array([("é".encode(), "ü"), (b"\xff\xfe", "c"), (b"ab", "")], dtype=of)
    array = hyperslab.open(tmp_path / "a.h5")["x"]
    for read in in_all_ways(array):
        assert [row["fixed"] for row in read] == ["é".encode(), b"\xff\xfe", b"ab"]
        assert [row["free"] for row in read] == ["ü", "c", ""]


def test_numbers_and_times_of_numpy_beside_texts(tmp_path: Path) -> None:
    times = h5py.opaque_dtype("M8[s]")
    dtype = np.dtype([("name", h5py.string_dtype()), ("z", "c16"), ("at", times)])
    values = np.zeros(2, [("name", "O"), ("z", "c16"), ("at", "M8[s]")])
    values[0] = ("a", 1 + 2j, np.datetime64("2020-05-05"))
    values[1] = ("b", -1j, np.datetime64("NaT"))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", (2,), dtype)[...] = values.astype(dtype)
        file.attrs.create("k", values[["name", "z"]].astype([("name", h5py.string_dtype()), ("z", "c16")]))
    found = hyperslab.open(tmp_path / "a.h5")
    read = found["x"][...]
    assert read["name"].tolist() == ["a", "b"]
    np.testing.assert_array_equal(read["z"], values["z"])
    np.testing.assert_array_equal(read["at"], values["at"])
    np.testing.assert_array_equal(found.attrs["k"]["z"], values["z"])
