"""Makes codecs.json: small arrays of zarr-python with every codec of numcodecs, and their elements. Needs zarr 3.1
and numcodecs; takes no arguments."""

import json
import lzma
import pathlib
import warnings

import numcodecs
import numpy as np
import zarr
from numcodecs import checksum32
from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, VLenUTF8Codec
from zarr.codecs import numcodecs as v3
from zarr.dtype import VariableLengthBytes
from zarr.storage import MemoryStore

HERE = pathlib.Path(__file__).parent
warnings.simplefilter("ignore")
LITTLE, BIG, PLAIN = BytesCodec(endian="little"), BytesCodec(endian="big"), BytesCodec(endian=None)


def contents(store):
    return {key: value.to_bytes().hex() for key, value in sorted(store._store_dict.items())}


def add(out, name, data, chunks, lossy=False, **options):
    store = MemoryStore()
    fill = options.pop("fill_value", "" if data.dtype.kind in "OT" else 0)
    array = zarr.create_array(store, shape=data.shape, chunks=chunks, dtype=options.pop("dtype", data.dtype), fill_value=fill, **options)
    array[...] = data
    # zarr-python may change the elements when it writes them, so they are read again.
    back = zarr.open_array(store, mode="r")[...] if lossy else data
    entry = {"name": name, "values": contents(store), "shape": list(data.shape), "lossy": lossy}
    if data.dtype.kind in "OT":
        texts = [text if isinstance(text, bytes) else str(text).encode() for text in data.ravel()]
        entry["texts"] = [text.hex() for text in texts]
    else:
        native = back.astype(back.dtype.newbyteorder("="))
        entry["rows"] = np.ascontiguousarray(native).tobytes().hex()
    out.append(entry)


def main():
    out = []
    numbers = (np.arange(35).reshape(5, 7) * 3 - 20).astype("i4")
    reals = (np.arange(35).reshape(5, 7) / 3 - 4).astype("f4")
    flags = (np.arange(35).reshape(5, 7) % 3 == 0)

    first, second = {"id": lzma.FILTER_LZMA1, "preset": 1}, {"id": lzma.FILTER_LZMA2, "preset": 1}
    compressors = [
        numcodecs.Zlib(5), numcodecs.GZip(3), numcodecs.BZ2(2), numcodecs.LZ4(), numcodecs.Zstd(7), numcodecs.LZMA(),
        numcodecs.LZMA(preset=9), numcodecs.LZMA(lzma.FORMAT_ALONE),
        numcodecs.LZMA(lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_DELTA, "dist": 4}, second]),
        numcodecs.LZMA(lzma.FORMAT_RAW, filters=[first]), numcodecs.LZMA(check=lzma.CHECK_SHA256), numcodecs.Base64(),
    ] + [numcodecs.Blosc(name, 5, shuffle) for name in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] for shuffle in [-1, 0, 1, 2]]
    for codec in compressors:
        # A compressor in the list of filters receives bytes; as the compressor it may receive elements.
        add(out, f"v2 {codec}", numbers, (3, 4), zarr_format=2, compressors=codec)
    for codec in compressors[:4]:
        add(out, f"v2 twice {codec}", numbers, (5, 7), zarr_format=2, filters=[codec], compressors=compressors[0])
    sums = [
        checksum32.CRC32(), checksum32.CRC32("end"), checksum32.CRC32C(), checksum32.CRC32C("start"), checksum32.Adler32(),
        checksum32.Adler32("end"), checksum32.JenkinsLookup3(), checksum32.JenkinsLookup3(7), numcodecs.Fletcher32(),
        numcodecs.Shuffle(), numcodecs.Shuffle(2),
    ]
    for codec in sums:
        add(out, f"v2 {codec}", numbers, (3, 4), zarr_format=2, filters=[codec], compressors=None)
        add(out, f"v2 {codec} zlib", numbers, (3, 4), zarr_format=2, filters=[codec], compressors=numcodecs.Zlib())
    for dtype in ["<i4", ">i4", "<u2", "|i1", "<i8"]:
        data = numbers.astype(dtype)
        add(out, f"v2 delta {dtype}", data, (3, 4), zarr_format=2, filters=[numcodecs.Delta(dtype)], compressors=None)
        add(out, f"v2 delta F {dtype}", data, (3, 4), zarr_format=2, order="F", filters=[numcodecs.Delta(dtype)], compressors=None)
    filters = [
        (numbers, [numcodecs.Delta("<i4", "<i2")]), (numbers, [numcodecs.Delta("<i4", "|i1"), numcodecs.Shuffle(1)]),
        (numbers, [numcodecs.AsType("<i2", "<i4"), numcodecs.Delta("<i2")]), (reals, [numcodecs.AsType("<f8", "<f4")]),
        (reals, [numcodecs.FixedScaleOffset(-4, 12, "<f4", "|u1")]), (reals, [numcodecs.FixedScaleOffset(0, 100, "<f4", ">i4")]),
        (reals, [numcodecs.Quantize(2, "<f4")]), (reals, [numcodecs.Quantize(1, "<f4", "<f2")]), (reals, [numcodecs.BitRound(7)]),
        (flags, [numcodecs.PackBits()]), (numbers.astype("f8"), [numcodecs.AsType("<f4", "<f8"), numcodecs.BitRound(9), numcodecs.Shuffle()]),
    ]
    for data, codecs in filters:
        for order in "CF":
            for compressor in [None, numcodecs.Blosc("zstd", 1, -1)]:
                name = f"v2 {order} {codecs} {compressor}"
                add(out, name, data, (3, 4), True, zarr_format=2, order=order, filters=codecs, compressors=compressor)

    for codec in [
        v3.Zlib(level=5), v3.GZip(level=3), v3.BZ2(level=2), v3.LZ4(acceleration=1), v3.Zstd(level=7), v3.LZMA(preset=1),
        v3.LZMA(format=lzma.FORMAT_RAW, filters=[second]), v3.Blosc(cname="zstd", clevel=5, shuffle=1), v3.Shuffle(), v3.Shuffle(elementsize=2),
        v3.CRC32(), v3.CRC32C(), v3.Adler32(location="end"), v3.Fletcher32(), v3.JenkinsLookup3(initval=3, prefix=None),
    ]:
        add(out, f"v3 {codec}", numbers, (3, 4), serializer=LITTLE, compressors=codec)
        add(out, f"v3 big {codec}", numbers, (3, 4), serializer=BIG, compressors=[codec, Crc32cCodec(), GzipCodec(level=1)])
    steps = [
        (numbers, v3.Delta(dtype="<i4"), LITTLE), (numbers, v3.Delta(dtype="<i4", astype="<i2"), LITTLE),
        (numbers, v3.AsType(encode_dtype="<i2", decode_dtype="<i4"), LITTLE), (reals, v3.BitRound(keepbits=5), LITTLE),
        (reals, v3.Quantize(digits=2, dtype="<f4"), LITTLE), (reals, v3.FixedScaleOffset(offset=-4, scale=100, dtype="<f4", astype="<i2"), LITTLE),
        (reals.astype("f8"), v3.FixedScaleOffset(offset=0.5, scale=1000, dtype="<f8", astype="<i4"), LITTLE),
        (flags, v3.PackBits(), PLAIN),
    ]
    for data, step, serializer in steps:
        try:
            add(out, f"v3 {step}", data, (3, 4), True, filters=step, serializer=serializer, compressors=None)
        except Exception as error:  # what zarr-python cannot write is not a fixture
            print(step, repr(error)[:100])

    texts = np.array([["", "a", "été"], ["long " * 30, "", "b"], ["", "", ""], ["x", "y", "z"]], dtype=object)
    raw = np.array([[str(text).encode() + b"\xff" if text else b"" for text in row] for row in texts], dtype=object)
    shards = ShardingCodec(chunk_shape=(1, 3), codecs=[VLenUTF8Codec(), GzipCodec(level=1)])
    add(out, "v3 strings", texts, (2, 2), dtype="string", compressors=None)
    add(out, "v3 strings gzip", texts, (3, 2), dtype="string", compressors=GzipCodec(level=1))
    add(out, "v3 strings shards", texts, (2, 3), dtype="string", serializer=shards, filters=[], compressors=[])
    add(out, "v3 bytes", raw, (2, 2), dtype=VariableLengthBytes(), fill_value=b"", compressors=None)
    add(out, "v3 bytes gzip", raw, (2, 2), dtype=VariableLengthBytes(), fill_value=b"", compressors=GzipCodec(level=1))
    add(out, "v2 strings", texts, (2, 2), zarr_format=2, dtype="string", compressors=None)
    add(out, "v2 strings zlib F", texts, (2, 2), zarr_format=2, dtype="string", order="F", compressors=numcodecs.Zlib())
    add(out, "v2 bytes", raw, (2, 2), zarr_format=2, dtype=VariableLengthBytes(), fill_value=b"", compressors=numcodecs.Zstd())
    path = HERE / "codecs.json"
    path.write_text("[\n" + ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in out) + "\n]\n")


if __name__ == "__main__":
    main()
