"""Dask: reading and writing with threads, processes and workers gives the same result as with one process."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import h5py
import hyperslab
import numpy as np
import pytest
import xarray as xr

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

import dask.array as da  # noqa: E402
import hyperslab.dask  # noqa: E402
from hyperslab.xarray import write  # noqa: E402

TARGETS = ["t.nc", "t.h5", "t.zarr", "t.tdb"]


def source() -> xr.Dataset:
    random = np.random.default_rng(5)
    values = random.integers(0, 900, (12, 30, 20)).astype("i4")
    names = np.array([f"name {number}" for number in range(12)], dtype=object)
    return xr.Dataset(
        {"t": (("time", "y", "x"), values, {"units": "K"}), "name": (("time",), names)},
        {"time": np.arange(12.0), "y": np.arange(30.0)},
    )


def chunked() -> xr.Dataset:
    return source().chunk({"time": 4, "y": 15, "x": 20})


ENCODING = {"t": {"zlib": True, "complevel": 1}}


@pytest.fixture(scope="module", params=[2, 4])
def client(request: pytest.FixtureRequest) -> Iterator[distributed.Client]:
    with (
        distributed.LocalCluster(n_workers=request.param, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def content(target: Path) -> dict[str, str | None]:
    """The digests of everything in a store."""
    digest = hyperslab.digest(target)
    assert not digest.errors and any(line.path == "/t" for line in digest)
    return {line.path: line.digest for line in digest}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str | None]]:
    """What one process writes without Dask, by the name of the target."""
    folder = tmp_path_factory.mktemp("alone")
    for name in TARGETS:
        write(source(), folder / name, encoding=ENCODING)
    return {name: content(folder / name) for name in TARGETS}


def is_read_as_source(target: Path) -> None:
    """Checks that the current scheduler, or the workers if there are any, reads the whole store as its source."""
    expected = source()
    with xr.open_dataset(target, engine="hyperslab", chunks={"time": 4, "y": 15}) as found:
        assert found["t"].chunks == ((4, 4, 4), (15, 15), (20,))
        read = dask.compute({name: found[name].data for name in expected.variables if found[name].chunks})[0]
        # Coordinates are read when the store is opened.
        assert {"t", "name"} <= read.keys()
        for name, values in read.items():
            assert values.dtype == expected[name].dtype or name == "name"
            assert values.tolist() == expected[name].values.tolist(), name
        sums = found["t"].sum(("y", "x")).compute()
        np.testing.assert_array_equal(sums.values, expected["t"].values.sum(axis=(1, 2)))
    array = hyperslab.dask.from_array(hyperslab.open(target)["t"])
    np.testing.assert_array_equal(array.compute(), expected["t"].values)
    np.testing.assert_array_equal(array[3:9, ::2, 5].compute(), expected["t"].values[3:9, ::2, 5])
    np.testing.assert_array_equal(array.map_blocks(np.negative).compute(), -expected["t"].values)


def is_as_source(target: Path) -> None:
    read = hyperslab.open(target)
    np.testing.assert_array_equal(read["t"][...], source()["t"].values)
    assert read["name"][...].tolist() == source()["name"].values.tolist()
    assert read["t"].attrs["units"] == "K"


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Processes that all tests share; Dask would start new ones for each computation."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
@pytest.mark.parametrize("name", TARGETS)
def test_schedulers_of_one_machine(
    tmp_path: Path, name: str, scheduler: str, alone: dict[str, dict[str, str | None]], processes: ProcessPoolExecutor
) -> None:
    means = {"scheduler": scheduler} | ({"pool": processes} if scheduler == "processes" else {})
    with dask.config.set(means):
        write(chunked(), tmp_path / name, encoding=ENCODING)
    is_as_source(tmp_path / name)
    assert content(tmp_path / name) == alone[name]
    with dask.config.set(means):
        is_read_as_source(tmp_path / name)
    array = hyperslab.dask.from_array(hyperslab.open(tmp_path / name)["t"])
    assert array.chunks == ((4, 4, 4), (15, 15), (20,)) or array.npartitions >= 1
    with dask.config.set(means):
        assert int(array.sum().compute()) == int(source()["t"].sum())
        assert int((array + 1).max().compute()) == int(source()["t"].max()) + 1


@pytest.mark.parametrize("name", TARGETS)
def test_workers(
    tmp_path: Path, client: distributed.Client, name: str, alone: dict[str, dict[str, str | None]]
) -> None:
    write(chunked(), tmp_path / name, encoding=ENCODING)
    is_as_source(tmp_path / name)
    assert content(tmp_path / name) == alone[name]
    # The blocks are computed by the workers, not in this process.
    pids = client.run(os.getpid)
    seen = da.ones(12, chunks=1).map_blocks(lambda block: np.full(block.shape, os.getpid()), dtype="i8").compute()
    assert set(seen.tolist()) <= set(pids.values()) and os.getpid() not in pids.values()
    is_read_as_source(tmp_path / name)
    with xr.open_dataset(tmp_path / name, engine="hyperslab", chunks={}) as found:
        assert int(found["t"].sum().compute()) == int(source()["t"].sum())


@pytest.mark.parametrize("name", TARGETS)
def test_workers_copy_a_store_to_another(
    tmp_path: Path, client: distributed.Client, name: str, alone: dict[str, dict[str, str | None]]
) -> None:
    write(source(), tmp_path / "from.nc", encoding=ENCODING)
    with xr.open_dataset(tmp_path / "from.nc", engine="hyperslab", chunks={"time": 4, "y": 15}, decode_cf=False) as found:
        write(found, tmp_path / name, encoding=ENCODING)
    is_as_source(tmp_path / name)
    assert content(tmp_path / name) == alone[name]


def killing(block: np.ndarray, flag: str) -> np.ndarray:
    """Returns the block, but the very first call, in whichever worker, kills the worker."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return block
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("is killed")


def test_a_worker_that_is_killed_is_replaced(tmp_path: Path, client: distributed.Client) -> None:
    dataset = chunked()
    flag = os.fspath(tmp_path / "flag")
    dataset["t"] = dataset["t"].copy(data=dataset["t"].data.map_blocks(killing, flag, dtype="i4", meta=np.empty((0, 0, 0), "i4")))
    target = tmp_path / "t.nc"
    write(dataset, target, encoding=ENCODING)
    assert os.path.exists(flag)
    is_as_source(target)


def test_what_is_computed_later(tmp_path: Path) -> None:
    target = tmp_path / "t.nc"
    later = write(chunked(), target, encoding=ENCODING, compute=False)
    assert not target.exists()
    later.compute(scheduler="threads")
    is_as_source(target)


def failing(block: np.ndarray) -> np.ndarray:
    raise ArithmeticError("no numbers")


def test_a_computation_that_fails_leaves_nothing(tmp_path: Path) -> None:
    dataset = chunked()
    dataset["t"] = dataset["t"].copy(data=dataset["t"].data.map_blocks(failing, dtype="i4", meta=np.empty((0, 0, 0), "i4")))
    with pytest.raises(ArithmeticError, match="no numbers"):
        write(dataset, tmp_path / "t.nc")
    assert list(tmp_path.iterdir()) == []


def test_texts_are_cut_in_blocks(tmp_path: Path) -> None:
    made = hyperslab.Schema()
    made.array("s", [None], values=np.array([f"text {number}" for number in range(10)], dtype=object))
    made.array("c", [None], values=np.array(["a", "b", "c", "d"], dtype=object), chunks=[2])
    hyperslab.write_store(tmp_path / "t.h5", made)
    group = hyperslab.open(tmp_path / "t.h5")
    for name in "sc":
        assert hyperslab.dask.from_array(group[name]).compute().tolist() == group[name][...].tolist()
    assert all(size % 2 == 0 for size in hyperslab.dask.from_array(group["c"]).chunks[0])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (da.zeros((30, 10), chunks=(10, 10)), r"shape \(30, 10\), expected \(40, 10\)"),
        (da.zeros(40, chunks=10), "expected"),
        (da.zeros((60, 10), chunks=(10, 10))[da.arange(60, chunks=10) < 40], "compute_chunk_sizes"),
    ],
)
def test_arrays_of_another_shape(tmp_path: Path, source: Any, said: str) -> None:
    made = hyperslab.Schema()
    made.array("t", [None, None], shape=[40, 10], dtype="f8", chunks=[10, 10])
    writer = hyperslab.create_store(tmp_path / "t.h5", made)
    with pytest.raises(ValueError, match=said):
        hyperslab.dask.store(writer, {"t": source})
    hyperslab.dask.store(writer, {"t": da.arange(400, chunks=100).reshape(40, 10)})
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["t"].dtype == "f8" and file["t"][-1, -1] == 399


def test_the_first_error_is_what_is_raised(tmp_path: Path) -> None:
    made = hyperslab.Schema()
    made.array("t", [None], shape=[4], dtype="f8", chunks=[2])
    writer = hyperslab.create_store(tmp_path / "t.h5", made)
    with pytest.raises(ArithmeticError, match="no numbers"):
        hyperslab.dask.store(writer, {"t": da.zeros(4, chunks=2).map_blocks(failing, dtype="f8", meta=np.empty(0))})
    assert not list(tmp_path.iterdir())


def test_tokens_are_those_of_files(tmp_path: Path) -> None:
    write(source(), tmp_path / "t.nc")
    one, other = (hyperslab.open(tmp_path / "t.nc")["t"] for _ in range(2))
    from dask.base import tokenize

    before = tokenize(one)
    assert before == tokenize(other)
    write(source().isel(time=slice(0, 5)), tmp_path / "t.nc", overwrite=True)
    assert tokenize(hyperslab.open(tmp_path / "t.nc")["t"]) != before
