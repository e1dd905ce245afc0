"""Arrays and tables for readers of Arrow: pyarrow, polars and pandas."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import h5py
import hyperslab
import netCDF4
import numpy as np
import polars
import pyarrow
import pyarrow.parquet
import pytest
import zarr


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """One-dimensional arrays of many types."""
    path = tmp_path / "types.h5"
    with h5py.File(path, "w") as file:
        for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i4", ">f8"):
            file["number_" + dtype.replace(">", "big_")] = np.arange(-3 if dtype[-2] != "u" else 0, 4).astype(dtype)
        file["truth"] = np.array([True, False, True])
        file["scalar"] = np.float32(2.5)
        file["texts"] = np.array(["", "a", "åäö", "x" * 300], dtype=h5py.string_dtype())
        file["fixed"] = np.array([b"ab", b"c"], dtype="S4")
        file["broken"] = np.array([b"ok", b"\xff"], dtype=h5py.string_dtype("utf-8", 2))
        colours = h5py.enum_dtype({"red": 0, "green": 5}, basetype="i2")
        file.create_dataset("colours", data=np.array([5, 0, 5, 7], dtype="i2"), dtype=colours)
        file["opaque"] = np.array([b"abc", b"def"], dtype="V3")
        sequences = file.create_dataset("sequences", 3, dtype=h5py.vlen_dtype("i4"))
        sequences[0], sequences[2] = [1, 2, 3], [4]
        file["complex"] = np.array([1 + 2j, 3 - 4j], dtype="c8")
        inner = np.dtype([("x", "f4"), ("y", "f4")])
        record = np.dtype([("id", "i4"), ("name", h5py.string_dtype()), ("at", inner), ("colour", colours), ("pair", "u1", (2,))])
        rows = np.zeros(3, dtype=record)
        rows["id"], rows["name"], rows["at"]["x"], rows["colour"] = [1, 2, 3], ["a", "b", ""], [0.5, 1.5, 2.5], [0, 5, 0]
        rows["pair"] = [[1, 2], [3, 4], [5, 6]]
        file["records"] = rows
        file["empty"] = np.zeros(0, dtype="f8")
        file["null"] = h5py.Empty("f4")
        file["plane"] = np.zeros((2, 3))
    return path


def test_numbers_are_those_of_h5py(written: Path) -> None:
    opened = hyperslab.open(written)
    with h5py.File(written) as file:
        names = [name for name in file if name.startswith("number_")]
        assert len(names) == 13
        for name in names:
            array = pyarrow.array(opened[name])
            expected = file[name][:]
            assert array.type == pyarrow.from_numpy_dtype(expected.dtype.newbyteorder("=")), name
            assert array.null_count == 0 and array.to_pylist() == expected.tolist(), name
    assert pyarrow.array(opened["truth"]).to_pylist() == [True, False, True]
    assert pyarrow.array(opened["scalar"]).to_pylist() == [2.5]
    assert pyarrow.array(opened["empty"]) == pyarrow.array([], "f8") and len(pyarrow.array(opened["null"])) == 0


def test_texts_are_columns(written: Path) -> None:
    opened = hyperslab.open(written)
    texts = pyarrow.array(opened["texts"])
    assert texts.type == pyarrow.large_utf8() and texts.to_pylist() == ["", "a", "åäö", "x" * 300]
    texts.validate(full=True)
    assert pyarrow.array(opened["fixed"]).to_pylist() == ["ab", "c"]
    with pytest.raises(hyperslab.FormatError, match="not UTF-8"):
        pyarrow.array(opened["broken"])
    assert polars.Series(opened["texts"]).to_list() == ["", "a", "åäö", "x" * 300]


def test_enumerations_are_dictionaries_and_values_without_a_name_their_numbers(written: Path) -> None:
    colours = pyarrow.array(hyperslab.open(written)["colours"])
    assert pyarrow.types.is_dictionary(colours.type)
    assert colours.to_pylist() == ["green", "red", "green", "7"] and sorted(colours.dictionary.to_pylist()[:2]) == ["green", "red"]
    assert polars.Series(hyperslab.open(written)["colours"]).to_list() == ["green", "red", "green", "7"]


def test_bytes_sequences_and_complex_numbers(written: Path) -> None:
    opened = hyperslab.open(written)
    opaque = pyarrow.array(opened["opaque"])
    assert opaque.type == pyarrow.binary(3) and opaque.to_pylist() == [b"abc", b"def"]
    sequences = pyarrow.array(opened["sequences"])
    assert pyarrow.types.is_large_list(sequences.type) and sequences.to_pylist() == [[1, 2, 3], [], [4]]
    assert pyarrow.array(opened["complex"]).to_pylist()[1] == {"r": 3.0, "i": -4.0}


def test_records_are_structs(written: Path) -> None:
    records = pyarrow.array(hyperslab.open(written)["records"])
    records.validate(full=True)
    assert [records.type.field(at).name for at in range(5)] == ["id", "name", "at", "colour", "pair"]
    expected = {"id": 2, "name": "b", "at": {"x": 1.5, "y": 0.0}, "colour": "green", "pair": [3, 4]}
    assert records.to_pylist()[1] == expected


def test_the_schema_is_that_of_the_array(written: Path) -> None:
    opened = hyperslab.open(written)
    for array in opened.arrays.values():
        if array.ndim < 2 and array.name != "/broken":
            field = pyarrow.field(array)
            assert field.type == pyarrow.array(array).type and field.name == array.name.lstrip("/")
    with pytest.raises(TypeError, match="2 dimensions"):
        pyarrow.array(opened["plane"])


def test_times_are_timestamps_and_nat_is_null(tmp_path: Path) -> None:
    group = zarr.open_group(tmp_path / "times.zarr", mode="w")
    times = np.array(["2024-01-01T00:00", "NaT", "2024-01-02T12:30"], dtype="M8[s]")
    group.create_array("t", data=times)
    group.create_array("d", data=times - times[0])
    opened = hyperslab.open(tmp_path / "times.zarr")
    read = pyarrow.array(opened["t"])
    assert pyarrow.types.is_timestamp(read.type) and read.null_count == 1
    assert [value and np.datetime64(value, "s") for value in read.to_pylist()] == [times[0], None, times[2]]
    assert pyarrow.types.is_duration(pyarrow.array(opened["d"]).type)


def test_arrays_outlive_what_they_were_read_from(written: Path) -> None:
    opened = hyperslab.open(written)
    kept = pyarrow.array(opened["texts"])
    del opened
    gc.collect()
    written.unlink()
    assert kept.to_pylist()[1] == "a"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory of the process from Linux")
def test_memory_is_given_back_whether_capsules_are_used_or_not(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(1 << 18, dtype="f8")
    array = hyperslab.open(path)["x"]

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def exported() -> None:
        array.__arrow_c_array__()
        pyarrow.array(array)
        pyarrow.table(hyperslab.table(array))

    for _ in range(5):
        exported()
    before = resident()
    for _ in range(100):
        exported()
    # If the exports were kept, they would take 600 MiB.
    assert resident() - before < 100 << 20


# Tables


def test_an_array_is_a_table_with_its_coordinates(examples: Path) -> None:
    table = hyperslab.table(f"{examples}/ocean.nc:/salinity")
    assert table.column_names == ["time", "depth", "lat", "lon", "salinity"] and len(table) == 9 * 5 * 3 * 8
    with netCDF4.Dataset(examples / "ocean.nc") as file:
        file.set_auto_mask(False)
        expected = np.meshgrid(*(file[name][:] for name in ("time", "depth", "lat", "lon")), indexing="ij")
        read = table.to_pyarrow()
        for name, values in zip(table.column_names, [*expected, file["salinity"][:]], strict=True):
            assert np.array_equal(read[name].to_numpy(), values.reshape(-1)), name
    assert polars.DataFrame(table).shape == (1080, 5) and table.to_polars()["salinity"].sum() > 0
    assert table.to_pandas().shape == (1080, 5) and table.nbytes > 1080 * 4
    assert pyarrow.schema(table) == read.schema


def test_the_arrays_of_a_group_are_columns(examples: Path) -> None:
    opened = hyperslab.open(examples / "ocean.nc")
    table = hyperslab.table(opened, "temperature", "salinity").to_pyarrow()
    assert table.column_names == ["time", "depth", "lat", "lon", "temperature", "salinity"]
    assert np.array_equal(table["temperature"].to_numpy(), opened["temperature"][...].reshape(-1))
    assert hyperslab.table(opened, dims=("time", "depth", "lat", "lon")).to_pyarrow() == table
    with pytest.raises(hyperslab.ArgumentError, match="different dimensions.*dims="):
        hyperslab.table(opened)
    with pytest.raises(hyperslab.ArgumentError, match="no arrays with the dimensions"):
        hyperslab.table(opened, dims=["x"])
    with pytest.raises(hyperslab.ArgumentError, match="rows of"):
        hyperslab.table(opened, "salinity", "time_bounds")
    assert opened["waves"].to_arrow("height").column_names == ["time", "height"]


def test_tables_are_decoded_and_selected(examples: Path) -> None:
    opened = hyperslab.open(examples / "ocean.nc")
    table = hyperslab.table(opened, "temperature", "salinity", decode=True, select={"time": "2024-03-08", "depth": 0.0}).to_pyarrow()
    assert table.num_rows == 3 * 8 and pyarrow.types.is_timestamp(table.schema.field("time").type)
    assert set(table["time"].to_pylist()) == {np.datetime64("2024-03-08T00:00:00").item()}
    with netCDF4.Dataset(examples / "ocean.nc") as file:
        expected = np.ma.filled(file["temperature"][1, 0].astype("f8"), np.nan).reshape(-1)
    assert np.allclose(table["temperature"].to_numpy(), expected, equal_nan=True)


def test_records_of_a_table_are_columns(written: Path) -> None:
    table = hyperslab.table(f"{written}:/records").to_pyarrow()
    assert table.column_names == ["dim_0", "id", "name", "at.x", "at.y", "colour", "pair"]
    assert table["name"].to_pylist() == ["a", "b", ""] and table["at.x"].to_pylist() == [0.5, 1.5, 2.5]
    frame = polars.DataFrame(hyperslab.table(f"{written}:/records"))
    assert frame["colour"].to_list() == ["red", "green", "red"]


def test_cells_of_a_sparse_array_are_rows(examples: Path) -> None:
    listed = hyperslab.ls(examples / "survey.tdb", recursive=True)
    groups = [row.path for row in listed if row.kind == "group"] or ["/"]
    opened = hyperslab.open(examples / "survey.tdb")
    tables: list[Any] = []
    for path in groups:
        try:
            tables.append(hyperslab.table(opened[path]))
        except hyperslab.ArgumentError:
            continue
    assert any(len(table) for table in tables)


def test_many_batches_are_one_table(tmp_path: Path) -> None:
    path = tmp_path / "long.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(300_000)
        file["y"] = np.arange(300_000, dtype="f4")
        file["short"] = np.arange(3)
    read = hyperslab.table(f"{path}:/x").to_pyarrow()
    assert read["x"].num_chunks > 1 and np.array_equal(read["x"].to_numpy(), np.arange(300_000))
    both = hyperslab.table(path, "x", "y").to_pyarrow()
    assert np.array_equal(both["y"].to_numpy(), np.arange(300_000)) and both.num_rows == 300_000


def test_tables_are_those_of_the_command(examples: Path, tmp_path: Path) -> None:
    command = os.environ.get("HYPERSLAB_COMMAND") or shutil.which("hyperslab")
    if command is None:
        pytest.skip("the command line is not installed")
    for name in ("ocean.nc:/salinity", "ocean.nc:/temperature", "strings.nc:/string", "datatypes.h5:/compound"):
        out = tmp_path / "x.parquet"
        done = subprocess.run([command, "show", f"{examples}/{name}", "-o", out, "--overwrite"], check=False, capture_output=True)
        if done.returncode != 0:
            continue
        expected = pyarrow.parquet.read_table(out)
        assert hyperslab.table(f"{examples}/{name}").to_pyarrow().to_pylist() == expected.to_pylist(), name


def test_threads_read_tables_at_the_same_time(examples: Path) -> None:
    opened = hyperslab.open(examples / "ocean.nc")
    expected = hyperslab.table(opened["salinity"]).to_pyarrow()
    equal: list[bool] = []

    def read() -> None:
        equal.extend(hyperslab.table(opened["salinity"]).to_pyarrow() == expected for _ in range(20))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(equal) == 160 and all(equal)


def test_arrays_within_elements_are_lists_of_lists(tmp_path: Path) -> None:
    values = np.zeros(2, [("a", "f4", (2, 3)), ("b", "i4")])
    values["a"][1] = [[1, 2, 3], [4, 5, 6]]
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["t"] = values
    found = hyperslab.table(tmp_path / "t.h5").to_pyarrow()["a"].to_pylist()
    assert found == values["a"].tolist()
