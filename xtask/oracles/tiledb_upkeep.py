"""Tests consolidation and vacuum of TileDB arrays by `hyperslab edit` and by tiledb-py, in all orders of the four steps.

    tiledb_upkeep.py HYPERSLAB COUNT [FIRST]

The arrays are those of `tiledb_seeded.py`, written by tiledb-py in many steps. After each step tiledb-py must find the cells and
the metadata that it found before the first; after the last step, so must `digest`, and both must still agree after tiledb-py has
continued writing.
"""

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile

import tiledb

import tiledb_content as content
from tally import Tally
from tiledb_seeded import REFUSED, Trial, written

MODES = {"fragments": "fragments", "footers": "fragment_meta", "commits": "commits", "metadata": "array_meta"}
STEPS = ("we consolidate", "we vacuum", "they consolidate", "they vacuum")
# The arrays are small, so threads and large buffers take longer than the work.
FEW = {"sm.compute_concurrency_level": "1", "sm.io_concurrency_level": "1", "sm.mem.total_budget": str(100 << 20)}


class Wrong(Exception):
    """The content after a step differs from that before it."""


def step(hyperslab, path, name):
    who, what = name.split()
    for ours, theirs in MODES.items():
        config = tiledb.Config(FEW | {"sm.consolidation.mode": theirs, "sm.vacuum.mode": theirs})
        if who == "they":
            (tiledb.consolidate if what == "consolidate" else tiledb.vacuum)(path, config=config)
        elif what == "consolidate" or ours == "fragments":
            # A single vacuum removes what any consolidation left.
            option = f"--consolidate={ours}" if what == "consolidate" else "--vacuum"
            done = subprocess.run([hyperslab, "edit", "-q", path, option], capture_output=True, text=True, errors="replace")
            if done.returncode != 0:
                raise Wrong(f"edit {option}: {done.stderr.strip()}")


def newest(path):
    with tiledb.open(path) as array:
        return content.digests(array)


def same(found, expected, what):
    for reason in content.differences(found, expected):
        raise Wrong(f"{what}: {reason}")


def in_order(hyperslab, trial, order):
    expected = newest(trial.path)
    for name in order:
        step(hyperslab, trial.path, name)
        same(newest(trial.path), expected, name)
    same(content.found_digests(hyperslab, trial.path), {of: tuple(line) for of, line in expected.items()}, "digest")
    # After all consolidated fragments, whose names contain the times of the oldest and the newest cells.
    trial.time += 10
    trial.write()
    expected = newest(trial.path)
    same(content.found_digests(hyperslab, trial.path), {of: tuple(line) for of, line in expected.items()}, "digest of what is written after")


def write_all(hyperslab, folder, first, end):
    """Makes arrays, and writes next to each which orders went wrong and in which the core refused a step."""
    for seed in range(first, end):
        path = os.path.join(folder, str(seed))
        told = {"seed": seed, "wrong": [], "refused": [], "orders": 0}
        try:
            trial = Trial(path, seed)
            writes = (trial.write, trial.put_metadata, trial.write, trial.evolve)
            for write in (*writes, trial.delete, *writes[:3]):
                trial.time += 10
                trial.steps.append(write.__name__)
                write()
            told["steps"] = ", ".join(trial.steps)
            for order in itertools.permutations(STEPS):
                trial.path = f"{path}.copy"
                shutil.copytree(path, trial.path)
                time, told["orders"] = trial.time, told["orders"] + 1
                try:
                    in_order(hyperslab, trial, order)
                except REFUSED as error:
                    told["refused"].append(f"{', '.join(order)}: {error}")
                except Wrong as error:
                    told["wrong"].append(f"{', '.join(order)}: {error}")
                trial.time = time
                shutil.rmtree(trial.path)
        except REFUSED as error:
            told["refused"].append(str(error))
        with open(f"{path}.json.part", "w") as file:
            json.dump(told, file)
        os.rename(f"{path}.json.part", f"{path}.json")


def main():
    if sys.argv[1] == "--write":
        write_all(*sys.argv[2:4], *map(int, sys.argv[4:6]))
        return
    hyperslab, count = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    tally, orders, refused = Tally(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for told in written([sys.executable, __file__, "--write", hyperslab], folder, first, first + count):
            if told is None:
                continue
            orders, refused = orders + told["orders"], refused + len(told["refused"])
            if os.environ.get("HYPERSLAB_REFUSED"):
                print("\n".join(told["refused"]))
            if told["orders"]:
                tally.check(not told["wrong"], f"seed {told['seed']}: {told['orders']} orders after {told['steps']}", told["wrong"])
    tally.check(orders >= 12 * count, "tiledb-py writes most arrays", [f"{orders} orders of {count} arrays"])
    tally.check(4 * refused < orders, "tiledb-py goes on in most orders", [f"not in {refused} of {orders}"])
    tally.close()


if __name__ == "__main__":
    main()
