"""Compares `hyperslab diff` of pairs made from a seed with what numpy and h5diff find.

    differences.py HYPERSLAB [PAIRS]

The second file of a pair is rewritten with other chunks and filters, and with known changes.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from tally import Tally

COMPOUND = np.dtype([("a", "<i4"), ("b", "<f8"), ("c", "<u2", (2,))])
TYPES = ["i1", "u2", "<i4", ">i4", "i8", "f4", ">f8", "f2", COMPOUND]


def content(rng, kind, shape):
    if kind == COMPOUND:
        made = np.zeros(shape, COMPOUND)
        made["a"] = rng.integers(-9, 9, shape)
        made["b"] = rng.normal(size=shape)
        made["c"] = rng.integers(0, 9, shape + (2,))
        return made
    if np.dtype(kind).kind == "f":
        made = rng.normal(size=shape).astype(kind)
        made[rng.random(shape) < 0.1] = np.nan
        return made
    return rng.integers(0, 100, shape).astype(kind)


def layout(rng, shape):
    """A random storage layout for the same content."""
    if not shape or rng.integers(3) == 0:
        return {}
    chunks = tuple(int(rng.integers(1, extent + 1)) for extent in shape)
    return {"chunks": chunks, "compression": [None, "gzip", "lzf"][rng.integers(3)], "shuffle": bool(rng.integers(2))}


def change(rng, values):
    """The values with some changes, and the places of the changes."""
    values = values.copy()
    flat = values.reshape(-1)
    places = sorted(int(at) for at in rng.choice(flat.size, int(rng.integers(1, min(flat.size, 40) + 1)), replace=False))
    for at in places:
        if values.dtype == COMPOUND:
            member = ["a", "b", "c"][rng.integers(3)]
            flat[at][member] = flat[at][member] + 1
        elif values.dtype.kind == "f" and np.isnan(flat[at]):
            flat[at] = 1
        else:
            flat[at] = flat[at] + 1
    return values, places


def pair(folder, seed):
    """Writes a pair; returns paths with the places of elements that differ, and other differences by path."""
    rng = np.random.default_rng(seed)
    a, b = os.path.join(folder, "a.h5"), os.path.join(folder, "b.h5")
    places, others = {}, set()
    with h5py.File(a, "w") as one, h5py.File(b, "w", libver=["earliest", "latest"][rng.integers(2)]) as two:
        for index in range(12):
            name = f"g{index % 3}/x{index}"
            kind = TYPES[rng.integers(len(TYPES))]
            shape = tuple(int(extent) for extent in rng.integers(1, 40, rng.integers(0, 4)))
            values = content(rng, kind, shape)
            first = one.create_dataset(name, data=values, **layout(rng, shape))
            first.attrs["units"] = "m"
            first.attrs["range"] = np.arange(3)
            what = rng.integers(7)
            if what == 0:
                others.add((f"/{name}", "presence"))
                continue
            if what == 1:
                values, places[f"/{name}"] = change(rng, values)
            if what == 2 and np.dtype(kind).kind in "iu" and kind != "<i4":
                if kind != ">i4":
                    others.add((f"/{name}", "type"))
                values = values.astype("<i4")
            if what == 3 and shape:
                others.add((f"/{name}", "shape"))
                values = np.concatenate([values, values[:1]])
            second = two.create_dataset(name, data=values, **layout(rng, values.shape))
            second.attrs["range"] = np.arange(3)
            if what == 4:
                others.add((f"/{name}@units", "value"))
                second.attrs["units"] = "km"
            elif what == 5:
                others.add((f"/{name}@units", "presence"))
            else:
                second.attrs["units"] = "m"
        for group in ("g0", "g1", "g2"):
            if group in one and group not in two:
                others = {(path, what) for path, what in others if not path.startswith(f"/{group}/")}
                others.add((f"/{group}", "presence"))
    return a, b, places, others


def answer(hyperslab, *args):
    ran = subprocess.run([hyperslab, "diff", "--json", *args], capture_output=True, text=True)
    return ran.returncode, [json.loads(line) for line in ran.stdout.splitlines()], ran.stderr


def main():
    hyperslab = os.path.abspath(sys.argv[1])
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    tally = Tally()
    for seed in range(pairs):
        with tempfile.TemporaryDirectory() as folder:
            a, b, places, others = pair(folder, seed)
            code, found, messages = answer(hyperslab, "--max", "100", a, b)
            have = {(one["path"], one["what"]) for one in found}
            want = others | {(path, "values") for path in places}
            reasons = [f"wanted {want - have}, found {have - want}"] if want != have else []
            shapes = {one["path"]: one for one in found if one["what"] == "values"}
            with h5py.File(a) as one:
                for path, wanted in places.items():
                    shape = one[path].shape
                    at = [list(map(int, np.unravel_index(place, shape))) if shape else [] for place in wanted]
                    reported = shapes.get(path, {"values": [], "differing": 0})
                    if reported["differing"] != len(wanted) or [value["at"] for value in reported["values"]] != at:
                        reasons.append(f"{path}: wanted {at}, found {reported}")
            tally.check(not reasons and code == int(bool(want)), f"pair {seed}", [*reasons, messages])
            same = os.path.join(folder, "same.h5")
            shutil.copy(a, same)
            code, found, messages = answer(hyperslab, a, same)
            tally.check(code == 0 and not found and not messages, f"copy {seed}", [str(found), messages])
            if shutil.which("h5diff"):
                # h5diff skips objects that it considers not comparable: objects in only one file, other types and shapes.
                theirs = subprocess.run(["h5diff", "-q", a, b], capture_output=True).returncode != 0
                tally.check(theirs <= bool(want) and theirs >= bool(places), f"h5diff of pair {seed}", [str(want)])
    tolerances(hyperslab, tally)
    tally.close()


def tolerances(hyperslab, tally):
    """Numbers with known differences, just below and above the tolerances."""
    random.seed(7)
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("f2", "f4", "f8"):
            x = np.array([random.uniform(-100, 100) for _ in range(2000)], kind)
            y = x + np.array([random.choice([0, 0.5, 0.01, -0.25]) for _ in x], kind)
            a, b = os.path.join(folder, f"a{kind}.h5"), os.path.join(folder, f"b{kind}.h5")
            for path, values in ((a, x), (b, y)):
                with h5py.File(path, "w") as f:
                    f["x"] = values
            wide = (x.astype("f8"), y.astype("f8"))
            for rtol, atol in ((0, 0), (0, 0.25), (0, 0.3), (0.01, 0), (0.005, 0.1)):
                near = np.abs(wide[0] - wide[1]) <= atol + rtol * np.abs(wide[1])
                _, found, _ = answer(hyperslab, "--rtol", str(rtol), "--atol", str(atol), a, b)
                reported = found[0]["differing"] if found else 0
                tally.check(reported == int(np.sum(~near)), f"{kind}, rtol {rtol}, atol {atol}: {reported}")
            steps = np.array([random.choice([0, 1, 2, 5]) for _ in x])
            near = x.copy()
            for step in range(5):
                near = np.where(steps > step, np.nextafter(near, np.array(1e4, kind)), near).astype(kind)
            with h5py.File(b, "w") as f:
                f["x"] = near
            for ulps in (0, 1, 2, 4, 5):
                _, found, _ = answer(hyperslab, "--ulp", str(ulps), a, b)
                reported = found[0]["differing"] if found else 0
                tally.check(reported == int(np.sum(steps > ulps)), f"{kind}, ulp {ulps}: {reported}")


if __name__ == "__main__":
    main()
