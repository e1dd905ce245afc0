"""Compares parts of TileDB arrays, by positions and by coordinates, with tiledb-py.

    tiledb_read.py HYPERSLAB DIRECTORY

For every array below DIRECTORY that tiledb-py can open, random parts are chosen from a fixed seed. `show` must print the same
cells: for dense arrays by positions, with steps, and by coordinates; for sparse arrays by ranges of coordinates.
"""

import json
import math
import os
import random
import re
import subprocess
import sys

import numpy as np
import tiledb

import tiledb_content as content
from tally import Tally

SEED = 18
# How many attributes of each dense array are read in parts, how many parts of each sparse array, and how many cells in a part.
ATTRIBUTES, PARTS, CELLS = 3, 3, 20_000
# Strings that are the same in a selection.
PLAIN = re.compile(r"[A-Za-z0-9_]+")


def arrays(directory):
    """The folders of arrays, sorted."""
    for root, folders, files in os.walk(directory):
        folders.sort()
        if "__schema" in folders or "__array_schema.tdb" in files:
            folders[:] = [name for name in folders if not name.startswith("__")]
            yield root


def show(hyperslab, location, selection, form="json"):
    command = [hyperslab, "show", "-q", location, "-s", selection, "--as", form]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else done.stderr, done.returncode == 0, " ".join(command[1:])


def random_ranges(of, ends):
    """A part of at most CELLS cells: its first and last coordinates."""
    ranges = []
    left = CELLS
    for first, last in ends:
        count = of.randint(1, max(1, min(last - first + 1, left, 200)))
        left //= count
        start = of.randint(first, last - count + 1)
        ranges.append((start, start + count - 1))
    return ranges


def dense(tally, hyperslab, path, array, of):
    domain = array.schema.domain
    ends = content.extents(array)
    names = [domain.dim(at).name for at in range(domain.ndim)]
    units = [np.datetime_data(domain.dim(at).dtype)[0] if domain.dim(at).dtype.kind == "M" else None
             for at in range(domain.ndim)]
    # For an array of more than 50 million cells the positions are those of the non-empty domain.
    if math.prod(last - first + 1 for first, last in ends) > 50_000_000 and array.schema.current_domain.is_empty:
        ends = [tuple(map(content.integer, within)) for within in array.nonempty_domain()]
    columns = content.columns(array)
    for column in of.sample(columns, min(len(columns), ATTRIBUTES)):
        ranges = random_ranges(of, ends)
        steps = [of.choice((1, 1, 1, 2, 3)) for _ in ranges]
        # tiledb-py reads without steps.
        shape = [last - first + 1 for first, last in ranges]
        whole = content.nested([column.value(cell) for cell in content.read(array, [column], ranges)[0]], shape)
        positions = [f"{first - start}:{last - start + 1}:{step}"
                     for (first, last), (start, _), step in zip(ranges, ends, steps)]
        part(tally, hyperslab, path, column, ",".join(positions), stepped(whole, steps))
        by_name = [f"{name}={coordinate(first, unit)}..{coordinate(last, unit)}"
                   for name, (first, last), unit in zip(names, ranges, units)]
        part(tally, hyperslab, path, column, ",".join(by_name), whole)


def coordinate(value, unit):
    return str(np.datetime64(value, unit)) if unit else str(value)


def stepped(values, steps):
    if not steps:
        return values
    return [stepped(value, steps[1:]) for value in values[:: steps[0]]]


def part(tally, hyperslab, path, column, selection, expected):
    output, success, command = show(hyperslab, f"{path}:/{column.shown}", selection, "lists")
    found = deep(column, json.loads(output), selection.count(",") + 1) if success else output
    tally.check(found == expected, command, [f"{str(found)[:300]}, expected {str(expected)[:300]}"])


def deep(column, values, rank):
    return [deep(column, value, rank - 1) for value in values] if rank else column.found(values)


def sparse(tally, hyperslab, path, array, of):
    columns = content.columns(array)
    rank = array.schema.domain.ndim
    every = content.read(array, columns[:rank])
    count = len(every[0])
    if not count:
        return
    for _ in range(PARTS):
        ranges, words = [], []
        for column, cells in zip(columns, every):
            ends = sorted((of.choice(cells), of.choice(cells)), key=column.order)
            is_said = all(PLAIN.fullmatch(end.decode(errors="replace")) for end in ends) if column.is_text else True
            if not is_said or of.random() < 0.3:
                ranges.append(None)
                continue
            first, last = (end.decode() if column.is_text else np.frombuffer(end, column.dtype)[0] for end in ends)
            ranges.append((first, last))
            first, last = coordinate(first, column.unit), coordinate(last, column.unit)
            words.append(f"{column.shown}={first}..{last}")
        if not words:
            continue
        expected = content.rows(array, ranges)
        if len(expected) > CELLS:
            continue
        output, success, command = show(hyperslab, path, ",".join(words))
        found = content.shown(array, output) if success else output
        tally.check(found == expected, command, content.row_differences(found, expected) if success else [output])


def main():
    hyperslab, directory = sys.argv[1:]
    tally, of = Tally(), random.Random(SEED)
    for path in arrays(directory):
        try:
            array = tiledb.open(path)
        except tiledb.TileDBError:
            continue
        with array:
            (sparse if array.schema.sparse else dense)(tally, hyperslab, path, array, of)
    tally.close()


if __name__ == "__main__":
    main()
