"""Makes the files that `cargo xtask bench read` reads, each once.

    make.py DIRECTORY SCALE

SCALE divides the sizes: 1 for the bench, 64 to try the harness. Beside a file stands a stamp that says how
it was made, and for datasets whose bytes the limits read, `NAME.places`: address and bytes of each chunk.
"""

import os
import shutil
import sys

import h5py
import numpy as np

ORACLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "xtask", "oracles")

# Told in the stamps: files of another version are made again.
VERSION = 1
# Bytes that all files take, and what must stay free.
NEEDED, SPARE = 6_000_000_000, 4_000_000_000


def field(planes, rows, columns, seed):
    """Smooth fields with noise, rounded to 0.01 as measurements are."""
    y, x = np.mgrid[0:rows, 0:columns].astype("f4")
    out = np.empty((planes, rows, columns), "f4")
    for plane in range(planes):
        random = np.random.Generator(np.random.PCG64([seed, plane]))
        wave = 15 + 12 * np.sin(x / 160 + plane / 9) * np.cos(y / 120)
        noise = random.standard_normal((rows, columns), dtype="f4")
        out[plane] = np.round(wave + np.float32(0.05) * noise, 2)
    return out


def places(dataset, path):
    """Where the bytes of a dataset are, in the order of its chunks."""
    if dataset.chunks is None:
        found = [(dataset.id.get_offset(), dataset.nbytes)]
    else:
        chunks = []
        dataset.id.chunk_iter(chunks.append)
        found = [(chunk.byte_offset, chunk.size) for chunk in sorted(chunks, key=lambda chunk: chunk.chunk_offset)]
    with open(path + ".places", "w") as f:
        f.writelines(f"{address} {size}\n" for address, size in found)


def contiguous(path, scale):
    side = 8 if scale == 64 else 1
    rows, columns = 8192 // side, 16384 // side
    with h5py.File(path, "w", track_order=True) as f:
        dataset = f.create_dataset("data", (rows, columns), "f8")
        for start in range(0, rows, 512):
            random = np.random.Generator(np.random.PCG64([1, start]))
            dataset[start:start + 512] = random.standard_normal((min(512, rows - start), columns))
        places(dataset, path)


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


def sparse(chunks):
    def make(path, scale):
        rows, columns = 2500 // scale, 1_000_000
        with h5py.File(path, "w", libver="latest") as f:
            dataset = f.create_dataset("data", (rows, columns), "f8", chunks=chunks)
            for row in range(0, rows, max(1, rows // 8)):
                dataset[row] = np.random.Generator(np.random.PCG64([4, row])).standard_normal(columns)
    return make


DEFLATED = {"compression": "gzip", "compression_opts": 4, "shuffle": True}

FILES = {
    "contiguous.h5": contiguous,
    "deflate.h5": chunked((1, 256, 256), **DEFLATED),
    "raw.h5": chunked((1, 128, 256)),
    "span_deflate.h5": chunked((0, 64, 64), **DEFLATED),
    "span_raw.h5": chunked((0, 64, 64)),
    "four.h5": four,
    "strings.h5": strings,
    "index_btree1.h5": index("earliest", False),
    "index_fixed.h5": index("latest", False),
    "index_extensible.h5": index("latest", True),
    "in_order.h5": objects(False),
    "interleaved.h5": objects(True),
    "sparse_contiguous.h5": sparse(None),
    "sparse_chunked.h5": sparse((1, 500_000)),
}


def main():
    directory, scale = sys.argv[1], int(sys.argv[2])
    os.makedirs(directory, exist_ok=True)
    stamp = f"version {VERSION}, scale {scale}, h5py {h5py.__version__}\n"
    missing = []
    for name in FILES:
        path = os.path.join(directory, name)
        try:
            with open(path + ".stamp") as f:
                made = f.read() == stamp and os.path.exists(path)
        except FileNotFoundError:
            made = False
        if not made:
            missing.append((name, path))
    free = shutil.disk_usage(directory).free
    if missing and free < NEEDED // scale + SPARE:
        sys.exit(f"{free // 10**6} MB are free for files of {NEEDED // scale // 10**6} MB")
    for name, path in missing:
        print(f"making {path}", flush=True)
        part = path + ".part"
        FILES[name](part, scale)
        if os.path.exists(part + ".places"):
            os.replace(part + ".places", path + ".places")
        os.replace(part, path)
        with open(path + ".stamp", "w") as f:
            f.write(stamp)


if __name__ == "__main__":
    main()
