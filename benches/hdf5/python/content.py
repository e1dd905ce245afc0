"""Prints a hash of the elements of all datasets of a file, in the order of their paths, read by h5py.

    content.py FILE [SHAPE]

With a SHAPE, the file contains nothing but the elements of a float32 dataset of this shape.
"""

import sys

import numpy as np
from blake3 import blake3
from h5py import h5d, h5f, h5g, h5s


def members(group, path):
    for name in sorted(group):
        member = path + b"/" + name
        if h5g.get_objinfo(group, name).type == h5g.DATASET:
            yield member, h5d.open(group, name)
        else:
            yield from members(h5g.open(group, name), member)


def add(total, path, elements):
    total.update(b"%s %s\n" % (path, str(elements.shape).encode()))
    total.update(elements.reshape(-1).view("u1"))


def main():
    total = blake3(max_threads=blake3.AUTO)
    if len(sys.argv) > 2:
        add(total, b"/data", np.fromfile(sys.argv[1], "f4").reshape([int(size) for size in sys.argv[2].split(",")]))
        print(total.hexdigest())
        return
    file = h5f.open(sys.argv[1].encode(), h5f.ACC_RDONLY)
    for path, dataset in members(h5g.open(file, b"/"), b""):
        elements = np.empty(dataset.shape, dataset.dtype)
        dataset.read(h5s.ALL, h5s.ALL, elements)
        add(total, path, elements)
    print(total.hexdigest())


main()
