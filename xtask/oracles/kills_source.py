"""Writes a file of a hundred megabytes whose conversion takes a while: python kills_source.py FILE"""

import sys

import h5py
import numpy as np

random = np.random.default_rng(7)
with h5py.File(sys.argv[1], "w") as file:
    field = np.cumsum(random.normal(size=(64, 256, 512)).astype("f4"), axis=0)
    for name, filters in {"packed": {"compression": "gzip", "compression_opts": 1, "shuffle": True}, "plain": {}}.items():
        file.create_dataset(f"fields/{name}", data=field, chunks=(4, 64, 128), **filters)
    file.create_dataset("flat", data=random.integers(0, 1000, size=(3000, 1000), dtype="i4"))
    file.create_dataset("words", data=[f"word {number}" for number in range(50_000)], dtype=h5py.string_dtype())
    file["flat"].attrs["units"] = "m"
    file.create_dataset("volume", data=random.integers(0, 99, size=(40, 512, 512), dtype="u2"), chunks=(5, 128, 128))
