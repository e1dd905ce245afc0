"""Makes the files that `cargo xtask bench hdf5` reads, and the elements that it writes, each once.

    make.py DIRECTORY SCALE
"""

import os
import sys

import h5py
import numpy as np
from h5py import h5d, h5g, h5s, h5t

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "side", "python"), os.path.join(HERE, "..", "..", "read", "python")]

import bench_make
from fields import field

# Stored in the stamps: files of another version are made again.
VERSION = 1, f"h5py {h5py.__version__}"
# The size in bytes of all files, and the space that must stay free.
NEEDED, SPARE = 4_000_000_000, 4_000_000_000


def elements(scale):
    return field(*((128, 128, 256) if scale == 64 else (512, 512, 1024)), 5)


def source(path, scale):
    elements(scale).tofile(path)


def zeros(path, scale):
    with open(path, "wb") as f:
        f.truncate(4 * 8000 * 8000)


def contiguous(path, scale):
    with h5py.File(path, "w") as f:
        f.create_dataset("data", data=elements(scale))


def chunked(path, scale):
    side = 32 if scale == 64 else 128
    with h5py.File(path, "w") as f:
        f.create_dataset("data", data=elements(scale), chunks=(side, side, side), shuffle=True, compression="gzip",
                         compression_opts=4)


def many(path, scale):
    """Datasets of 10 elements in groups of 1,000."""
    values = np.arange(10, dtype="f4")
    f = h5py.File(path, "w", libver=("v108", "latest"))
    space = h5s.create_simple((10,))
    for group in range(200 // (8 if scale == 64 else 1)):
        group = h5g.create(f.id, f"group_{group:03}".encode())
        for member in range(1_000):
            dataset = h5d.create(group, f"dataset_{member:03}".encode(), h5t.IEEE_F32LE, space)
            dataset.write(h5s.ALL, h5s.ALL, values)
    f.close()


FILES = {
    "source.f4": source,
    "zeros.f4": zeros,
    "contiguous.h5": contiguous,
    "chunked.h5": chunked,
    "many.h5": many,
}

if __name__ == "__main__":
    bench_make.main(FILES, VERSION, NEEDED, SPARE)
