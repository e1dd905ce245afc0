"""The data that benches read and write."""

import h5py
import numpy as np


def field(planes, rows, columns, seed):
    """Smooth fields with noise, rounded to 0.01 as measurements are."""
    y, x = np.mgrid[0:rows, 0:columns].astype("f4")
    out = np.empty((planes, rows, columns), "f4")
    for plane in range(planes):
        random = np.random.Generator(np.random.PCG64([seed, plane]))
        wave = 15 + 12 * np.sin(x / 160 + plane / 9) * np.cos(y / 120)
        noise = random.standard_normal((rows, columns), dtype="f4")
        out[plane] = np.round(wave + np.float32(0.05) * noise, 2)
    return out


def sparse(chunks):
    """Makes a file with 20 GB of elements, most of which are not written."""
    def make(path, scale):
        rows, columns = 2500 // scale, 1_000_000
        with h5py.File(path, "w", libver="latest") as f:
            dataset = f.create_dataset("data", (rows, columns), "f8", chunks=chunks)
            for row in range(0, rows, max(1, rows // 8)):
                dataset[row] = np.random.Generator(np.random.PCG64([4, row])).standard_normal(columns)
    return make


def places(dataset, path):
    """The places of the stored bytes of a dataset, in the order of its chunks."""
    if dataset.chunks is None:
        found = [(dataset.id.get_offset(), dataset.nbytes)]
    else:
        chunks = []
        dataset.id.chunk_iter(chunks.append)
        found = [(chunk.byte_offset, chunk.size) for chunk in sorted(chunks, key=lambda chunk: chunk.chunk_offset)]
    with open(path + ".places", "w") as f:
        f.writelines(f"{address} {size}\n" for address, size in found)
