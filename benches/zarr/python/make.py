"""Makes the stores that `cargo xtask bench zarr` reads, and templates of those that it writes, each once.

    make.py DIRECTORY SCALE

SCALE divides the sizes: 1 for the bench, 64 to try the harness. A stamp stores the version of the data.
"""

import os
import shutil
import sys

import numpy as np
import zarr
from zarr.codecs import BloscCodec, ZstdCodec

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "read", "python"))

from fields import field

# Stored in the stamp: data of another version are made again.
VERSION = 1
# The size in bytes of all data, and the space that must stay free.
NEEDED, SPARE = 4_000_000_000, 3_000_000_000

ZSTD = ZstdCodec(level=3, checksum=False)
STORES = {
    "raw": {"compressors": None},
    "zstd": {"compressors": ZSTD},
    "blosc-lz4": {"compressors": BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=4)},
    "shards": {"compressors": ZSTD, "shards": (256, 256, 256), "chunks": (64, 64, 64)},
}
GROUPS, MEMBERS = 100, 100


def array(path, shape, scale, options):
    """A store of one array without elements. Small ones have chunks of a quarter of the length."""
    options = {"chunks": (128, 128, 128), "dtype": "<f4", "filters": None, "fill_value": 0} | options
    for key in ("chunks", "shards"):
        if scale == 64 and key in options:
            options[key] = tuple(size // 4 for size in options[key])
    return zarr.open_group(path, mode="w").create_array("data", shape=shape, **options)


def hierarchy(path, scale, consolidated):
    root = zarr.open_group(path, mode="w")
    for group in range(GROUPS // (8 if scale == 64 else 1)):
        group = root.create_group(f"group_{group:03}")
        for member in range(MEMBERS):
            group.create_array(f"array_{member:03}", shape=(member + 1, 360, 720), chunks=(1, 360, 720), dtype="<f4",
                               attributes={"units": "K", "long_name": f"field {member}"})
    if consolidated:
        zarr.consolidate_metadata(path)


def main():
    directory, scale = sys.argv[1], int(sys.argv[2])
    os.makedirs(directory, exist_ok=True)
    stamp, said = f"version {VERSION}, scale {scale}, zarr {zarr.__version__}\n", os.path.join(directory, "stamp")
    if os.path.exists(said):
        with open(said) as f:
            if f.read() == stamp:
                return
        os.remove(said)
    free = shutil.disk_usage(directory).free
    if free < NEEDED // scale + SPARE:
        sys.exit(f"{free // 10**6} MB are free for stores of {NEEDED // scale // 10**6} MB")
    shape = (128, 128, 256) if scale == 64 else (512, 512, 1024)
    elements = field(*shape, 5)
    elements.tofile(os.path.join(directory, "source.f4"))
    for name, options in STORES.items():
        print(f"making {directory}/{name}", flush=True)
        array(os.path.join(directory, name), shape, scale, options)[...] = elements
        array(os.path.join(directory, f"{name}.template"), shape, scale, options)
    for name in ("hierarchy", "hierarchy-consolidated"):
        print(f"making {directory}/{name}", flush=True)
        hierarchy(os.path.join(directory, name), scale, name != "hierarchy")
    with open(said, "w") as f:
        f.write(stamp)


if __name__ == "__main__":
    main()
