"""Converts third-party NetCDF files to TileDB and back: the result must satisfy the requested convention, and have the digest
of the source.

    tiledb_dataspaces.py HYPERSLAB DIRECTORY [STEP]

Every STEPth NetCDF file below DIRECTORY is converted in each of the ways listed in WAYS. `check --conventions` must find nothing
in the store, and tiledb-py must open every array. The digests of the store and of the NetCDF-4 file made from it must be that of
the source, and so must the CDL of that file. A conversion that loses something must have named it and written nothing.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile

import tiledb

import corpus
from tally import Reasons, Tally

# The requested options, and the conventions that then hold.
WAYS = {
    "": "simple-0.3.0,cf-0.3.0",
    "--dataspace=cf-0.3.0": "cf-0.3.0",
    "-O tiledb.collect": "cf-0.3.0",
    "-O tiledb.collect --dataspace=cf-0.2.0": "cf-0.2.0",
    "--dataspace=simple-0.2.0": "simple-0.2.0,cf-0.2.0",
    "--dataspace=indexable-0.1.0": "indexable-0.1.0,cf-0.1.0",
}


def run(hyperslab, *words):
    done = subprocess.run([hyperslab, *words], capture_output=True, text=True, errors="replace", timeout=600)
    return done.returncode, done.stdout, done.stderr


def opened(store, reasons):
    """Opens every array and group as tiledb-py does."""
    left = [store]
    while left:
        with tiledb.Group(left.pop()) as group:
            for member in group:
                if member.type is tiledb.Group:
                    left.append(member.uri)
                    continue
                with tiledb.open(member.uri) as array:
                    reasons.expect(array.schema.domain.ndim > 0, f"{member.name} without dimensions")


def same(hyperslab, path, digest, reasons, with_types=False):
    """Whether a store has a digest, ignoring additional types that it may have."""
    _, found, message = run(hyperslab, "digest", "-q", path)
    found, expected = ({" ".join(line.split()) for line in lines.splitlines()} for lines in (found, digest))
    others = found - expected
    if with_types:
        others = {line for line in others if not line.startswith("datatype ")}
    reasons.expect(not others and not expected - found, f"{os.path.basename(path)}: {sorted(others)[:2]}, {sorted(expected - found)[:2]} {message[:200]}")


def is_netcdf4(hyperslab, path):
    return ": NetCDF-4" in run(hyperslab, "ls", "-q", path)[1].split("\n")[0]


def cdl(hyperslab, path):
    """The declarations as ncdump prints them, regardless of their order: names, dimensions, attributes, and the types of both.
    Strings are broken into lines only if a file has the mark of the classic model, which TileDB does not keep."""
    text = run(hyperslab, "describe", "-q", "--as", "cdl", path)[1].replace('\\n",\n\t\t\t"', "\\n")
    return sorted(text.splitlines()[1:])


def written(hyperslab, path, way, folder, digest):
    """Whether something is lost, and what is wrong."""
    reasons, store, back = Reasons(), os.path.join(folder, "store.tdb"), os.path.join(folder, "back.nc")
    options = way.split()
    status, _, message = run(hyperslab, "convert", "-q", *options, path, store)
    if status:
        is_named = "--allow-loss" in message or "cannot be" in message
        reasons.expect(is_named, message.strip()[:300])
        reasons.expect(not os.path.exists(store), "written in spite of a loss")
        return True, reasons
    status, found, message = run(hyperslab, "check", "-q", "--conventions", WAYS[way], store)
    reasons.expect(status == 0, (found + message).strip()[:300])
    opened(store, reasons)
    same(hyperslab, store, digest, reasons)
    status, report, message = run(hyperslab, "convert", store, back)
    if status:
        reasons.expect("--allow-loss" in message, f"back: {message.strip()[:300]}")
        return True, reasons
    # The names of attribute types are replaced, as in the conversion via Zarr.
    with_types = "datatype without a name" in report
    same(hyperslab, back, digest, reasons, with_types)
    if not with_types and is_netcdf4(hyperslab, path):
        own, source = (cdl(hyperslab, of) for of in (back, path))
        reasons.expect(own == source, f"CDL: {sorted(set(own) ^ set(source))[:4]}")
    return False, reasons


def one(job):
    hyperslab, path = job
    status, digest, _ = run(hyperslab, "digest", "-q", path)
    # Files with unreadable objects are tested by other scripts.
    if status != 0 or not digest:
        return path, []
    found = []
    for way in WAYS:
        with tempfile.TemporaryDirectory() as folder:
            found.append((way, *written(hyperslab, path, way, folder, digest)))
    return path, found


def main():
    hyperslab, directory = sys.argv[1:3]
    step = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    tally, ways, lossy = Tally(), 0, 0
    jobs = [(hyperslab, path) for path in corpus.stores(directory) if path.endswith((".nc", ".nc4"))][::step]
    with multiprocessing.Pool(2) as pool:
        for path, found in pool.imap(one, jobs):
            for way, is_lossy, reasons in found:
                ways, lossy = ways + 1, lossy + is_lossy
                tally.check(not reasons, f"{os.path.relpath(path, directory)} {way}", reasons)
    tally.check(lossy * 7 <= ways, f"{lossy} of {ways} ways with a loss")
    print(f"{ways} ways, {lossy} with a loss")
    tally.close()


if __name__ == "__main__":
    main()
