"""One side of a comparison: repeats a job on commands from standard input.

    side.py zarr|zarrs|tensorstore JOB KEY=VALUE...

Jobs, keys and answers are those of `bench-zarr`, the program beside this one. `zarrs` is zarr-python with the
codecs of zarrs.
"""

import os
import shutil
import sys

import numpy as np
from blake3 import blake3

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "side", "python"))

from bench_side import Cannot, Work, hash_of, serve


class ZarrPython:
    def __init__(self, threads):
        import zarr
        self.zarr = zarr
        zarr.config.set({"threading.max_workers": threads})

    def open(self, store):
        return self.zarr.open_group(store, mode="r+", use_consolidated=False)["data"]

    def read(self, array):
        return array[...]

    def write(self, array, elements):
        array[...] = elements


class Zarrs(ZarrPython):
    def __init__(self, threads):
        super().__init__(threads)
        import zarrs
        self.zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})


class Tensorstore:
    def __init__(self, threads):
        import tensorstore
        self.tensorstore = tensorstore
        self.context = tensorstore.Context({
            "data_copy_concurrency": {"limit": threads},
            "file_io_concurrency": {"limit": threads},
            "file_io_sync": False,
        })

    def open(self, store):
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": os.path.join(store, "data") + "/"}}
        return self.tensorstore.open(spec, context=self.context, open=True).result()

    def read(self, array):
        return array.read().result()

    def write(self, array, elements):
        array.write(elements).result()


SIDES = {"zarr": ZarrPython, "zarrs": Zarrs, "tensorstore": Tensorstore}


class Read(Work):
    def __init__(self, side, job):
        self.side = side
        self.array = side.open(job["file"])
        self.out = None
        self.len = 0

    def output_bytes(self):
        return self.len

    def run(self):
        self.out = self.side.read(self.array)

    def total(self):
        return hash_of(self.out)

    def release(self):
        self.len = self.out.nbytes
        self.out = None


class Write(Work):
    """Writes all elements from memory to a new store with the metadata documents of a template."""

    def __init__(self, side, job):
        self.side, self.template, self.into = side, job["file"], job["into"]
        self.elements = np.fromfile(job["source"], "<f4").reshape([int(n) for n in job["shape"].split(",")])

    def prepare(self):
        self.release()
        os.makedirs(os.path.join(self.into, "data"))
        for document in ("zarr.json", "data/zarr.json"):
            shutil.copyfile(os.path.join(self.template, document), os.path.join(self.into, document))
        self.array = self.side.open(self.into)

    def output_bytes(self):
        return self.elements.nbytes

    def stored_bytes(self):
        return sum(os.path.getsize(os.path.join(folder, name))
                   for folder, _, names in os.walk(self.into) for name in names)

    def run(self):
        self.side.write(self.array, self.elements)

    def total(self):
        # The store is read by a different library from the one that wrote it.
        other = SIDES["zarr" if isinstance(self.side, Tensorstore) else "tensorstore"](2)
        return hash_of(other.read(other.open(self.into)))

    def release(self):
        shutil.rmtree(self.into, ignore_errors=True)


class Walk(Work):
    """`members`, with shape and dtype of each array."""

    def __init__(self, side, job):
        if not isinstance(side, ZarrPython):
            raise Cannot("knows no groups")
        self.zarr, self.path = side.zarr, job["file"]
        self.consolidated = None if job["consolidated"] == "yes" else False

    def nodes(self):
        group = self.zarr.open_group(self.path, mode="r", use_consolidated=self.consolidated)
        for name, node in group.members(max_depth=None):
            yield f"/{name}", (node.shape, node.dtype) if isinstance(node, self.zarr.Array) else None

    def run(self):
        self.count = sum(1 for _ in self.nodes())

    def total(self):
        lines = [f"{path} {','.join(map(str, array[0]))} {array[1].itemsize}\n" if array else f"{path}\n"
                 for path, array in self.nodes()]
        assert len(lines) == self.count
        return blake3("".join(sorted(lines)).encode()).hexdigest()


def begin(name, kind, job):
    return {"array": Read, "write": Write, "walk": Walk}[kind](SIDES[name](int(job["threads"])), job)


serve(begin)
