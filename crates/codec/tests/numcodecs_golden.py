"""Writes numcodecs.txt: bytes as numcodecs' codecs store them. Needs numcodecs[pcodec] and google-crc32c."""

import lzma
import os
import warnings

import numcodecs
import numpy as np
from numcodecs import checksum32
from numcodecs.pcodec import PCodec

warnings.simplefilter("ignore")

INTEGERS = ["|i1", "|u1", "<i2", ">i2", "<u2", "<i4", ">u4", "<i8", ">i8", "<u8"]
REALS = ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]
RANDOM = np.random.default_rng(6)


def integers(dtype, count=21):
    bounds = np.iinfo(dtype)
    many = RANDOM.integers(bounds.min, bounds.max, count, endpoint=True, dtype=np.dtype(dtype).newbyteorder("="))
    return np.concatenate([[bounds.min, bounds.max, 0, 1], many]).astype(dtype)


def reals(dtype, count=21):
    many = RANDOM.normal(0, 100, count)
    halves = [0.5, 1.5, 2.5, -0.5, -1.5, 0.0, -0.0, 1e-7, 12345.678, 0.3, 2.675]
    return np.concatenate([halves, many]).astype(dtype)


def special(dtype):
    return np.array([np.nan, np.inf, -np.inf, np.finfo(dtype).max, np.finfo(dtype).tiny, 1.0], dtype)


def cases():
    for dtype in INTEGERS:
        yield f"delta {dtype} {dtype}", integers(dtype), numcodecs.Delta(dtype)
    for dtype, astype in [
        ("<i4", "|i1"), (">i4", "<i2"), ("<u2", "|u1"), ("|u1", "<i2"), ("<i8", ">i4"), ("<i2", "<f4"), ("|u1", "<f8"),
        ("<i4", "<u4"), ("<f4", "<f8"),
    ]:
        ramp = (RANDOM.integers(0, 100, 30)).astype(dtype)
        ramp = np.sort(ramp) if astype[1] == "u" else ramp
        yield f"delta {dtype} {astype}", ramp, numcodecs.Delta(dtype, astype)
    for dtype in REALS:
        yield f"delta {dtype} {dtype}", reals(dtype), numcodecs.Delta(dtype)
    many = (np.arange(1500) * 7919 % 4001).astype("<i4")
    yield "delta <i4 <i2", many, numcodecs.Delta("<i4", "<i2")

    for dtype, astype, offset, scale, data in [
        ("<f8", "|u1", 1000, 10, 1000 + RANDOM.uniform(0, 25, 30)),
        ("<f4", "|i1", 0, 3, RANDOM.uniform(-40, 40, 30)),
        ("<f4", ">i2", 273.15, 100, 273.15 + RANDOM.uniform(-300, 300, 30)),
        (">f4", "<i4", -1.5, 0.1, RANDOM.uniform(-1e6, 1e6, 30)),
        ("<f2", "<i2", 1.1, 7, RANDOM.uniform(-50, 50, 30)),
        ("<f8", "<f4", 1 / 3, 1 / 7, RANDOM.normal(0, 1e4, 30)),
        ("<f8", "<f8", 0.1, 1e3, reals("<f8")),
        ("<i4", "|u1", 100.0, 0.5, RANDOM.integers(100, 600, 30)),
        ("<u2", "|u1", 7, 0.1, RANDOM.integers(7, 2500, 30)),
        ("<f8", "<i8", 0, 1e9, RANDOM.uniform(-1e9, 1e9, 30)),
        ("<f8", "<u4", 0, 1, [0.5, 1.5, 2.5, 3.5, 4294967294.5]),
        ("<f4", "<i2", 0, 10, [0.05, 0.15, 0.25, -0.05, -0.25, 1.25, 1.35]),
    ]:
        codec = numcodecs.FixedScaleOffset(offset, scale, dtype, astype)
        yield f"fixedscaleoffset {dtype} {astype} {float(offset)!r} {float(scale)!r}", np.asarray(data).astype(dtype), codec

    for digits in range(-3, 12):
        for dtype, astype in [("<f4", "<f4"), ("<f8", "<f8"), (">f8", "<f4"), ("<f2", "<f2"), ("<f4", "<f8")]:
            if dtype == "<f2" and digits > 3:
                continue
            data = np.concatenate([reals(dtype, 3), special(dtype)[:3]]).astype(dtype)
            yield f"quantize {dtype} {astype} {digits}", data, numcodecs.Quantize(digits, dtype, astype)

    for dtype, most in [("<f2", 10), (">f2", 10), ("<f4", 23), (">f4", 23), ("<f8", 52), (">f8", 52)]:
        for keep in sorted({0, 1, 3, most // 2, most - 1, most}):
            data = np.concatenate([reals(dtype, 5), special(dtype)]).astype(dtype)
            # numcodecs rounds no numbers in the other order.
            if dtype[0] == ">":
                stored = numcodecs.BitRound(keep).encode(data.astype("<" + dtype[1:])).view("<i" + dtype[2:]).byteswap()
                yield f"bitround {dtype} {keep}", data, stored
            else:
                yield f"bitround {dtype} {keep}", data, numcodecs.BitRound(keep)

    for dtype, astype, data in [
        ("<i8", "|i1", [-128, 127, 0]), ("|u1", ">u4", range(5)), ("<f8", "<f4", reals("<f8")), ("<f8", "<f2", reals("<f8")),
        ("<f4", ">i2", [1.9, -1.9, 300.2]), ("|i1", "<f2", [-128, 127]), ("<u8", "<f4", integers("<u8")),
        ("<i8", "<f8", integers("<i8")[2:]), ("<f2", "<f8", reals("<f2")), ("|b1", "<i4", [True, False]), ("<i2", "|b1", [0, 1, 1]),
    ]:
        yield f"astype {dtype} {astype}", np.asarray(data).astype(dtype), numcodecs.AsType(astype, dtype)

    for count in [0, 1, 7, 8, 9, 16, 17]:
        yield "packbits", RANDOM.integers(0, 2, count).astype(bool), numcodecs.PackBits()
    text = b"0123456789abcdefghijklmnopqrstuvwxyz" * 3
    for count in [0, 1, 2, 3, 4, 100]:
        yield "base64", np.frombuffer(text[:count], "u1"), numcodecs.Base64()
        data = np.frombuffer(text[:count], "u1")
        for name, codec in [("crc32", checksum32.CRC32), ("crc32c", checksum32.CRC32C), ("adler32", checksum32.Adler32)]:
            for location in ["start", "end"]:
                yield f"{name} {location}", data, codec(location)
        for initial in [0, 12345]:
            yield f"jenkins_lookup3 {initial}", data, checksum32.JenkinsLookup3(initial)
        if count > 0:
            yield "fletcher32", data, numcodecs.Fletcher32()
        if count % 4 == 0:
            yield "shuffle 4", data, numcodecs.Shuffle(4)
        yield "lz4", data, numcodecs.LZ4()
        yield "zlib 1", data, numcodecs.Zlib()
        yield "gzip 1", data, numcodecs.GZip()
        yield "bz2 1", data, numcodecs.BZ2()
        yield "zstd 0", data, numcodecs.Zstd()
        yield "lzma alone", data, numcodecs.LZMA(lzma.FORMAT_ALONE)
        for preset in [0, 6, 9]:
            yield f"lzma xz {preset}", data, numcodecs.LZMA(preset=preset)
    first, second = {"id": lzma.FILTER_LZMA1, "preset": 3}, {"id": lzma.FILTER_LZMA2, "preset": 5}
    other = {"id": lzma.FILTER_LZMA1, "dict_size": 4096, "lc": 1, "lp": 2, "pb": 0}
    delta = {"id": lzma.FILTER_DELTA, "dist": 4}
    yield "lzma raw1", data, numcodecs.LZMA(lzma.FORMAT_RAW, filters=[first])
    yield "lzma raw1 1 2 0", data, numcodecs.LZMA(lzma.FORMAT_RAW, filters=[other])
    yield "lzma raw1 delta", data, numcodecs.LZMA(lzma.FORMAT_RAW, filters=[delta, first])
    yield "lzma raw2", data, numcodecs.LZMA(lzma.FORMAT_RAW, filters=[second])
    yield "lzma raw2 delta", data, numcodecs.LZMA(lzma.FORMAT_RAW, filters=[delta, second])
    yield "lzma xz delta", data, numcodecs.LZMA(filters=[delta, second])
    for check in [lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_CRC64, lzma.CHECK_SHA256]:
        yield "lzma xz 6", data, numcodecs.LZMA(check=check)
    code = np.frombuffer(b"\xe8\x10\x00\x00\x00\x90\xeb\x48\x01\x02\xf0\x00\xf8\x40\x00\x00" * 9, "u1")
    for name, of in [
        ("x86", lzma.FILTER_X86), ("ppc", lzma.FILTER_POWERPC), ("ia64", lzma.FILTER_IA64), ("arm", lzma.FILTER_ARM),
        ("thumb", lzma.FILTER_ARMTHUMB), ("sparc", lzma.FILTER_SPARC),
    ]:
        yield f"lzma raw2 {name}", code, numcodecs.LZMA(lzma.FORMAT_RAW, filters=[{"id": of}, second])
        yield f"lzma xz {name}", code, numcodecs.LZMA(filters=[{"id": of}, second])


    random = np.random.default_rng(7)
    for dtype in ["<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8"]:
        ramp = (np.arange(90) * 3 + random.integers(0, 9, 90)).astype(dtype)
        for data in [ramp, ramp[:1]]:
            yield f"pcodec {dtype}", data, PCodec()
        yield f"pcodec {dtype} classic", ramp, PCodec(level=2, mode_spec="classic", delta_spec="none", equal_pages_up_to=40)
        yield f"pcodec {dtype} order", ramp, PCodec(level=12, delta_spec="try_consecutive", delta_encoding_order=2)
        yield f"pcodec {dtype} lookback", ramp, PCodec(delta_spec="try_lookback")
    yield "pcodec <f8 tenths", (np.arange(90) * 0.1).round(1), PCodec()


def main():
    lines = []
    for spec, data, codec in cases():
        stored = codec if isinstance(codec, np.ndarray) else codec.encode(data)
        stored = stored.tobytes() if isinstance(stored, np.ndarray) else bytes(stored)
        if spec.startswith("bitround"):
            back = stored
        elif len(data) == 0:
            # numcodecs refuses what it stored of nothing with some codecs.
            back = b""
        elif spec.startswith("lzma xz"):
            # numcodecs refuses to read what it writes with filters.
            back = lzma.decompress(stored)
        elif spec.startswith("pcodec"):
            back = np.asarray(codec.decode(stored)).tobytes()
        else:
            back = np.asarray(codec.decode(np.frombuffer(stored, "u1"))).tobytes()
        lines.append(f"{spec}; {data.tobytes().hex()}; {stored.hex()}; {'' if back == data.tobytes() else back.hex()}\n")
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "numcodecs.txt")
    with open(path, "w") as file:
        file.writelines(lines)


if __name__ == "__main__":
    main()
