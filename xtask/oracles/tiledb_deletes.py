"""Tests deletes by conditions in sparse TileDB arrays, written by tiledb-py.

    tiledb_deletes.py HYPERSLAB

An array with nulls, NaN, strings and an enumeration is copied for each condition, and the cells for which the condition is true
are deleted. `show` must find the cells that tiledb-py finds, including later fragments. After a delete of nulls the core cannot
read its own array; there the cells are known from how they were written.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import tiledb

import tiledb_content as content
from tally import Tally

CONDITIONS = (
    "i == 3", "i != 3", "i > 50 and f < 20.0", "n == 3", "n != 3", "n < 40 or n >= 90", "f < 2.0", "f != 2.0", "t == 'bergen'",
    "t != 'bergen'", "t > 'c'", "e == 'green'", "e != 'green'", "i in [1, 2, 3, 40]", "t in ['oslo', '', 'ålesund']",
    "e in ['red', 'blue']", "x > 10 and x <= 30", "x == 5 or (n > 5 and t == 'oslo')", "name == 'b'", "not (i == 3)",
)
# Deletes of nulls, which tiledb-py writes although the core can then no longer read the array, and what remains of `n`.
UNREADABLE = {"n == None": lambda n: n is not None, "n != None": lambda n: n is None}
# Conditions on attributes that the first of two fragments does not have: none of them holds for its cells.
EVOLVED = ("b == 2", "b != 2", "b < 100", "b >= 100", "x > 1 and b == 2", "x > 1 or b != 2", "m == 2", "m != 2")
CELLS = 120
TOWNS = ["oslo", "bergen", "", "ålesund", "tromsø", "c"]
COLOURS = ["red", "green", "blue"]


def make(path):
    """An array of two fragments that share cells."""
    x = tiledb.Dim("x", domain=(-100, 1000), tile=16, dtype="i8")
    attributes = [
        tiledb.Attr("i", dtype="i4"), tiledb.Attr("n", dtype="i2", nullable=True), tiledb.Attr("f", dtype="f8"),
        tiledb.Attr("t", dtype="U0", var=True), tiledb.Attr("e", dtype="u1", enum_label="colours"),
    ]
    domain = tiledb.Domain(x, tiledb.Dim("name", dtype="ascii"))
    colours = tiledb.Enumeration("colours", False, COLOURS)
    tiledb.Array.create(path, tiledb.ArraySchema(domain, attributes, sparse=True, capacity=10, enums=[colours]))
    write(path, 0, 10)
    write(path, CELLS // 2, 20)


def write(path, first, time):
    at = np.arange(first, first + CELLS)
    names = np.array(["abc"[each % 3] * (1 + each % 2) for each in at], object)
    f = np.where(at % 7 == 0, np.nan, at % 5 / 2 + first)
    n = np.ma.array((at % 100).astype("i2"), mask=at % 4 == 0)
    with tiledb.open(path, "w", timestamp=time) as array:
        array[at, names] = {
            "i": (at % 60 + first).astype("i4"), "n": n, "f": f, "t": np.array([TOWNS[each % 6] for each in at], object),
            "e": (at % 3).astype("u1"),
        }


def delete(path, condition, time):
    with tiledb.open(path, "d", timestamp=time) as array:
        array.query(cond=condition).submit()


def make_evolved(path):
    """An array that gets two attributes, one nullable, between its two fragments."""
    x = tiledb.Dim("x", domain=(0, 99), tile=10, dtype="i4")
    tiledb.Array.create(path, tiledb.ArraySchema(tiledb.Domain(x), [tiledb.Attr("i", dtype="i4")], sparse=True))
    with tiledb.open(path, "w") as array:
        array[[1, 2, 3]] = np.array([1, 2, 3], "i4")
    # Writes within the same millisecond have no order.
    time.sleep(0.003)
    evolution = tiledb.ArraySchemaEvolution(tiledb.Ctx())
    evolution.add_attribute(tiledb.Attr("b", dtype="u1"))
    evolution.add_attribute(tiledb.Attr("m", dtype="i2", nullable=True))
    evolution.array_evolve(path)
    time.sleep(0.003)
    with tiledb.open(path, "w") as array:
        m = np.ma.array(np.array([1, 2, 3], "i2"), mask=[True, False, False])
        array[[5, 6, 7]] = {"i": np.array([5, 6, 7], "i4"), "b": np.array([5, 2, 200], "u1"), "m": m}
    time.sleep(0.003)


def judge(tally, hyperslab, path, condition, expected, at=None):
    options = [] if at is None else ["--at", str(at)]
    done = subprocess.run([hyperslab, "show", "-q", "--json", *options, path], capture_output=True, text=True)
    with tiledb.open(path) as array:
        found = content.shown(array, done.stdout) if done.returncode == 0 else []
    reasons = list(content.row_differences(found, expected))
    tally.check(not reasons, f"cells left by {condition!r} at {at}", [*reasons, *done.stderr.splitlines()])


def cells(path, at=None):
    with tiledb.open(path, timestamp=at) as array:
        return content.rows(array)


def main():
    hyperslab, tally = sys.argv[1], Tally()
    with tempfile.TemporaryDirectory() as folder:
        first = os.path.join(folder, "first")
        make(first)
        whole = cells(first)
        judge(tally, hyperslab, first, "nothing", whole)
        for condition in EVOLVED:
            path = os.path.join(folder, "evolved")
            shutil.rmtree(path, ignore_errors=True)
            make_evolved(path)
            delete(path, condition, None)
            judge(tally, hyperslab, path, condition, cells(path))
        for number, condition in enumerate(CONDITIONS):
            path = os.path.join(folder, str(number))
            shutil.copytree(first, path)
            # Between the fragments: cells of the second are not deleted.
            delete(path, condition, 15)
            judge(tally, hyperslab, path, condition, cells(path))
            delete(path, condition, 30)
            left = cells(path)
            tally.check(0 < len(left) < len(whole), f"{condition!r} deletes some cells", [f"{len(left)} left"])
            judge(tally, hyperslab, path, condition, left)
            judge(tally, hyperslab, path, condition, cells(path, 25), 25)
            tiledb.consolidate(path, config=tiledb.Config({"sm.consolidation.purge_deleted_cells": str(number % 2 > 0).lower()}))
            tiledb.vacuum(path)
            judge(tally, hyperslab, path, f"{condition}, consolidated", cells(path))
        for condition, is_left in UNREADABLE.items():
            path = os.path.join(folder, condition.replace(" ", "_"))
            shutil.copytree(first, path)
            delete(path, condition, 30)
            left = [row for row in whole if is_left(row[3])]
            judge(tally, hyperslab, path, condition, left)
    tally.close()


if __name__ == "__main__":
    main()
