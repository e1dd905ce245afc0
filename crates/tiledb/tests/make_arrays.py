#!/usr/bin/env python3
"""Makes the arrays that the tests read: what the TileDB library writes, and the cells that it reads from them.

Needs tiledb-py (made with 0.36.1, which is TileDB 2.30.0) and numpy. Run it from anywhere; it replaces
`arrays/arrays.zip`, which has the folder of each array and each group, the files `expected/N` and `index.tsv`.

A line of `index.tsv` is what one reading must return: the array, the attribute, the first and last moment, the first and
last coordinates of the region, the number of the expected files and whether cells are of variable size. `expected/N` has
the cells of the region in row-major order as they are stored; for variable size first their lengths in bytes, 32 bits each.
`expected/N.validity` has a byte for each cell.
"""

import pathlib
import shutil
import tempfile
import zipfile
from time import time as time_of_day

import numpy as np
import tiledb
import tiledb.libtiledb as lt

HERE = pathlib.Path(__file__).parent / "arrays"
KEY = "0123456789abcdef0123456789ABCDEF"
ENCRYPTED = tiledb.Ctx({"sm.encryption_type": "AES_256_GCM", "sm.encryption_key": KEY})
# The library takes 2**64 - 1 for the present.
END = 2**62
random = np.random.default_rng(7)
root = pathlib.Path(tempfile.mkdtemp())
lines, expected = [], {}


def read(name, attribute, moment, box, ctx):
    """The cells as the library returns them, without what tiledb-py makes of them."""
    uri = str(root / name)
    array = lt.Array(ctx, uri, lt.QueryType.READ, moment)
    opened = tiledb.open(uri, ctx=ctx, timestamp=moment)
    query, subarray = lt.Query(ctx, array), lt.Subarray(ctx, array)
    query.layout = lt.LayoutType.ROW_MAJOR
    count = 1
    for number, (low, high) in enumerate(box):
        dtype = opened.schema.domain.dim(number).dtype
        count *= high - low + 1
        if dtype.kind == "M":
            ends = tuple(np.array(end, dtype="i8").view(dtype)[()] for end in (low, high))
        else:
            ends = dtype.type(low), dtype.type(high)
        subarray._add_dim_range(number, ends)
    query.set_subarray(subarray)
    of = opened.attr(attribute)
    value = of.dtype if of.dtype.names is None else of.dtype[0]
    size = 1 if value.kind in "OUS" else value.itemsize
    word = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}[size]
    validity = np.ones(count, "u1")
    if of.isvar:
        data, offsets = np.full(1 << 16, 0xAB, "u1"), np.zeros(count, "u8")
        query.set_data_buffer(attribute, data.view(word), len(data) // size)
        query.set_offsets_buffer(attribute, offsets, count)
    else:
        data = np.zeros(count * of.ncells * size, "u1")
        query.set_data_buffer(attribute, data.view(word), count * of.ncells)
    if of.isnullable:
        query.set_validity_buffer(attribute, validity, count)
    query._submit()
    assert "INCOMPLETE" not in str(query.query_status()), (name, attribute)
    if of.isvar:
        # No value of the tests ends with this byte.
        end = len(data) - (data[::-1] != 0xAB).argmax() if (data != 0xAB).any() else 0
        lengths = np.diff(np.append(offsets, end)).astype("<u4")
        return lengths.tobytes() + data[:end].tobytes(), validity.tobytes(), True
    return data.tobytes(), validity.tobytes(), False


def expect(name, box, moments=((0, END),), ctx=None):
    ctx = ctx or tiledb.Ctx()
    for moment in moments:
        with tiledb.open(str(root / name), ctx=ctx, timestamp=moment) as opened:
            attributes = [opened.attr(n).name for n in range(opened.nattr)]
        for attribute in attributes:
            cells, validity, is_var = read(name, attribute, moment, box, ctx)
            number = len(lines)
            expected[f"expected/{number}"] = cells
            expected[f"expected/{number}.validity"] = validity
            ends = [",".join(str(end[side]) for end in box) for side in (0, 1)]
            fields = [name, attribute, *map(str, moment), *ends, str(number), "var" if is_var else "fixed"]
            lines.append("\t".join(fields))


def create(name, box, tiles, attributes, dtype="int32", tile_order="row-major", cell_order="row-major", ctx=None, **more):
    dims = []
    for number, ((low, high), tile) in enumerate(zip(box, tiles)):
        domain = (low, high)
        dims.append(tiledb.Dim(f"d{number}", domain=domain, tile=tile, dtype=dtype))
    schema = tiledb.ArraySchema(
        tiledb.Domain(*dims), attributes, tile_order=tile_order, cell_order=cell_order, **more)
    tiledb.Array.create(str(root / name), schema, ctx=ctx)


def write(name, time, box, ctx=None, **values):
    with tiledb.open(str(root / name), "w", timestamp=time, ctx=ctx) as array:
        subarray = tiledb.Subarray(array)
        subarray.add_ranges([[tuple(ends)] for ends in box])
        array.write_subarray(subarray, values)


def write_buffers(name, time, box, buffers):
    """Writes a box of one dimension; tiledb-py alone writes nullable values from other libraries only."""
    ctx = tiledb.Ctx()
    array = lt.Array(ctx, str(root / name), lt.QueryType.WRITE, (time, time))
    query, subarray = lt.Query(ctx, array, lt.QueryType.WRITE), lt.Subarray(ctx, array)
    query.layout = lt.LayoutType.ROW_MAJOR
    subarray._add_dim_range(0, tuple(np.int32(end) for end in box))
    query.set_subarray(subarray)
    for attribute, (data, offsets, validity) in buffers.items():
        query.set_data_buffer(attribute, data, len(data))
        if offsets is not None:
            query.set_offsets_buffer(attribute, offsets, len(offsets))
        if validity is not None:
            query.set_validity_buffer(attribute, validity, len(validity))
    query._submit()
    query.finalize()
    array._close()


def shape(box):
    return tuple(int(high - low) + 1 for low, high in box)


def numbers(box, dtype):
    return random.integers(0, 120, shape(box)).astype(dtype)


def inside(box):
    # At least two cells along each dimension: tiledb-py does not know the order of fewer.
    lows = [int(random.integers(low, high)) for low, high in box]
    return [(low, int(random.integers(low + 1, high + 1))) for low, (_, high) in zip(lows, box)]


# Overlapping fragments that begin and end within tiles, in all orders.
for tile_order in ("row-major", "col-major"):
    for cell_order in ("row-major", "col-major"):
        name = f"orders_{tile_order[:3]}_{cell_order[:3]}"
        box = [(-7, 12), (3, 19)]
        create(name, box, (4, 5), [tiledb.Attr("a", "float64")], tile_order=tile_order, cell_order=cell_order)
        for time in range(1, 6):
            part = inside(box)
            write(name, time, part, a=numbers(part, "float64"))
        expect(name, box, [(0, END), (0, 3), (2, 4)])

name, box = "three_dimensions", [(0, 6), (-3, 4), (10, 15)]
zstd = tiledb.FilterList([tiledb.ByteShuffleFilter(), tiledb.ZstdFilter(level=3)])
create(name, box, (3, 4, 2), [tiledb.Attr("a", "int16", filters=zstd)], "int64", "col-major", "col-major")
for time in range(1, 9):
    part = inside(box)
    write(name, time, part, a=numbers(part, "int16"))
expect(name, box)

name, box = "unsigned_end", [(2**64 - 1000, 2**64 - 700)]
create(name, box, (64,), [tiledb.Attr("a", "uint8", filters=[tiledb.RleFilter()])], "uint64")
for time in (1, 2, 3):
    part = [(box[0][0] + 70 * time, box[0][0] + 70 * time + 90)]
    write(name, time, part, a=numbers(part, "uint8"))
expect(name, box)

name, box = "signed_bytes", [(-128, 71)]
create(name, box, (100,), [tiledb.Attr("a", "int32")], "int8")
write(name, 1, [(-100, 20)], a=numbers([(-100, 20)], "int32"))
expect(name, box)

name, box = "many_values", [(1, 9), (1, 9)]
triple = np.dtype([("", "int32"), ("", "int32"), ("", "int32")])
create(name, box, (4, 4), [tiledb.Attr("a", triple), tiledb.Attr("s", "S5")], cell_order="col-major")
for time in (1, 2):
    part = inside(box)
    cells = np.zeros(shape(part), triple)
    for field in triple.names:
        cells[field] = numbers(part, "int32")
    texts = np.array([b"abcde"[: 5 - n % 2] for n in range(cells.size)], "S5").reshape(cells.shape)
    write(name, time, part, a=cells, s=texts)
expect(name, box)

words = ["", "a", "bc", "bc", "bc", "a longer text", "\u00e9t\u00e9", "z"]
name, box = "variable", [(0, 10), (0, 7)]
create(name, box, (4, 4), [
    tiledb.Attr("ascii", "ascii", var=True, filters=[tiledb.RleFilter()]),
    tiledb.Attr("dictionary", "ascii", var=True, filters=[tiledb.DictionaryFilter(), tiledb.ZstdFilter()]),
    tiledb.Attr("utf8", "U", var=True, filters=zstd),
    tiledb.Attr("numbers", "int64", var=True),
], cell_order="col-major")
for time in (1, 2, 3):
    part = inside(box)
    texts = np.array([words[n % 8] for n in range(np.prod(shape(part)))], dtype=object).reshape(shape(part))
    plain = np.array([text.encode("ascii", "ignore") for text in texts.flat], dtype=object).reshape(shape(part))
    lists = np.empty(texts.size, dtype=object)
    for n in range(texts.size):
        lists[n] = np.arange(n % 3 + 1, dtype="int64") + n
    write(name, time, part, ascii=plain, dictionary=plain, utf8=texts, numbers=lists.reshape(texts.shape))
expect(name, box)

name, box = "nullable", [(0, 19)]
create(name, box, (7,), [
    tiledb.Attr("n", "int32", nullable=True),
    tiledb.Attr("s", "ascii", var=True, nullable=True),
    tiledb.Attr("plain", "uint16", fill=9),
])
nulls = (np.arange(10) % 3 > 0).astype("u1")
texts = np.frombuffer(b"".join(b"x" * (n % 4) for n in range(10)), "u1").copy()
starts = np.cumsum([0] + [n % 4 for n in range(9)]).astype("u8")
write_buffers(name, 1, (3, 12), {
    "n": (np.arange(10, dtype="int32"), None, nulls),
    "s": (texts, starts, nulls[::-1].copy()),
    "plain": (np.arange(10, dtype="uint16"), None, None),
})
expect(name, box)

name, box = "evolution", [(0, 11)]
create(name, box, (5,), [tiledb.Attr("a", "int32"), tiledb.Attr("b", "int32")])
# The schema has the time of its creation.
now = int(time_of_day() * 1000)
write(name, now + 10, [(0, 7)], a=numbers([(0, 7)], "int32"), b=numbers([(0, 7)], "int32"))
evolution = tiledb.ArraySchemaEvolution()
evolution.add_attribute(tiledb.Attr("c", "float32", fill=2.5))
evolution.add_attribute(tiledb.Attr("d", "int16", nullable=True))
evolution.add_attribute(tiledb.Attr("e", "ascii", var=True))
evolution.drop_attribute("b")
evolution.timestamp(now + 20)
evolution.array_evolve(str(root / name))
write_buffers(name, now + 30, (4, 9), {
    "a": (numbers([(4, 9)], "int32"), None, None),
    "c": (numbers([(4, 9)], "float32"), None, None),
    "d": (numbers([(4, 9)], "int16"), None, np.array([1, 0, 1, 1, 0, 1], "u1")),
    "e": (np.frombuffer(b"text" * 6, "u1").copy(), np.arange(0, 24, 4, dtype="u8"), None),
})
expect(name, box, [(0, END), (0, now + 15), (0, now + 25)])

name, box = "time_travel", [(0, 15), (0, 3)]
create(name, box, (4, 4), [tiledb.Attr("a", "int32")])
for time in (10, 20, 30):
    part = [(time // 10, time // 10 + 8), (0, 2)]
    write(name, time, part, a=numbers(part, "int32") + time * 1000)
    with tiledb.open(str(root / name), "w", timestamp=time) as array:
        array.meta["time"] = time
        if time == 20:
            array.meta["only"] = "until 30"
        if time == 30:
            del array.meta["only"]
tiledb.consolidate(str(root / name), timestamp=(0, 25))
expect(name, box, [(0, END), (0, 30), (0, 20), (0, 15), (0, 10), (0, 5), (15, 30), (25, 30)])

name, box = "datetimes", [(-12, 25)]
days = np.datetime64("1969-12-20", "D"), np.datetime64("1970-01-26", "D")
schema = tiledb.ArraySchema(
    tiledb.Domain(tiledb.Dim("day", domain=days, tile=np.timedelta64(10, "D"), dtype="datetime64[D]")),
    [tiledb.Attr("a", "float32"), tiledb.Attr("when", "datetime64[ms]")])
tiledb.Array.create(str(root / name), schema)
with tiledb.open(str(root / name), "w", timestamp=1) as array:
    subarray = tiledb.Subarray(array)
    subarray.add_ranges([[(np.datetime64("1969-12-24", "D"), np.datetime64("1970-01-11", "D"))]])
    array.write_subarray(subarray, {
        "a": np.arange(19, dtype="float32"),
        "when": np.arange(19, dtype="int64").view("datetime64[ms]"),
    })
expect(name, box)

name, box = "current_domain", [(0, 9), (0, 9)]
ctx = tiledb.Ctx()
domain = tiledb.Domain(*[
    tiledb.Dim(n, domain=(0, 2**63 - 1), tile=4, dtype="uint64") for n in ("x", "y")])
current = tiledb.CurrentDomain(ctx)
rectangle = tiledb.NDRectangle(ctx, domain)
rectangle.set_range(0, 0, 9)
rectangle.set_range(1, 0, 9)
current.set_ndrectangle(rectangle)
schema = tiledb.ArraySchema(domain, [tiledb.Attr("a", "int32")])
schema.set_current_domain(current)
tiledb.Array.create(str(root / name), schema)
write(name, 1, [(2, 9), (0, 5)], a=numbers([(2, 9), (0, 5)], "int32"))
expect(name, box)

name, box = "encrypted", [(0, 30)]
create(name, box, (8,), [tiledb.Attr("a", "int32", filters=zstd)], ctx=ENCRYPTED)
write(name, 1, [(5, 25)], ENCRYPTED, a=numbers([(5, 25)], "int32"))
expect(name, box, ctx=ENCRYPTED)

group = str(root / "group")
tiledb.Group.create(group)
tiledb.Group.create(str(root / "group" / "inner"))
with tiledb.Group(group, "w") as opened:
    opened.add("inner", name="within", relative=True)
    opened.add(str(root / "encrypted"), name="elsewhere", relative=False)
    opened.meta["title"] = "a group"

def expect_sparse(name, moments=((0, END),)):
    """All cells, in any order: a line of `sparse.tsv` is the array, the moment, and the number of the files, of which
    there are two for each dimension and attribute: lengths, 32 bits each, before bytes; and validities."""
    for moment in moments:
        ctx = tiledb.Ctx()
        array, opened = lt.Array(ctx, str(root / name), lt.QueryType.READ, moment), tiledb.open(str(root / name))
        query = lt.Query(ctx, array)
        query.layout = lt.LayoutType.UNORDERED
        schema = tiledb.open(str(root / name), timestamp=moment).schema
        fields = [schema.domain.dim(n) for n in range(schema.domain.ndim)]
        fields += [schema.attr(n) for n in range(schema.nattr)]
        buffers = []
        for field in fields:
            size = 1 if field.dtype.kind in "OUS" else field.dtype.itemsize
            data, offsets, validity = np.full(1 << 16, 0xAB, "u1"), None, np.full(2000, 1, "u1")
            query.set_data_buffer(field.name, data.view(f"u{size}"), len(data) // size)
            if field.isvar:
                offsets = np.full(2000, END, "u8")
                query.set_offsets_buffer(field.name, offsets, len(offsets))
            if getattr(field, "isnullable", False):
                query.set_validity_buffer(field.name, validity, len(validity))
            buffers.append((data, offsets, validity, size))
        query._submit()
        assert "INCOMPLETE" not in str(query.query_status()), name
        # Each array has the attribute `s`, of variable size, whose offsets tell the number of cells.
        count = max(int((offsets != END).sum()) for _, offsets, _, _ in buffers if offsets is not None)
        number = f"s{len(sparse)}"
        for column, (data, offsets, validity, size) in enumerate(buffers):
            if offsets is None:
                lengths, end = np.full(count, size), count * size
            else:
                end = len(data) - (data[::-1] != 0xAB).argmax() if (data != 0xAB).any() else 0
                lengths = np.diff(np.append(offsets[:count], end))
            content = lengths.astype("<u4").tobytes() + data[:end].tobytes()
            expected[f"expected/{number}.{column}"] = content
            expected[f"expected/{number}.{column}.validity"] = validity[:count].tobytes()
        sparse.append("\t".join([name, *map(str, moment), number]))


def create_sparse(name, dims, attributes=(), **more):
    attributes = [tiledb.Attr("a", "int32"), tiledb.Attr("s", "ascii", var=True), *attributes]
    more = {"capacity": 8, **more}
    schema = tiledb.ArraySchema(tiledb.Domain(*dims), attributes, sparse=True, **more)
    tiledb.Array.create(str(root / name), schema)


def write_sparse(name, time, coordinates, **values):
    count = len(coordinates[0])
    texts = np.array([b"text"[: n % 5] for n in range(count)], dtype=object)
    values = {"a": random.integers(0, 100, count).astype("int32"), "s": texts, **values}
    with tiledb.open(str(root / name), "w", timestamp=time) as array:
        array[tuple(coordinates) if len(coordinates) > 1 else coordinates[0]] = values


def places(count, *sizes):
    """Different coordinates by chance."""
    chosen = random.choice(int(np.prod(sizes)), count, replace=False)
    return list(np.unravel_index(chosen, sizes))


def plane(dtype="int32"):
    return [tiledb.Dim(n, domain=(-5, 24), tile=6, dtype=dtype) for n in ("x", "y")]


def delete(name, time, condition):
    with tiledb.open(str(root / name), "d", timestamp=time) as array:
        array.query(cond=condition).submit()


sparse = []
for name, more in {
    "sparse_rows": {},
    "sparse_columns": {"tile_order": "col-major", "cell_order": "col-major"},
    "sparse_hilbert": {"cell_order": "hilbert"},
    "sparse_dups": {"allows_duplicates": True},
}.items():
    create_sparse(name, plane(), **more)
    for time in (1, 2, 3):
        write_sparse(name, time, [(axis - 5).astype("int32") for axis in places(60, 30, 30 if time < 3 else 5)])
    expect_sparse(name, [(0, END), (0, 2), (2, 2)])

name = "sparse_text"
create_sparse(name, [
    tiledb.Dim("t", domain=(None, None), tile=None, dtype="ascii"),
    tiledb.Dim("f", domain=(-1.0, 1.0), tile=0.5, dtype="float64"),
], [tiledb.Attr("u", "uint8")])
for time in (1, 2):
    texts, numbers_ = places(30, 10, 21)
    texts = np.array([b"key" * (n % 3) + bytes([97 + n]) for n in texts], dtype=object)
    write_sparse(name, time, [texts, numbers_ / 10.0 - 1.0], u=np.arange(30, dtype="uint8"))
expect_sparse(name)

# Deletes before and after writes, and what consolidation makes of them.
for name in ("deleted", "deleted_consolidated"):
    create_sparse(name, [tiledb.Dim("x", domain=(0, 99), tile=10, dtype="int64")], [tiledb.Attr("f", "float32")])
    for time in (10, 20, 40):
        where = np.sort(random.choice(100, 40, replace=False)).astype("int64")
        cells = np.where(where % 7 == 0, np.nan, where / 2).astype("float32")
        write_sparse(name, time, [where], f=cells)
    delete(name, 15, "a < 30")
    delete(name, 30, "f < 20 and x > 10")
    delete(name, 35, "s == 'tex' or a in [50, 51, 52, 53, 54, 55, 56]")
    delete(name, 50, "x >= 90")
    if name == "deleted_consolidated":
        config = {"sm.consolidation.timestamp_start": 0, "sm.consolidation.timestamp_end": 38}
        tiledb.consolidate(str(root / name), config=tiledb.Config(config))
    expect_sparse(name, [(0, END), (0, 12), (0, 17), (0, 32), (0, 45), (18, 45)])

name = "sparse_consolidated"
create_sparse(name, plane("int64"))
for time in (10, 20, 30):
    write_sparse(name, time, [(axis - 5).astype("int64") for axis in places(40, 12, 6)])
tiledb.consolidate(str(root / name))
tiledb.vacuum(str(root / name))
write_sparse(name, 25, [(axis - 5).astype("int64") for axis in places(20, 12, 6)])
expect_sparse(name, [(0, END), (0, 10), (0, 25), (15, 30), (26, 40)])

HERE.mkdir(exist_ok=True)
with zipfile.ZipFile(HERE / "arrays.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
    for path in sorted(root.rglob("*")):
        if path.is_file():
            packed.write(path, str(path.relative_to(root)))
    for path, content in expected.items():
        packed.writestr(path, content)
    packed.writestr("index.tsv", "\n".join(lines) + "\n")
    packed.writestr("sparse.tsv", "\n".join(sparse) + "\n")
shutil.rmtree(root)
print(len(lines), "regions,", len(sparse), "sparse readings,", (HERE / "arrays.zip").stat().st_size, "bytes")
