"""Dask: reading and writing by threads, processes and workers gives what one process gives."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import hyperslab

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

import hyperslab.dask  # noqa: E402
from hyperslab.xarray import write  # noqa: E402

TARGETS = ["t.nc", "t.zarr", "t.tdb"]


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


def is_as_source(target: Path) -> None:
    read = hyperslab.open(target)
    np.testing.assert_array_equal(read["t"][...], source()["t"].values)
    assert read["name"][...].tolist() == source()["name"].values.tolist()
    assert read["t"].attrs["units"] == "K"


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
@pytest.mark.parametrize("name", TARGETS)
def test_schedulers_of_one_machine(tmp_path: Path, name: str, scheduler: str) -> None:
    with dask.config.set(scheduler=scheduler):
        write(chunked(), tmp_path / name, encoding=ENCODING)
    is_as_source(tmp_path / name)
    array = hyperslab.dask.from_array(hyperslab.open(tmp_path / name)["t"])
    assert array.chunks == ((4, 4, 4), (15, 15), (20,)) or array.npartitions >= 1
    with dask.config.set(scheduler=scheduler):
        assert int(array.sum().compute()) == int(source()["t"].sum())
        assert int((array + 1).max().compute()) == int(source()["t"].max()) + 1


@pytest.mark.parametrize("name", TARGETS)
def test_workers(tmp_path: Path, client: distributed.Client, name: str) -> None:
    write(chunked(), tmp_path / name, encoding=ENCODING)
    is_as_source(tmp_path / name)
    with xr.open_dataset(tmp_path / name, engine="hyperslab", chunks={}) as found:
        assert int(found["t"].sum().compute()) == int(source()["t"].sum())


def killing(block: np.ndarray, flag: str) -> np.ndarray:
    """The block, but for the first time anywhere: then the worker is killed."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return block
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("is killed")


def test_a_worker_that_is_killed_is_replaced(tmp_path: Path, client: distributed.Client) -> None:
    dataset = chunked()
    flag = os.fspath(tmp_path / "flag")
    dataset["t"] = dataset["t"].copy(data=dataset["t"].data.map_blocks(killing, flag, dtype="i4"))
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


def test_tokens_are_those_of_files(tmp_path: Path) -> None:
    write(source(), tmp_path / "t.nc")
    one, other = (hyperslab.open(tmp_path / "t.nc")["t"] for _ in range(2))
    from dask.base import tokenize

    before = tokenize(one)
    assert before == tokenize(other)
    write(source().isel(time=slice(0, 5)), tmp_path / "t.nc", overwrite=True)
    assert tokenize(hyperslab.open(tmp_path / "t.nc")["t"]) != before
