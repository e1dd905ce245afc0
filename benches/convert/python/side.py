"""One side of a comparison: converts a file repeatedly, on commands from standard input.

    side.py hyperslab|gdal|cp|xarray JOB KEY=VALUE...

Jobs: `convert`, and `sparse`, of which only some rows are checked. Keys: `program` that is started, `source`, `into`,
`options` of the program, for xarray `chunks=NAME:SIZE,...` into which it rechunks and `codec=zstd|blosc`. Each run is a process of its own
but for xarray, which is imported before. What is written is removed after each run.
"""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "side", "python"))

from bench_side import Cannot, Work, serve


class Converted(Work):
    """A conversion that is written again in each run. `reader` is the library that reads the result."""

    def __init__(self, job, kind, reader):
        self.job, self.into = job, job["into"]
        self.content = [reader, self.into] if kind == "convert" else ["rows", self.into, job["source"]]

    def prepare(self):
        os.makedirs(os.path.dirname(self.into), exist_ok=True)
        self.release()

    def stored_bytes(self):
        if os.path.isfile(self.into):
            return os.path.getsize(self.into)
        return sum(os.path.getsize(os.path.join(folder, name))
                   for folder, _, names in os.walk(self.into) for name in names)

    def total(self):
        script = [sys.executable, os.path.join(HERE, "content.py"), *self.content]
        done = subprocess.run(script, capture_output=True, text=True)
        if done.returncode:
            raise Cannot(f"what is written cannot be read: {last_line(done.stderr)}")
        return done.stdout.strip()

    def release(self):
        if os.path.isdir(self.into):
            shutil.rmtree(self.into)
        elif os.path.exists(self.into):
            os.remove(self.into)


class Program(Converted):
    def __init__(self, side, job, kind):
        super().__init__(job, kind, "h5py" if side == "cp" else "zarr")
        source, into, options = job["source"], self.into, job.get("options", "").split()
        self.words = {
            "hyperslab": [job["program"], "convert", source, into, *options],
            "gdal": [job["program"], *options, source, into],
            "cp": [job["program"], *options, source, into],
        }[side]
        self.env = os.environ | {"GDAL_NUM_THREADS": job["threads"]}
        if not shutil.which(job["program"]):
            raise Cannot(f"{job['program']} is not installed")

    def run(self):
        with tempfile.TemporaryFile("w+") as said:
            child = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=self.env)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode:
                said.seek(0)
                raise Cannot(last_line(said.read()) or f"ends with {child.returncode}")
        self.taken = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024

    def of_another(self):
        return self.taken


class Xarray(Converted):
    """`open_dataset`, with dask's threads, and `to_zarr`."""

    def __init__(self, job, kind):
        super().__init__(job, kind, "tensorstore")
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
        with self.xarray.open_dataset(self.job["source"], chunks={}, decode_times=False) as dataset:
            if self.chunks:
                dataset = dataset.chunk(self.chunks)
            encoding = {name: {"compressors": self.compressor} for name in dataset.variables}
            dataset.to_zarr(self.into, mode="w", zarr_format=3, encoding=encoding)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def begin(side, kind, job):
    return Xarray(job, kind) if side == "xarray" else Program(side, job, kind)


serve(begin)
