"""Writes small files that ask for excessive resources: python hostile_files.py FOLDER [NAME...]

Each function writes one file or store that is valid, or nearly so, and asks for work or memory far beyond its size.
"""

import gzip
import json
import os
import struct
import sys
import zlib

import h5py
import numpy as np

ONE = 1 << 20
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
GZIP = {"name": "gzip", "configuration": {"level": 5}}


def heap_address(path, dataset):
    """The 16 stored bytes of the only element, which name an object of a global heap."""
    with open(path, "rb") as stored:
        stored.seek(dataset)
        return stored.read(16)


def amplified(path, count=ONE, size=ONE, text=False):
    """Elements of variable length that all name one heap object."""
    with h5py.File(path, "w") as file:
        kind = h5py.string_dtype() if text else h5py.vlen_dtype("u1")
        one = file.create_dataset("seed", (1,), dtype=kind)
        one[0] = b"x" * size if text else np.zeros(size, "u1")
        how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        how.set_chunk((count,))
        how.set_deflate(9)
        space = h5py.h5s.create_simple((count,))
        many = h5py.h5d.create(file.id, b"many", one.id.get_type(), space, how)
        file.flush()
        element = heap_address(path, one.id.get_offset())
        many.write_direct_chunk((0,), zlib.compress(element * count, 9), 0)


def amplified_sequences(path):
    amplified(path)


def amplified_texts(path):
    amplified(path, text=True)


def amplified_in_chunks(path, count=1 << 14, size=ONE):
    """As `amplified`, with one element per chunk."""
    with h5py.File(path, "w") as file:
        one = file.create_dataset("seed", (1,), dtype=h5py.vlen_dtype("u1"))
        one[0] = np.zeros(size, "u1")
        how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        how.set_chunk((1,))
        many = h5py.h5d.create(file.id, b"many", one.id.get_type(), h5py.h5s.create_simple((count,)), how)
        file.flush()
        element = heap_address(path, one.id.get_offset())
        for number in range(count):
            many.write_direct_chunk((number,), element, 0)


def nested_sequences(path, count=200, levels=4):
    """Sequences of sequences: each level has `count` descriptors that all name the level below."""
    with h5py.File(path, "w") as file:
        leaf = file.create_dataset("leaf", (1,), dtype=h5py.vlen_dtype("u1"))
        leaf[0] = np.zeros(count, "u1")
        file.flush()
        below = heap_address(path, leaf.id.get_offset())
        kind = h5py.h5t.vlen_create(h5py.h5t.STD_U8LE)
        for level in range(levels):
            raw = file.create_dataset(f"raw{level}", (1,), dtype=h5py.vlen_dtype(np.dtype("V16")))
            raw[0] = np.frombuffer(below * count, dtype="V16")
            file.flush()
            below = heap_address(path, raw.id.get_offset())
            kind = h5py.h5t.vlen_create(kind)
            early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            nested = h5py.h5d.create(file.id, b"nest%d" % level, kind, h5py.h5s.create_simple((1,)), early)
            file.flush()
            with open(path, "r+b") as stored:
                stored.seek(nested.get_offset())
                stored.write(below)


def big_attribute(path, count=25 * ONE):
    """An attribute of 100 MB."""
    with h5py.File(path, "w", libver="latest") as file:
        file.attrs.create("big", np.arange(count, dtype="i4"))


def element_chunks(path):
    """A chunk per element, 100 million elements, none of them stored."""
    with h5py.File(path, "w") as file:
        file.create_dataset("a", shape=(100_000_000,), dtype="i1", chunks=(1,))
        file.create_dataset("b", shape=(1 << 27,), dtype="f8", chunks=(1,))


def huge_fill(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("a", shape=(1 << 62,), dtype="i1", chunks=(ONE,), fillvalue=7)
        file.create_dataset("b", shape=(1 << 31, 1 << 31), dtype="i1", chunks=(1024, 1024), fillvalue=7)
        file.create_dataset("c", shape=(1 << 60,), dtype="f4")


def many_unwritten(path, count=200, how=({"chunks": (ONE,)},)):
    """Arrays of 1 GiB that were never written: 200 GiB in a few kilobytes."""
    with h5py.File(path, "w") as file:
        for number in range(count):
            file.create_dataset(f"d{number}", shape=(1 << 30,), dtype="i1", **how[number % len(how)])


def many_unwritten_layouts(path):
    many_unwritten(path, how=({}, {"chunks": (1 << 13,)}, {"chunks": (ONE,), "compression": "gzip"}))


def deflate_bomb(path):
    """A chunk of 512 MiB that is deflated twice."""
    with h5py.File(path, "w") as file:
        how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        how.set_chunk((1 << 29,))
        how.set_deflate(9)
        how.set_deflate(9)
        one = h5py.h5d.create(file.id, b"a", h5py.h5t.STD_U8LE, h5py.h5s.create_simple((1 << 29,)), how)
        pack = zlib.compressobj(9)
        packed = b"".join([pack.compress(bytes(1 << 24)) for _ in range(32)] + [pack.flush()])
        one.write_direct_chunk((0,), zlib.compress(packed, 9), 0)


def long_texts(path, count=8000, length=100_000):
    """800 MB of strings, 10 per chunk: large, but valid."""
    with h5py.File(path, "w") as file:
        texts = file.create_dataset("s", (count,), dtype=h5py.string_dtype(), chunks=(10,))
        for start in range(0, count, 10):
            texts[start : start + 10] = [("%06d" % (start + one)) + "x" * length for one in range(10)]


def array(path, chunks=(), **members):
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4],
        "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [LITTLE],
        "attributes": {},
        **members,
    }
    os.makedirs(os.path.join(path, "c"), exist_ok=True)
    with open(os.path.join(path, "zarr.json"), "w") as out:
        json.dump(document, out)
    for key, chunk in chunks:
        with open(os.path.join(path, "c", key), "wb") as out:
            out.write(chunk)


def grid(*shape):
    return {"name": "regular", "configuration": {"chunk_shape": list(shape)}}


def codec_chain(path):
    """A thousand codecs in a row."""
    chunk = gzip.compress(bytes(1 << 28))
    array(path, [("0", chunk), ("1", chunk)], codecs=[LITTLE] + [GZIP] * 1000)


def gzip_bomb(path):
    """A chunk of 8 bytes that inflates to 256 MiB."""
    chunk = gzip.compress(bytes(1 << 28))
    array(path, [("0", chunk), ("1", chunk)], codecs=[LITTLE, GZIP])


def shared_inner_chunks(path, count=1 << 16):
    """A shard whose index names one inner chunk many times: 64 GiB of values."""
    inner = gzip.compress(bytes(ONE))
    index = struct.pack("<QQ", 0, len(inner)) * count
    codecs = {"chunk_shape": [ONE >> 2], "codecs": [LITTLE, GZIP], "index_codecs": [LITTLE], "index_location": "end"}
    array(
        path,
        [("0", inner + index)],
        shape=[count << 18],
        chunk_grid=grid(count << 18),
        codecs=[{"name": "sharding_indexed", "configuration": codecs}],
    )


def many_texts(path):
    """2^26 empty strings in one compressed chunk."""
    chunk = gzip.compress(struct.pack("<I", 1 << 26) + bytes(4 << 26))
    codecs = [{"name": "vlen-utf8"}, GZIP]
    array(path, [("0", chunk)], shape=[1 << 26], chunk_grid=grid(1 << 26), data_type="string", fill_value="", codecs=codecs)


def huge_chunks(path):
    array(path, shape=[1 << 40], chunk_grid=grid(1 << 40))


def big_document(path):
    """100 MB of JSON, three million attributes."""
    os.makedirs(path)
    with open(os.path.join(path, "zarr.json"), "w") as out:
        members = ",".join(f'"k{number}":[1,2,3,"x","yyyyyyyyyyyy"]' for number in range(3_000_000))
        out.write('{"zarr_format":3,"node_type":"group","attributes":{' + members + "}}")


def zip_bomb(path, count=4, size=(1 << 30) - 1):
    """Entries of 1 GiB where chunks of 8 MiB are expected."""
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [count << 21],
        "data_type": "int32",
        "chunk_grid": grid(1 << 21),
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [LITTLE],
        "attributes": {},
    }
    pack, crc, left, packed = zlib.compressobj(9, zlib.DEFLATED, -15), 0, size, b""
    while left:
        part = bytes(min(left, 1 << 24))
        packed += pack.compress(part)
        crc = zlib.crc32(part, crc)
        left -= len(part)
    packed += pack.flush()
    central, entries = b"", 0
    with open(path, "wb") as out:

        def add(key, content, length, crc, method):
            nonlocal central, entries
            at = out.tell()
            sizes = struct.pack("<III", crc, len(content), length)
            out.write(struct.pack("<IHHHHH", 0x04034B50, 20, 0, method, 0, 0x5821) + sizes)
            out.write(struct.pack("<HH", len(key), 0) + key + content)
            central += struct.pack("<IHHHHHH", 0x02014B50, 20, 20, 0, method, 0, 0x5821) + sizes
            central += struct.pack("<HHHHHII", len(key), 0, 0, 0, 0, 0, at) + key
            entries += 1

        text = json.dumps(document).encode()
        add(b"zarr.json", text, len(text), zlib.crc32(text), 0)
        for number in range(count):
            add(b"c/%d" % number, packed, size, crc, 8)
        at = out.tell()
        out.write(central + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, entries, entries, len(central), at, 0))


def filled_document(path):
    with open(path, "w") as out:
        out.write("ndarrays:\n  a: {shape: [1099511627776], type: int32, storage: {chunk: [1048576], fillvalue: 7}}\n")
        out.write("  b: {shape: [4294967296], type: string}\n")


def element_chunks_document(path):
    with open(path, "w") as out:
        out.write("ndarrays:\n  a: {shape: [100000000], type: int8, storage: {chunk: [1]}}\n")


def padded_document(path):
    """Elements of many megabytes, whose text has two bytes."""
    with open(path, "w") as out:
        out.write('ndarrays:\n  a: {shape: [3], type: {opaque: {size: 80000000}}, value: ["0x01", "0x02", "0x03"]}\n')


def huge_elements_document(path):
    """Elements that are never written, of types of any size."""
    with open(path, "w") as out:
        out.write("ndarrays:\n  a: {shape: [1], type: {opaque: {size: 4000000000}}}\n")
        for name, size in ("b", 500_000_000_000), ("c", 1_000_000_000), ("d", 30_000_000), ("e", 10_000_000):
            out.write("  %s: {shape: [1], type: {array: {base: int8, shape: [%d]}}}\n" % (name, size))


def alias_document(path, count=20_000, length=500_000):
    """Aliases of one long string."""
    with open(path, "w") as out:
        out.write("attributes:\n  text: &a " + "x" * length + "\nndarrays:\n")
        out.write("  s: {shape: [%d], type: string, value: [%s]}\n" % (count, ", ".join(["*a"] * count)))


def null_document(path, count=20_000, length=500_000):
    """Elements that are all the fill value, one long string."""
    with open(path, "w") as out:
        out.write("ndarrays:\n  s:\n    shape: [%d]\n    type: {compound: [a: string]}\n" % count)
        out.write('    storage: {fillvalue: ["%s"]}\n' % ("x" * length))
        out.write("    value: [%s]\n" % ", ".join(["null"] * count))


def big_yaml(path, count=3_000_000):
    """100 MB of YAML, three million attributes."""
    with open(path, "w") as out:
        out.write("attributes:\n")
        for start in range(0, count, 1000):
            out.write("".join(f"  k{number}: [1, 2, 3, 4, 5, 6]\n" for number in range(start, start + 1000)))


def many_attributes_document(path, size=63 << 20):
    """Almost 64 MiB of YAML, the largest text that is read: four million attributes."""
    with open(path, "w") as out:
        written, number = out.write("attributes:\n"), 0
        while written < size:
            written += out.write("".join(f"  a{one}: 1\n" for one in range(number, number + 1000)))
            number += 1000


def many_arrays_document(path, size=63 << 20):
    with open(path, "w") as out:
        written, number = out.write("ndarrays:\n"), 0
        while written < size:
            written += out.write("".join(f"  a{one}: {{shape: [], type: int8}}\n" for one in range(number, number + 1000)))
            number += 1000


def many_values_document(path, size=63 << 20):
    with open(path, "w") as out:
        out.write("ndarrays:\n  a: {shape: [%d], type: int8, value: [%s]}\n" % (size // 2, ",".join(["1"] * (size // 2))))


def huge_opaque(path):
    """Elements of a megabyte and more that are never written."""
    with h5py.File(path, "w") as file:
        for size in ONE, 16 * ONE, 200 * ONE, (1 << 31) - 1:
            kind = h5py.h5t.create(h5py.h5t.OPAQUE, size)
            h5py.h5d.create(file.id, b"a%d" % size, kind, h5py.h5s.create_simple((4,)))


FILES = {
    "amplified_sequences.h5": amplified_sequences,
    "amplified_texts.h5": amplified_texts,
    "amplified_in_chunks.h5": amplified_in_chunks,
    "nested_sequences.h5": nested_sequences,
    "big_attribute.h5": big_attribute,
    "element_chunks.h5": element_chunks,
    "huge_fill.h5": huge_fill,
    "many_unwritten.h5": many_unwritten,
    "many_unwritten_layouts.h5": many_unwritten_layouts,
    "deflate_bomb.h5": deflate_bomb,
    "codec_chain.zarr": codec_chain,
    "gzip_bomb.zarr": gzip_bomb,
    "shared_inner_chunks.zarr": shared_inner_chunks,
    "many_texts.zarr": many_texts,
    "huge_chunks.zarr": huge_chunks,
    "big_document.zarr": big_document,
    "zip_bomb.zarr.zip": zip_bomb,
    "filled.yaml": filled_document,
    "element_chunks.yaml": element_chunks_document,
    "padded.yaml": padded_document,
    "huge_elements.yaml": huge_elements_document,
    "aliases.yaml": alias_document,
    "nulls.yaml": null_document,
    "big.yaml": big_yaml,
    "many_attributes.yaml": many_attributes_document,
    "many_arrays.yaml": many_arrays_document,
    "many_values.yaml": many_values_document,
    "huge_opaque.h5": huge_opaque,
    "long_texts.h5": long_texts,
}

# Legitimately large: only its memory is limited, by `--memory`.
HONEST = {"long_texts.h5"}


def write(folder, names=None):
    """Writes the files, and returns their names."""
    os.makedirs(folder, exist_ok=True)
    for name in names or FILES:
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            FILES[name](path)
        yield name


if __name__ == "__main__":
    for name in write(sys.argv[1], sys.argv[2:]):
        print(name)
