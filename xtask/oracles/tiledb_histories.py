"""Tests histories of TileDB arrays from seeds, in which tiledb-py performs some steps and `hyperslab edit` the others.

    tiledb_histories.py HYPERSLAB COUNT [FIRST]

The arrays are those of `tiledb_seeded.py`. Whichever of them wrote, deleted, evolved, consolidated or vacuumed, both must
find the same content at every time. Consolidation and vacuum by `edit` must leave the newest cells as tiledb-py found them
before; what `edit` writes must be what it was given.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import tiledb

import tiledb_content as content
from tally import Tally
from tiledb_seeded import REFUSED, Trial, written

STEPS = 8
CONDITIONS = ("<", "==", "!=", ">=")


def now():
    """The time of the clock, which no earlier step has."""
    time.sleep(0.004)
    return time.time_ns() // 1_000_000


class Wrong(Exception):
    """The result of `edit`, or what tiledb-py reads of it, is wrong."""


class History(Trial):
    """An array whose history is determined by a seed."""

    def __init__(self, hyperslab, path, seed):
        self.hyperslab, self.times, self.ours = hyperslab, [], 0
        super().__init__(path, seed)
        self.who = random.Random(seed)

    def edit(self, *words):
        done = subprocess.run([self.hyperslab, "edit", "-q", self.path, *words], capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            raise Wrong(f"edit {' '.join(words)}: {done.stderr.strip()}")
        self.ours += 1

    def newest(self):
        with tiledb.open(self.path) as array:
            return content.digests(array)

    def cells(self):
        with tiledb.open(self.path) as array:
            return content.rows(array)

    def numbers(self):
        """The names of numeric attributes that are never null."""
        with tiledb.open(self.path) as array:
            of = [array.schema.attr(at) for at in range(array.schema.nattr)]
        return [each.name for each in of if each.dtype.kind in "iuf" and not (each.isvar or each.enum_label or each.isnullable)]

    def write(self):
        if self.who.random() < 0.5:
            super().write()
        elif self.is_sparse:
            self.append()
        else:
            self.write_box()

    def append(self):
        """Cells that tiledb-py writes to another array of the same schema, and `edit` appends to this one."""
        with tiledb.open(self.path) as array:
            schema = array.schema
            enumerations = [array.enum("words")]
        attributes = [schema.attr(at) for at in range(schema.nattr)]
        other = self.path + ".other"
        tiledb.Array.create(other, tiledb.ArraySchema(
            schema.domain, attributes, enums=enumerations, sparse=True, capacity=7, cell_order="row-major",
            tile_order="row-major", allows_duplicates=schema.allows_duplicates))
        own, self.path = self.path, other
        try:
            Trial.write(self)
            added = self.cells()
        finally:
            self.path = own
        before = self.cells()
        try:
            self.edit("--append", other)
        finally:
            shutil.rmtree(other)
        found = self.cells()
        rank = schema.domain.ndim
        if not schema.allows_duplicates:
            replaced = {json.dumps(row[:rank]) for row in added}
            before = [row for row in before if json.dumps(row[:rank]) not in replaced]
        if sorted(map(json.dumps, found)) != sorted(map(json.dumps, before + added)):
            raise Wrong(f"append: {len(found)} cells, expected {len(before)} and {len(added)}")

    def write_box(self):
        names = self.numbers()
        if not names:
            super().write()
            return
        name = self.who.choice(names)
        with tiledb.open(self.path) as array:
            attribute, ends = array.schema.attr(name), content.extents(array)
        starts = [self.of.randint(0, last - first) for first, last in ends]
        stops = [self.of.randint(start, last - first) + 1 for start, (first, last) in zip(starts, ends)]
        shape = [stop - start for start, stop in zip(starts, stops)]
        values = np.asarray(self.values(attribute, int(np.prod(shape)))).reshape(shape)
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            np.save(file, values)
            file.flush()
            self.edit("--write", f"/{name}:{','.join(f'{start}:{stop}' for start, stop in zip(starts, stops))}={file.name}")
        with tiledb.open(self.path) as array:
            of = [column for column in content.columns(array) if column.name == name]
            [found] = content.read(array, of)
            whole = np.frombuffer(b"".join(found), attribute.dtype).reshape([last - first + 1 for first, last in ends])
        found = whole[tuple(slice(start, stop) for start, stop in zip(starts, stops))]
        if found.tobytes() != values.astype(attribute.dtype).tobytes():
            raise Wrong(f"write {name}: {found.ravel()[:4]}, expected {values.ravel()[:4]}")

    def put_metadata(self):
        if self.who.random() < 0.5:
            super().put_metadata()
            return
        key = f"key {self.who.randint(0, 3)}"
        with tiledb.open(self.path) as array:
            is_there = key in array.meta
        if is_there and self.who.random() < 0.4:
            self.edit("--remove", f"/@{key}")
        else:
            self.edit("--set", f"/@{key}={self.who.choice(('a text', '5', '-2.5', '{shape: [3], type: int64, value: [1, 2, 3]}'))}")

    def evolve(self):
        if self.who.random() < 0.5:
            super().evolve()
            return
        with tiledb.open(self.path) as array:
            names = [array.schema.attr(at).name for at in range(array.schema.nattr)]
        if len(names) > 1 and self.who.random() < 0.5:
            self.edit("--drop-attribute", f"/{self.who.choice(names)}")
        else:
            self.edit("--add-attribute", f"/o{self.time}={self.who.choice(('int16', 'float64', 'string', '{type: uint8, storage: {fillvalue: 7}}'))}")

    def delete(self):
        names = self.numbers()
        if self.who.random() < 0.5 or not (self.is_sparse and names):
            super().delete()
            return
        condition = f"{self.who.choice(names)} {self.who.choice(CONDITIONS)} {self.who.randint(0, 100)}"
        self.edit("--remove-cells", condition)

    def consolidate(self):
        if self.who.random() < 0.3:
            super().consolidate()
            return
        before = self.newest()
        self.edit(f"--consolidate={self.who.choice(('fragments', 'fragments', 'footers', 'commits', 'metadata'))}")
        self.same(before)
        if self.who.random() < 0.5:
            self.edit("--vacuum")
            self.same(before)

    def same(self, before):
        reasons = list(content.differences(self.newest(), before))
        if reasons:
            raise Wrong(f"upkeep: {reasons[0]}")

    def step(self):
        self.time = now() - 10
        # The time of the step that adds 10.
        super().step()
        now()
        self.times.append(self.time)


def write_all(hyperslab, folder, first, end):
    """Makes histories, and writes next to each what tiledb-py reads at its times."""
    for seed in range(first, end):
        path = os.path.join(folder, str(seed))
        told = {"seed": seed, "times": [], "ours": 0}
        history = None
        try:
            history = History(hyperslab, path, seed)
            for _ in range(STEPS):
                history.step()
        except REFUSED as error:
            told["refused"] = f"{type(error).__name__}: {error}"
        except Wrong as error:
            told["wrong"] = str(error)
        if history is not None:
            told["steps"], told["ours"] = ", ".join(history.steps), history.ours
            for moment in (None, *history.times):
                try:
                    with tiledb.open(path, timestamp=moment) as array:
                        told["times"].append([moment, content.digests(array)])
                except tiledb.TileDBError as error:
                    told["refused"] = f"{type(error).__name__}: {error}"
        with open(f"{path}.json.part", "w") as file:
            json.dump(told, file)
        os.rename(f"{path}.json.part", f"{path}.json")


def main():
    if sys.argv[1] == "--write":
        write_all(*sys.argv[2:4], *map(int, sys.argv[4:6]))
        return
    hyperslab, count = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    tally, refused, ours = Tally(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for told in written([sys.executable, __file__, "--write", hyperslab], folder, first, first + count):
            refused += told is None or "refused" in told
            if told is None:
                continue
            ours += told["ours"]
            what = f"seed {told['seed']}: {told.get('steps')}"
            tally.check("wrong" not in told, what, [told.get("wrong")])
            path = os.path.join(folder, str(told["seed"]))
            for moment, expected in told["times"]:
                options = [] if moment is None else ["--at", str(moment)]
                found = content.found_digests(hyperslab, path, options)
                reasons = list(content.differences(found, {of: tuple(line) for of, line in expected.items()}))
                tally.check(not reasons, f"{what}: at {moment}", reasons)
            shutil.rmtree(path, ignore_errors=True)
    tally.check(2 * refused < count, "tiledb-py goes on with most arrays", [f"not {refused} of {count}"])
    tally.check(ours >= count, "edit makes some of the steps", [f"{ours} in {count} histories"])
    tally.close()


if __name__ == "__main__":
    main()
