"""One side of a comparison: repeats a job on commands from standard input.

    side.py h5py|netCDF4 JOB KEY=VALUE...

Jobs, keys and answers are those of `bench-read`, the program beside this one.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from blake3 import blake3

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "side", "python"))

from bench_side import Cannot, Work, hash_of, serve


def steps(job, rank):
    step = [int(n) for n in job["step"].split(",")] if "step" in job else []
    return tuple(slice(None, None, n) for n in step + [1] * (rank - len(step)))


class H5pyArray(Work):
    def __init__(self, job):
        import h5py
        self.data = h5py.File(job["file"], "r")[job["path"]]
        self.steps = steps(job, self.data.ndim)
        shape = tuple(len(range(*step.indices(size))) for step, size in zip(self.steps, self.data.shape))
        self.len = int(np.prod(shape)) * self.data.dtype.itemsize
        self.out = None
        self.reused = job["memory"] == "reused"
        if self.reused:
            self.out = np.empty(shape, self.data.dtype)
            self.out.view("u1").fill(1)

    def output_bytes(self):
        return self.len

    def run(self):
        if self.reused:
            self.data.read_direct(self.out, self.steps)
        else:
            self.out = self.data[self.steps]

    def total(self):
        return hash_of(self.out)

    def release(self):
        if not self.reused:
            self.out = None


class NetcdfArray(Work):
    def __init__(self, job):
        import netCDF4
        if job["memory"] == "reused":
            raise Cannot("reads into no array of the caller")
        self.file = netCDF4.Dataset(job["file"])
        self.data = self.file[job["path"]]
        self.data.set_auto_maskandscale(False)
        self.data.set_auto_chartostring(False)
        self.steps = steps(job, self.data.ndim)
        self.len = 0
        self.out = None

    def output_bytes(self):
        return self.len

    def run(self):
        self.out = self.data[self.steps]

    def total(self):
        return hash_of(self.out)

    def release(self):
        if self.out is not None:
            self.len = self.out.nbytes
        self.out = None


def hash_of_strings(texts):
    texts = [text.encode() if isinstance(text, str) else text for text in texts]
    lengths = np.fromiter(map(len, texts), "<u8", len(texts))
    total = blake3(memoryview(lengths).cast("B"))
    total.update(b"".join(texts))
    return total.hexdigest()


class Strings(Work):
    """Reads strings as the library returns them (`bytes` of h5py), or as `str`, which are checked to be UTF-8."""

    def __init__(self, job, library):
        self.out = None
        if library == "netCDF4":
            import netCDF4
            self.file = netCDF4.Dataset(job["file"])
            self.data = self.file[job["path"]]
        else:
            import h5py
            self.data = h5py.File(job["file"], "r")[job["path"]]
            if job.get("as") == "str":
                self.data = self.data.asstr()

    def run(self):
        self.out = self.data[:]

    def total(self):
        return hash_of_strings(self.out)

    def release(self):
        self.out = None


class Index(Work):
    def __init__(self, job):
        self.job = job
        self.file = None

    def prepare(self):
        import h5py
        if self.file is not None:
            self.file.close()
        self.file = h5py.File(self.job["file"], "r")
        self.data = self.file[self.job["path"]]

    def run(self):
        self.out = []
        self.data.id.chunk_iter(self.out.append)

    def total(self):
        rows = sorted((*chunk.chunk_offset, chunk.byte_offset, chunk.size) for chunk in self.out)
        return hash_of(np.array(rows, "<u8"))

    def release(self):
        self.out = None


class Elements(Work):
    """Reads single elements of an open dataset, one read each. All sides compute the same positions."""

    STRIDES = 7919, 104_729, 1_299_709

    def __init__(self, job):
        self.job = job
        self.count = int(job["count"])
        self.within = [int(n) for n in job["within"].split(",")]
        self.file = None

    def prepare(self):
        import h5py
        if self.file is not None:
            self.file.close()
        self.file = h5py.File(self.job["file"], "r")
        self.data = self.file[self.job["path"]]

    def run(self):
        data = self.data
        pairs = list(zip(self.STRIDES, map(min, self.within, data.shape)))
        self.out = np.empty(self.count, data.dtype)
        for number in range(self.count):
            self.out[number] = data[tuple(number * stride % within for stride, within in pairs)]

    def total(self):
        return hash_of(self.out)

    def release(self):
        self.out = None


class Walk(Work):
    """`visititems`, with shape and dtype of each dataset."""

    def __init__(self, job):
        self.path = job["file"]

    def run(self):
        import h5py
        self.count = 0

        def look(_, obj):
            if isinstance(obj, h5py.Dataset):
                obj.shape, obj.dtype
            self.count += 1

        with h5py.File(self.path, "r") as f:
            f.visititems(look)

    def total(self):
        import h5py
        lines = []

        def look(name, obj):
            if isinstance(obj, h5py.Dataset):
                lines.append(f"/{name} {','.join(map(str, obj.shape))} {obj.dtype.itemsize}\n")
            else:
                lines.append(f"/{name}\n")

        with h5py.File(self.path, "r") as f:
            f.visititems(look)
        assert len(lines) == self.count
        return blake3("".join(sorted(lines)).encode()).hexdigest()


class Datasets(Work):
    """Reads the datasets `data_0` to `data_3` in one thread each, into separate arrays."""

    def __init__(self, job):
        import h5py
        self.file = h5py.File(job["file"], "r")
        self.data = [self.file[f"data_{index}"] for index in range(4)]
        self.out = [np.empty(data.shape, data.dtype) for data in self.data]
        for out in self.out:
            out.view("u1").fill(1)
        self.threads = int(job["threads"])

    def output_bytes(self):
        return sum(out.nbytes for out in self.out)

    def run(self):
        def read(thread):
            for index in range(thread, 4, self.threads):
                self.data[index].read_direct(self.out[index])

        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(read, range(self.threads)))

    def total(self):
        total = blake3()
        for out in self.out:
            total.update(memoryview(out).cast("B"))
        return total.hexdigest()


def begin(library, name, job):
    if name == "strings":
        return Strings(job, library)
    jobs = {
        "h5py": {"array": H5pyArray, "index": Index, "elements": Elements, "walk": Walk,
                 "datasets": Datasets},
        "netCDF4": {"array": NetcdfArray},
    }
    if name not in jobs[library]:
        raise Cannot("is not asked to")
    return jobs[library][name](job)


serve(begin)
