"""Writes golden.txt: chunks as libhdf5 and its registered filters store them, read back undecoded, and frames of
the codecs' own libraries. Needs h5py, hdf5plugin, numcodecs and blosc2."""

import os
import tempfile

import blosc2
import h5py
import hdf5plugin  # noqa: F401 (registers the filters)
import numcodecs
import numpy as np


def pipeline(filters):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    for name, *args in filters:
        if name in IDS:
            plist.set_filter(IDS[name], h5py.h5z.FLAG_OPTIONAL, tuple(args))
        else:
            getattr(plist, "set_" + name)(*args)
    return plist


def stored(file, raw, dtype, filters, shape=None):
    data = np.frombuffer(raw, dtype).reshape(shape or -1)
    plist = pipeline(filters)
    plist.set_chunk(data.shape)
    space = h5py.h5s.create_simple(data.shape)
    kind = h5py.h5t.py_create(data.dtype)
    dataset = h5py.h5d.create(file.id, None, kind, space, plist)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, data)
    mask, chunk = dataset.read_direct_chunk((0,) * data.ndim)
    # A filter that does not make a chunk smaller may leave it out.
    return None if mask else chunk


RAMP = (np.arange(23) * 1000 - 7).astype("<i4").tobytes()
SUM, SHUFFLE, DEFLATE = ("fletcher32",), ("shuffle",), ("deflate", 6)
CASES = [
    ("even", RAMP, "<i4", [SUM]),
    ("odd", bytes(range(5)), "u1", [SUM]),
    ("one byte", b"\xab", "u1", [SUM]),
    ("all ones", b"\xff" * 8, "u1", [SUM]),
    ("all zeros", bytes(8), "u1", [SUM]),
    ("many words", bytes(i * i % 251 for i in range(2001)), "u1", [SUM]),
    ("elements of 1", bytes(range(9)), "u1", [SHUFFLE]),
    ("elements of 2", bytes(range(10)), "<i2", [SHUFFLE]),
    ("elements of 3", bytes(range(15)), "V3", [SHUFFLE]),
    ("elements of 4", RAMP, "<i4", [SHUFFLE]),
    ("elements of 8", bytes(range(24)), "<f8", [SHUFFLE]),
    ("elements of 11", bytes(range(44)), "V11", [SHUFFLE]),
    ("zlib stream", RAMP, "<i4", [DEFLATE]),
    ("usual order", RAMP, "<i4", [SHUFFLE, DEFLATE, SUM]),
    ("sum in the middle", RAMP, "<i4", [SHUFFLE, SUM, DEFLATE]),
    ("shuffle with a tail of one byte", bytes(range(15)), "V3", [SUM, SHUFFLE]),
    ("stream in a stream", bytes(3000), "u1", [DEFLATE, DEFLATE]),
]



def number(i):
    return i * 2654435761 % 2**32 >> 7


def values(dtype, count):
    """Neighbours that differ little, with some noise: what these codecs are made for."""
    size = np.dtype(dtype).itemsize
    elements = ((1000 + i // 4 * 3 + (number(i) & 1)).to_bytes(8, "little") * 2 for i in range(count))
    return b"".join(element[:size] for element in elements)


IDS = {"lzf": 32000, "blosc": 32001, "lz4": 32004, "bzip2": 307, "bitshuffle": 32008, "zstd": 32015, "blosc2": 32026}
NOISE = bytes(number(i) & 255 for i in range(200))
SIZES = [(1, "u1"), (2, "<i2"), (3, "V3"), (4, "<i4"), (8, "<f8"), (16, "V16")]
BLOSC = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]
SHUFFLES = ["none", "byte", "bit"]

CASES += [
    ("lzf", values("<i4", 100), "<i4", [("lzf",)]),
    ("lzf of one byte repeated", bytes([7]) * 2000, "u1", [("lzf",)]),
    ("lzf of words", b"to be or not to be, that is the question " * 9, "u1", [("lzf",)]),
    ("lzf behind a shuffle", values("<i4", 300), "<i4", [SHUFFLE, ("lzf",)]),
    ("lz4", values("<i4", 100), "<i4", [("lz4", 0)]),
    ("lz4 in blocks of 64", values("<i4", 100), "<i4", [("lz4", 64)]),
    ("lz4 of noise", NOISE, "u1", [("lz4", 33)]),
    ("lz4 of a byte", b"a", "u1", [("lz4", 0)]),
    ("bzip2", values("<i4", 100), "<i4", [("bzip2", 1)]),
    ("bzip2 of one byte repeated", bytes([7]) * 2000, "u1", [("bzip2", 9)]),
    ("zstd", values("<i4", 100), "<i4", [("zstd", 3)]),
    ("zstd behind a shuffle", values("<f8", 100), "<f8", [SHUFFLE, ("zstd", 19)]),
    ("zstd of noise", NOISE, "u1", [("zstd", 1)]),
]
for codec, word in [(0, "none"), (2, "lz4"), (3, "zstd")]:
    for size, dtype in SIZES:
        for count, block in [(1, 0), (23, 8), (100, 64)]:
            args = (block, codec) + ((3,) if codec == 3 else ())
            name = f"bitshuffle {size} {block} {word}"
            CASES.append((f"{name} of {count}", values(dtype, count), dtype, [("bitshuffle", *args)], None, name))
for code, codec in enumerate(BLOSC):
    for shuffle, word in enumerate(SHUFFLES):
        for size, dtype in SIZES if codec in ("blosclz", "zstd") else SIZES[2:4]:
            if codec == "snappy":
                continue
            name = f"blosc {codec} 5 {word} {size} 0"
            args = ("blosc", 0, 0, 0, 0, 5, shuffle, code)
            CASES.append((f"{name}", values(dtype, 150), dtype, [args], None, name))
for code, codec in enumerate(BLOSC):
    for shuffle, word in enumerate(SHUFFLES):
        for (size, dtype), shape in [(SIZES[3], (150,)), (SIZES[2], (7, 11)), (SIZES[4], (3, 5, 4))]:
            if codec == "snappy":
                continue
            name = f"blosc2 {codec} 5 {word} {size} 0"
            args = ("blosc2", 0, 0, 0, 0, 5, shuffle, code)
            extent = " ".join(map(str, shape)) if len(shape) > 1 else ""
            name = f"{name} {extent}".strip()
            CASES.append((name, values(dtype, int(np.prod(shape))), dtype, [args], shape, name))
CASES += [
    ("blosc2 of zeros", bytes(800), "<i4", [("blosc2", 0, 0, 0, 0, 5, 1, 1)], None, "blosc2 lz4 5 byte 4 0"),
    ("blosc2 in small blocks", values("<i4", 250), "<i4", [("blosc2", 0, 0, 0, 0, 5, 1, 4)], None, "blosc2 zstd 5 byte 4 0"),
]


def frames():
    """What no HDF5 filter writes but the formats have."""
    raw = values("<i4", 150)
    for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
        for shuffle, word in enumerate(SHUFFLES):
            for size in [3, 4, 8]:
                frame = numcodecs.Blosc(codec, 5, shuffle, 128).encode(np.frombuffer(raw, f"V{size}"))
                yield f"numcodecs {codec} {word} {size} in blocks", f"blosc {codec} 5 {word} {size} 128", raw, bytes(frame)
    yield "blosc of noise", "blosc lz4 9 byte 1 0", NOISE, bytes(numcodecs.Blosc("lz4", 9, 1).encode(NOISE))
    yield "blosc that copies", "blosc lz4 0 byte 4 0", raw, bytes(numcodecs.Blosc("lz4", 0, 1).encode(np.frombuffer(raw, "<i4")))
    yield "gzip member", "gzip 5", raw, bytes(numcodecs.GZip(5).encode(raw))
    yield "zstd with checksum", "zstd 3", raw, bytes(numcodecs.Zstd(3, checksum=True).encode(raw))
    shapes = [((10, 15), (6, 8), (4, 3)), ((150,), (70,), (30,)), ((5, 3, 10), (5, 2, 7), (2, 2, 5)), ((), (), ())]
    for shape, chunks, blocks in shapes:
        data = np.frombuffer(raw, "<i4")[: int(np.prod(shape))].reshape(shape)
        array = blosc2.asarray(data, chunks=chunks, blocks=blocks)
        label = "x".join(map(str, shape)) or "a scalar"
        yield f"blosc2 array {label} in chunks", "blosc2 zstd 5 byte 4 0", data.tobytes(), array.to_cframe()
    for name, filters, dtype in [
        ("delta", [blosc2.Filter.DELTA, blosc2.Filter.SHUFFLE], "<i4"),
        ("delta of 8", [blosc2.Filter.DELTA, blosc2.Filter.BITSHUFFLE], "<i8"),
        ("delta alone", [blosc2.Filter.DELTA], "<i2"),
        ("truncated", [blosc2.Filter.TRUNC_PREC, blosc2.Filter.SHUFFLE], "<f4"),
        ("bytedelta", [blosc2.Filter.SHUFFLE, blosc2.Filter.BYTEDELTA], "<i4"),
        ("shuffled twice", [blosc2.Filter.SHUFFLE, blosc2.Filter.BITSHUFFLE], "<i4"),
    ]:
        data = np.arange(150).astype(dtype) * 5
        for chunk, block in [(150, 64), (64, 32)]:
            metas = [10 if f == blosc2.Filter.TRUNC_PREC else 0 for f in filters]
            params = {"codec": blosc2.Codec.LZ4, "filters": filters, "filters_meta": metas, "typesize": data.itemsize}
            params |= {"blocksize": block * data.itemsize, "nthreads": 1}
            schunk = blosc2.SChunk(chunksize=chunk * data.itemsize, data=data, cparams=params, dparams={"nthreads": 1})
            out = np.empty_like(data)
            schunk.get_slice(out=out)
            yield f"blosc2 {name} in chunks of {chunk}", "blosc2 lz4 5 byte 4 0", out.tobytes(), schunk.to_cframe()
    for name, make in [
        ("zeros", lambda: blosc2.zeros((12, 9), "<f4", chunks=(6, 4), blocks=(3, 2))),
        ("not numbers", lambda: blosc2.full((12, 9), np.nan, "<f4", chunks=(6, 4), blocks=(3, 2))),
        ("not numbers of 8", lambda: blosc2.nans((12, 9), "<f8", chunks=(6, 4), blocks=(3, 2))),
        ("one value", lambda: blosc2.full((12, 9), 1234567, "<i8", chunks=(6, 4), blocks=(3, 2))),
    ]:
        array = make()
        yield f"blosc2 array of {name}", "blosc2 zstd 5 byte 4 0", array[()].tobytes(), array.to_cframe()
    for use in [blosc2.Codec.ZSTD, blosc2.Codec.LZ4]:
        data = values("<i4", 3000)
        params = {"codec": use, "use_dict": True, "typesize": 4, "blocksize": 2048, "nthreads": 1, "clevel": 5}
        try:
            frame = blosc2.SChunk(chunksize=12000, data=data, cparams=params).to_cframe()
        except RuntimeError:
            continue
        yield f"blosc2 with a dictionary of {use.name}", "blosc2 zstd 5 byte 4 0", data, frame


def text(codec, size):
    return {"shuffle": f"shuffle {size}"}.get(codec[0], " ".join(map(str, codec)))


with tempfile.TemporaryDirectory() as folder:
    here = os.path.dirname(os.path.abspath(__file__))
    with h5py.File(os.path.join(folder, "golden.h5"), "w") as file, open(os.path.join(here, "golden.txt"), "w") as out:
        for name, raw, dtype, filters, *more in CASES:
            shape, codecs = (*more, None, None)[:2]
            size = np.dtype(dtype).itemsize
            codecs = codecs or ", ".join(text(codec, size) for codec in filters)
            chunk = stored(file, raw, dtype, filters, shape)
            if chunk is None:
                print("left out:", name)
                continue
            out.write(f"{name}; {codecs}; {raw.hex()}; {chunk.hex()}\n")
        for name, codecs, raw, frame in frames():
            out.write(f"{name}; {codecs}; {raw.hex()}; {frame.hex()}\n")
