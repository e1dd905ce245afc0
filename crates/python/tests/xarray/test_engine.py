"""What the engine promises beyond what xarray's own tests check."""

from __future__ import annotations

import asyncio
import gc
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

xarray = pytest.importorskip("xarray")

import hyperslab  # noqa: E402
from hyperslab._xarray.store import GroupStore  # noqa: E402
from hyperslab._xarray.unindexed import unindexed  # noqa: E402
from hyperslab.xarray import HyperslabBackendEntrypoint as Engine  # noqa: E402
from hyperslab.xarray import MissingVariableWarning  # noqa: E402


@pytest.fixture
def ocean(examples: Path) -> Path:
    return examples / "ocean.nc"


def test_engine_is_found_by_its_name(ocean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from xarray.backends import plugins

    # As in an installed package.
    info = tmp_path / "hyperslab-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hyperslab\nVersion: 0\n")
    (info / "entry_points.txt").write_text("[xarray.backends]\nhyperslab = hyperslab.xarray:HyperslabBackendEntrypoint\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins.list_engines.cache_clear()
    try:
        assert type(xarray.backends.list_engines()["hyperslab"]) is Engine
        assert "salinity" in xarray.open_dataset(ocean, engine="hyperslab")
        # Zarr is opened by the engine of zarr-python, which comes after ours in the alphabet.
        folder = tmp_path / "x.zarr"
        pytest.importorskip("zarr")
        xarray.Dataset({"v": ("x", [1, 2])}).to_zarr(folder)
        assert plugins.guess_engine(str(folder)) == "zarr"
    finally:
        monkeypatch.undo()
        plugins.list_engines.cache_clear()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ocean.nc", True),
        ("classic.nc", True),
        ("classic_data64.nc", True),
        ("datatypes.h5", True),
        ("userblock.h5", True),
        ("survey.tdb", True),
        ("tides.zarr", False),
        ("floats.zarr", False),
        ("single.zarr.zip", False),
        ("buoys.yaml", False),
    ],
)
def test_guesses_what_it_opens(examples: Path, name: str, expected: bool) -> None:
    path = examples / name
    assert Engine().guess_can_open(path) is expected
    assert Engine().guess_can_open(str(path)) is expected
    if path.is_file() and name != "userblock.h5":
        content = path.read_bytes()
        assert Engine().guess_can_open(content) is expected
        file = io.BytesIO(content)
        file.seek(3)
        assert Engine().guess_can_open(file) is expected
        assert file.tell() == 3


def test_guesses_by_extension_what_is_far() -> None:
    for location, expected in [
        ("s3://bucket/ocean.nc", True),
        ("https://host/ocean.h5?token=a.zarr", True),
        ("s3://bucket/ocean.zarr", False),
        ("https://host/dap/ocean", False),
        ((object(), "bucket/ocean.nc4"), True),
        ((object(), "bucket/ocean.zarr"), False),
        (7, False),
        (b"PK\x03\x04", False),
    ]:
        assert Engine().guess_can_open(location) is expected, location


def test_all_kinds_of_locations_give_the_same(ocean: Path) -> None:
    expected = xarray.open_dataset(ocean, engine=Engine).load()
    content = ocean.read_bytes()
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/ocean.nc", content)
    locations = [str(ocean), content, memoryview(content), io.BytesIO(content), "memory://ocean.nc", (memory, "/ocean.nc")]
    with open(ocean, "rb") as file, memory.open("/ocean.nc") as far:
        for location in [*locations, file, far, hyperslab.open(ocean)]:
            xarray.testing.assert_identical(xarray.open_dataset(location, engine=Engine), expected)
    try:
        import obstore.store
    except ImportError:
        return
    store = obstore.store.LocalStore(ocean.parent)
    xarray.testing.assert_identical(xarray.open_dataset((store, ocean.name), engine=Engine), expected)


def test_groups_become_datasets_and_trees(ocean: Path) -> None:
    group = hyperslab.open(ocean)
    xarray.testing.assert_identical(group.to_xarray(), xarray.open_dataset(ocean, engine=Engine))
    raw = group.to_xarray(decode_cf=False)
    assert raw.temperature.dtype == "i2" and "_FillValue" in raw.temperature.attrs
    assert group.to_xarray(chunks={}).salinity.chunks == ((9,), (1,) * 5, (3,), (8,))
    waves = xarray.open_dataset(ocean, engine=Engine, group="waves")
    xarray.testing.assert_identical(group["waves"].to_xarray(), waves)
    xarray.testing.assert_identical(group.to_xarray(group="waves"), waves)
    tree = group.to_datatree()
    assert tree.groups == ("/", "/waves", "/waves/buoys")
    xarray.testing.assert_identical(tree["waves"].to_dataset(inherit=False), waves)
    assert xarray.open_datatree(ocean, engine=Engine, group="waves").groups == ("/", "/buoys")
    assert set(xarray.open_groups(ocean, engine=Engine)) == {"/", "/waves", "/waves/buoys"}


def test_groups_that_are_not_there(ocean: Path) -> None:
    for group in ("nothing", "salinity"):
        with pytest.raises(OSError, match="group not found"):
            xarray.open_dataset(ocean, engine=Engine, group=group)
    with pytest.raises(FileNotFoundError):
        xarray.open_dataset(ocean.with_name("nothing.nc"), engine=Engine)


def test_a_tree_opens_and_lists_each_group_once(ocean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hyperslab import _objects

    opened, listed = [], []
    original_open, original_list = _objects._hyperslab.open, _objects.Group._listed
    original_arrays = _objects.Group._with_arrays

    def open_(*arguments: Any) -> Any:
        opened.append(arguments)
        return original_open(*arguments)

    def list_(group: Any) -> Any:
        if group._members is None:
            listed.append(group.name)
        return original_list(group)

    def arrays(group: Any, without: Any) -> Any:
        listed.append(group.name)
        return original_arrays(group, without)

    monkeypatch.setattr(_objects._hyperslab, "open", open_)
    monkeypatch.setattr(_objects.Group, "_with_arrays", arrays)
    monkeypatch.setattr(_objects.Group, "_listed", list_)
    tree = xarray.open_datatree(ocean.read_bytes(), engine=Engine)
    assert len(opened) == 1
    assert sorted(listed) == ["/", "/waves", "/waves/buoys"]
    assert tree["waves/buoys"].wmo.shape == (3,)


def test_trees_are_opened_without_collecting_garbage(ocean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    was_enabled: list[bool] = []
    variables = GroupStore.get_variables

    def watched(self: GroupStore) -> Any:
        was_enabled.append(gc.isenabled())
        return variables(self)

    monkeypatch.setattr(GroupStore, "get_variables", watched)
    xarray.open_datatree(ocean, engine=Engine)
    assert len(was_enabled) > 1 and not any(was_enabled) and gc.isenabled()
    with pytest.raises(ValueError, match="group must be"):
        xarray.open_datatree(ocean, engine=Engine, group=1)  # type: ignore[arg-type]
    monkeypatch.setattr(GroupStore, "get_variables", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        xarray.open_datatree(ocean, engine=Engine)
    assert gc.isenabled()
    monkeypatch.undo()
    # If a program has disabled garbage collection, it stays disabled.
    gc.disable()
    try:
        xarray.open_datatree(ocean, engine=Engine)
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("chunks", [None, {}])
@pytest.mark.parametrize("creates_indexes", [True, False])
def test_the_dataset_is_the_one_that_xarray_makes(
    ocean: Path, chunks: Any, creates_indexes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened() -> xarray.Dataset:
        return xarray.open_dataset(ocean, engine=Engine, chunks=chunks, create_default_indexes=creates_indexes)

    found = opened()
    # Without the shortcuts of the engine.
    monkeypatch.setattr("hyperslab.xarray.unindexed", lambda dataset: dataset)
    monkeypatch.setattr("hyperslab._xarray.decoding._means_what_it_stores", lambda variable: False)
    monkeypatch.setattr("hyperslab._xarray.array.LazyArray.read_early", lambda array: None)
    expected = opened()
    assert type(found) is xarray.Dataset
    xarray.testing.assert_identical(found, expected)
    assert len(found.xindexes) == (4 if creates_indexes else 0)
    for what in ("variables", "coords", "xindexes", "sizes"):
        assert list(getattr(found, what)) == list(getattr(expected, what))
    assert found.encoding == expected.encoding
    for name, variable in expected.variables.items():
        assert type(found.variables[name]) is type(variable)
        # NaN does not equal itself.
        assert repr(found.variables[name].encoding) == repr(variable.encoding)
    pickle.loads(pickle.dumps(found)).load()


@pytest.mark.parametrize("key", [[0, 2, 5], [True] * 3 + [False] * 5, slice(1, 6, 2), 3, xarray.DataArray([4, 1], dims="p"), slice(None)])
def test_coordinates_without_an_index_are_selected(ocean: Path, key: Any) -> None:
    def opened(engine: Any) -> xarray.DataArray:
        return xarray.open_dataset(ocean, engine=engine, create_default_indexes=False)["lon"]

    coordinate = opened(Engine)
    for _ in range(2):
        np.testing.assert_array_equal(coordinate.isel(lon=key).values, opened("netcdf4").isel(lon=key).values)


def test_other_coordinates_are_left_to_xarray(ocean: Path) -> None:
    assert type(Engine().open_dataset(ocean)) is xarray.Dataset
    assigned = unindexed(Engine().open_dataset(ocean)).assign_coords(lon=("lon", range(8)), name="a")
    assert type(assigned) is xarray.Dataset
    assert assigned.lon.values.tolist() == list(range(8)) and assigned.name.item() == "a"
    with pytest.raises(ValueError, match="conflicting dimension sizes"):
        unindexed(Engine().open_dataset(ocean)).assign_coords(xarray.Coordinates({"lon": [1.0, 2.0]}))


def test_nothing_is_read_before_it_is_asked_for(ocean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hyperslab._xarray.array import LazyArray

    read = []
    original = LazyArray._read

    def spy(array: LazyArray, key: tuple[Any, ...]) -> Any:
        read.append((array._array.name, key))
        return original(array, key)

    monkeypatch.setattr(LazyArray, "_read", spy)
    dataset = xarray.open_dataset(ocean, engine=Engine)
    assert {name for name, _ in read} <= {"/time", "/depth", "/lat", "/lon", "/time_bounds", "/remark"}
    read.clear()
    assert dataset.salinity[2, 1:3, ::2, [0, 7]].values.shape == (2, 2, 2)
    [(name, key)] = read
    assert name == "/salinity" and key[0] == 2 and key[1] == slice(1, 3, 1)


KEYS: list[dict[str, Any]] = [
    {"time": 3},
    {"time": slice(None, None, -2), "lon": [7, 0, 3]},
    {"time": [0, 0, 8], "depth": -1},
    {"lat": xarray.DataArray([0, 2, 1], dims="p"), "lon": xarray.DataArray([7, 0, 3], dims="p")},
    {
        "time": xarray.DataArray([[0, -1], [4, 4]], dims=("p", "q")),
        "depth": xarray.DataArray([0, 4], dims="p"),
        "lat": xarray.DataArray([2, 0], dims="q"),
        "lon": xarray.DataArray([7, 5], dims="q"),
    },
    {"time": np.arange(9) > 5, "depth": slice(4, 1, -1)},
]


@pytest.mark.parametrize("key", KEYS)
def test_any_selection_is_that_of_numpy(ocean: Path, key: dict[str, Any]) -> None:
    lazy, loaded = xarray.open_dataset(ocean, engine=Engine), xarray.open_dataset(ocean, engine=Engine).load()
    for name in ("salinity", "temperature"):
        xarray.testing.assert_identical(lazy[name].isel(key), loaded[name].isel(key))


def test_scattered_points_are_read_one_by_one(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    from hyperslab._xarray.array import LazyArray

    values = np.arange(300 * 400, dtype="i4").reshape(300, 400)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("v", data=values, chunks=(10, 10))
    rows, columns = np.arange(0, 300, 3), np.arange(399, 0, -4)[:100]
    array = xarray.open_dataset(tmp_path / "a.h5", engine=Engine).v
    dims = array.dims
    read: list[Any] = []
    original = LazyArray._read
    LazyArray._read = lambda self, key: read.append(key) or original(self, key)  # type: ignore[method-assign]
    try:
        points = array.isel({dims[0]: xarray.DataArray(rows, dims="p"), dims[1]: xarray.DataArray(-400 + columns, dims="p")})
        np.testing.assert_array_equal(points.values, values[rows, columns])
    finally:
        LazyArray._read = original  # type: ignore[method-assign]
    assert read == []


def test_pickles_read_in_another_process(ocean: Path) -> None:
    import concurrent.futures
    import multiprocessing

    dataset = xarray.open_dataset(ocean, engine=Engine)
    assert len(pickle.dumps(dataset)) < 20_000
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        read = pool.submit(xarray.Dataset.load, dataset).result(timeout=120)
    xarray.testing.assert_identical(read, dataset)


def test_loads_asynchronously(ocean: Path) -> None:
    dataset = xarray.open_dataset(ocean, engine=Engine)

    async def load() -> Any:
        return await asyncio.gather(*(dataset[name].load_async() for name in ("salinity", "temperature", "remark")))

    for loaded in asyncio.run(load()):
        xarray.testing.assert_identical(loaded, dataset[loaded.name])


def test_dimensions_without_names_are_named_as_h5netcdf_names_them(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("h5netcdf")
    path = tmp_path / "phony.h5"
    with h5py.File(path, "w") as file:
        for group in ("one", "two"):
            for name, shape in [("a", (5, 5, 5)), ("b", (25, 5, 5)), ("c", ()), ("d", (3,))]:
                file.create_dataset(f"{group}/{name}", data=np.zeros(shape))
        scale = file.create_dataset("named/x", data=np.arange(4))
        scale.make_scale()
        file["named"].create_dataset("square", data=np.zeros((4, 4)))
    for group in ("one", "two", "named"):
        ours = xarray.open_dataset(path, engine=Engine, group=group)
        theirs = xarray.open_dataset(path, engine="h5netcdf", group=group, phony_dims="access")
        assert {name: of.dims for name, of in ours.variables.items()} == {
            name: of.dims for name, of in theirs.variables.items()
        }
    # In a tree, no name may stand for two lengths.
    tree = xarray.open_datatree(path, engine=Engine)
    assert not set(tree["one"].dims) & set(tree["two"].dims)


def test_what_cannot_be_read_is_missing_with_a_warning(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "broken.h5"
    with h5py.File(path, "w") as file:
        file["good"] = [1, 2, 3]
        file["dangling"] = h5py.SoftLink("/nothing")
        file["null"] = h5py.Empty("f4")
        file["null"].attrs["kept"] = 1
        broken = file.create_dataset("broken", data=np.arange(3), chunks=(3,), fletcher32=True)
        broken.make_scale()
        file.create_dataset("time", data=np.arange(3), chunks=(3,), fletcher32=True).attrs["units"] = "days since 2000-01-01"
        file["good"].dims[0].attach_scale(broken)
        places = [file[name].id.get_chunk_info(0).byte_offset for name in ("broken", "time")]
    with open(path, "r+b") as raw:
        for place in places:
            raw.seek(place)
            raw.write(b"\xff")
    with h5py.File(path, "a") as file:
        file["linked"] = h5py.SoftLink("/good")
    with pytest.warns(MissingVariableWarning) as caught:
        dataset = xarray.open_dataset(path, engine=Engine)
    assert set(dataset.variables) == {"good", "linked", "null"}
    assert dataset.good.dims == ("broken",) and dataset.good.values.tolist() == [1, 2, 3]
    assert dataset.null.shape == (0,) and dataset.null.attrs == {"kept": 1}
    warned = [str(warning.message) for warning in caught]
    assert [sum(f"{word} is missing" in text for text in warned) for word in ("dangling", "broken", "time")] == [1, 1, 1]
    with pytest.warns(MissingVariableWarning) as caught:
        dataset = xarray.open_dataset(path, engine=Engine, drop_variables=["broken", "good", "time"])
    assert set(dataset.variables) == {"linked", "null"} and len(caught) == 1


def test_errors_that_may_go_away_are_raised(ocean: Path) -> None:
    class Failing:
        is_far = False

        def __init__(self) -> None:
            self.content, self.fails = ocean.read_bytes(), False

        def size(self) -> int:
            return len(self.content)

        def ranges(self, ranges: Any) -> list[bytes]:
            if self.fails:
                raise OSError("no network")
            return [self.content[start:stop] for start, stop in ranges]

    storage = Failing()
    group = hyperslab.open(storage)
    assert "time" in group.to_xarray()
    storage = Failing()
    group = hyperslab.open(storage)
    list(group)
    storage.fails = True
    with pytest.raises(OSError, match="no network"):
        group.to_xarray()


def test_values_of_all_kinds(tmp_path: Path, examples: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "kinds.h5"
    with h5py.File(path, "w") as file:
        file["complex"] = np.array([1 + 2j, 3 - 4j], "c8")
        file["complex"].attrs["scale"] = 1 - 1j
        file["flag"] = np.array([True, False])
        file["short"] = np.array([b"ab", b"c"], "S2")
        file["text"] = "one text"
        file["texts"] = ["a", "bc"]
        sequences = file.create_dataset("sequences", (2,), h5py.vlen_dtype("i4"))
        sequences[0], sequences[1] = [1, 2, 3], [4]
        file.create_dataset("pairs", (2,), np.dtype(("f4", (3,))))
    dataset = xarray.open_dataset(path, engine=Engine)
    assert dataset["complex"].dtype == "c8" and dataset["complex"].values.tolist() == [1 + 2j, 3 - 4j]
    assert dataset["complex"].attrs["scale"] == 1 - 1j and dataset["complex"].encoding["dtype"] == "c8"
    assert dataset.flag.dtype == bool and dataset.flag.values.tolist() == [True, False]
    assert dataset.short.values.tolist() == [b"ab", b"c"]
    assert dataset.text.item() == "one text"
    assert dataset.texts.values.tolist() == ["a", "bc"]
    stored = GroupStore(hyperslab.open(path)).get_variables()
    assert stored["texts"].encoding["dtype"] is str and stored["texts"].dtype.metadata == {"element_type": str}
    assert [one.tolist() for one in dataset.sequences.values] == [[1, 2, 3], [4]]
    assert dataset.sequences[1].item().tolist() == [4]
    assert dataset.pairs.shape == (2, 3)
    with pytest.warns(MissingVariableWarning, match="a sparse array; read its cells with hyperslab.table"):
        tree = xarray.open_datatree(examples / "survey.tdb", engine=Engine)
    quality = tree["temperature/quality"]
    assert quality.dtype == "f4" and np.isnan(quality.values).any() and not np.isnan(quality.values).all()


def test_encodings_are_those_of_netcdf4(tmp_path: Path, ocean: Path) -> None:
    pytest.importorskip("netCDF4")
    plain = {"blosc", "bzip2", "chunksizes", "complevel", "contiguous", "dtype", "fletcher32", "original_shape"}
    names = plain | {"preferred_chunks", "shuffle", "source", "szip", "zlib", "zstd", "scale_factor", "add_offset", "units"}
    ours, theirs = xarray.open_dataset(ocean, engine=Engine), xarray.open_dataset(ocean, engine="netcdf4")
    assert ours.encoding == theirs.encoding
    for name, variable in theirs.variables.items():
        expected = {key: value for key, value in variable.encoding.items() if key in names}
        assert {key: ours[name].encoding.get(key) for key in expected} == expected, name
    ours.to_netcdf(tmp_path / "again.nc", engine="netcdf4")
    again = xarray.open_dataset(tmp_path / "again.nc", engine=Engine)
    xarray.testing.assert_identical(again, ours)
    assert again.salinity.encoding["chunksizes"] == (9, 1, 3, 8) and again.salinity.encoding["complevel"] == 4
    assert again.encoding["unlimited_dims"] == {"time"}


def test_zarr_is_read_as_the_engine_zarr_reads_it(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    times = np.array(["2026-01-01", "2026-01-02"], "M8[ns]")
    made = xarray.Dataset({"v": (("time", "x"), np.array([[1.5, np.nan], [3.0, 4.0]]))}, coords={"time": times, "name": ("x", ["a", "bc"])})
    made.attrs = {"number": 3, "list": [1, 2], "mapping": {"a": None}, "nothing": None, "flag": True}
    for version in (2, 3):
        path = tmp_path / f"v{version}.zarr"
        made.to_zarr(path, zarr_format=version)
        ours, theirs = xarray.open_dataset(path, engine=Engine), xarray.open_dataset(path, engine="zarr")
        xarray.testing.assert_identical(ours, theirs)
        assert ours.attrs == made.attrs
        for name, variable in theirs.variables.items():
            for key, expected in variable.encoding.items():
                found = ours[name].encoding[key]
                assert found == expected or (found != found and expected != expected), (name, key)


def test_open_mfdataset_with_threads(tmp_path: Path) -> None:
    pytest.importorskip("netCDF4")
    pytest.importorskip("dask")
    for index in range(20):
        part = xarray.Dataset({"v": ("t", np.arange(5.0) + index)}, coords={"t": np.arange(5) + 5 * index})
        part.to_netcdf(tmp_path / f"{index:02}.nc", engine="netcdf4")
    with xarray.open_mfdataset(str(tmp_path / "*.nc"), engine=Engine, parallel=True) as whole:
        np.testing.assert_array_equal(whole.v.values, np.concatenate([np.arange(5.0) + index for index in range(20)]))


def test_options_of_other_engines_are_accepted(ocean: Path) -> None:
    expected = xarray.open_dataset(ocean, engine=Engine)
    accepted: dict[str, Any] = {"format": "NETCDF4", "phony_dims": "access", "invalid_netcdf": True, "auto_complex": True}
    before = hyperslab.threads()
    try:
        xarray.testing.assert_identical(
            xarray.open_dataset(ocean, engine=Engine, threads=2, chunk_cache=1 << 20, **accepted), expected
        )
        assert hyperslab.threads() == 2
    finally:
        hyperslab.set_threads(before)
    assert "_Netcdf4Dimid" in xarray.open_dataset(ocean, engine=Engine, raw=True, decode_cf=False).lat.attrs
    with pytest.raises(TypeError, match="nonsense"):
        xarray.open_dataset(ocean, engine=Engine, nonsense=1)
