"""Reads our Zarr stores with other Zarr readers: every element must be equal.

    zarr_written.py DIRECTORY [ZARRS]

DIRECTORY is the output of `cargo run -p hyperslab-zarr --example matrix`. ZARRS is the program of `benches/oracle`. If a
reader cannot read a cell, the table below must give the reason. All elements that it reads must be equal.
"""

import collections
import json
import multiprocessing.pool
import os
import shutil
import subprocess
import sys
import warnings

import ml_dtypes
import netCDF4
import numpy as np
import tensorstore
import zarr

from tally import Tally

warnings.simplefilter("ignore")


class Cell:
    def __init__(self, folder, line):
        vars(self).update(json.loads(line))
        self.folder = folder
        self.path = os.path.join(folder, self.store)
        self.name = f"v{self.version} {self.type} {self.codec} {self.grid}"

    def expected(self):
        with open(os.path.join(self.folder, self.values), "rb") as f:
            return self.elements(f.read())

    def elements(self, data):
        """The elements in these bytes; strings as a list."""
        if self.numpy in ("string", "bytes"):
            texts, at = [], 0
            while at < len(data):
                end = at + 4 + int.from_bytes(data[at:at + 4], "little")
                texts.append(data[at + 4:end].decode() if self.numpy == "string" else data[at + 4:end])
                at = end
            return texts
        return np.frombuffer(data, dtype_of(self.numpy)).reshape(self.shape)


def dtype_of(text):
    if text.startswith("["):
        return np.dtype(eval(text, {}))
    return np.dtype(getattr(ml_dtypes, text, text))


def same(found, expected):
    if isinstance(found, list):
        return found == expected
    if isinstance(expected, list):
        plain = [bytes(item) if isinstance(item, (bytes, np.bytes_)) else str(item) for item in found.reshape(-1)]
        return plain == expected
    if found.shape == expected.shape + (expected.dtype.itemsize,) and found.dtype.itemsize == 1:
        # Bytes are an additional dimension.
        return found.tobytes() == expected.tobytes()
    if found.shape != expected.shape:
        return False
    if found.dtype != expected.dtype:
        found = found.astype(expected.dtype)
    return np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(expected).tobytes()


def by_zarr(cell):
    store = zarr.storage.ZipStore(cell.path, mode="r") if cell.grid == "zip" else cell.path
    group = zarr.open_group(store, mode="r")
    assert group.metadata.consolidated_metadata is not None, "no consolidated metadata"
    return np.asarray(group["data"][...])


def by_tensorstore(cell):
    kvstore = {"driver": "file", "path": os.path.join(cell.path, "data") + "/"}
    if cell.grid == "zip":
        kvstore = {"driver": "zip", "base": {"driver": "file", "path": cell.path}, "path": "data/"}
    spec = {"driver": "zarr" if cell.version == 2 else "zarr3", "kvstore": kvstore}
    if cell.type.startswith("struct"):
        # Fields are read one by one.
        dtype = dtype_of(cell.numpy)
        found = np.zeros(cell.shape, dtype)
        for field in dtype.names:
            found[field] = tensorstore.open(spec | {"field": field}).result().read().result()
        return found
    return np.asarray(tensorstore.open(spec).result().read().result())


def by_netcdf(cell):
    with netCDF4.Dataset(f"file://{cell.path}#mode=zarr,file") as dataset:
        dataset.set_auto_maskandscale(False)
        dataset.set_auto_chartostring(False)
        return np.asarray(dataset["data"][...])


def by_zarrs(cell):
    done = subprocess.run([sys.argv[2], cell.path], capture_output=True, timeout=60)
    if done.returncode != 0:
        raise OSError(done.stderr.decode(errors="replace").strip())
    return cell.elements(done.stdout)


def by_gdal(cell):
    command = ["gdalmdiminfo", "-detailed", "-array", "data", cell.path]
    done = subprocess.run(command, capture_output=True, timeout=60)
    if done.returncode != 0 or done.stderr:
        raise OSError(done.stderr.decode(errors="replace").strip() or "no message")
    output = json.loads(done.stdout)
    dtype = dtype_of(cell.numpy)
    if cell.numpy in ("string", "bytes"):
        return np.array(output["values"], object)
    count = int(np.prod(cell.shape))
    flat = list(leaves(output["values"] if count else [], len(cell.shape)))
    return np.array([from_gdal(value, dtype) for value in flat], dtype).reshape(cell.shape)


def leaves(values, depth):
    if depth == 0:
        yield values
        return
    for item in values:
        yield from leaves(item, depth - 1)


def from_gdal(value, dtype):
    if dtype.names:
        return tuple(from_gdal(value[name], dtype[name]) for name in dtype.names)
    if isinstance(value, dict):
        return complex(value["real"], value["imag"])
    return value


READERS = {"zarr-python": by_zarr, "tensorstore": by_tensorstore, "zarrs": by_zarrs, "netCDF-C": by_netcdf,
           "GDAL": by_gdal}


def asked(reader, cell):
    """Whether a reader reads a cell. NetCDF-C and GDAL read only folders of version 2, and GDAL only some cells, because
    it starts slowly. For zip files, zarrs needs another crate."""
    if reader == "zarrs":
        return cell.grid != "zip"
    if reader in ("zarr-python", "tensorstore"):
        return True
    return cell.version == 2 and cell.grid != "zip" and (reader == "netCDF-C" or cell.codec == "default" or cell.grid == "chunks")


def is_type(*names):
    return lambda cell: cell.type in names


def is_codec(*names):
    return lambda cell: cell.codec in names


def is_grid(*names):
    return lambda cell: cell.grid in names


def any_cell(cell):
    return True


STRUCTS = ("struct", "struct-nested", "struct-utf32", "struct-seed", "struct-legacy")
FORMS = ("struct", "struct-nested", "struct-utf32")

NUMBERS = ("bool", "float16", "complex64", "complex128", "raw", "fixed_length_utf32", "datetime64", "timedelta64")
NO_FILTERS = ("adler32", "crc32", "crc32c", "delta-zstd", "gzip", "lookup3", "lz4", "pcodec", "zstd-crc32c")
OTHER = "reads other elements"

# Reader, cells, a part of the error message, and why the error is not ours. The first matching row is counted.
REASONS = [
    ("zarr-python", is_type(*FORMS), "No Zarr data type found", "no struct as registered before zarr-python 3.2"),
    ("zarr-python", is_type("struct-seed"), "Invalid data_type", "no struct as the draft of 2022 has it"),
    ("zarr-python", is_type("raw"), "No Zarr data type found", "no r<bits>, only a name that is not registered"),
    ("zarr-python", is_type("bfloat16", "float8_e4m3fnuz", "float8_e5m2", "int4"), "No Zarr data type found",
     "no numbers that NumPy does not have"),
    ("zarr-python", lambda cell: cell.type == "struct-legacy" and cell.grid == "big-endian", OTHER,
     "zarr-python 3.1 takes big-endian structs for little-endian"),
    ("zarr-python", lambda cell: cell.type == "struct-legacy" and cell.grid == "shards", "unhashable",
     "zarr-python 3.1 has no shards of structs"),
    ("zarr-python", is_type("struct-nested"), "No Zarr data type found", "no structs within structs of version 2"),
    ("zarr-python", is_grid("rectilinear"), "Unknown chunk grid", "no rectilinear grids"),
    ("tensorstore", lambda cell: cell.version == 2, "filters are not supported", "no filters of version 2"),
    ("tensorstore", lambda cell: cell.version == 2, "Unsupported zarr dtype", "no times and no UTF-32"),
    ("tensorstore", is_type("struct-nested"), "Expected string, but received", "no structs within structs"),
    ("tensorstore", is_type("struct-nested", "struct-utf32"), "not supported by TensorStore",
     "no structs within structs, no fields with a configuration"),
    ("tensorstore", is_type("struct-seed"), "data type is not one of", "no types of NumPy in the draft of 2022"),
    ("tensorstore", is_type("raw"), "Expected base64-encoded", "fill values of r<bits> in base64, against the specification"),
    ("tensorstore", is_type("string", "bytes", "null_terminated_bytes", "fixed_length_utf32", "datetime64", "timedelta64"),
     "data type is not one of", "no strings, bytes and times in version 3"),
    ("tensorstore", is_type("raw", "null_terminated_bytes"), OTHER, "bytes of version 2 that NumPy does not get"),
    ("tensorstore", is_codec("zstd-checksum"), 'extra members: "checksum"', "no checksums of zstd in version 2"),
    ("tensorstore", is_codec("lz4", "pcodec"), "is not registered", "no codec of that name"),
    ("tensorstore", any_cell, '"numcodecs.', "no codec of that name"),
    ("tensorstore", is_grid("rectilinear"), 'Expected "regular"', "no rectilinear grids"),
    ("zarrs", is_type(*STRUCTS), "did not match any variant", "no structs of version 2"),
    ("zarrs", is_type(*FORMS, "struct-legacy"), "is not supported", "no structs"),
    ("zarrs", is_type("struct-seed"), 'Expected metadata "<name>"', "no types of NumPy in the draft of 2022"),
    ("zarrs", is_type("null_terminated_bytes"), "is not supported", "no bytes that zeros end"),
    ("zarrs", lambda cell: cell.version == 2 and cell.type in ("datetime64", "timedelta64"), "is not supported",
     "no times of version 2"),
    ("zarrs", is_type("float8_e4m3fnuz", "float8_e5m2"), "invalid fill value", "no numbers as fill values of fp8"),
    ("zarrs", lambda cell: cell.version == 2 and cell.type == "bytes", OTHER,
     "fill values in base64 are taken as they are"),
    ("zarrs", lambda cell: cell.grid == "rotated" and cell.type in ("string", "bytes"), "out-of-bounds",
     "strings of any length are not put in their order again"),
    ("zarrs", is_codec("fletcher32"), "the checksum is invalid", "other sums of an odd number of bytes"),
    ("zarrs", is_codec("crc32", "crc32c", "delta-zstd", "lookup3", "lz4", "pcodec", "zstd-crc32c"), "is not supported",
     "no codec of that name"),
    ("netCDF-C", is_type(*STRUCTS), "NCZarr error", "no structs"),
    ("netCDF-C", is_type("string", "bytes"), "NCZarr error", "no strings of any length"),
    ("netCDF-C", is_type(*NUMBERS), "NCZarr error", "no such type"),
    ("netCDF-C", is_grid("reversed"), OTHER, "elements of order F are taken for order C"),
    ("netCDF-C", is_grid("big-endian"), OTHER, "big-endian fill values are not turned round"),
    ("netCDF-C", is_type("null_terminated_bytes"), OTHER, "fill values in base64 are taken as they are"),
    ("netCDF-C", is_grid("scalar"), "data not found", "no scalars but its own"),
    ("netCDF-C", is_codec("zstd-checksum"), "", "no zstd with a checksum"),
    ("netCDF-C", is_codec(*NO_FILTERS), "undefined filter", "no codec of that name"),
    ("GDAL", any_cell, "unsupported format for dtype", "no strings of any length, no bytes, no times"),
    ("GDAL", is_type("complex64", "complex128"), "Invalid fill_value", "no fill values of complex numbers"),
    ("GDAL", is_grid("empty"), "Invalid content for shape", "no arrays without elements"),
    ("GDAL", any_cell, "not handled", "no codec of that name"),
]


def reason(reader, cell, error):
    for who, applies, text, why in REASONS:
        if who == reader and applies(cell) and text in error:
            return why
    return None


def compare(reader, cell):
    """The error of a reader; empty if it reads the right elements."""
    try:
        found = READERS[reader](cell)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if same(found, cell.expected()) else OTHER


def main():
    folder = sys.argv[1]
    with open(os.path.join(folder, "cells.jsonl"), encoding="utf-8") as f:
        cells = [Cell(folder, line) for line in f]
    tally = Tally()
    for what, count in sorted(collections.Counter(cell.refused for cell in cells if cell.refused).items()):
        print(f"refused, {count} cells: {what}")
    for reader in READERS:
        if reader == "GDAL" and not shutil.which("gdalmdiminfo"):
            tally.skip("GDAL is not installed: apt-get install gdal-bin")
            continue
        if reader == "zarrs" and len(sys.argv) < 3:
            # The build of this reader failed, which the caller counts.
            continue
        chosen = [cell for cell in cells if not cell.refused and asked(reader, cell)]
        with multiprocessing.pool.ThreadPool(2 if reader in ("GDAL", "zarrs") else 1) as pool:
            errors = pool.map(lambda cell: compare(reader, cell), chosen)
        reasons = collections.Counter()
        for cell, error in zip(chosen, errors):
            why = error and reason(reader, cell, error)
            reasons[why] += 1
            tally.check(not error or why, f"{reader}: {cell.name} ({cell.store})", [error[:300]])
        print(f"{reader}: {reasons.pop('', 0)} of {len(chosen)} cells")
        for why, count in sorted(reasons.items(), key=str):
            print(f"    not read, {count} cells: {why}")
    tally.close()


main()
