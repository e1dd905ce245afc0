"""Tests what must be kept or reported when TileDB arrays of tiledb-py are converted, joined and edited; tiledb-py reads the results.

    tiledb_kept.py HYPERSLAB
"""

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

import numpy as np
import tiledb
import zarr

from tally import Reasons, Tally

CASES = []


def case(function):
    CASES.append(function)
    return function


class Command:
    """The command, run in a separate folder."""

    def __init__(self, hyperslab, reasons):
        self.hyperslab, self.reasons = hyperslab, reasons

    def __call__(self, *words, status=0):
        done = subprocess.run([self.hyperslab, *words], capture_output=True, text=True)
        said = done.stdout + done.stderr
        self.reasons.equal(f"{' '.join(words)}: {said.strip()[:300]}: exit code", done.returncode, status)
        return said

    def expect(self, success, reason):
        self.reasons.expect(success, reason)

    def equal(self, what, found, expected):
        """Compares NumPy's values and types, and whether something is an array."""
        self.reasons.equal(what, described(found), described(expected))


def described(value):
    if isinstance(value, dict):
        return {key: described(own) for key, own in sorted(value.items())}
    if isinstance(value, np.ndarray):
        return f"array {value.dtype} {value.tolist()}"
    return value.tolist() if isinstance(value, np.generic) else value


def dense(path, dimension, values, filters=None, **options):
    attribute = tiledb.Attr("v", dtype=values.dtype, filters=filters)
    tiledb.Array.create(path, tiledb.ArraySchema(tiledb.Domain(dimension), [attribute], **options))
    with tiledb.open(path, "w") as array:
        array[:] = values


def domain(path, name=0):
    with tiledb.open(path) as array:
        return tuple(array.schema.domain.dim(name).domain)


def read(path, attribute="v"):
    with tiledb.open(path) as array:
        found = array[:]
        return found[attribute] if isinstance(found, dict) else found


def meta(path):
    opened = tiledb.Group(path) if tiledb.object_type(path) == "group" else tiledb.open(path)
    with opened as of:
        return {key: np.copy(own) if isinstance(own, np.ndarray) else own for key, own in of.meta.items() if key != "hyperslab"}


@case
def coordinates_of_a_part(run):
    """A part of a dimension begins where it was selected."""
    dense("a", tiledb.Dim("t", domain=(-5, 4), tile=5, dtype="i4"), np.arange(10.0))
    run("convert", "a", "part.tdb", "-s", "t=-3..0")
    run.equal("domain", domain("part.tdb"), (-3, 0))
    run.equal("values", read("part.tdb"), np.arange(2.0, 6.0))
    day = np.datetime64("2020-01-01", "D")
    dense("d", tiledb.Dim("t", domain=(day, day + 9), tile=np.timedelta64(5, "D"), dtype="M8[D]"), np.arange(10.0))
    run("convert", "d", "days.tdb", "-s", "t=2020-01-04..2020-01-07")
    run.equal("days", domain("days.tdb"), (day + 3, day + 6))
    said = run("convert", "a", "steps.tdb", "-s", "t=::2", status=2)
    run.expect("2 more than the one before" in said, f"steps: {said}")
    run.expect(not os.path.exists("steps.tdb"), "steps were written")


@case
def coordinates_of_joined_arrays(run):
    """Arrays that are joined have the coordinates of all."""
    day = np.datetime64("2020-01-01", "D")
    for name, first in (("p1", day), ("p2", day + 10), ("p3", day + 25)):
        dense(name, tiledb.Dim("t", domain=(first, first + 9), tile=np.timedelta64(5, "D"), dtype="M8[D]"), np.arange(10.0))
    run("concat", "p1", "p2", "p.tdb", "--along", "t")
    run.equal("domain", domain("p.tdb"), (day, day + 19))
    said = run("concat", "p1", "p3", "gap.tdb", "--along", "t", status=2)
    run.expect("16 more than the one before" in said, f"gap: {said}")


@case
def metadata_that_tiledb_reads(run):
    """Booleans and times are stored as tiledb-py reads them, and are restored with their types."""
    expected = {
        "yes": True, "both": [True, False], "one": [7], "table": [[1, 2], [3, 4]], "number": 1.5, "text": "a", "texts": ["a"],
    }
    group = zarr.open_group("b.zarr", mode="w")
    group.attrs.update(expected)
    array = group.create_array("a", data=np.arange(3.0))
    array.attrs.update(no=False, one=[5])
    run("convert", "b.zarr", "b.tdb")
    found = meta("b.tdb")
    run.equal("group", found, {
        "yes": 1, "both": np.array([True, False]), "one": np.array([7], "i4"), "table": np.array([[1, 2], [3, 4]], "i4"),
        "number": 1.5, "text": "a", "texts": '["a"]',
    })
    found = meta("b.tdb/a")
    run.equal("no", found["__tiledb_attr.a.no"], 0)
    run.equal("one", found["__tiledb_attr.a.one"], np.array([5], "i4"))
    run("convert", "b.tdb", "back.zarr")
    run.equal("attributes that returned", dict(zarr.open_group("back.zarr").attrs), expected)
    run.equal("those of the array", dict(zarr.open_group("back.zarr")["a"].attrs), {"no": False, "one": [5]})
    # A value that tiledb-py has changed no longer equals the record.
    with tiledb.Group("b.tdb", "w") as opened:
        opened.meta["yes"] = 0
        opened.meta["table"] = np.array([[5, 6]])
    run.equal("changed", run("show", "b.tdb:/@yes").split()[-1], "0")
    for value, of_numpy in (
        ("{shape: [], type: bool, value: true}", np.array(True)),
        ("{shape: [2], type: bool, value: [true, false]}", np.array([True, False])),
        ("{shape: [], type: {datetime: {unit: D}}, value: '2020-01-01'}", np.array("2020-01-01", "M8[D]")),
        ("{shape: [1], type: int8, value: [3]}", np.array([3], "i1")),
        ("5", 5),
    ):
        run("edit", "b.tdb", "--set", f"/@set={value}")
        run.equal(value, meta("b.tdb")["set"], of_numpy)


@case
def metadata_of_numpy(run):
    """NumPy arrays stay arrays from TileDB to TileDB."""
    expected = {
        "table": np.arange(4.0).reshape(2, 2), "one": np.array([7], "u1"), "flags": np.array([True, False]),
        "day": np.array(["2020-01-01"], "M8[D]"), "scalar": np.array(5, "m8[s]"), "none": np.zeros((2, 0)),
        "__tiledb_attr.v.one": np.array([7], "u1"), "numbers": (1, 2), "number": 3,
    }
    dense("a", tiledb.Dim("x", domain=(0, 3), tile=2, dtype="i4"), np.arange(4))
    with tiledb.open("a", "w") as array:
        array.meta.update(expected)
    run("convert", "a", "a.tdb")
    run.equal("metadata", meta("a.tdb"), expected)
    run("diff", "a", "a.tdb")


@case
def newest_schema(run):
    """The newest schema is the one whose name sorts last, whatever its time."""
    for created, times in ((None, [20]), (5, [20, 100]), (5, [9, 10]), (100, [20, 3])):
        path = f"s{created}-{times[0]}"
        x = tiledb.Dim("x", domain=(0, 9), tile=5, dtype="i4")
        tiledb.Array.create(path, tiledb.ArraySchema(tiledb.Domain(x), [tiledb.Attr("a", dtype="i4")], sparse=True))
        if created is not None:
            folder = os.path.join(path, "__schema")
            name = next(name for name in os.listdir(folder) if name != "__enumerations")
            os.rename(os.path.join(folder, name), os.path.join(folder, f"__{created}_{created}_{name.split('_')[-1]}"))
        for at in times:
            evolution = tiledb.ArraySchemaEvolution(tiledb.default_ctx())
            evolution.add_attribute(tiledb.Attr(f"t{at}", dtype="i4"))
            evolution.timestamp(at)
            evolution.array_evolve(path)
        for at in (None, 4, 5, 9, 15, 20, 50, 150):
            with tiledb.open(path, timestamp=at) as array:
                known = [array.attr(position).name for position in range(array.nattr)]
            words = [] if at is None else ["--at", str(at)]
            listed = run("ls", "--json", path, *words).splitlines()
            found = [name for name in (os.path.basename(json.loads(line)["path"]) for line in listed) if name not in ("", "x")]
            run.equal(f"{path} at {at}", sorted(found), sorted(known))
    # Maintenance keeps what the library sees.
    path = "sNone-20"
    for at in (30, 40):
        with tiledb.open(path, "w", timestamp=at) as array:
            array[[1, at // 10]] = {"a": np.array([at, at], "i4"), "t20": np.array([1, 2], "i4")}
    with tiledb.open(path) as array:
        before = array[:]
    run("edit", path, "--consolidate", "--vacuum")
    with tiledb.open(path) as array:
        run.equal("cells", array[:], before)


@case
def encryption_and_history(run):
    """Encrypted data is not silently written for everyone to read, and earlier writes are not silently dropped."""
    key = b"0123456789abcdeF0123456789abcdeF"
    with open("key", "wb") as file:
        file.write(key)
    context = tiledb.Ctx({"sm.encryption_type": "AES_256_GCM", "sm.encryption_key": key.decode()})
    x = tiledb.Dim("x", domain=(0, 3), tile=2, dtype="i4")
    schema = tiledb.ArraySchema(tiledb.Domain(x), [tiledb.Attr("v", dtype="i4")], ctx=context)
    tiledb.Array.create("secret", schema, ctx=context)
    with tiledb.open("secret", "w", ctx=context) as array:
        array[:] = np.arange(4, dtype="i4")
    for verb in ("convert", "repack"):
        said = run(verb, "secret", f"{verb}.tdb", "--key-file", "key", status=1)
        run.expect("lost encryption" in " ".join(said.split()), f"{verb}: {said}")
        run.expect(not os.path.exists(f"{verb}.tdb"), f"{verb} wrote what is not allowed")
        run(verb, "secret", f"{verb}.tdb", "--key-file", "key", "-O", "tiledb.key-file=key", "--verify")
        with tiledb.open(f"{verb}.tdb", ctx=context) as array:
            run.equal(f"{verb}: values", array[:]["v"] if isinstance(array[:], dict) else array[:], np.arange(4, dtype="i4"))
        run(verb, "secret", f"{verb}-plain.tdb", "--key-file", "key", "--allow-loss", "encryption")
        run.equal(f"{verb}: plain", read(f"{verb}-plain.tdb"), np.arange(4, dtype="i4"))
    dense("times", x, np.arange(4))
    run.expect("earlier" not in run("convert", "times", "one.tdb"), "history of one write")
    with tiledb.open("times", "w") as array:
        array[1:3] = np.array([7, 8])
    for target in ("two.tdb", "two.zarr"):
        said = run("convert", "times", target)
        run.expect("what was written earlier" in said, f"{target}: {said}")


@case
def enumerations_of_numbers(run):
    """The report states that other formats get the positions of numbers in an enumeration, and TileDB is restored unchanged."""
    x = tiledb.Dim("x", domain=(0, 2), tile=3, dtype="i4")
    numbers, halves = tiledb.Enumeration("numbers", False, [10, 20, 30]), tiledb.Enumeration("halves", True, [0.5, 2.5])
    attributes = [tiledb.Attr("n", dtype="i2", enum_label="numbers"), tiledb.Attr("h", dtype="u1", enum_label="halves")]
    tiledb.Array.create("codes", tiledb.ArraySchema(tiledb.Domain(x), attributes, enums=[numbers, halves]))
    with tiledb.open("codes", "w") as array:
        array[:] = {"n": np.array([0, 1, 2], "i2"), "h": np.array([1, 0, 1], "u1")}
    run("convert", "codes", "codes.tdb", "--verify")
    with tiledb.open("codes") as source, tiledb.open("codes.tdb") as copy:
        run.equal("TileDB", copy[:], dict(source[:]))
    for target in ("codes.h5", "codes.nc"):
        said = run("convert", "codes", target, "--verify")
        run.expect("numbers of an enumeration" in said, f"{target}: {said}")


@case
def sums_of_floats(run):
    """The library adds the cells of a tile in another order, and the last digits differ."""
    values = np.random.default_rng(1).random((37, 23)) * 10.0 ** np.arange(23)
    dimensions = [tiledb.Dim("y", domain=(0, 36), tile=37, dtype="i4"), tiledb.Dim("x", domain=(0, 22), tile=23, dtype="i4")]
    for order in ("row-major", "col-major"):
        schema = tiledb.ArraySchema(tiledb.Domain(*dimensions), [tiledb.Attr("v", dtype="f8")], cell_order=order)
        tiledb.Array.create(order, schema)
        with tiledb.open(order, "w") as array:
            array[:] = values
        run("check", order)
        run("convert", order, f"{order}.tdb")
        run("check", f"{order}.tdb")
        run.equal(order, read(f"{order}.tdb"), values)


@case
def tiles_beyond_the_domain(run):
    """Padding of a tile need not pass its filters, and writing of a dense array may begin within a tile."""
    scale = tiledb.FilterList([tiledb.FloatScaleFilter(factor=0.001, offset=0.5, bytewidth=4)])
    values = np.array([0.5, 1.25, -2.0, 7.125, 3.0])
    dense("scaled", tiledb.Dim("x", domain=(0, 4), tile=4, dtype="i4"), values, scale)
    run("convert", "scaled", "scaled.tdb")
    run.equal("scaled", read("scaled.tdb"), values)
    run("check", "scaled.tdb")
    run("edit", "scaled", "--consolidate")
    run.equal("consolidated", read("scaled"), values)
    x = tiledb.Dim("x", domain=(0, 2**62), tile=1000, dtype="i8")
    tiledb.Array.create("far", tiledb.ArraySchema(tiledb.Domain(x), [tiledb.Attr("v", dtype="i4")]))
    with tiledb.open("far", "w") as array:
        array[2005:2015] = np.arange(10, dtype="i4")
    said = run("convert", "far", "far.tdb")
    run.expect("begins later" in said, f"far: {said}")
    with tiledb.open("far.tdb") as array:
        run.equal("written", array.nonempty_domain(), ((2005, 2014),))
        found = array[2005:2015]
        run.equal("far", found["v"] if isinstance(found, dict) else found, np.arange(10, dtype="i4"))
    run("check", "far.tdb")


@case
def attribute_with_the_name_of_records(run):
    """An attribute whose key is that of our records is kept in them."""
    group = zarr.open_group("r.zarr", mode="w")
    group.attrs.update({"hyperslab": "mine", "bool": True})
    run("convert", "r.zarr", "r.tdb")
    run.equal("shown", run("show", "r.tdb:/@hyperslab").split()[-1], "mine")
    run("convert", "r.tdb", "r2.tdb")
    run("diff", "r.zarr", "r2.tdb")


@case
def conversions_that_are_verified(run):
    """What one format expresses as a domain, a label or a name, and another one stores, is the same."""
    x = tiledb.Dim("x", domain=(1, 8), tile=4, dtype="i4")
    dense("dense", x, np.arange(8.0))
    dense("next", tiledb.Dim("x", domain=(9, 16), tile=4, dtype="i4"), np.arange(8.0))
    run("convert", "dense", "part.tdb", "-s", "x=3..6", "--verify")
    run("concat", "dense", "next", "both.tdb", "--verify")
    labels = {0: {"label": x.create_label_schema("increasing", np.float64)}}
    attributes = [tiledb.Attr("v", dtype="f8")]
    tiledb.Array.create("labels", tiledb.ArraySchema(tiledb.Domain(x), attributes, dim_labels=labels))
    with tiledb.open("labels", "w") as array:
        array[:] = {"v": np.arange(8.0), "label": np.arange(8) / 2}
    tiledb.group_create("group")
    dense("group/array", x, np.arange(8.0))
    with tiledb.Group("group", "w") as group:
        group.add("array", name="my/array", relative=True)
    for name, dtype in (("complex", np.dtype("c8")), ("triples", np.dtype([("", "f4")] * 3))):
        cells = tiledb.ArraySchema(tiledb.Domain(x), [tiledb.Attr("v", dtype=dtype)], sparse=True)
        tiledb.Array.create(name, cells)
        with tiledb.open(name, "w") as array:
            array[[1, 3, 8]] = np.arange(3 * dtype.itemsize, dtype="i1").astype("f4").view(dtype)[:3]
    for name in ("dense", "labels", "group", "complex", "triples"):
        for suffix in ("tdb", "zarr", "h5", "nc"):
            said = run("convert", name, f"{name}.{suffix}", "--verify")
            run.expect("digests equal" in said, f"{name}.{suffix}: {said}")
    run.equal("cells", run("show", "triples.nc"), run("show", "triples"))
    # What is read at a moment is written without a time.
    for moment, values in ((1000, np.arange(8.0)), (2000, np.ones(8))):
        if moment == 1000:
            tiledb.Array.create("moments", tiledb.ArraySchema(tiledb.Domain(x), attributes))
        with tiledb.open("moments", "w", timestamp=moment) as array:
            array[:] = values
    run("--at", "1500", "convert", "moments", "moments.zarr", "--verify")
    run("--at", "1500", "convert", "moments", "moments.tdb", "--verify")
    run.equal("moment", read("moments.tdb"), np.arange(8.0))


@case
def what_is_said_of_arrays(run):
    """Durations, moments and labels are shown as such, and columns of cells have statistics of their cells."""
    x = tiledb.Dim("x", domain=(1, 8), tile=4, dtype="i4")
    dense("lasted", x, np.arange(8).astype("m8[s]"))
    for words in (("ls",), ("ls", "--json"), ("stat",)):
        said = run(*words, "lasted")
        run.expect("timedelta(s)" in said and "datetime" not in said, f"{words}: {said}")
    first, last = np.datetime64("2000-01-01", "ns"), np.datetime64("2020-01-01", "ns")
    when = tiledb.Dim("when", domain=(first, last), tile=np.timedelta64(365, "D").astype("m8[ns]"), dtype="M8[ns]")
    colours = tiledb.Enumeration("colours", False, np.array(["red", "green", "blue"]))
    attributes = [tiledb.Attr("t", dtype="f8"), tiledb.Attr("colour", dtype="i4", enum_label="colours")]
    tiledb.Array.create("cells", tiledb.ArraySchema(tiledb.Domain(when), attributes, enums=[colours], sparse=True))
    with tiledb.open("cells", "w") as array:
        array[first + np.arange(3).astype("m8[D]")] = {"t": np.array([1.0, np.nan, 4.0]), "colour": np.array([0, 1, 2], "i4")}
    for condition in ('colour == "green"', "t > 100"):
        with tiledb.open("cells", "d") as array:
            array.query(cond=condition).submit()
    said = run("history", "cells")
    for expected in ("when=2000-01-01T00:00:00.000000000..2000-01-03T", 'colour == "green"', "t > 100"):
        run.expect(expected in said, f"{expected}: {said}")
    found = [json.loads(line) for line in run("stat", "--values", "--json", "cells").splitlines()]
    run.equal("statistics", [[of.get(key) for key in ("path", "logical", "count", "missing", "min")] for of in found], [
        ["/when", None, 2, 0, "2000-01-01T00:00:00.000000000"], ["/t", None, 2, 0, 1.0], ["/colour", None, 2, 0, None],
    ])
    said = run("stat", "cells:/t", "-s", "when=2000-01-02..")
    run.expect(said.split()[-4:] == ["4", "4", "4", "0"], f"selected: {said}")
    said = run("convert", "cells", "part.zarr", "-s", "when=2000-01-01..2000-01-02", status=2)
    run.expect("of a sparse array" in said and "hyperslab show" in said and "damaged" not in said, f"part: {said}")


def tried(job):
    """What is wrong in a case. The library resolves paths from the folder in which it starts, so each case has its own process."""
    position, hyperslab, folder = job
    reasons = Reasons()
    os.mkdir(folder)
    os.chdir(folder)
    try:
        CASES[position](Command(hyperslab, reasons))
    except (tiledb.TileDBError, OSError, LookupError, ValueError) as error:
        reasons.append(f"{type(error).__name__}: {error}")
    return CASES[position].__name__, list(reasons)


def main():
    tally, hyperslab = Tally(), os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder, multiprocessing.Pool(2, maxtasksperchild=1) as pool:
        jobs = [(position, hyperslab, os.path.join(folder, case.__name__)) for position, case in enumerate(CASES)]
        for name, reasons in pool.imap(tried, jobs, chunksize=1):
            tally.check(not reasons, name, reasons)
    tally.close()


if __name__ == "__main__":
    main()
