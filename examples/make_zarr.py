"""Writes the Zarr example stores beside this script.

    python examples/make_zarr.py [DIRECTORY] [NAME…]

Needs zarr >= 3.1 and numpy. The content is invented and follows formulas; a second run writes the same bytes.
Forms that zarr-python does not write are written by hand.
"""

import json
import os
import shutil
import sys
import warnings
import zipfile

import numcodecs
import numpy as np
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, TransposeCodec, ZstdCodec

warnings.filterwarnings("ignore")


def tides(path):
    """Version 3: two days of two gauges, with coordinates, shards, JSON attributes and a struct."""
    root = zarr.create_group(path, zarr_format=3, attributes={
        "title": "Tide gauges, hourly", "institution": "Institute of Invented Oceanography", "revision": 3,
        "datum_m": 0.25, "checked": True, "bounds": [[57.75, 8.0], [58.25, 9.75]], "days": [2, 3],
        "processing": [{"step": "despike", "window": 5}, {"step": "average", "weights": None}], "licence": None})
    hours = np.arange(48)
    time = root.create_array("time", shape=(48,), chunks=(48,), dtype="int64", dimension_names=["time"],
                             compressors=None, attributes={"units": "hours since 2024-03-02", "axis": "T"})
    time[:] = hours
    station = root.create_array("station", shape=(2,), chunks=(2,), dtype=str, dimension_names=["station"],
                                compressors=[ZstdCodec(level=5)], fill_value="")
    station[:] = np.array(["Hirtshals", "Tregde, \"øst\""], dtype=object)
    level = root.create_array("level", shape=(48, 2), chunks=(24, 1), shards=(48, 2), dtype="int16",
                              dimension_names=["time", "station"], fill_value=-32768,
                              compressors=[ZstdCodec(level=3), Crc32cCodec()],
                              attributes={"units": "m", "scale_factor": 0.01, "long_name": "water level"})
    level[:40] = np.round(60 * np.cos(hours[:40, None] * 0.506 + np.array([0, 1.5]))).astype("i2")
    received = root.create_array("received", shape=(2,), chunks=(2,), dtype="datetime64[s]", compressors=None,
                                 dimension_names=["station"], fill_value=np.datetime64("NaT", "s"))
    received[:1] = np.array(["2024-03-04T06:00:00"], dtype="datetime64[s]")
    flag = root.create_array("flag", shape=(48, 2, 3), chunks=(48, 2, 3), dtype="uint8", compressors=[
        BloscCodec(cname="lz4", clevel=5, shuffle="noshuffle", typesize=1)], filters=[TransposeCodec(order=(2, 0, 1))],
        dimension_names=["time", "station", None])
    flag[:] = (np.indices((48, 2, 3)).sum(0) % 4).astype("u1")
    root.create_array("unread", shape=(4, 5), chunks=(64, 64), dtype="float32", fill_value=np.nan, compressors=None,
                      dimension_names=["lag", "x"], chunk_key_encoding={"name": "v2", "separator": "."})

    harmonics = root.create_group("harmonics", attributes={"speed_units": "degrees per hour"})
    phasor = harmonics.create_array("phasor", shape=(2, 3), chunks=(1, 3), dtype="complex64",
                                    dimension_names=["station", "constituent"], compressors=None,
                                    serializer=BytesCodec(endian="big"))
    phasor[:] = np.array([[1 + 2j, -0.5j, 3], [0.25, 1j, -1 - 1j]], dtype="c8")
    by_hand(path, "harmonics/constituent", "zarr.json", {
        "shape": [3], "data_type": {"name": "struct", "configuration": {"fields": [
            {"name": "name", "data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}}},
            {"name": "speed", "data_type": "float64"},
            {"name": "order", "data_type": "uint8"}]}},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
        "fill_value": {"name": "", "speed": "NaN", "order": 0}, "dimension_names": ["constituent"],
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]},
        {"c/0": np.array([("M2", 28.984104, 2), ("S2", 30, 2), ("μ2", 27.968208, 2)],
                         dtype=[("name", "<U3"), ("speed", "<f8"), ("order", "u1")]).tobytes()})
    by_hand(path, "harmonics/residual", "zarr.json", {
        "shape": [2, 6], "data_type": "float32",
        "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [1, [[1, 2], 4]]}},
        "fill_value": 0.0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
                                      {"name": "numcodecs.mystery", "configuration": {"depth": 2}}]}, {})


def floats(path):
    """Version 2, consolidated: names of dimensions as xarray keeps them, filters, padding, orders of bytes."""
    root = zarr.create_group(path, zarr_format=2, attributes={"title": "Drifting floats", "count": 9007199254740993})

    def array(name, dims, data, chunks, **options):
        made = root.create_array(name, shape=data.shape, chunks=chunks, dtype=data.dtype, **options)
        made.attrs["_ARRAY_DIMENSIONS"] = dims
        if data.size:
            made[...] = data
        return made

    array("depth", ["depth"], np.array([0, 10, 25, 60], ">f4"), (4,), compressors=None, fill_value=None)
    names = array("name", ["drifter"], np.array(["Ada", "Åse", "Bo"], "<U4"), (2,), compressors={"id": "zlib", "level": 1})
    names.attrs["comment"] = "given at launch"
    temperature = (8 + np.indices((3, 4)).sum(0) / 4).astype("<f8")
    array("temperature", ["drifter", "depth"], temperature, (2, 4), order="F", fill_value=-999.0,
          compressors={"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 1, "blocksize": 0},
          chunk_key_encoding={"name": "v2", "separator": "/"})
    array("cycle", ["profile"], (np.arange(10) ** 2).astype("<i4"), (5,), compressors={"id": "bz2", "level": 1},
          filters=[numcodecs.Delta(dtype="<i4")])
    array("short", ["profile"], np.arange(4, dtype="u1"), (4,), compressors=None)
    zarr.consolidate_metadata(path, zarr_format=2)
    position = np.dtype([("lat", "<f4"), ("lon", ">f4"), ("", "|V1"), ("fix", "|S3"), ("drift", "<i2", (2,))])
    rows = np.array([(57.5, 8.25, b"", b"GPS", (1, -2)), (58, 8.5, b"", b"", (0, 3))], dtype=position)
    metadata = {
        "zarr_format": 2, "shape": [2], "chunks": [2], "compressor": None, "filters": None, "order": "C",
        "dtype": [["lat", "<f4"], ["lon", ">f4"], ["", "|V1"], ["fix", "|S3"], ["drift", "<i2", [2]]],
        "fill_value": None}
    by_hand(path, "position", ".zarray", metadata, {"0": rows.tobytes()})
    with open(os.path.join(path, ".zmetadata"), "r+") as out:
        copies = json.load(out)
        copies["metadata"]["position/.zarray"] = metadata
        out.seek(0)
        json.dump(copies, out, indent=2)


def single(path):
    """A zip file with one array that is itself the store."""
    store = zarr.storage.ZipStore(path, mode="w")
    made = zarr.create_array(store, shape=(3, 4), chunks=(2, 2), dtype="uint16", fill_value=7, zarr_format=3,
                             compressors=[ZstdCodec(level=1)], attributes={"units": "counts"})
    made[:2] = np.arange(8).reshape(2, 4)
    store.close()
    # The same entries without the time of their making.
    with zipfile.ZipFile(path) as old:
        entries = {}
        for entry in old.infolist():
            entries[entry.filename] = old.read(entry)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as new:
        for name in sorted(entries):
            new.writestr(zipfile.ZipInfo(name), entries[name])


def by_hand(store, path, name, metadata, chunks):
    """An array as its document and chunks."""
    folder = os.path.join(store, path)
    os.makedirs(folder)
    if name == "zarr.json":
        metadata = {"zarr_format": 3, "node_type": "array", **metadata,
                    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}}
    with open(os.path.join(folder, name), "w") as out:
        json.dump(metadata, out, indent=2, ensure_ascii=False)
    for key, stored in chunks.items():
        os.makedirs(os.path.dirname(os.path.join(folder, key)), exist_ok=True)
        with open(os.path.join(folder, key), "wb") as out:
            out.write(stored)


STORES = {"tides.zarr": tides, "floats.zarr": floats, "single.zarr.zip": single}

if __name__ == "__main__":
    words = sys.argv[1:]
    directory = words.pop(0) if words and words[0] not in STORES else os.path.dirname(os.path.abspath(__file__))
    for name in words or STORES:
        path = os.path.join(directory, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)
        STORES[name](path)
