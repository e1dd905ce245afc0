"""One side of a comparison: converts a file repeatedly, on commands from standard input.

    side.py hyperslab|gdal|cp|xarray JOB KEY=VALUE...

Jobs: `convert`, and `sparse`, of which only some rows are checked. Keys: `program` that is started, `source`, `into`,
`options` of the program, for xarray `chunks=NAME:SIZE,...` into which it rechunks and `codec=zstd|blosc`. Each run is a separate process,
except for xarray, which is imported beforehand. The output is removed after each run.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "side", "python"))

from bench_program import Program, Written
from bench_side import serve


def content(job, kind, reader):
    """The words of the script that reads what is written. `reader` is the library that it uses."""
    written = [reader, job["into"]] if kind == "convert" else ["rows", job["into"], job["source"]]
    return [os.path.join(HERE, "content.py"), *written]


def program(side, job, kind):
    source, into, options = job["source"], job["into"], job.get("options", "").split()
    words = {
        "hyperslab": [job["program"], "convert", source, into, *options],
        "gdal": [job["program"], *options, source, into],
        "cp": [job["program"], *options, source, into],
    }[side]
    reader = content(job, kind, "h5py" if side == "cp" else "zarr")
    return Program(words, into, reader, {"GDAL_NUM_THREADS": job["threads"]})


class Xarray(Written):
    """`open_dataset`, with dask's threads, and `to_zarr`."""

    def __init__(self, job, kind):
        super().__init__(job["into"], content(job, kind, "tensorstore"))
        self.source = job["source"]
        import dask
        import xarray
        import zarr
        dask.config.set(scheduler="threads", num_workers=int(job["threads"]))
        zarr.config.set({"threading.max_workers": int(job["threads"])})
        self.xarray = xarray
        self.compressor = {
            "zstd": zarr.codecs.ZstdCodec(level=3, checksum=False),
            "blosc": zarr.codecs.BloscCodec(cname="zlib", clevel=4, shuffle="shuffle", typesize=4),
        }[job.get("codec", "zstd")]
        pairs = (pair.split(":") for pair in job.get("chunks", "").split(",") if pair)
        self.chunks = {name: int(size) for name, size in pairs}

    def run(self):
        with self.xarray.open_dataset(self.source, chunks={}, decode_times=False) as dataset:
            if self.chunks:
                dataset = dataset.chunk(self.chunks)
            encoding = {name: {"compressors": self.compressor} for name in dataset.variables}
            dataset.to_zarr(self.into, mode="w", zarr_format=3, encoding=encoding)


def begin(side, kind, job):
    return Xarray(job, kind) if side == "xarray" else program(side, job, kind)


serve(begin)
