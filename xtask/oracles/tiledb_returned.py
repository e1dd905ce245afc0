"""Converts TileDB arrays and groups via other formats and back to TileDB: the digests must be those of the source.

    tiledb_returned.py HYPERSLAB DIRECTORY [STEP]

Every STEPth store below DIRECTORY is copied as TileDB, converted to Zarr and back, and described and created again. A conversion that
loses something must have named it and written nothing. At most one store in seven may have a loss on a conversion path.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile

import corpus
from tally import Reasons, Tally

WAYS = ("TileDB", "Zarr", "NDL")
VALUES = "--values=10000000"


def run(hyperslab, *words):
    done = subprocess.run([hyperslab, *words], capture_output=True, text=True, errors="replace", timeout=600)
    return done.returncode, done.stdout, done.stderr


def steps(way, path, folder):
    """The commands of a conversion path, and the store at its end."""
    final = os.path.join(folder, f"{way}.tdb")
    if way == "TileDB":
        return [("convert", "-q", path, final)], final
    between = os.path.join(folder, "between.zarr" if way == "Zarr" else "between.yaml")
    if way == "Zarr":
        return [("convert", "-q", path, between), ("convert", "-q", between, final)], final
    return [("describe", "-q", "--storage=full", VALUES, "-o", between, path), ("create", "-q", between, final)], final


def returned(hyperslab, way, path, folder, expected):
    """Whether the path loses something, and what is wrong."""
    reasons = Reasons()
    commands, final = steps(way, path, folder)
    for command in commands:
        status, _, message = run(hyperslab, *command)
        if status != 0:
            is_named = "--allow-loss" in message
            reasons.expect(is_named, f"{way}: {message.strip()[:300]}")
            reasons.expect(not is_named or not os.path.exists(command[-1]), f"{way}: written in spite of a loss")
            return is_named, reasons
    status, found, message = run(hyperslab, "digest", "-q", final)
    missing = sorted(set(expected.splitlines()) ^ set(found.splitlines()))
    reasons.expect(not missing, f"{way}: {missing[:2]} {message.strip()[:200]}")
    return False, reasons


def one(job):
    hyperslab, path = job
    status, expected, _ = run(hyperslab, "digest", "-q", path)
    # Stores with unreadable objects are tested by other scripts.
    if status != 0 or not expected:
        return path, None
    with tempfile.TemporaryDirectory() as folder:
        return path, [(way, *returned(hyperslab, way, path, folder, expected)) for way in WAYS]


def main():
    hyperslab, directory = sys.argv[1:3]
    step = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    tally, ways, lossy = Tally(), 0, 0
    jobs = [(hyperslab, path) for path in corpus.stores(directory) if os.path.isdir(path)][::step]
    with multiprocessing.Pool(2) as pool:
        for path, found in pool.imap(one, jobs):
            for way, is_lossy, reasons in found or ():
                ways, lossy = ways + 1, lossy + is_lossy
                tally.check(not reasons, f"{os.path.relpath(path, directory)} by way of {way}", reasons)
    tally.check(lossy * 7 <= ways, f"{lossy} of {ways} ways with a loss")
    tally.close()


if __name__ == "__main__":
    main()
