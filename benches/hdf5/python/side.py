"""One side of a comparison: writes a file repeatedly, on commands from standard input.

    side.py h5py array|many KEY=VALUE...
    side.py h5py convert KEY=VALUE...
    side.py program convert KEY=VALUE...

`array` and `many` have the keys of `bench-hdf5`, the program beside this one; `api=low` creates datasets through h5py's
low-level calls. `convert` has `source`, `into`, and `words` of the program, in which SOURCE and INTO stand for them; h5py
reads and writes in blocks of one row of chunks.
"""

import os
import sys

import h5py
import numpy as np
from h5py import h5d, h5g, h5s, h5t

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "side", "python"))

from bench_program import Program, Written
from bench_side import serve

DEFLATED = {"shuffle": True, "compression": "gzip", "compression_opts": 4}
FEW = np.arange(10, dtype="f4")


class H5py(Written):
    def __init__(self, job):
        super().__init__(job["into"], [os.path.join(HERE, "content.py"), job["into"]])
        self.job = job
        self.chunk = tuple(int(size) for size in job.get("chunks", "").split(",") if size) or None
        self.options = DEFLATED if job.get("codec") == "deflate" else {}


class Array(H5py):
    def __init__(self, job):
        super().__init__(job)
        self.elements = np.fromfile(job["source"], "<f4").reshape([int(size) for size in job["shape"].split(",")])

    def output_bytes(self):
        return self.elements.nbytes

    def run(self):
        with h5py.File(self.into, "w") as f:
            f.create_dataset("data", data=self.elements, chunks=self.chunk, **self.options)


class Many(H5py):
    def run(self):
        groups, members = int(self.job["groups"]), int(self.job["members"])
        if self.job.get("api") == "low":
            f = h5py.File(self.into, "w")
            space = h5s.create_simple(FEW.shape)
            for group in range(groups):
                group = h5g.create(f.id, b"group_%03d" % group)
                for member in range(members):
                    dataset = h5d.create(group, b"dataset_%03d" % member, h5t.IEEE_F32LE, space)
                    dataset.write(h5s.ALL, h5s.ALL, FEW)
            f.close()
            return
        with h5py.File(self.into, "w") as f:
            for group in range(groups):
                group = f.create_group(f"group_{group:03}")
                for member in range(members):
                    group.create_dataset(f"dataset_{member:03}", data=FEW)


class Convert(H5py):
    def run(self):
        with h5py.File(self.job["source"]) as source, h5py.File(self.into, "w") as f:
            there = source["data"]
            here = f.create_dataset("data", there.shape, there.dtype, chunks=self.chunk, **self.options)
            for at in range(0, there.shape[0], self.chunk[0]):
                here[at:at + self.chunk[0]] = there[at:at + self.chunk[0]]


def program(job):
    words = [job.get(word.lower(), word) if word in ("SOURCE", "INTO") else word for word in job["words"].split()]
    if job["into"].endswith(".h5"):
        return Program(words, job["into"], [os.path.join(HERE, "content.py"), job["into"]])
    return Program(words, job["into"], ["-c", "print('-')"])


def begin(side, kind, job):
    if side == "program":
        return program(job)
    return {"array": Array, "many": Many, "convert": Convert}[kind](job)


serve(begin)
