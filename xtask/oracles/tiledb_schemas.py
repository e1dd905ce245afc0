"""Recreates schemas of TileDB arrays from their description as NDL, and compares them using the TileDB library.

    tiledb_schemas.py HYPERSLAB DIRECTORY

tiledb-py must dump the recreated schema in the same way as the schema of the source, or the command must have named what it
cannot create before anything was written.
"""

import difflib
import os
import subprocess
import sys
import tempfile

import tiledb

import corpus
from tally import Reasons, Tally

tiledb.default_ctx({"sm.compute_concurrency_level": "1", "sm.io_concurrency_level": "1"})


def run(hyperslab, *words):
    done = subprocess.run([hyperslab, *words], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout, done.stderr


def arrays(path):
    """The folders of the arrays in a store."""
    return sorted(at for at, below, _ in os.walk(path) if tiledb.object_type(at) == "array")


def dump(uri):
    """The schema as the library prints it, without its version, because recreated schemas have the newest.

    Since version 5 it prints the coordinate filters for dimensions that have none, because it used these before.
    """
    with tiledb.open(uri) as array:
        schema = array.schema
        lines = [line for line in str(schema).splitlines() if "Version" not in line]
        if lines[0].startswith("<"):
            # tiledb-py does not print schemas with labels.
            lines = [repr(schema.domain), *(repr(schema.attr(at)) for at in range(schema.nattr))]
    filters = "".join(f"{each}, " for each in schema.coords_filters)
    if schema.version < 5 and filters:
        lines = [f"{line[:-2]}, filters=FilterList([{filters}]))," if line.strip().startswith("Dim(") else line for line in lines]
    return lines


def made_again(hyperslab, path):
    """The schema of an array that is created from the description of another."""
    with tempfile.TemporaryDirectory() as folder:
        text, to = os.path.join(folder, "described.yaml"), os.path.join(folder, "made.tdb")
        status, _, message = run(hyperslab, "describe", "-q", "--values", path, "-o", text)
        if status == 0:
            status, _, message = run(hyperslab, "create", "-q", text, to)
        if status != 0:
            raise ValueError(message[:400])
        return dump(to)


def main():
    hyperslab, directory = sys.argv[1:3]
    tally, made = Tally(), 0
    for path in (array for store in corpus.stores(directory) if os.path.isdir(store) for array in arrays(store)):
        name, reasons = os.path.relpath(path, directory), Reasons()
        try:
            expected = dump(path)
        except (tiledb.TileDBError, UnicodeError):
            continue
        try:
            found = made_again(hyperslab, path)
            reasons += [line for line in difflib.unified_diff(expected, found, lineterm="", n=0) if line[:3] not in ("---", "+++")]
            made += 1
        except (tiledb.TileDBError, UnicodeError, ValueError) as error:
            reasons.append(str(error))
        tally.check(not reasons, name, reasons)
    tally.check(made > 0, "no schema was made")
    tally.close()


if __name__ == "__main__":
    main()
