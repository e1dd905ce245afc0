#!/usr/bin/env python3
"""Makes the tiles that the tests decode: what the TileDB library writes of known cells, for each filter.

Needs tiledb-py (made with 0.36.1, which is TileDB 2.30.0) and numpy. Run it from anywhere; it replaces `tiles/`.

Each case is an array of one attribute, written to a scratch folder. `tiles/index.tsv` has a line for each: its group
and name, the code of the datatype, the kind of tile (the number of values of a cell, `var` or `strings`), the format
version, the pipeline in hexadecimal as the schema has it, and whether other writers get the same bytes.

The cases of a group are one file, a zlib stream. A case is four parts, each after its length in 64 bits: the file of
the array, the cells of all its tiles, for `var` and `strings` the offsets of all tiles, and the cells of each tile.
"""

import pathlib
import shutil
import struct
import tempfile
import zlib

import numpy as np
import tiledb

HERE = pathlib.Path(__file__).parent / "tiles"
KEY = b"0123456789abcdef0123456789ABCDEF"
CODES = {
    "int32": 0, "int64": 1, "float32": 2, "float64": 3, "int8": 5, "uint8": 6, "int16": 7, "uint16": 8,
    "uint32": 9, "uint64": 10, "ascii": 11, "utf8": 12, "datetime64[D]": 21, "datetime64[ns]": 26,
    "timedelta64[s]": 33, "bool": 41, "bytes": 4,
}
VERSION = 22
lines = []
groups = {}


def level(kind, compressor, value):
    return struct.pack("<BIBi", kind, 5, compressor, value)


def retyped(kind, compressor, value, code=17):
    return struct.pack("<BIBiB", kind, 6, compressor, value, code)


def plain(kind):
    return struct.pack("<BI", kind, 0)


# Filters of tiledb-py, with the bytes that stand for them in a schema.
F = {
    "noop": (tiledb.NoOpFilter(), plain(0)),
    "gzip": (tiledb.GzipFilter(level=5), level(1, 1, 5)),
    "gzip_default": (tiledb.GzipFilter(), level(1, 1, -1)),
    "zstd": (tiledb.ZstdFilter(level=4), level(2, 2, 4)),
    "lz4": (tiledb.LZ4Filter(), level(3, 3, -1)),
    "rle": (tiledb.RleFilter(), level(4, 4, -1)),
    "bzip2": (tiledb.Bzip2Filter(level=3), level(5, 5, 3)),
    "double_delta": (tiledb.DoubleDeltaFilter(), retyped(6, 6, -1)),
    "double_delta_u16": (tiledb.DoubleDeltaFilter(reinterp_dtype=np.dtype("uint16")), retyped(6, 6, -1, 8)),
    "bit_width": (tiledb.BitWidthReductionFilter(), struct.pack("<BII", 7, 4, 256)),
    "bit_width_64": (tiledb.BitWidthReductionFilter(window=64), struct.pack("<BII", 7, 4, 64)),
    "bitshuffle": (tiledb.BitShuffleFilter(), plain(8)),
    "byteshuffle": (tiledb.ByteShuffleFilter(), plain(9)),
    "positive_delta": (tiledb.PositiveDeltaFilter(), struct.pack("<BII", 10, 4, 1024)),
    "positive_delta_60": (tiledb.PositiveDeltaFilter(window=60), struct.pack("<BII", 10, 4, 60)),
    "md5": (tiledb.ChecksumMD5Filter(), plain(12)),
    "sha256": (tiledb.ChecksumSHA256Filter(), plain(13)),
    "dictionary": (tiledb.DictionaryFilter(), level(14, 7, -1)),
    "xor": (tiledb.XORFilter(), plain(16)),
    "delta": (tiledb.DeltaFilter(), retyped(19, 8, -1)),
    "delta_i32": (tiledb.DeltaFilter(reinterp_dtype=np.dtype("int32")), retyped(19, 8, -1, 0)),
}
for width in (1, 2, 4, 8):
    scale = (tiledb.FloatScaleFilter(factor=0.5, offset=10.0, bytewidth=width),
             struct.pack("<BIddQ", 15, 24, 0.5, 10.0, width))
    F[f"scale_{width}"] = scale


def webp(form, code, lossless, rows, row):
    made = tiledb.WebpFilter(input_format=form, quality=60.0, lossless=lossless)
    # The last two bytes are padding.
    return made, struct.pack("<BIfBBHH", 18, 12, 60.0, code, lossless, rows, row)


def schema_body(path):
    """The schema in a file: a generic tile with one chunk or more, filtered by GZIP."""
    data = path.read_bytes()
    at = 34 + struct.unpack_from("<I", data, 30)[0]
    body = b""
    (count,) = struct.unpack_from("<Q", data, at)
    at += 8
    for _ in range(count):
        _, filtered, metadata = struct.unpack_from("<III", data, at)
        parts = struct.unpack_from("<II", data, at + 12)
        assert parts == (0, 1)
        at += 12 + metadata
        body += zlib.decompress(data[at:at + filtered])
        at += filtered
    return body


def keep(name, code, kind, version, pipeline, exact, stored, cells, offsets, lengths):
    parts = [stored, cells, np.asarray(offsets, "<u8").tobytes(), np.asarray(lengths, "<u8").tobytes()]
    group = next(iter(reversed(groups)))
    groups[group] += b"".join(struct.pack("<Q", len(part)) + part for part in parts)
    lines.append("\t".join([group, name, str(code), kind, str(version), pipeline.hex(), "same" if exact else "other"]))


def serialized(filters, chunk=65536, extra=b""):
    count = len(filters) + (1 if extra else 0)
    return struct.pack("<II", chunk, count) + b"".join(data for _, data in filters) + extra


def written(folder, schema, data, config=None):
    """Writes an array and returns the folder of its fragment."""
    ctx = tiledb.Ctx(config) if config else tiledb.default_ctx()
    tiledb.Array.create(str(folder), schema, ctx=ctx)
    with tiledb.open(str(folder), "w", ctx=ctx) as array:
        array[:] = data
    return next((folder / "__fragments").iterdir())


def filters_of(names):
    return [F[name] if isinstance(name, str) else name for name in names]


def check_schema(folder, pipeline):
    body = schema_body(next(p for p in (folder / "__schema").iterdir() if p.is_file()))
    # WebP's options end with two bytes of padding, whatever they are.
    assert pipeline in body, (pipeline.hex(), body.hex())


def fixed(name, names, data, extent, exact, values=1, key=None, chunk=65536):
    """A dense array of one dimension.

    TileDB leaves in its last tile whatever was in memory, so that tile is filled up here, with the default fill value.
    """
    filters = filters_of(names)
    code = CODES[str(data.dtype)] if data.dtype.names is None else CODES[str(data.dtype[0])]
    tiles = -(-len(data) // extent)
    if len(data) < tiles * extent:
        fill = np.full(tiles * extent - len(data), np.atleast_1d(tiledb.Attr("a", dtype=data.dtype).fill)[0], data.dtype)
        data = np.concatenate([data, fill])
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "array"
        dim = tiledb.Dim("x", domain=(0, len(data) - 1), tile=extent, dtype=np.uint64)
        made = tiledb.FilterList([f for f, _ in filters], chunksize=chunk)
        attr = tiledb.Attr("a", dtype=data.dtype, filters=made)
        schema = tiledb.ArraySchema(tiledb.Domain(dim), [attr])
        config, extra = None, b""
        if key:
            config = {"sm.encryption_type": "AES_256_GCM", "sm.encryption_key": key.decode()}
            extra = plain(11)
        fragment = written(folder, schema, data, config)
        if not key:
            check_schema(folder, serialized(filters, chunk))
        stored = (fragment / "a0.tdb").read_bytes()
        with tiledb.open(str(folder), ctx=tiledb.Ctx(config)) as array:
            back = array[:]["a"] if isinstance(array[:], dict) else array[:]
    if back.tobytes() != data.tobytes():
        print(f"{name}: TileDB does not read what it was given")
        return
    pipeline = serialized(filters, chunk, extra)
    keep(name, code, str(values), VERSION, pipeline, exact, stored, data.tobytes(), [], [extent] * tiles)


def variable(name, names, data, kind, extent, exact, offsets=None):
    """A dense array of strings or lists. With `offsets`, the file of offsets is kept instead of that of bytes."""
    filters = filters_of(names)
    offset_filters = filters_of(offsets or [])
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "array"
        dim = tiledb.Dim("x", domain=(0, len(data) - 1), tile=extent, dtype=np.uint64)
        dtype = {"ascii": "ascii", "utf8": "U0"}.get(kind) or np.dtype(kind)
        attr = tiledb.Attr("a", dtype=dtype, var=True, filters=tiledb.FilterList([f for f, _ in filters]))
        schema = tiledb.ArraySchema(
            tiledb.Domain(dim), [attr], offsets_filters=tiledb.FilterList([f for f, _ in offset_filters]))
        array = np.empty(len(data), object)
        array[:] = data
        fragment = written(folder, schema, array)
        check_schema(folder, serialized(filters))
        check_schema(folder, serialized(offset_filters))
        stored = (fragment / "a0_var.tdb").read_bytes()
        stored_offsets = (fragment / "a0.tdb").read_bytes()
    def raw(cell):
        return cell.encode() if isinstance(cell, str) else np.asarray(cell, kind).tobytes()

    assert len(data) % extent == 0
    tiles = [[raw(cell) for cell in data[at:at + extent]] for at in range(0, len(data), extent)]
    starts = []
    for tile in tiles:
        lens = [0] + [len(cell) for cell in tile]
        starts += list(np.cumsum(lens[:-1]))
    lengths = [extent] * len(tiles)
    if offsets is not None:
        cells = np.asarray(starts, "<u8").tobytes()
        keep(name, 10, "1", VERSION, serialized(offset_filters), exact, stored_offsets, cells, [], lengths)
        return
    rebuilt = names[:1] in (["rle"], ["dictionary"]) and kind in ("ascii", "utf8")
    if rebuilt:
        # A tile of offsets that are rebuilt has no chunks.
        assert stored_offsets == bytes(8 * len(tiles))
    cells = b"".join(cell for tile in tiles for cell in tile)
    mode = "strings" if rebuilt else "var"
    keep(name, CODES[kind], mode, VERSION, serialized(filters), exact, stored, cells, starts, lengths)


def coordinates(name, names, values, exact):
    """The coordinates of a sparse array."""
    filters = filters_of(names)
    values = np.asarray(values)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "array"
        dim = tiledb.Dim("x", domain=(-1000, 100000), tile=1000, dtype=values.dtype,
                         filters=tiledb.FilterList([f for f, _ in filters]))
        schema = tiledb.ArraySchema(
            tiledb.Domain(dim), [tiledb.Attr("a", dtype=np.int8)], sparse=True, capacity=len(values))
        tiledb.Array.create(str(folder), schema)
        with tiledb.open(str(folder), "w") as array:
            array[values] = np.zeros(len(values), np.int8)
        check_schema(folder, serialized(filters))
        fragment = next((folder / "__fragments").iterdir())
        stored = (fragment / "d0.tdb").read_bytes()
    code = CODES[str(values.dtype)]
    keep(name, code, "1", VERSION, serialized(filters), exact, stored, values.tobytes(), [], [len(values)])


def image(name, form, code, lossless, depth, smooth):
    rows, width = 12, 10
    y, x, c = np.mgrid[0:rows, 0:width, 0:depth]
    pixels = (y * 9 + x * 11 + c * 40) % 256 if not smooth else 60 + y * 4 + x * 3 + c * 10
    pixels = pixels.astype(np.uint8)
    if depth == 4:
        pixels[..., 3] = 255 - (y[..., 3] * 5)
    pixels = pixels.reshape(rows, width * depth)
    made = webp(form, code, lossless, rows, width * depth)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "array"
        dims = [tiledb.Dim("y", domain=(0, rows - 1), tile=rows, dtype=np.uint32),
                tiledb.Dim("x", domain=(0, width * depth - 1), tile=width * depth, dtype=np.uint32)]
        attr = tiledb.Attr("a", dtype=np.uint8, filters=tiledb.FilterList([made[0]]))
        schema = tiledb.ArraySchema(tiledb.Domain(*dims), [attr])
        fragment = written(folder, schema, pixels)
        check_schema(folder, serialized([made]))
        stored = (fragment / "a0.tdb").read_bytes()
        with tiledb.open(str(folder)) as array:
            read = array[:]["a"] if isinstance(array[:], dict) else array[:]
    if lossless:
        assert (read == pixels).all() or depth == 4
    pipeline = serialized([(made[0], made[1] + b"\0\0")])
    keep(name, 6, "1", VERSION, pipeline, False, stored, np.ascontiguousarray(read).tobytes(), [], [pixels.size])


def numbers(dtype, count, seed=7):
    """Numbers that are neither all small nor all large, some negative."""
    at = np.arange(count, dtype=np.uint64)
    mixed = (at * np.uint64(2654435761 + seed)) >> np.uint64(13)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return ((mixed % np.uint64(2000)).astype(np.float64) / 8 - 100).astype(dtype)
    if dtype.kind in "Mm":
        return ((mixed % np.uint64(20000)).astype(np.int64) - 5000).astype(dtype)
    small = (mixed % np.uint64(90)).astype(np.int64)
    return (small - (40 if dtype.kind == "i" else 0)).astype(dtype)


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
TIMES = ["datetime64[D]", "datetime64[ns]", "timedelta64[s]"]
REALS = ["float32", "float64"]


def short(dtype):
    return dtype.replace("datetime64[", "datetime_").replace("timedelta64[", "time_").replace("]", "")


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir()
    groups["integers"] = b""
    same = {"noop", "rle", "double_delta", "delta", "bit_width", "bitshuffle", "byteshuffle", "md5", "sha256", "xor"}
    for name in sorted(same | {"gzip", "gzip_default", "zstd", "lz4", "bzip2"}):
        fixed(f"{name}_int32", [name], numbers("int32", 50), 20, name in same - {"bit_width"})
    fixed("none_int32", [], numbers("int32", 50), 20, True)
    for dtype in INTEGERS + REALS + TIMES:
        for name in ("bitshuffle", "byteshuffle", "xor", "rle"):
            fixed(f"{name}_{short(dtype)}_odd", [name], numbers(dtype, 39), 13, True)
    for dtype in INTEGERS + TIMES:
        for name in ("double_delta", "delta", "bit_width"):
            fixed(f"{name}_{short(dtype)}_odd", [name], numbers(dtype, 39), 13, True)
        ascending = np.sort(numbers(dtype, 39))
        fixed(f"positive_delta_{short(dtype)}", ["positive_delta_60"], ascending, 13, True)
        fixed(f"double_delta_{short(dtype)}_rising", ["double_delta"], ascending, 13, True)
        # A window that is stored as it is has an offset nobody set.
        fixed(f"bit_width_{short(dtype)}_partial", ["bit_width_64"], numbers(dtype, 50), 40, False)
    groups["values"] = b""
    for dtype in REALS:
        for width in (1, 2, 4, 8):
            data = (np.round(numbers(dtype, 26) / 8) / 2 + 10).astype(dtype)
            fixed(f"scale_{dtype}_{width}", [f"scale_{width}"], data, 13, True)
    # The bits of one double difference, and only one or two values.
    fixed("double_delta_one", ["double_delta"], numbers("int64", 3), 1, True)
    fixed("double_delta_two", ["double_delta"], numbers("int64", 4), 2, True)
    wide = np.array([0, 1 << 40, 5, -(1 << 41), 1 << 62, 0, -1, 7], np.int64)
    fixed("double_delta_wide", ["double_delta"], wide // 4, 8, True)
    fixed("bit_width_wide", ["bit_width_64"], wide, 8, True)
    fixed("bit_width_uint16_wide", ["bit_width"], np.array([0, 65535, 40000, 7], np.uint16), 4, False)
    for limit in (126, 127, 254, 255, 32766, 32767, 65534, 65535):
        for dtype in ("int32", "uint32", "uint16", "int64"):
            fixed(f"bit_width_{dtype}_{limit}", ["bit_width"], np.array([0, limit], dtype), 2, limit < 65535)
    fixed("delta_reinterpreted", ["delta_i32"], numbers("float64", 26), 13, True)
    fixed("double_delta_reinterpreted", ["double_delta_u16"], numbers("float32", 26), 13, True)
    triple = np.zeros(26, np.dtype("i4,i4,i4"))
    triple["f0"], triple["f2"] = numbers("int32", 26) // 30, 7
    fixed("rle_triple", ["rle"], triple, 13, True, values=3)
    fixed("byteshuffle_zstd_triple", ["byteshuffle", "zstd"], triple, 13, False, values=3)
    fixed("rle_bool", ["rle"], numbers("uint8", 60) % 5 == 0, 30, True)

    groups["pipelines"] = b""
    pipelines = {
        "byteshuffle_zstd": False, "bitshuffle_lz4": False, "byteshuffle_gzip": False,
        "double_delta+zstd": False, "delta+byteshuffle+zstd": False, "positive_delta+bit_width+zstd": False,
        "bit_width+bitshuffle+bzip2": False, "rle+gzip": False, "gzip+gzip": False, "zstd+md5": False,
        "sha256+zstd": False, "md5+sha256": True, "byteshuffle+md5": True, "byteshuffle+sha256": True,
        "xor+bitshuffle": True, "delta+bit_width": True, "byteshuffle+rle": True, "noop+zstd+noop": False,
        "md5+byteshuffle+sha256": False, "double_delta+bitshuffle": True, "byteshuffle+double_delta": True,
        "byteshuffle+delta": True,
    }
    for pipeline, exact in pipelines.items():
        names = pipeline.replace("byteshuffle_", "byteshuffle+").replace("bitshuffle_", "bitshuffle+").split("+")
        data = numbers("int32", 52)
        fixed("-".join(names), names, np.sort(data) if "positive_delta" in names else data, 26, exact)
    scaled = (np.round(numbers("float64", 52) / 4) / 2 + 10).astype(np.float64)
    for names in (["scale_2", "bit_width"], ["scale_4", "delta"], ["scale_4", "byteshuffle"],
                  ["scale_8", "double_delta"], ["xor", "bit_width"], ["scale_4", "xor", "bit_width"],
                  ["scale_2", "bitshuffle", "zstd"]):
        fixed("-".join(names) + "_float64", names, scaled, 26, "zstd" not in names and names != ["xor", "bit_width"])

    groups["chunks"] = b""
    # Tiles of several chunks. The sizes leave a last chunk that is odd.
    long = np.cumsum(numbers("int32", 20011) % 7).astype(np.int32)
    for name in ("noop", "rle", "double_delta", "delta", "bit_width", "positive_delta", "bitshuffle", "byteshuffle",
                 "md5", "xor"):
        fixed(f"{name}_chunks", [name], np.sort(long) if name == "positive_delta" else long // 60 * 60, 20011, True)
    for names in (["byteshuffle", "zstd"], ["bitshuffle", "lz4"], ["delta", "gzip"], ["bzip2"]):
        fixed("-".join(names) + "_chunks", names, long // 60, 20011, False)
    fixed("bitshuffle_int8_chunks", ["bitshuffle"], (long // 60 % 100).astype(np.int8)[:20003].repeat(4), 80012, True)
    fixed("byteshuffle_whole", ["byteshuffle"], long // 60, 20011, True, chunk=0)
    fixed("gzip_small_chunksize", ["gzip"], numbers("int32", 40), 40, False, chunk=100)

    groups["strings"] = b""
    words = ["north", "north", "", "east", "east", "east", "west", "", "", "south-south-west", "north", "x"]
    more = ["grün", "grün", "日本", "", "日本", "日本", "é", "é", "a", "b", "", ""]
    for kind, texts in (("ascii", words), ("utf8", more)):
        variable(f"rle_{kind}", ["rle"], texts, kind, 6, True)
        variable(f"dictionary_{kind}", ["dictionary"], texts, kind, 6, True)
        variable(f"rle-zstd_{kind}", ["rle", "zstd"], texts, kind, 12, False)
        variable(f"dictionary-gzip-md5_{kind}", ["dictionary", "gzip", "md5"], texts, kind, 12, False)
        variable(f"zstd_{kind}", ["zstd"], texts, kind, 6, False)
        variable(f"noop_{kind}", ["noop"], texts, kind, 6, True)
    lengthy = ["a" * 300, "a" * 300, "b", "c" * 70000, "a" * 300, ""]
    variable("rle_long", ["rle"], lengthy, "ascii", 6, True)
    variable("dictionary_long", ["dictionary"], lengthy, "ascii", 6, True)
    variable("rle_many", ["rle"], ["y"] * 400 + ["z"] * 5, "ascii", 405, True)
    variable("dictionary_many", ["dictionary"], ["y", "z", ""] * 100, "ascii", 300, True)
    variable("zstd_strings_chunks", ["zstd"], ["k" * (at % 97 * 40) for at in range(80)], "ascii", 80, False)
    variable("noop_strings_chunks", ["noop"], ["k" * (at % 97 * 40) for at in range(80)], "ascii", 80, True)
    lists = [np.arange(at % 5 + 1, dtype=np.int64) - 2 for at in range(24)]
    variable("byteshuffle-zstd_lists", ["byteshuffle", "zstd"], lists, "int64", 12, False)
    variable("double_delta_lists", ["double_delta"], lists, "int64", 12, True)
    for names in (["positive_delta", "bit_width", "zstd"], ["double_delta"], ["bit_width"], ["rle"]):
        variable("-".join(names) + "_offsets", ["zstd"], words, "ascii", 12, "zstd" not in names, offsets=names)

    groups["coordinates"] = b""
    coordinates("double_delta_coordinates", ["double_delta"], np.arange(40, dtype=np.int64) ** 2 - 50, True)
    coordinates("byteshuffle-zstd_coordinates", ["byteshuffle", "zstd"], np.arange(40, dtype=np.int32) * 3, False)

    groups["encrypted"] = b""
    for names in ([], ["byteshuffle", "zstd"], ["md5"]):
        fixed("-".join(names + ["encrypted"]), names, numbers("int32", 50), 20, False, key=KEY)

    groups["webp"] = b""
    form = tiledb.libtiledb.WebpInputFormat
    for colours, code, depth in (("RGB", 1, 3), ("BGR", 2, 3), ("RGBA", 3, 4), ("BGRA", 4, 4)):
        made = getattr(form, f"WEBP_{colours}")
        image(f"webp_{colours.lower()}", made, code, True, depth, False)
        image(f"webp_{colours.lower()}_lossy", made, code, False, depth, True)
    for group, cases in groups.items():
        (HERE / f"{group}.z").write_bytes(zlib.compress(cases, 9))
    (HERE / "index.tsv").write_text("\n".join(lines) + "\n")


main()
