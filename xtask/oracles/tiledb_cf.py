"""Writes groups with tiledb-py that are valid by all conventions of TileDB-CF, and changes them so that each breaks one rule.

    tiledb_cf.py HYPERSLAB

`check --conventions` must find the rule in the conventions that have it, and nothing in the others.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import tiledb

from tally import Tally

tiledb.default_ctx({"sm.compute_concurrency_level": "1", "sm.io_concurrency_level": "1"})
ALL = ["cf-0.1.0", "indexable-0.1.0", "cf-0.2.0", "simple-0.2.0", "cf-0.3.0", "simple-0.3.0"]
OLD = ALL[:4]


def index(name, last, first=0, dtype="u8"):
    return {"name": name, "domain": (first, last), "tile": 1, "dtype": dtype}


def array(dims, attributes, meta=(), sparse=False):
    return {"dims": dims, "attributes": attributes, "meta": dict(meta), "sparse": sparse}


def valid():
    """The arrays of a group by name, and its own metadata."""
    return {
        "lat": array([index("lat.index", 9)], {"lat": "f8"}, {"__tiledb_attr.lat.units": "degrees_north"}),
        "temperature": array([index("lat.index", 9), index("lon", 19)], {"temperature": "f4"}, {"__tiledb_attr.temperature.units": "K"}),
    }, {}


def write(path, arrays, meta, unnamed=()):
    tiledb.Group.create(path)
    for name, of in arrays.items():
        dims = [tiledb.Dim(**{**dim, "dtype": np.dtype(dim["dtype"])}) for dim in of["dims"]]
        attributes = [tiledb.Attr(own, dtype=dtype) for own, dtype in of["attributes"].items()]
        to = os.path.join(path, name)
        tiledb.Array.create(to, tiledb.ArraySchema(tiledb.Domain(*dims), attributes, sparse=of["sparse"]))
        with tiledb.open(to, "w") as opened:
            for key, value in of["meta"].items():
                opened.meta[key] = value
    with tiledb.Group(path, "w") as group:
        for name in arrays:
            group.add(name, name=None if name in unnamed else name, relative=True)
        for key, value in meta.items():
            group.meta[key] = value


def changed(arrays, name, **of):
    arrays[name] = {**arrays[name], **of}


def case(rule, conventions, change, unnamed=()):
    return rule, conventions, change, unnamed


CASES = [
    case("named", OLD, lambda arrays, meta: changed(arrays, "lat", attributes={"": "f8"}, meta={})),
    case("named", OLD, lambda arrays, meta: changed(arrays, "temperature", dims=[index("lat.index", 9), index("", 19)])),
    case("dim-collection", ALL, lambda arrays, meta: changed(arrays, "lat", dims=[index("lat.index", 8)])),
    case("dim-collection", ALL, lambda arrays, meta: changed(arrays, "lat", dims=[index("lat.index", 9, dtype="i4")])),
    case("attr-dataspace-name-unique", OLD, lambda arrays, meta: arrays.update(again=array([index("lon", 19)], {"lat.data": "f8"}))),
    case("group-metadata-array", OLD, lambda arrays, meta: meta.update(title="a title")),
    case("attr-metadata-prefix", ALL, lambda arrays, meta: arrays["temperature"]["meta"].update({"__tiledb_attr.temprature.units": "K"})),
    case("attr-metadata-prefix", ALL, lambda arrays, meta: arrays["lat"]["meta"].update({"__tiledb_attr.units": "K"})),
    case("dim-metadata-prefix", ["cf-0.3.0", "simple-0.3.0"],
         lambda arrays, meta: arrays["temperature"]["meta"].update({"__tiledb_dim.lno.units": "m"})),
    case("fillvalue-equals", OLD, lambda arrays, meta: arrays["lat"]["meta"].update({"__tiledb_attr.lat._FillValue": 1.0})),
    case("fillvalue-equals", OLD, lambda arrays, meta: arrays["lat"]["meta"].update({"__tiledb_attr.lat._FillValue": 5})),
    case("dim-integer-from-0", ["simple-0.2.0", "simple-0.3.0"],
         lambda arrays, meta: changed(arrays, "temperature", dims=[index("lat.index", 9), index("lon", 19, 1)])),
    case("collection-dataspace-name-unique", ["simple-0.2.0"],
         lambda arrays, meta: changed(arrays, "temperature", dims=[index("lat", 9), index("lon", 19)])),
    case("array-named-single-attribute", ["simple-0.3.0"],
         lambda arrays, meta: changed(arrays, "temperature", attributes={"temperature": "f4", "humidity": "i2"})),
    case("array-named-single-attribute", ["simple-0.3.0"], lambda arrays, meta: None, ["temperature"]),
    case("metadata-attribute-and-group-only", ["simple-0.3.0"], lambda arrays, meta: arrays["lat"]["meta"].update(title="a title")),
    case("metadata-attribute-and-group-only", ["simple-0.3.0"],
         lambda arrays, meta: arrays["temperature"]["meta"].update({"__tiledb_dim.lon.units": "m"})),
    case("axis-label", ["indexable-0.1.0"],
         lambda arrays, meta: arrays.update(points=array([{**index("depth", 19, 1), "dtype": "f8", "domain": (1.0, 19.0), "tile": 1.0}], {"salinity": "f4"}, sparse=True))),
    case("attr-and-data-dim-agree", ["cf-0.1.0", "indexable-0.1.0"],
         lambda arrays, meta: arrays.update(points=array([{**index("lat", 9), "dtype": "f4", "domain": (0.0, 9.0), "tile": 1.0}], {"salinity": "f4"}, sparse=True))),
]
# Further rules that a change breaks: a dimension that does not consist of integers from 0 is a data dimension, without a label.
BESIDE = {"dim-integer-from-0": {"axis-label"}, "axis-label": {"dim-integer-from-0"},
          "attr-and-data-dim-agree": {"axis-label", "dim-integer-from-0", "collection-dataspace-name-unique"},
          "dim-metadata-prefix": {"metadata-attribute-and-group-only"}}


def broken(hyperslab, path, convention):
    done = subprocess.run([hyperslab, "check", "-q", "--json", "--conventions", convention, path], capture_output=True, text=True)
    if done.returncode > 1:
        return {done.stderr.strip()}, done.returncode
    return {json.loads(line)["rule"].removeprefix("tiledb-cf/") for line in done.stdout.splitlines()}, done.returncode


def main():
    hyperslab, tally = sys.argv[1], Tally()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "valid")
        write(path, *valid())
        for convention in ALL:
            found, status = broken(hyperslab, path, convention)
            tally.check(not found and status == 0, f"a valid group by {convention}", [str(found)])
        for number, (rule, conventions, change, unnamed) in enumerate(CASES):
            arrays, meta = valid()
            change(arrays, meta)
            path = os.path.join(folder, str(number))
            write(path, arrays, meta, unnamed)
            for convention in ALL:
                found, status = broken(hyperslab, path, convention)
                has = convention in conventions
                good = (rule in found) == has and not found - {rule} - BESIDE.get(rule, set()) and status == bool(found)
                tally.check(good, f"{rule} ({number}) by {convention}", [f"{sorted(found)}, exit code {status}"])
        found, status = broken(hyperslab, os.path.join(folder, "valid"), "tiledb-cf")
        tally.check((found, status) == ({"holds"}, 0), "all conventions of a valid group", [str(found)])
    tally.close()


if __name__ == "__main__":
    main()
