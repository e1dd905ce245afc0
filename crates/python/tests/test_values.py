"""Values that become elements of another dtype are equal or raise an error, in schemas, in regions and in Dask blocks."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import h5py
import hyperslab
import netCDF4
import numpy as np
import pytest
from hyperslab._values import attribute, elements, fill_element

HELD = [
    (np.arange(4), "f8"),
    (np.arange(4), "u1"),
    (np.array([-128, 127], "i8"), "i1"),
    (np.array([0.5, np.nan, np.inf]), "f4"),
    (np.array([True, False]), "i2"),
    (np.array([1, 2], ">i4"), "i4"),
    (np.array(["2024-01-01", "NaT"], "M8[ns]"), "M8[s]"),
    (np.array(["a", "öä"]), "S4"),
    (np.array(["a", "öä"], dtype=object), "S4"),
    (np.array(["a", "b"]), object),
    (np.array([b"a", b"bb"]), "S3"),
    (np.array([1 + 2j], "c8"), "c16"),
]


@pytest.mark.parametrize(("values", "dtype"), HELD)
def test_values_that_a_dtype_holds(values: np.ndarray, dtype: Any) -> None:
    made = elements("/a", values, np.dtype(dtype))
    assert made.dtype == np.dtype(dtype)
    if values.dtype.kind in "OU" and made.dtype.kind == "S":
        assert [item.decode() for item in made.tolist()] == values.tolist()
    else:
        np.testing.assert_array_equal(made.astype(values.dtype), values)


@pytest.mark.parametrize(
    ("values", "dtype", "said"),
    [
        (np.array([300]), "u1", "cannot be represented"),
        (np.array([-1]), "u8", "cannot be represented"),
        (np.array([2**63], "u8"), "i8", "cannot be represented"),
        (np.array([2**40]), "i4", "cannot be represented"),
        (np.array([1e300]), "f4", "cannot be represented"),
        (np.array(["2024-01-01T00:00:00.5"], "M8[ms]"), "M8[s]", "cannot be represented"),
        (np.array(["3000-01-01"], "M8[s]"), "M8[ns]", "cannot be represented"),
        (np.array(["öäü"]), "S4", "6 bytes"),
    ],
)
def test_values_that_it_does_not_hold(values: np.ndarray, dtype: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        elements("/a", values, np.dtype(dtype))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([1.5]), "i4"),
        (np.array([1j]), "f8"),
        (np.array([1]), "?"),
        (np.array([1]), "S4"),
        (np.array([1]), object),
        (np.array(["a"]), "f8"),
        (np.array([None, "a"], dtype=object), object),
        (np.array([object()]), object),
        (np.array([("a", 1)], dtype=[("x", "S1"), ("y", "i4")]), [("x", "S1"), ("z", "i4")]),
        (np.array([1], "i8"), "M8[s]"),
    ],
)
def test_values_of_another_kind(values: np.ndarray, dtype: Any) -> None:
    with pytest.raises(TypeError, match="expected"):
        elements("/a", values, np.dtype(dtype))


def test_members_are_cast_one_by_one() -> None:
    given = np.array([(1, 2.5)], dtype=[("x", "i8"), ("y", "f8")])
    made = elements("/a", given, np.dtype([("x", "u1"), ("y", ">f4")]))
    assert made.dtype == np.dtype([("x", "u1"), ("y", "f4")]) and made.tolist() == [(1, 2.5)]
    with pytest.raises(ValueError, match="member x"):
        elements("/a", np.array([(300, 2.5)], given.dtype), np.dtype([("x", "u1"), ("y", "f4")]))


def test_masked_values_become_the_fill_value() -> None:
    masked = np.ma.MaskedArray([1, 2, 3], mask=[False, True, False], dtype="i2")
    assert elements("/a", masked, np.dtype("i4"), -9).tolist() == [1, -9, 3]
    with pytest.raises(ValueError, match="fill value"):
        elements("/a", masked)
    assert elements("/a", np.ma.MaskedArray([1, 2])).tolist() == [1, 2]


def test_fill_values() -> None:
    assert fill_element("/a", 3.0, np.dtype("i4")) == 3
    assert fill_element("/a", 0, np.dtype("M8[s]")) == np.datetime64(0, "s")
    assert fill_element("/a", (1, 2.5), np.dtype([("x", "i2"), ("y", "f4")])).tolist() == (1, 2.5)
    for value in (-9, 256):
        with pytest.raises(ValueError, match="cannot be represented"):
            fill_element("/a", value, np.dtype("u1"))
    for value in (np.nan, 1.5):
        with pytest.raises(TypeError, match="expected"):
            fill_element("/a", value, np.dtype("i4"))


def test_attributes_of_bytes() -> None:
    assert attribute(b"text").item() == "text"
    assert attribute(b"\xff\xfe").item() == b"\xff\xfe"


def test_regions_are_cast_and_filled(tmp_path: Path) -> None:
    made = hyperslab.Schema()
    made.array("t", ["x"], shape=[4], dtype="f8", chunks=[2])
    made.array("n", ["x"], dtype="i2", chunks=[2], fill_value=-9)
    made.array("s", ["x"], dtype=object)
    target = tmp_path / "t.nc"
    writer = hyperslab.create_store(target, made)
    receipts = [
        writer.write("t", ..., np.arange(4)),
        writer.write("n", slice(0, 2), np.ma.MaskedArray([1, 2], mask=[True, False])),
        writer.write("n", slice(2, None), [3, 4]),
        writer.write("s", ..., ["a", "b", "", "d"]),
    ]
    writer.finish(receipts)
    with netCDF4.Dataset(target) as file:
        assert file["t"][:].tolist() == [0, 1, 2, 3]
        assert file["n"][:].tolist() == [None, 2, 3, 4] and file["n"][:].data.tolist() == [-9, 2, 3, 4]
        assert file["s"][:].tolist() == ["a", "b", "", "d"]


@pytest.mark.parametrize(
    ("region", "values", "said"),
    [
        ((slice(0, 10), slice(0, 20)), np.zeros((5, 20)), r"\(5, 20\) for a region of \(10, 20\)"),
        (..., np.zeros((10, 20)), r"\(10, 20\) for a region of \(20, 20\)"),
        (slice(0, 10), np.zeros((10, 20)), "region with 1 slice, expected 2"),
        ((slice(0, 10), 3), np.zeros(10), "expected slices"),
        ((slice(0, 10, 2), slice(None)), np.zeros((5, 20)), "expected slices"),
        ((slice(0, 10), slice(None)), np.full((10, 20), 1e300), "cannot be represented"),
    ],
)
def test_regions_that_are_not_of_the_array(tmp_path: Path, region: Any, values: Any, said: str) -> None:
    made = hyperslab.Schema()
    made.array("t", [None, None], shape=[20, 20], dtype="f4", chunks=[10, 20])
    writer = hyperslab.create_store(tmp_path / "t.h5", made)
    with pytest.raises(ValueError, match=said):
        writer.write("t", region, values)
    # Slices are limited to the array, and negative ones count from its end, as in NumPy.
    receipts = [writer.write("t", (slice(-10, 99), slice(None)), np.ones((10, 20)))]
    writer.finish(receipts)
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["t"][10:].min() == 1 and file["t"][:10].max() == 0


def test_masked_values_of_a_schema(tmp_path: Path) -> None:
    made = hyperslab.Schema()
    masked = np.ma.MaskedArray([1.5, 2.5], mask=[True, False])
    made.array("t", ["x"], values=masked, fill_value=-1)
    with pytest.raises(ValueError, match="/u: masked values"):
        made.array("u", ["x"], values=masked)
    hyperslab.write_store(tmp_path / "t.h5", made)
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["t"][:].tolist() == [-1, 2.5]


def test_filters_of_an_array_that_was_read(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "from.h5", "w") as file:
        file.create_dataset("t", data=np.arange(100), chunks=(50,), compression="gzip", compression_opts=7, shuffle=True)
    read = hyperslab.open(tmp_path / "from.h5")["t"]
    made = hyperslab.Schema()
    made.array("t", [None], values=read[...], chunks=read.chunks, filters=read.filters)
    made.array("u", [None], values=read[...], chunks=[50], filters="shuffle,fletcher32")
    hyperslab.write_store(tmp_path / "to.h5", made)
    with h5py.File(tmp_path / "to.h5") as file:
        assert (file["t"].compression, file["t"].compression_opts, file["t"].shuffle) == ("gzip", 7, True)
        assert file["u"].shuffle and file["u"].fletcher32


def test_a_schema_outlives_an_attempt_that_failed(tmp_path: Path) -> None:
    target = tmp_path / "t.h5"
    hyperslab.write_store(target, hyperslab.Schema())
    made = hyperslab.Schema()
    made.array("t", [None], shape=[2], dtype="f4")
    with pytest.raises(hyperslab.ExistsError):
        hyperslab.create_store(target, made)
    writer = hyperslab.create_store(target, made, overwrite=True)
    with pytest.raises(RuntimeError, match="nothing can be added"):
        made.group("late")
    with pytest.raises(hyperslab.ExistsError, match="by this one already"):
        hyperslab.create_store(target, made, overwrite=True)
    writer.finish([writer.write("t", ..., [1, 2])])


def test_a_store_is_finished_after_an_attempt_that_failed(tmp_path: Path) -> None:
    made = hyperslab.Schema()
    made.array("t", [None], shape=[4], dtype="f4", chunks=[2])
    writer = hyperslab.create_store(tmp_path / "t.h5", made)
    receipts = [writer.write("t", slice(0, 2), [1, 2]), writer.write("t", slice(2, 4), [3, 4])]
    (lost,) = [path for path in Path(writer._assembly.folder).rglob("*") if path.name == "1"]
    lost.unlink()
    with pytest.raises(hyperslab.Error, match="write it again"):
        writer.finish(receipts)
    receipts.append(writer.write("t", slice(2, 4), [3, 4]))
    writer.finish(receipts)
    with pytest.raises(RuntimeError, match="finished or abandoned"):
        writer.finish(receipts)
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["t"][:].tolist() == [1, 2, 3, 4]


def test_a_loss_that_is_refused_has_its_report(tmp_path: Path) -> None:
    made = hyperslab.Schema()
    made.group("g")
    made.array("g/t", [None], shape=[2], dtype="f4")
    with pytest.raises(hyperslab.LossError) as refused:
        hyperslab.create_store(tmp_path / "t.nc3", made, format="netcdf3")
    assert refused.value.report.losses
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([2**70, 1], "expected an integer of at most 64 bits"),
        ([datetime.datetime(2020, 1, 1)], "dtype='datetime64"),
        (np.array([np.arange(2), np.arange(3.0)], dtype=object), "h5py.vlen_dtype"),
        (np.array([[1], [2, 3]], dtype=object), "h5py.vlen_dtype"),
        (["a", None], "write an empty string for a missing one"),
        ([1, "a"], "of type int, expected a string"),
    ],
)
def test_objects_that_are_no_texts(values: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        elements("/a", values if isinstance(values, np.ndarray) else np.array(values, dtype=object), None)
