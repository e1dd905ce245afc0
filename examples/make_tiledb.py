"""Makes the TileDB example, `survey.tdb`: a group of a dense and a sparse array, written at two times.

    python3 make_tiledb.py

Needs tiledb (see xtask/oracles/requirements.txt). Names of fragments have random digits, so that each run makes other files with the
same content.
"""

import os
import shutil

import numpy
import tiledb

HERE = os.path.dirname(os.path.abspath(__file__))
SURVEY = os.path.join(HERE, "survey.tdb")
# 2026-03-01 06:00 and 2026-03-08 06:00, in milliseconds since 1970.
FIRST, SECOND = 1_772_344_800_000, 1_772_949_600_000


def at(uri, time, mode="w"):
    return tiledb.open(uri, mode, timestamp=time)


def temperature(uri):
    """Dense: two attributes, of which one can be null; the second fragment covers part of the first."""
    zstd = tiledb.FilterList([tiledb.ByteShuffleFilter(), tiledb.ZstdFilter(level=3)])
    domain = tiledb.Domain(
        tiledb.Dim("y", domain=(10, 13), tile=2, dtype=numpy.int32),
        tiledb.Dim("x", domain=(0, 5), tile=3, dtype=numpy.int32),
    )
    attributes = [
        tiledb.Attr("celsius", dtype=numpy.float32, filters=zstd),
        tiledb.Attr("quality", dtype=numpy.uint8, nullable=True),
    ]
    tiledb.Array.create(uri, tiledb.ArraySchema(domain=domain, attrs=attributes))
    celsius = (numpy.arange(24, dtype=numpy.float32) / 4 + 5).reshape(4, 6)
    quality = numpy.arange(24, dtype=numpy.uint8).reshape(4, 6) % 4
    valid = (numpy.arange(24).reshape(4, 6) % 5 > 0).astype(numpy.uint8)
    with at(uri, FIRST) as array:
        array[:] = {"celsius": celsius, "quality": numpy.ma.array(quality, mask=valid == 0)}
        array.meta["__tiledb_attr.celsius.units"] = "degree_Celsius"
        array.meta["title"] = "Water temperature"
    with at(uri, SECOND) as array:
        array[12:14, 2:4] = {
            "celsius": numpy.full((2, 2), 20, numpy.float32),
            "quality": numpy.ma.array(numpy.zeros((2, 2), numpy.uint8), mask=numpy.zeros((2, 2), bool)),
        }


def sightings(uri):
    """Sparse: coordinates of two types, an enumeration, and a delete."""
    domain = tiledb.Domain(
        tiledb.Dim("station", domain=(None, None), dtype="ascii"),
        tiledb.Dim("day", domain=(0, 365), tile=30, dtype=numpy.uint16),
    )
    attributes = [
        tiledb.Attr("species", dtype=numpy.int8, enum_label="species"),
        tiledb.Attr("count", dtype=numpy.int32),
    ]
    species = tiledb.Enumeration("species", False, ["seal", "porpoise", "gannet"])
    schema = tiledb.ArraySchema(domain=domain, attrs=attributes, sparse=True, capacity=4, enums=[species])
    tiledb.Array.create(uri, schema)
    with at(uri, FIRST) as array:
        stations = ["oslo", "oslo", "bergen", "bergen", "tromso", "bodo"]
        array[stations, numpy.array([3, 40, 3, 41, 9, 9], numpy.uint16)] = {
            "species": numpy.array([0, 1, 0, 2, 2, 1], numpy.int8),
            "count": numpy.array([4, 1, 2, 60, 35, 3], numpy.int32),
        }
    with at(uri, SECOND) as array:
        array[["oslo", "bodo"], numpy.array([3, 70], numpy.uint16)] = {
            "species": numpy.array([0, 0], numpy.int8),
            "count": numpy.array([5, 1], numpy.int32),
        }
    with at(uri, SECOND + 1, "d") as array:
        array.query(cond="count < 2").submit()


def main():
    shutil.rmtree(SURVEY, ignore_errors=True)
    tiledb.Group.create(SURVEY)
    temperature(os.path.join(SURVEY, "temperature"))
    sightings(os.path.join(SURVEY, "sightings"))
    config = tiledb.Config({"sm.group.timestamp_end": str(FIRST)})
    with tiledb.Group(SURVEY, "w", config) as group:
        group.add("temperature", "temperature", relative=True)
        group.add("sightings", "sightings", relative=True)
        group.meta["title"] = "Spring survey"


if __name__ == "__main__":
    main()
