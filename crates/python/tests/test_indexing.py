"""Keys of `[...]`, `oindex`, `vindex`, `read` and `points`, compared with h5py and NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import hyperslab
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SHAPES = {"line": (37,), "plane": (12, 9), "cube": (7, 5, 6), "chunked": (23, 18), "deep": (3, 4, 2, 5), "scalar": (), "empty": (4, 0)}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> tuple[hyperslab.Group, h5py.File]:
    """Arrays of several shapes and layouts, opened by both libraries."""
    path = tmp_path_factory.mktemp("indexing") / "arrays.h5"
    with h5py.File(path, "w") as file:
        for number, (name, shape) in enumerate(SHAPES.items()):
            values = (np.arange(np.prod(shape, dtype=int)) * 3 + number).reshape(shape).astype("<i4")
            chunks = {"chunked": {"chunks": (5, 7), "compression": "gzip", "shuffle": True}}.get(name, {})
            file.create_dataset(name, data=values, **chunks)
        file.create_dataset("big_endian", data=np.linspace(0, 1, 40).reshape(5, 8).astype(">f8"), chunks=(2, 3))
        record = np.zeros(6, dtype=[("id", "<u2"), ("at", "<f8", (2,)), ("name", "S5")])
        record["id"], record["name"] = range(6), [b"a", b"bb", b"", b"dddd", b"e", b"f"]
        record["at"] = np.arange(12).reshape(6, 2)
        file.create_dataset("record", data=record)
    return hyperslab.open(path), h5py.File(path)


def slices(size: int) -> st.SearchStrategy[slice]:
    """Slices with any step, including those far outside of the dimension."""
    bound = st.none() | st.integers(-size - 3, size + 3)
    step = st.none() | st.integers(-4, 4).filter(bool) | st.sampled_from([10**6, -(10**6)])
    return st.builds(slice, bound, bound, step)


def integers(size: int) -> st.SearchStrategy[Any]:
    """Valid integers of Python or NumPy."""
    plain = st.integers(-size, size - 1)
    return plain | plain.map(np.int16) | plain.map(np.int64)


def lists(size: int) -> st.SearchStrategy[Any]:
    """Positions in any order, possibly repeated, or masks."""
    numbers = st.lists(st.integers(-size, size - 1), max_size=6)
    masks = st.lists(st.booleans(), min_size=size, max_size=size)
    return numbers | numbers.map(lambda found: np.array(found, dtype="i8")) | masks.map(lambda found: np.array(found, dtype=bool))


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...], *, picks: int, new: bool = True) -> tuple[Any, ...]:
    """A key for an array of this shape, with at most `picks` lists, None for new dimensions and possibly an ellipsis."""
    given_count = draw(st.integers(0, len(shape)))
    cut = draw(st.integers(0, given_count))
    left = picks
    key: list[Any] = []

    def along(size: int) -> Any:
        nonlocal left
        kinds = [slices(size)] + ([integers(size)] if size else [])
        if left and size:
            kinds.append(lists(size))
        item = draw(st.one_of(kinds))
        left -= isinstance(item, (list, np.ndarray))
        return item

    head = [along(size) for size in shape[:cut]]
    behind = shape[len(shape) - (given_count - cut) :] if given_count > cut else ()
    tail = [along(size) for size in behind]
    has_ellipsis = bool(tail) or draw(st.booleans())
    key = head + ([...] if has_ellipsis else []) + tail
    if new:
        for _ in range(draw(st.integers(0, 2))):
            key.insert(draw(st.integers(0, len(key))), None)
    return tuple(key)


def outer(values: np.ndarray, key: tuple[Any, ...]) -> np.ndarray:
    """What a key selects when each list is taken along its own dimension."""
    items = [item for item in key if item is not None]
    if not any(item is ... for item in items):
        items.append(...)
    at = next(number for number, item in enumerate(items) if item is ...)
    items[at : at + 1] = [slice(None)] * (values.ndim - len(items) + 1)
    found, axis, kept = values, 0, []
    for item in items:
        if isinstance(item, slice):
            found = found[(slice(None),) * axis + (item,)]
        elif isinstance(item, (list, np.ndarray)):
            positions = np.asarray(item)
            positions = np.flatnonzero(positions) if positions.dtype == bool else positions.astype("i8")
            found = np.take(found, positions, axis=axis)
        else:
            found = np.take(found, int(item), axis=axis)
            continue
        kept.append(axis)
        axis += 1
    # Inserts new dimensions at their positions among the remaining ones.
    whole: list[Any] = []
    for item in key:
        if item is None:
            whole.append(None)
        elif item is ...:
            whole.append(...)
        elif isinstance(item, (slice, list, np.ndarray)):
            whole.append(slice(None))
    return found[tuple(whole)] if None in [item for item in whole if item is None] else found


COMMON = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("name", SHAPES)
@COMMON
@given(data=st.data())
def test_keys_mean_what_numpy_means(opened: Any, name: str, data: st.DataObject) -> None:
    ours, theirs = opened
    key = data.draw(keys(SHAPES[name], picks=3))
    values = theirs[name][()]
    expected = outer(values, key)
    found = ours[name][key]
    assert np.shape(found) == np.shape(expected)
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["line", "plane", "cube", "chunked", "big_endian"])
@COMMON
@given(data=st.data())
def test_keys_mean_what_h5py_means(opened: Any, name: str, data: st.DataObject) -> None:
    ours, theirs = opened
    shape = theirs[name].shape
    key = data.draw(keys(shape, picks=1, new=False))
    try:
        expected = theirs[name][key]
    except (TypeError, ValueError):
        # h5py accepts neither negative steps nor lists that do not increase.
        return
    found = ours[name][key]
    assert np.shape(found) == np.shape(expected)
    assert isinstance(found, np.ndarray) == isinstance(expected, np.ndarray)
    np.testing.assert_array_equal(found, expected)


@COMMON
@given(data=st.data())
def test_vindex_is_that_of_numpy(opened: Any, data: st.DataObject) -> None:
    ours, theirs = opened
    name = data.draw(st.sampled_from(["line", "plane", "cube", "deep"]))
    shape = SHAPES[name]
    points = data.draw(st.sampled_from([(), (1,), (4,), (2, 3), (0,)]))
    count = int(np.prod(points, dtype=int))

    def item(size: int) -> Any:
        flat = data.draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count))
        return np.array(flat, dtype="i8").reshape(points)

    key = tuple(item(size) if data.draw(st.booleans()) else data.draw(slices(size)) for size in shape)
    expected = theirs[name][()][key]
    np.testing.assert_array_equal(ours[name].vindex[key], expected, strict=True)


@COMMON
@given(data=st.data())
def test_out_is_filled(opened: Any, data: st.DataObject) -> None:
    ours, theirs = opened
    name = data.draw(st.sampled_from(["line", "plane", "cube", "chunked", "big_endian"]))
    key = data.draw(keys(theirs[name].shape, picks=2))
    expected = np.asarray(outer(theirs[name][()], key))
    out = np.full(expected.shape, 99, dtype=ours[name].dtype)
    assert ours[name].read(key, out=out) is out
    np.testing.assert_array_equal(out, expected)


def test_oindex_is_the_product_of_lists(opened: Any) -> None:
    ours, theirs = opened
    values = theirs["cube"][()]
    np.testing.assert_array_equal(ours["cube"].oindex[[5, 0, -1], :, [1, 1]], values[[5, 0, -1]][:, :, [1, 1]])
    mask = np.arange(5) % 2 == 0
    np.testing.assert_array_equal(ours["cube"].oindex[2, mask, [3, 0]], values[2][mask][:, [3, 0]])


def test_a_mask_of_all_dimensions_gives_a_line(opened: Any) -> None:
    ours, theirs = opened
    values = theirs["plane"][()]
    mask = values % 7 == 0
    np.testing.assert_array_equal(ours["plane"][mask], values[mask])
    np.testing.assert_array_equal(ours["plane"][mask], theirs["plane"][mask])
    assert ours["plane"][np.zeros((12, 9), bool)].shape == (0,)


def test_members_of_records(opened: Any) -> None:
    ours, theirs = opened
    record, values = ours["record"], theirs["record"][()]
    assert record.dtype == values.dtype
    np.testing.assert_array_equal(record[...], values)
    np.testing.assert_array_equal(record["id"], theirs["record"]["id"])
    np.testing.assert_array_equal(record["at", 1:4], theirs["record"]["at", 1:4])
    np.testing.assert_array_equal(record["id", "name"], theirs["record"]["id", "name"])
    assert record[2]["id"] == 2
    assert tuple(record[3])[0] == 3


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("line", 37),
        ("line", -38),
        ("line", 10**30),
        ("line", [0, 37]),
        ("line", [-38]),
        ("line", (0, 0)),
        ("plane", (..., ...)),
        ("plane", (0, 0, 0)),
        ("plane", 1.5),
        ("plane", [0.5]),
        ("plane", np.zeros(11, bool)),
        ("plane", np.zeros((9, 12), bool)),
        ("plane", {"a": 1}),
        ("scalar", 0),
        ("empty", (0, 0)),
    ],
)
def test_a_wrong_index_is_an_index_error(opened: Any, name: str, key: Any) -> None:
    with pytest.raises(IndexError):
        opened[0][name][key]


def test_other_wrong_keys(opened: Any) -> None:
    ours, _ = opened
    with pytest.raises(ValueError, match="zero"):
        ours["line"][::0]
    with pytest.raises((ValueError, KeyError)):
        ours["record"]["missing"]
    for wrong in (np.empty(36, "<i4"), np.empty(37, "<i8"), np.empty((37, 1), "<i4")):
        with pytest.raises(ValueError, match="expected"):
            ours["line"].read(out=wrong)
    frozen = np.empty(37, "<i4")
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        ours["line"].read(out=frozen)
    with pytest.raises(TypeError, match="out is a list"):
        ours["line"].read(out=[])
    with pytest.raises(TypeError, match="slice indices must be integers"):
        ours["line"][0.0:3]


@pytest.mark.parametrize(
    "key",
    [
        ([12], [0]),
        ([0.9], [1.7]),
        (None, [0]),
        (..., [0], ...),
        ([0], [0], [0]),
        np.zeros((12, 8), bool),
        (np.zeros(11, bool), [0]),
        (slice(None), np.zeros((12, 9), bool)),
    ],
)
def test_points_that_are_not_there(opened: Any, key: Any) -> None:
    with pytest.raises(IndexError):
        opened[0]["plane"].vindex[key]


def test_masks_of_points(opened: Any) -> None:
    ours, theirs = opened
    plane, cube = theirs["plane"][()], theirs["cube"][()]
    mask = plane % 5 == 0
    np.testing.assert_array_equal(ours["plane"].vindex[mask], plane[mask])
    of_rows = np.arange(12) % 3 == 0
    np.testing.assert_array_equal(ours["plane"].vindex[of_rows, 2], plane[of_rows, 2])
    np.testing.assert_array_equal(ours["cube"].vindex[..., mask[:5, :6]], cube[..., mask[:5, :6]])
    np.testing.assert_array_equal(ours["cube"].vindex[mask[:7, :5]], cube[mask[:7, :5]])


def test_memory_of_the_caller_that_is_not_filled_in_place(opened: Any) -> None:
    ours, theirs = opened
    every = np.zeros(74, "<i4")
    ours["line"].read(out=every[::2])
    assert every[::2].tolist() == theirs["line"][()].tolist() and not every[1::2].any()
    identifiers = np.zeros(6, "<u2")
    assert ours["record"].read("id", out=identifiers) is identifiers
    assert identifiers.tolist() == list(range(6))


def test_a_slice_may_have_bounds_of_any_size(opened: Any) -> None:
    ours, theirs = opened
    values = theirs["line"][()]
    for key in (slice(-(10**30), 10**30), slice(10**30, None, -1), slice(None, -(10**30), -3), slice(5, 10**18, 10**18)):
        np.testing.assert_array_equal(ours["line"][key], values[key])


def test_elements_are_scalars_of_numpy(opened: Any) -> None:
    ours, theirs = opened
    for name, key in (("line", 3), ("plane", (-1, 2)), ("scalar", ()), ("big_endian", (1, 1))):
        assert ours[name][key] == theirs[name][key]
        assert type(ours[name][key]) is type(theirs[name][key]), name
    assert isinstance(ours["scalar"][...], (np.ndarray, np.generic))


def test_blocks_cover_every_element_once(opened: Any) -> None:
    ours, _ = opened
    for name in SHAPES:
        seen = np.zeros(SHAPES[name], int)
        for block in ours[name].blocks():
            seen[block] += 1
        assert (seen == 1).all(), name
    assert next(iter(ours["chunked"].blocks())) == (slice(0, 5), slice(0, 7))


def test_points_of_a_file_are_those_of_h5py(examples: Path) -> None:
    ours, theirs = hyperslab.open(examples / "ocean.nc")["salinity"], h5py.File(examples / "ocean.nc")["salinity"]
    rng = np.random.default_rng(7)
    positions = tuple(rng.integers(0, size, 50) for size in ours.shape)
    np.testing.assert_array_equal(ours.vindex[positions], theirs[()][positions])


def test_axes_of_elements_are_indexed_as_others(tmp_path: Path) -> None:
    values = np.arange(6 * 5 * 3 * 2, dtype="i4").reshape(6, 5, 3, 2)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        made = file.create_dataset("x", (6, 5), np.dtype(("i4", (3, 2))), chunks=(2, 3))
        made[...] = values
        file["y"] = file["x"][...][..., 0, 0]
        file.create_dataset("whole", (6, 5), np.dtype(("i4", (3, 2))))[...] = values
        file.create_dataset("scalar", (), np.dtype(("i4", (3, 2))))[()] = values[0, 0]
    group = hyperslab.open(tmp_path / "a.h5")
    array = group["x"]
    assert array.shape == values.shape and array.dims == (None, None)
    keys = [
        (1, 2, 0, 1),
        (slice(None), 3, 1),
        (..., 1),
        (..., 1, slice(None, None, -1)),
        (0, ..., 0),
        (slice(1, 5, 2), slice(None), slice(2), 1),
        (2,),
        (..., 0, 0, 0, 0),
        (-1, -1, -1, -1),
    ]
    for name in ("x", "whole"):
        for key in keys:
            found = group[name][key]
            np.testing.assert_array_equal(found, values[key], err_msg=str(key))
            assert np.shape(found) == np.shape(values[key])
    np.testing.assert_array_equal(array[[1, 4], [0, 2], [2, 0]], values[np.ix_([1, 4], [0, 2], [2, 0])])
    np.testing.assert_array_equal(group["scalar"][1], values[0, 0, 1])
    np.testing.assert_array_equal(group["scalar"][..., 1], values[0, 0, :, 1])
    np.testing.assert_array_equal(array.vindex[[5, 0, 5], [1, 2, 1]], values[[5, 0, 5], [1, 2, 1]])
    np.testing.assert_array_equal(array.vindex[[5, 0], [1, 2], [0, 2], [1, 1]], values[[5, 0], [1, 2], [0, 2], [1, 1]])
    np.testing.assert_array_equal(array.vindex[[1, 0], :, [2, 1]], values[[1, 0], :, [2, 1]])
    for name in ("x", "whole"):
        parts = [group[name][key] for key in group[name].blocks()]
        assert sum(part.size for part in parts) == values.size
    for key in [(0, 0, 0, 0, 0), (0, 0, 3), (0, 0, 0, -3), (7, 0, 0)]:
        with pytest.raises(IndexError):
            array[key]
    with pytest.raises(IndexError):
        array.vindex[[0], [0], [0], [0], [0]]


def test_axes_of_elements_are_dimensions_to_xarray_and_dask(tmp_path: Path) -> None:
    xr, da = pytest.importorskip("xarray"), pytest.importorskip("dask.array")
    import hyperslab.dask

    values = np.arange(6 * 5 * 3, dtype="i4").reshape(6, 5, 3)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", (6, 5), np.dtype(("i4", (3,))), chunks=(2, 3))[...] = values
    with xr.open_dataset(tmp_path / "a.h5", engine="hyperslab") as found:
        x = found["x"]
        assert x.shape == values.shape
        np.testing.assert_array_equal(x[:, 1:3, 2].values, values[:, 1:3, 2])
        np.testing.assert_array_equal(x[[4, 1], :, [0, 2]].values, values[np.ix_([4, 1], range(5), [0, 2])])
        points = xr.DataArray([0, 5, 0], dims="p")
        np.testing.assert_array_equal(x.isel({x.dims[0]: points, x.dims[1]: points % 5, x.dims[2]: points % 3}).values, values[[0, 5, 0], [0, 0, 0], [0, 2, 0]])
    lazy = hyperslab.dask.from_array(hyperslab.open(tmp_path / "a.h5")["x"])
    assert isinstance(lazy, da.Array)
    np.testing.assert_array_equal(lazy[1:, 2:, 1].compute(scheduler="synchronous"), values[1:, 2:, 1])
