"""Prints the seconds that h5py's visititems takes with the shape and type of each dataset read.

    bench_visit.py FILE
"""

import sys
import time

import h5py

count = 0


def look(name, obj):
    global count
    if isinstance(obj, h5py.Dataset):
        obj.shape, obj.dtype
    count += 1


start = time.perf_counter()
with h5py.File(sys.argv[1], "r") as f:
    f.visititems(look)
print(time.perf_counter() - start, count)
