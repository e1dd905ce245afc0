"""Makes the files that `cargo xtask bench read` reads, each once.

    make.py DIRECTORY SCALE

For the datasets of the limits, `NAME.places` has the address and size of each chunk.
"""

import os
import sys

import h5py
import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "side", "python"))

import bench_make
from fields import field, places, sparse

ORACLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "xtask", "oracles")

# Stored in the stamps: files of another version are made again.
VERSION = 1, f"h5py {h5py.__version__}"
# The size in bytes of all files, and the space that must stay free.
NEEDED, SPARE = 7_200_000_000, 4_000_000_000


def contiguous(path, scale):
    side = 8 if scale == 64 else 1
    rows, columns = 8192 // side, 16384 // side
    with h5py.File(path, "w", track_order=True) as f:
        dataset = f.create_dataset("data", (rows, columns), "f8")
        for start in range(0, rows, 512):
            random = np.random.Generator(np.random.PCG64([1, start]))
            dataset[start:start + 512] = random.standard_normal((min(512, rows - start), columns))
        places(dataset, path)


def classic(path, scale):
    side = 8 if scale == 64 else 1
    rows, columns = 8192 // side, 16384 // side
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as f:
        f.set_fill_off()
        f.createDimension("row", rows)
        f.createDimension("column", columns)
        data = f.createVariable("data", "f8", ("row", "column"))
        for start in range(0, rows, 512):
            random = np.random.Generator(np.random.PCG64([1, start]))
            data[start:start + 512] = random.standard_normal((min(512, rows - start), columns))
    size = rows * columns * 8
    with open(path + ".places", "w") as places:
        places.write(f"{os.path.getsize(path) - size} {size}\n")


def chunked(chunk, **options):
    def make(path, scale):
        planes, side = (60, 256) if scale == 64 else (240, 1024)
        shape = tuple(size or planes for size in chunk)
        with h5py.File(path, "w", track_order=True) as f:
            dataset = f.create_dataset("data", (planes, side, side), "f4", chunks=shape, **options)
            dataset[...] = field(planes, side, side, 2)
            places(dataset, path)
    return make


def four(path, scale):
    planes, side = (15, 256) if scale == 64 else (60, 1024)
    with h5py.File(path, "w", track_order=True) as f:
        for index in range(4):
            f.create_dataset(f"data_{index}", data=field(planes, side, side, 10 + index), chunks=(1, 256, 256),
                             compression="gzip", compression_opts=4, shuffle=True)


def strings(path, scale):
    words = ("", "wave", "ice", "Ålesund", "salinity of the sea", "北極", "depth", "a station far from every coast",
             "temperature", "Kråkenes fyr", "speed", "direction of the wind")
    count = 2_000_000 // scale
    with h5py.File(path, "w", track_order=True) as f:
        dataset = f.create_dataset("data", (count,), h5py.string_dtype())
        for start in range(0, count, 100_000):
            random = np.random.Generator(np.random.PCG64([3, start]))
            picked = random.integers(0, len(words), min(100_000, count - start))
            dataset[start:start + len(picked)] = [f"{words[word]} {start + index}" if word else ""
                                                  for index, word in enumerate(picked)]


def index(libver, grows):
    def make(path, scale):
        side = 512 if scale == 64 else 4096
        with h5py.File(path, "w", libver=libver) as f:
            f.create_dataset("data", data=np.arange(side * side, dtype="u4").astype("u1").reshape(side, side),
                             chunks=(16, 16), maxshape=(None, side) if grows else None)
    return make


def many_chunks(path, scale):
    rows, columns = (2560, 2400) if scale == 64 else (20_480, 19_200)
    with h5py.File(path, "w") as f:
        dataset = f.create_dataset("data", (rows, columns), "u1", chunks=(16, 16))
        for start in range(0, rows, 256):
            random = np.random.Generator(np.random.PCG64([5, start]))
            dataset[start:start + 256] = random.integers(0, 256, (256, columns), "u1")


def objects(interleaved):
    def make(path, scale):
        there = os.path.join(os.path.dirname(path), "..", os.path.basename(path).removesuffix(".part"))
        if scale == 1 and os.path.exists(there):
            os.link(there, path)
            return
        sys.path.insert(0, ORACLES)
        import bench_files
        if scale == 64:
            bench_files.GROUPS, bench_files.MEMBERS = 25, 125
        bench_files.objects(path, interleaved)
    return make


DEFLATED = {"compression": "gzip", "compression_opts": 4, "shuffle": True}

FILES = {
    "contiguous.h5": contiguous,
    "classic.cdf": classic,
    "deflate.h5": chunked((1, 256, 256), **DEFLATED),
    "raw.h5": chunked((1, 128, 256)),
    "span_deflate.h5": chunked((0, 64, 64), **DEFLATED),
    "span_raw.h5": chunked((0, 64, 64)),
    "four.h5": four,
    "strings.h5": strings,
    "index_btree1.h5": index("earliest", False),
    "index_fixed.h5": index("latest", False),
    "index_extensible.h5": index("latest", True),
    "many_chunks.h5": many_chunks,
    "in_order.h5": objects(False),
    "interleaved.h5": objects(True),
    "sparse_contiguous.h5": sparse(None),
    "sparse_chunked.h5": sparse((1, 500_000)),
}


if __name__ == "__main__":
    bench_make.main(FILES, VERSION, NEEDED, SPARE)
