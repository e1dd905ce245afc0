"""Times the Python package against the libraries that its users have, and writes the table.

    bench_python.py DIRECTORY TABLE ENGINE [WHEEL]

ENGINE is the program of `benches/read` that reads with the Rust library alone. Runs of both sides take turns, and a figure is the
median of 7. Files are in the page cache. Both sides read or write the same elements with the same number of threads, unless the row
states otherwise. Figures for separate processes are those of a fresh interpreter.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import dask
import h5netcdf  # noqa: F401  so that no run pays for its import
import h5py
import netCDF4
import numpy as np
import xarray as xr

import hyperslab

ROUNDS = 7


class Engine:
    """The Rust library in a separate process, which reads an array as often as requested."""

    def __init__(self, program: Path, *words: str) -> None:
        command = [program, "ours", *words]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer("ready")

    def answer(self, begins: str) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith(begins):
            raise RuntimeError(f"the engine says: {line}")
        return line

    def run(self) -> tuple[float, float]:
        """Wall and CPU seconds of one reading."""
        assert self.process.stdin is not None
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        wall, cpu = (float(word.partition("=")[2]) for word in self.answer("wall=").split()[:2])
        return wall, cpu

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate("")


def timed(run: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds of this process. Work that runs in an engine reports its own."""
    wall, cpu = time.perf_counter(), time.process_time()
    told = run()
    taken = time.perf_counter() - wall, time.process_time() - cpu
    return told if isinstance(told, tuple) else taken  # type: ignore[return-value]


def microseconds(call: Callable[[], object], count: int) -> float:
    """The time of a call, from `count` in a row. The first row of calls is not counted."""
    rows = []
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        for _ in range(count):
            call()
        rows.append((time.perf_counter() - start) / count * 1e6)
    return statistics.median(rows[1:])


class Table:
    """The rows of the table."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.missed: list[str] = []

    def compare(
        self, what: str, wanted: float, ours: Callable[[], object], theirs: Callable[[], object], peer: str, calls: int = 1
    ) -> None:
        """The ratio of two sides that take turns; times are those of one of `calls` calls."""
        sides: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
        ours(), theirs()
        for _ in range(ROUNDS):
            for side, run in zip(sides, (ours, theirs), strict=True):
                side.append(timed(run))
        (own, own_cpu), (other, other_cpu) = (
            tuple(statistics.median(one) / calls for one in zip(*side, strict=True)) for side in sides
        )
        cpu = f"{own_cpu / other_cpu:.2f} ×" if other_cpu > 1e-3 / calls else ""
        self.add(what, shown(own), f"{peer} {shown(other)}", own / other, wanted, f"{own / other:.2f} ×", cpu=cpu)

    def limit(self, what: str, found: float, wanted: float, unit: str) -> None:
        """A figure with a limit."""
        self.add(what, f"{found:.2f} {unit}", "", found, wanted, f"{found:.2f} {unit}", unit)

    def add(self, what: str, own: str, other: str, found: float, wanted: float, text: str, unit: str = "×", cpu: str = "") -> None:
        mark = "" if found <= wanted else " **missed**"
        if mark:
            self.missed.append(what)
        self.rows.append(f"| {what} | {own} | {other} | {text} | {cpu} | ≤ {wanted} {unit}{mark} |")
        print(self.rows[-1], flush=True)


def shown(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def small_file(path: Path, seed: int) -> None:
    """14 variables of 24 × 20 × 20, deflated, along an unlimited dimension."""
    random = np.random.default_rng(seed)
    names = [f"v{number}" for number in range(11)]
    data = {name: (("time", "lat", "lon"), random.random((24, 20, 20), dtype="f4"), {"units": "K"}) for name in names}
    coords = {"time": seed * 24 + np.arange(24.0), "lat": np.arange(20.0), "lon": np.arange(20.0)}
    encoding = {name: {"zlib": True, "complevel": 1} for name in names}
    xr.Dataset(data, coords).to_netcdf(path, engine="netcdf4", encoding=encoding, unlimited_dims=["time"])


def files(folder: Path, count: int) -> list[Path]:
    paths = [folder / f"small{number:03}.nc" for number in range(count)]
    for number, path in enumerate(paths):
        if not path.exists():
            small_file(path, number)
    return paths


def opened(paths: list[Path], engine: str) -> None:
    for path in paths:
        xr.open_dataset(path, engine=engine).close()


def many(paths: list[Path], engine: str, parallel: bool) -> None:
    with xr.open_mfdataset(paths, engine=engine, parallel=parallel, combine="nested", concat_dim="time") as found:
        assert found.sizes["time"] == 24 * len(paths)


def joined(paths: list[Path]) -> None:
    with hyperslab.open_joined(paths, along="time").to_xarray(chunks={}) as found:
        assert found.sizes["time"] == 24 * len(paths)


def open_rows(table: Table, folder: Path) -> None:
    paths = files(folder, 300)
    few = paths[:20]
    table.compare("`open_dataset`, 14 variables", 0.25, lambda: opened(few, "hyperslab"), lambda: opened(few, "netcdf4"), "netcdf4")
    table.compare("`open_dataset`, 14 variables", 0.05, lambda: opened(few, "hyperslab"), lambda: opened(few, "h5netcdf"), "h5netcdf")
    with dask.config.set(scheduler="threads"):
        table.compare(
            "`open_mfdataset` of 300 files, with threads", 0.4,
            lambda: many(paths, "hyperslab", True), lambda: many(paths, "netcdf4", False), "netcdf4, serial",
        )
        table.compare(
            "the same 300 files by `open_joined`", 0.4, lambda: joined(paths), lambda: many(paths, "netcdf4", False), "netcdf4, serial",
        )
    tree = folder / "tree.nc"
    if not tree.exists():
        with netCDF4.Dataset(tree, "w") as file:
            for number in range(200):
                group = file.createGroup(f"g{number}")
                group.createDimension("x", 4)
                for name in "abcdefghij":
                    group.createVariable(name, "f4", ("x",))[:] = number
    table.compare(
        "`open_datatree` of 200 groups", 0.5,
        lambda: xr.open_datatree(tree, engine="hyperslab").close(), lambda: xr.open_datatree(tree, engine="netcdf4").close(), "netcdf4",
    )


def read_rows(table: Table, folder: Path, engine: Path) -> None:
    path = folder / "deflated.h5"
    if not path.exists():
        field = np.cumsum(np.random.default_rng(1).integers(-3, 4, (256, 512, 512)), axis=2).astype("f4")
        with h5py.File(path, "w") as file:
            file.create_dataset("x", data=field, chunks=(4, 128, 512), compression=4, shuffle=True)
            file.create_dataset("plain", data=field)
    ours, theirs = hyperslab.open(path), h5py.File(path)
    table.compare("256 MiB, shuffled and deflated", 0.3, lambda: ours["x"][...], lambda: theirs["x"][...], "h5py")
    mine, his = ours["x"], theirs["x"]

    def loop(array: object) -> None:
        for at in range(2000):
            array[1, 5, at % 512]  # type: ignore[index]

    table.compare("2,000 scalars of one chunk", 1.5, lambda: loop(mine), lambda: loop(his), "h5py")
    out = np.empty(mine.shape, dtype=mine.dtype)
    plain = ours["plain"]
    threads = f"threads={hyperslab.threads()}"
    for name, array in (("x", mine), ("plain", plain)):
        with Engine(engine, "array", f"file={path}", f"path=/{name}", "memory=reused", "element=f4", threads) as alone:
            what = "256 MiB, shuffled and deflated, into an array" if name == "x" else "256 MiB without chunks, into an array"
            table.compare(what, 1.02, lambda: array.read(out=out) is None, alone.run, "the engine alone")
    table.limit("a scalar of an array without chunks", microseconds(lambda: plain[0, 0, 0], 20000), 3, "µs")
    theirs.close()
    path = folder / "chunks.h5"
    if not path.exists():
        with h5py.File(path, "w", libver="latest") as file:
            data = file.create_dataset("x", (1_500_000,), "i4", chunks=(1,))
            data[:] = np.arange(1_500_000)
    array = hyperslab.open(path)["x"]
    picks = iter(np.random.default_rng(2).integers(0, 1_500_000, 5000 * (ROUNDS + 1)).tolist())
    table.limit("an element of 1.5 million chunks", microseconds(lambda: array[next(picks)], 5000), 10, "µs")


def text_rows(table: Table, folder: Path) -> None:
    path = folder / "texts.h5"
    if not path.exists():
        with h5py.File(path, "w") as file:
            texts = np.array([f"station {number % 9999} of the net" for number in range(500_000)], dtype=object)
            file.create_dataset("t", data=texts, dtype=h5py.string_dtype(), chunks=(10_000,))
    ours, theirs = hyperslab.open(path)["t"], h5py.File(path)["t"].asstr()
    table.compare("500,000 texts as objects", 0.35, lambda: ours[...], lambda: theirs[...], "h5py `asstr`")
    if hasattr(ours, "__arrow_c_array__"):
        import pyarrow

        table.compare("500,000 texts as Arrow", 0.2, lambda: pyarrow.array(ours), lambda: theirs[...], "h5py `asstr`")


def zarr_rows(table: Table, folder: Path) -> None:
    import zarr

    from hyperslab.virtual import references
    from hyperslab.zarr import ZarrStore

    path = folder / "deflated.h5"
    ours = hyperslab.open(path)["x"]
    array = zarr.open_array(ZarrStore(path), path="x", mode="r")
    table.compare("256 MiB through `ZarrStore`", 1.3, lambda: array[...], lambda: ours[...], "the engine")
    with zarr.config.set({"codec_pipeline.path": "hyperslab.zarr.CodecPipeline"}):
        direct = zarr.open_array(ZarrStore(path), path="x", mode="r")
    table.compare("the same by `hyperslab.zarr.CodecPipeline`", 1.3, lambda: direct[...], lambda: ours[...], "the engine")
    path = folder / "grid.h5"
    if not path.exists():
        with h5py.File(path, "w") as file:
            data = np.arange(256 * 256 * 16, dtype="i4").reshape(256 * 4, 256 * 4)
            file.create_dataset("x", data=data, chunks=(4, 4), compression=1)
    from obstore.store import LocalStore
    from virtualizarr.parsers import HDFParser
    from virtualizarr.registry import ObjectStoreRegistry

    registry = ObjectStoreRegistry({"file://": LocalStore()})
    url = f"file://{path}"
    table.compare(
        "references of 65,536 chunks", 0.1,
        lambda: references(path, url=url), lambda: HDFParser()(url=url, registry=registry), "VirtualiZarr",
    )


def write_rows(table: Table, folder: Path) -> None:
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    from hyperslab.xarray import write

    encoding = {"t": {"zlib": True, "complevel": 4, "shuffle": True, "chunksizes": (8, 512, 512)}}
    target = folder / "written.nc"

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        field = da.random.default_rng(3).integers(0, 300, (64, 512, 512), chunks=(8, 512, 512)).cumsum(axis=2).astype("f4")
        # In the memory of the workers, so that their only work is to encode and to store.
        source = xr.Dataset({"t": (("time", "y", "x"), field.persist())})

        def ours() -> None:
            write(source, target, encoding=encoding, overwrite=True)

        def theirs() -> None:
            source.to_netcdf(folder / "theirs.nc", engine="netcdf4", encoding=encoding)

        table.compare("64 MiB deflated by 2 processes of Dask", 0.2, ours, theirs, "`to_netcdf`")


def process_rows(table: Table, wheel: Path | None) -> None:
    def imported(env: dict[str, str]) -> float:
        code = "import time, numpy; s = time.perf_counter(); import hyperslab; print(time.perf_counter() - s)"
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=env).stdout)

    with tempfile.TemporaryDirectory() as compiled:
        # As after an installation, which compiles the package.
        env = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        imported(env)
        table.limit("import, beyond NumPy", statistics.median(imported(env) for _ in range(ROUNDS)) * 1e3, 5, "ms")
    if wheel is not None:
        table.limit("the wheel", wheel.stat().st_size / 1e6, 5, "MB")


def main() -> None:
    folder, page, engine = Path(sys.argv[1]) / "python", Path(sys.argv[2]), Path(sys.argv[3])
    wheel = Path(sys.argv[4]) if len(sys.argv) > 4 else None
    folder.mkdir(parents=True, exist_ok=True)
    table = Table()
    process_rows(table, wheel)
    for rows in (open_rows, partial(read_rows, engine=engine), text_rows, zarr_rows, write_rows):
        try:
            rows(table, folder)
        except ImportError as missing:
            table.rows.append(f"| {rows} | not measured: {missing} | | | | |")
    versions = f"NumPy {np.__version__}, xarray {xr.__version__}, h5py {h5py.__version__}, netCDF4 {netCDF4.__version__}"
    text = [
        "# Speed of the Python package", "",
        f"Written by `cargo xtask bench python`: medians of {ROUNDS} runs that take turns. {versions}; {os.cpu_count()} cores.", "",
        "| what | hyperslab | beside | found | CPU | wanted |", "|---|---|---|---|---|---|", *table.rows, "",
    ]
    page.write_text("\n".join(text))
    for name in ("written.nc", "theirs.nc"):
        shutil.rmtree(folder / name, ignore_errors=True) if (folder / name).is_dir() else (folder / name).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
