"""Writes tests/golden/*.hex: structures as TileDB wrote them.

    python crates/tiledb/tests/make_golden.py

Needs tiledb 0.36 (TileDB 2.30, which writes version 22) and numpy. Names have random parts, so that each run gives
other bytes of the same meaning. Generic tiles are unfiltered and structures are cut out by the small reader below, which
shares nothing with the crate.
"""

import struct
import tempfile
import textwrap
import zlib
from pathlib import Path

import numpy as np
import tiledb
from tiledb.sparse_array import _setitem_impl_sparse

GOLDEN = Path(__file__).parent / "golden"
VAR = 0xFFFFFFFF


def write(name, what, data):
    lines = textwrap.wrap(data.hex(" "), 16 * 3)
    (GOLDEN / f"{name}.hex").write_text("\n".join([f"# {what}", *lines]) + "\n")


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, count):
        assert self.at + count <= len(self.data)
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]

    def pipeline(self):
        self.take(4)
        for _ in range(self.number("I")):
            self.take(1)
            self.take(self.number("I"))

    def dimension(self):
        start = self.at
        self.take(self.number("I"))
        code = self.number("B")
        self.take(4)
        self.pipeline()
        self.take(self.number("Q"))
        if not self.number("B"):
            self.take({0: 4, 1: 8, 3: 8}[code])
        return self.data[start : self.at]

    def attribute(self):
        start = self.at
        self.take(self.number("I"))
        self.take(5)
        self.pipeline()
        self.take(self.number("Q"))
        self.take(3)
        self.take(self.number("I"))
        return self.data[start : self.at]

    def schema(self):
        """Dimensions, attributes, and what follows them."""
        self.take(4 + 1 + 3 + 8)
        for _ in range(3):
            self.pipeline()
        dimensions = [self.dimension() for _ in range(self.number("I"))]
        attributes = [self.attribute() for _ in range(self.number("I"))]
        return dimensions, attributes, self.data[self.at :]


def generic_tile(data, at=0):
    """Header, tile and body of a generic tile, which has the pipeline that TileDB writes: gzip alone."""
    version, persisted, size, _, _, encryption, pipeline = struct.unpack_from("<IQQBQBI", data, at)
    assert encryption == 0 and version == 22
    start = at + 34 + pipeline
    tile, body = Reader(data, start), b""
    for _ in range(tile.number("Q")):
        tile.take(8)
        metadata = Reader(tile.take(tile.number("I")))
        assert metadata.number("I") == 0
        for _ in range(metadata.number("I")):
            original, compressed = metadata.number("I"), metadata.number("I")
            part = zlib.decompress(tile.take(compressed))
            assert len(part) == original
            body += part
    assert tile.at == start + persisted and len(body) == size
    return data[at:start], data[start : tile.at], body


def only(folder, pattern="*"):
    (found,) = [path for path in folder.glob(pattern) if path.is_file()]
    return found.read_bytes()


def schema_body(array):
    return generic_tile(only(array / "__schema"))[2]


class Fragment:
    """The pieces of a fragment metadata file of version 22."""

    def __init__(self, folder, attributes, domain_len, extra=0):
        data = (folder / "__fragment_metadata.tdb").read_bytes()
        (length,) = struct.unpack("<Q", data[-8:])
        self.data, self.footer = data, data[-8 - length : -8]
        slots = attributes + 1 + len(domain_len) + extra
        footer = Reader(self.footer)
        footer.take(4)
        footer.take(footer.number("Q"))
        footer.take(2)
        for size in domain_len:
            footer.take(8 + footer.number("Q")) if size is None else footer.take(2 * size)
        footer.take(16 + 2 + 3 * 8 * slots)
        self.r_tree = footer.number("Q")
        names = ["offsets", "var_offsets", "var_sizes", "validity", "mins", "maxes", "sums", "null_counts"]
        self.lists = {name: [footer.number("Q") for _ in range(slots)] for name in names}
        self.summary, self.conditions = footer.number("Q"), footer.number("Q")
        assert footer.at == len(self.footer)

    def body(self, offset):
        return generic_tile(self.data, offset)[2]

    def slot(self, name, slot):
        return self.body(self.lists[name][slot])


def at(time):
    return {"timestamp": time}


def folder(path):
    (found,) = path.iterdir()
    return found


def dense(root):
    array = root / "dense"
    rows = tiledb.Dim("rows", (1, 100), 10, [tiledb.ZstdFilter(3)], np.int32)
    columns = tiledb.Dim("columns", (1, 8), 4, dtype=np.int32)
    colours = tiledb.Enumeration("colours", False, values=["red", "green", "blue"])
    attributes = [
        tiledb.Attr("a", dtype=np.int32, nullable=True, fill=7, filters=[tiledb.ByteShuffleFilter(), tiledb.GzipFilter(5)]),
        tiledb.Attr("colour", dtype=np.int8, enum_label="colours"),
        tiledb.Attr("pair", dtype=np.dtype("f4,f4")),
        tiledb.Attr("text", dtype="U0"),
    ]
    schema = tiledb.ArraySchema(tiledb.Domain(rows, columns), attrs=attributes, enums=[colours], cell_order="col-major")
    rectangle = tiledb.NDRectangle(tiledb.Ctx(), schema.domain)
    rectangle.set_range("rows", 1, 20)
    rectangle.set_range("columns", 1, 8)
    current = tiledb.CurrentDomain(tiledb.Ctx())
    current.set_ndrectangle(rectangle)
    schema.set_current_domain(current)
    tiledb.Array.create(str(array), schema)
    stored = only(array / "__schema")
    header, tile, body = generic_tile(stored)
    write("generic_tile_header", "the header of a schema file", header)
    write("tile_gzip", "the tile of a schema file", tile)
    write("schema_dense", "2 dimensions, 4 attributes, an enumeration, cells in column-major order", body)
    dimensions, attributes, _ = Reader(body).schema()
    write("dimension", "int32 in 1 to 100 in tiles of 10, through zstd", dimensions[0])
    write("attribute_nullable", "int32 through byteshuffle and gzip, nullable, with a fill value", attributes[0])
    write("attribute_enumeration", "int8 that counts the values of an enumeration", attributes[1])
    enumeration = generic_tile(only(array / "__schema" / "__enumerations"))[2]
    write("enumeration", "three strings", enumeration)


def dense_written(root):
    array = root / "written"
    dimension = tiledb.Dim("x", (0, 9), 5, dtype=np.uint8)
    schema = tiledb.ArraySchema(tiledb.Domain(dimension), attrs=[tiledb.Attr("a", dtype=np.int16)])
    tiledb.Array.create(str(array), schema)
    for time in (10, 20):
        with tiledb.open(str(array), "w", **at(time)) as opened:
            opened[0:8] = np.arange(8, dtype=np.int16)
    fragments = sorted((array / "__fragments").iterdir())
    data = (fragments[0] / "a0.tdb").read_bytes()
    pieces = Fragment(fragments[0], 1, [1])
    second = struct.unpack_from("<2Q", pieces.slot("offsets", 0), 8)[1]
    write("tile_plain", "a tile of a dense attribute without filters", data[:second])
    write("footer_dense", "1 attribute of int16, 1 dimension of uint8", pieces.footer)
    config = tiledb.Config({"sm.consolidation.mode": "fragment_meta"})
    tiledb.consolidate(str(array), config=config)
    footers = generic_tile(only(array / "__fragment_meta", "*.meta"))[2]
    write("consolidated_fragment_metadata", "two dense fragments", footers)
    tiledb.consolidate(str(array), config=tiledb.Config({"sm.consolidation.mode": "commits"}))
    write("consolidated_commits", "two fragments", only(array / "__commits", "*.con"))
    tiledb.consolidate(str(array), config=tiledb.Config({"sm.consolidation.mode": "fragments"}))
    write("vacuum_file", "two fragments that became one", only(array / "__commits", "*.vac"))
    tiledb.vacuum(str(array), config=tiledb.Config({"sm.vacuum.mode": "fragments"}))
    write("ignore_file", "two fragments that were vacuumed", only(array / "__commits", "*.ign"))


def sparse(root):
    array = root / "sparse"
    dimensions = [tiledb.Dim(name, (0, 99), 10, dtype=np.int32) for name in "xy"]
    attributes = [tiledb.Attr("a", dtype=np.int32, nullable=True), tiledb.Attr("s", dtype="ascii", var=True)]
    schema = tiledb.ArraySchema(
        tiledb.Domain(*dimensions), attrs=attributes, sparse=True, capacity=2, allows_duplicates=True
    )
    tiledb.Array.create(str(array), schema)
    cells = np.arange(25, dtype=np.int32)
    texts = np.array([f"t{n}" for n in cells], dtype="O")
    valid = np.array([n % 7 != 0 for n in cells], dtype=np.uint8)
    with tiledb.open(str(array), "w", **at(10)) as opened:
        # Assignments have no way to give the validities of integers.
        _setitem_impl_sparse(opened, (cells, cells[::-1].copy()), {"a": cells, "s": texts}, {"a": valid})
    write("schema_sparse", "2 dimensions, 2 attributes", schema_body(array))
    pieces = Fragment(folder(array / "__fragments"), 2, [4, 4])
    write("footer_sparse", "2 attributes, 2 dimensions of int32", pieces.footer)
    write("r_tree", "13 tiles of 2 dimensions of int32", pieces.body(pieces.r_tree))
    write("tile_offsets", "13 tiles", pieces.slot("offsets", 0))
    write("tile_null_counts", "13 tiles of a nullable attribute", pieces.slot("null_counts", 0))
    write("tile_mins", "13 tiles of int32", pieces.slot("mins", 0))
    write("tile_maxes_string", "13 tiles of strings", pieces.slot("maxes", 1))
    write("tile_sums", "13 tiles of int32", pieces.slot("sums", 0))
    write("fragment_summary", "2 attributes, 2 dimensions", pieces.body(pieces.summary))


def strings(root):
    array = root / "strings"
    name = tiledb.Dim("name", dtype="ascii")
    place = tiledb.Dim("place", (0.0, 1.0), 0.5, dtype=np.float64)
    schema = tiledb.ArraySchema(
        tiledb.Domain(name, place),
        attrs=[tiledb.Attr("a", dtype=np.uint8)],
        sparse=True,
        capacity=2,
        cell_order="hilbert",
    )
    tiledb.Array.create(str(array), schema)
    names = np.array(["", "a", "bb", "ccc", "dddd"], dtype="O")
    with tiledb.open(str(array), "w", **at(10)) as opened:
        opened[names, np.linspace(0, 1, 5)] = np.arange(5, dtype=np.uint8)
    body = schema_body(array)
    write("schema_strings", "dimensions of strings and float64, in Hilbert order", body)
    write("dimension_string", "strings", Reader(body).schema()[0][0])
    pieces = Fragment(folder(array / "__fragments"), 1, [None, 8])
    write("footer_strings", "1 attribute, dimensions of strings and float64", pieces.footer)
    write("r_tree_string", "3 tiles of dimensions of strings and float64", pieces.body(pieces.r_tree))


def labels(root):
    array = root / "labels"
    dimension = tiledb.Dim("x", (0, 9), 5, dtype=np.int32)
    label = tiledb.DimLabelSchema("increasing", np.float64, dim_dtype=np.int32, dim_tile=5)
    schema = tiledb.ArraySchema(
        tiledb.Domain(dimension), attrs=[tiledb.Attr("a", dtype=np.int16)], dim_labels={0: {"metres": label}}
    )
    tiledb.Array.create(str(array), schema)
    body = schema_body(array)
    write("schema_labels", "1 dimension, 1 attribute, 1 dimension label", body)
    rest = Reader(Reader(body).schema()[2])
    assert rest.number("I") == 1
    # Behind the label come no enumerations (4 bytes) and an empty current domain (5 bytes).
    write("dimension_label", "increasing float64", rest.data[rest.at : -9])


def deletes(root):
    array = root / "deletes"
    dimension = tiledb.Dim("x", (0, 99), 10, dtype=np.int32)
    attributes = [tiledb.Attr(name, dtype=np.int32) for name in "ab"]
    schema = tiledb.ArraySchema(tiledb.Domain(dimension), attrs=attributes, sparse=True)
    tiledb.Array.create(str(array), schema)
    cells = np.arange(10, dtype=np.int32)
    for time in (10, 20):
        with tiledb.open(str(array), "w", **at(time)) as opened:
            opened[cells + time] = {"a": cells, "b": cells % 4}
    for time, condition in ((30, "a > 2 and b == 3"), (40, "a in [1, 2]")):
        with tiledb.open(str(array), "d", **at(time)) as opened:
            opened.query(cond=condition).submit()
    files = sorted((array / "__commits").glob("*.del"))
    write("delete_condition", "deletes a > 2 and b == 3", generic_tile(files[0].read_bytes())[2])
    write("delete_condition_set", "deletes a in [1, 2]", generic_tile(files[1].read_bytes())[2])
    tiledb.consolidate(str(array), config=tiledb.Config({"sm.consolidation.mode": "commits"}))
    write("consolidated_commits_delete", "two fragments and two deletes", only(array / "__commits", "*.con"))
    tiledb.consolidate(str(array), config=tiledb.Config({"sm.consolidation.mode": "fragments"}))
    consolidated = next(path for path in (array / "__fragments").iterdir() if (path / "dt.tdb").exists())
    pieces = Fragment(consolidated, 2, [4], extra=3)
    write("footer_deletes", "2 attributes, 1 dimension of int32, with timestamps and deletes", pieces.footer)
    write("processed_conditions", "two deletes", pieces.body(pieces.conditions))


def schema_of(version):
    """The body of a schema of an older version: sparse, x int32 in 0 to 99, a int32 and s of strings."""
    pipeline = struct.pack("<2I", 65536, 0)
    domain = struct.pack("<2iB", 0, 99, 0) + struct.pack("<i", 10)

    def text(value):
        return struct.pack("<I", len(value)) + value

    def attribute(name, code, values, fill):
        field = text(name) + struct.pack("<BI", code, values) + pipeline + struct.pack("<Q", len(fill)) + fill
        if version >= 7:
            field += bytes(2)
        if version >= 17:
            field += bytes(1)
        return field + (text(b"") if version >= 20 else b"")

    body = struct.pack("<I4BQ", version, 1, 1, 0, 0, 2) + pipeline * (3 if version >= 7 else 2)
    body += struct.pack("<I", 1) + text(b"x") + struct.pack("<BI", 0, 1) + pipeline + struct.pack("<Q", 8) + domain
    body += struct.pack("<I", 2) + attribute(b"a", 0, 1, bytes(4)) + attribute(b"s", 11, VAR, bytes(1))
    return body + bytes(4 * ((version >= 18) + (version >= 20)))


def unfiltered_tile(version, body):
    pipeline = struct.pack("<2I", 65536, 0)
    tile = struct.pack("<Q3I", 1, len(body), len(body), 0) + body
    header = struct.pack("<IQQBQBI", version, len(tile), len(body), 4, 1, 0, len(pipeline))
    return header + pipeline + tile


def older(root):
    """TileDB writes fragments of the version of the schema, which must be 7 or newer."""
    for version in (7, 9, 10, 11, 14, 17, 19):
        array = root / f"version_{version}"
        array.mkdir()
        schema = array / "__array_schema.tdb"
        if version >= 10:
            (array / "__schema").mkdir()
            schema = array / "__schema" / "__1_1_0123456789abcdef0123456789abcdef"
        schema.write_bytes(unfiltered_tile(version, schema_of(version)))
        cells = np.arange(5, dtype=np.int32)
        with tiledb.open(str(array), "w", **at(10)) as opened:
            opened[cells] = {"a": cells, "s": np.array(["t"] * 5, dtype="O")}
        (fragment,) = [path.parent for path in array.rglob("__fragment_metadata.tdb")]
        assert fragment.name.endswith(f"_{version}")
        data = (fragment / "__fragment_metadata.tdb").read_bytes()
        if version >= 10:
            footer = data[-8 - struct.unpack("<Q", data[-8:])[0] : -8]
        else:
            # Version, dense, null domain, domain, two numbers and the R-tree, and 7 lists of 4 slots.
            footer = data[-(4 + 1 + 1 + 8 + 3 * 8 + 7 * 4 * 8) :]
        assert struct.unpack_from("<I", footer)[0] == version
        write(f"footer_version_{version}", "2 attributes, 1 dimension of int32", footer)
        write(f"schema_version_{version}", "written by the script, read by TileDB", schema_of(version))


def metadata(root):
    array = root / "metadata"
    dimension = tiledb.Dim("x", (0, 9), 5, dtype=np.int32)
    schema = tiledb.ArraySchema(tiledb.Domain(dimension), attrs=[tiledb.Attr("a", dtype=np.int16)])
    tiledb.Array.create(str(array), schema)
    with tiledb.open(str(array), "w", **at(10)) as opened:
        opened.meta.update({"text": "K", "number": 5, "pair": (1.5, 2.5), "bytes": b"\0\1", "none": ""})
    with tiledb.open(str(array), "w", **at(20)) as opened:
        del opened.meta["number"]
    files = sorted((array / "__meta").iterdir())
    write("metadata", "a text, a number, a pair, bytes and an empty text", generic_tile(files[0].read_bytes())[2])
    write("metadata_deleted", "number is deleted", generic_tile(files[1].read_bytes())[2])


def groups(root):
    group = root / "group"
    tiledb.Group.create(str(group))
    tiledb.Group.create(str(group / "sub"))
    with tiledb.Group(str(group), "w", config=tiledb.Config({"sm.group.timestamp_end": 10})) as opened:
        opened.add("sub", "sub", relative=True)
        opened.add(str(root / "written"), relative=False)
    with tiledb.Group(str(group), "w", config=tiledb.Config({"sm.group.timestamp_end": 20})) as opened:
        opened.remove("sub")
    files = sorted((group / "__group").iterdir())
    bodies = [generic_tile(file.read_bytes())[2] for file in files]
    # The path of the temporary folder says nothing and differs in each run.
    place = str(root).encode()
    for name, what, body in zip(["group", "group_deleted"], ["two members", "one member is removed"], bodies):
        assert body.count(place) <= 1
        short = b"file:///tmp"
        begin = body.find(b"file://" + place)
        if begin >= 0:
            (length,) = struct.unpack_from("<Q", body, begin - 8)
            uri = body[begin : begin + length].replace(b"file://" + place, short)
            body = body[: begin - 8] + struct.pack("<Q", len(uri)) + uri + body[begin + length :]
        write(name, what, body)


def main():
    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder_name:
        for make in (dense, dense_written, sparse, strings, labels, deletes, older, metadata, groups):
            make(Path(folder_name))


if __name__ == "__main__":
    main()
