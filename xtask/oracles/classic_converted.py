"""Converts NetCDF files to the classic formats; programs that open the result must find the same content as in the source.

    classic_converted.py HYPERSLAB DIRECTORY [--samples] [--every N]

All classic files below the directory, and the NetCDF-4 files without groups and user-defined types, are converted to CDF-1,
CDF-2 and CDF-5; with --samples also those of netcdf_samples.py. For each result:

* what a version cannot hold is rejected with the name of a version that can;
* `check` has no finding; `diff` finds nothing but what the report of the conversion names;
* xarray finds it identical to the source (`xarray.testing.assert_identical`), decoded and not, with the engines netcdf4
  and, for CDF-1 and CDF-2, scipy;
* `ncdump -h` prints the same as for a classic source;
* the output of `nccopy -k` for the source, if it succeeds, is identical in xarray, and has the same dimensions and
  variables for netCDF4, in the same order if the source is classic.
"""

import json
import os
import subprocess
import sys
import tempfile
import warnings

import netCDF4
import xarray

import netcdf_samples
from identical import EXCEPTIONS, differing, is_random_beyond
from netcdf_written import CLASSIC, HYPERSLAB, is_netcdf, run
from tally import Tally

warnings.simplefilter("ignore")

# The formats, as the command and nccopy call them, and as ncdump does.
KINDS = {"cdf1": "classic", "cdf2": "64-bit offset", "cdf5": "64-bit data"}
# Rows of the report that concern only storage.
STORAGE = {"chunks", "filters", "little-endian order", "elements in other datasets or external files"}
# Changes after which decoded variables are the same.
DECODED = {"strings of variable length", "unsigned integers", "64-bit integers that fit in 32 bits"}


def is_classic(path):
    with open(path, "rb") as file:
        return file.read(3) == CLASSIC


def is_flat(path):
    """Whether a file has no groups and no user-defined types."""
    with netCDF4.Dataset(path) as file:
        return not (file.groups or file.cmptypes or file.vltypes or file.enumtypes)


def convert(source, written, kind):
    """Converts with all losses allowed. Returns the report by place, or None and the error."""
    if os.path.exists(written):
        os.remove(written)
    done = run(HYPERSLAB, "convert", "--json", "--format", kind, "--allow-loss=all", source, written)
    if done.returncode:
        return None, (done.stderr or done.stdout)[-400:]
    reported = {}
    for row in json.loads(done.stdout.splitlines()[0])["report"]:
        for place in row["places"]:
            reported.setdefault(place, set()).add(row["what"])
    for line in done.stderr.splitlines():
        if line.startswith("warning: left out: "):
            reported.setdefault(line.split(": ")[2], set()).add("left out")
    return reported, None


def is_reported(reported, place, besides=frozenset()):
    """Whether the report names an object, one of its attributes, or the object of an attribute."""
    owner = place.split("@")[0]
    return any(
        rows - STORAGE - besides
        for of, rows in reported.items()
        if of in (place, owner) or of.startswith(f"{place}@")
    )


def compare_diff(tally, name, source, written, reported):
    found = run(HYPERSLAB, "diff", "--json", source, written)
    rows = [json.loads(line) for line in found.stdout.splitlines() if line.startswith("{")]
    wrong = [row for row in rows if "path" in row and not is_reported(reported, row["path"]) and not is_made(row)]
    is_read = found.returncode in (0, 1)
    tally.check(is_read and not wrong, f"{name}: diff", [str(row)[:300] for row in wrong] + [found.stderr[-300:]])


def is_made(row):
    """Whether a difference is a dimension that counts characters, or that the source does not name."""
    name = row["path"].lstrip("/")
    return row["change"] == "+" and name.startswith(("string", "dim_"))


def opened(path, engine, decode):
    options = {} if decode else {"decode_cf": False}
    return xarray.open_dataset(path, engine=engine, **options)


def compare_xarray(tally, name, source, written, reported, engine):
    for decode in (False, True):
        what = f"{name} by xarray with {engine}, {'decoded' if decode else 'not decoded'}"
        # There is nothing to compare if xarray cannot read the source.
        try:
            one = opened(source, "netcdf4", decode)
            one.load()
        except Exception:
            continue
        besides = DECODED if decode else frozenset()
        try:
            with opened(written, engine, decode) as other:
                found = {
                    variable: why for variable, why in differing(one, other).items()
                    if not is_reported(reported, place_of(variable), besides)
                    and not is_random_beyond(source, "", variable, one, other)
                }
            tally.check(not found, what, [f"{variable}: {why}" for variable, why in found.items()])
        except Exception as error:
            tally.check(False, what, [repr(error)[:300]])
        one.close()


def place_of(variable):
    """The place of what `differing` names."""
    return "/" if variable.startswith("the attributes") else f"/{variable}"


def head(path):
    """The header as ncdump prints it, without the name of the file."""
    found = run("ncdump", "-h", path)
    return None if found.returncode else found.stdout.split("\n", 1)[-1].splitlines()


def compare_heads(tally, name, source, written):
    one, other = head(source), head(written)
    if one is not None:
        wrong = [f"- {a}\n       + {b}" for a, b in zip(one, other or []) if a != b]
        tally.check(one == other, f"{name}: ncdump -h", wrong)


def of_netcdf4(path):
    """Dimensions and variables in their order."""
    with netCDF4.Dataset(path) as file:
        dimensions = [(d.name, len(d), d.isunlimited()) for d in file.dimensions.values()]
        variables = [(v.name, v.dimensions, str(v.dtype)) for v in file.variables.values()]
        return dimensions, variables


def compare_nccopy(tally, name, source, written, reported, kind, folder):
    copy = os.path.join(folder, "copied.nc")
    if os.path.exists(copy):
        os.remove(copy)
    try:
        if run("nccopy", "-k", KINDS[kind], source, copy).returncode:
            return
    except subprocess.TimeoutExpired:
        return
    compare_xarray(tally, f"{name} as nccopy", copy, written, reported, "netcdf4")
    one, other = of_netcdf4(copy), of_netcdf4(written)
    if not is_classic(source):
        # NDL has one order of all members.
        one, other = [tuple(map(sorted, of)) for of in (one, other)]
    is_changed = any(rows - STORAGE for rows in reported.values())
    tally.check(one == other or is_changed, f"{name}: netCDF4 as nccopy", [str(one)[:400], str(other)[:400]])


def test(tally, source, name, folder):
    """The checks of one file."""
    for kind in KINDS:
        name_of = f"{name} to {kind}"
        written = os.path.join(folder, "written.nc")
        reported, error = convert(source, written, kind)
        if reported is None:
            # Another version can hold it.
            is_refused = kind != "cdf5" and "convert to netcdf3-64bit-" in error
            tally.check(is_refused, f"{name_of}: convert", [error])
            continue
        found = run(HYPERSLAB, "check", written)
        tally.check("no findings" in found.stdout, f"{name_of}: check", [found.stdout[-400:]])
        compare_diff(tally, name_of, source, written, reported)
        for engine in ["netcdf4"] if kind == "cdf5" else ["netcdf4", "scipy"]:
            compare_xarray(tally, name_of, source, written, reported, engine)
        if is_classic(source) and not any(rows - STORAGE for rows in reported.values()):
            compare_heads(tally, name_of, source, written)
        compare_nccopy(tally, name_of, source, written, reported, kind, folder)


def main():
    directory = sys.argv[2]
    every = int(sys.argv[sys.argv.index("--every") + 1]) if "--every" in sys.argv else 1
    tally, count, tested = Tally(), 0, 0
    names = sorted(os.path.join(at, name) for at, _, names in os.walk(directory) for name in names)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as samples:
        names += netcdf_samples.make(samples) if "--samples" in sys.argv else []
        for source in filter(is_netcdf, names):
            if os.path.basename(source) in EXCEPTIONS or not is_flat(source):
                continue
            count += 1
            if count % every == 0:
                tested += 1
                test(tally, source, os.path.relpath(source, directory), folder)
    print(f"{tested} of {count} NetCDF files")
    tally.close()


if __name__ == "__main__":
    main()
