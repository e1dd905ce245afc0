"""Reads TileDB arrays from seeds, written by tiledb-py in many steps, and compares them with what tiledb-py reads.

    tiledb_seeded.py HYPERSLAB COUNT [FIRST]

Each array has random dimensions, orders, filters and attributes; fragments, deletes, metadata, other schemas and consolidation
follow at later times. `digest` must find what tiledb-py finds at every time, and `show` the same cells of sparse arrays.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

import numpy as np
import tiledb

import tiledb_content as content
from tally import Tally

# The creation time of all arrays; their steps are 10 ms apart.
START = 100
# The library rejects some chains of filters, selections and conditions.
REFUSED = (tiledb.TileDBError, TypeError, ValueError, IndexError, NotImplementedError)
INTEGERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
WORDS = ["a", "bb", "c", "oslo", "bergen", "x y", "zürich", "å" * 9]
ASCII = ["a", "bb", "c", "oslo", "Bergen", "z" * 20, "0", "~"]


class Trial:
    """An array determined by a seed."""

    def __init__(self, path, seed):
        self.path, self.of = path, random.Random(seed)
        self.time, self.steps = START, []
        self.is_sparse = self.of.random() < 0.6
        self.create()

    def create(self):
        of = self.of
        orders = ["row-major", "col-major"]
        rank = of.randint(1, 3)
        kind = of.choice([*INTEGERS, "M8[D]"])
        dimensions = [self.dimension(f"d{at}", of.choice([*INTEGERS, "f4", "f8", "ascii", "M8[D]"]) if self.is_sparse else kind)
                      for at in range(rank)]
        self.enumeration = tiledb.Enumeration("words", of.random() < 0.5, ["red", "green", "blü"])
        attributes = [self.attribute(f"a{at}") for at in range(of.randint(1, 4))]
        options = {"cell_order": of.choice(orders), "tile_order": of.choice(orders), "sparse": self.is_sparse}
        if self.is_sparse:
            options |= {"capacity": of.randint(2, 30), "allows_duplicates": of.random() < 0.4}
            options["cell_order"] = of.choice([*orders, "hilbert"])
        schema = tiledb.ArraySchema(tiledb.Domain(*dimensions), attributes, enums=[self.enumeration], **options)
        tiledb.Array.create(self.path, schema)
        # As if it had been created at the first time. The core uses the schema whose name sorts last as text, so all times
        # have the same number of digits.
        folder = os.path.join(self.path, "__schema")
        for name in os.listdir(folder):
            if name.startswith("__") and os.path.isfile(os.path.join(folder, name)):
                os.rename(os.path.join(folder, name), os.path.join(folder, f"__{START}_{START}_{name.split('_')[-1]}"))
        self.steps.append(f"create {rank} {options}")

    def dimension(self, name, kind):
        of = self.of
        if kind == "ascii":
            return tiledb.Dim(name, dtype="ascii", filters=self.filters("t"))
        dtype = np.dtype(kind)
        size = of.randint(1, 12)
        start = of.randint(-40, 40) if dtype.kind in "ifM" else of.randint(0, 40)
        tile = of.randint(1, size)
        domain, extent = (start, start + size - 1), tile
        if dtype.kind == "M":
            domain, extent = tuple(np.datetime64(end, "D") for end in domain), np.timedelta64(tile, "D")
        elif dtype.kind == "f":
            domain, extent = tuple(map(dtype.type, (start, start + size))), dtype.type(tile)
        return tiledb.Dim(name, domain=domain, tile=extent, dtype=dtype, filters=self.filters(dtype.kind))

    def attribute(self, name):
        of = self.of
        kind = of.choice([*INTEGERS, "f4", "f8", "U0", "ascii", "S0", "var i4", "M8[s]", "M8[ns]", "m8[h]", "bool", "pair", "enum"])
        options = {"nullable": of.random() < 0.3, "filters": self.filters(np.dtype(kind).kind if kind[0] in "iufM" else "t")}
        if kind == "pair":
            return tiledb.Attr(name, dtype=np.dtype([("", "f4"), ("", "f4")]), filters=options["filters"])
        if kind == "enum":
            return tiledb.Attr(name, dtype="u1", enum_label="words")
        if kind == "var i4":
            return tiledb.Attr(name, dtype="i4", var=True, filters=options["filters"])
        if kind in ("U0", "ascii", "S0"):
            return tiledb.Attr(name, dtype=kind, var=True, **options)
        return tiledb.Attr(name, dtype=kind, **options)

    def filters(self, kind):
        of = self.of
        compressors = [tiledb.ZstdFilter(of.randint(1, 9)), tiledb.GzipFilter(of.randint(1, 9)), tiledb.LZ4Filter(),
                       tiledb.Bzip2Filter(of.randint(1, 9))]
        before = [tiledb.ByteShuffleFilter(), tiledb.BitShuffleFilter()]
        after = [tiledb.ChecksumMD5Filter(), tiledb.ChecksumSHA256Filter()]
        if kind in "iu":
            before += [tiledb.BitWidthReductionFilter(of.choice((64, 256))), tiledb.DeltaFilter(), tiledb.DoubleDeltaFilter(),
                       tiledb.XORFilter(), tiledb.RleFilter()]
        chain = [of.choice(before)] if of.random() < 0.4 else []
        chain += [of.choice(compressors)] if of.random() < 0.7 else []
        return tiledb.FilterList(chain + ([of.choice(after)] if of.random() < 0.2 else []))

    def values(self, attribute, count):
        """Values of an attribute."""
        of, dtype = self.of, attribute.dtype
        numbers = [of.randint(0, 100) for _ in range(count)]
        if attribute.enum_label:
            return np.array([number % 3 for number in numbers], "u1")
        if attribute.isvar and dtype.kind in "US":
            words = ASCII if attribute.isascii else WORDS
            texts = [of.choice(words) * (number % 3) for number in numbers]
            made = np.array(texts if dtype.kind == "U" else [text.encode() for text in texts], object)
        elif attribute.isvar:
            made = np.empty(count, object)
            for at, number in enumerate(numbers):
                made[at] = np.arange(1 + number % 4, dtype="i4") + number
            return made
        elif dtype.names or dtype.kind == "V":
            made = np.zeros(count, dtype)
            for name in dtype.names:
                made[name] = [number / 4 for number in numbers]
            return made
        elif dtype.kind == "f":
            special = (np.nan, -0.0, np.inf, 0.1)
            made = np.array([special[number % 4] if number < 20 else number / 8 for number in numbers], dtype)
        elif dtype.kind in "Mm":
            made = np.array([number * 10**6 for number in numbers], "i8").view(dtype)
        elif dtype.kind == "b":
            made = np.array(numbers) % 2 > 0
        else:
            made = np.array(numbers, dtype)
        if attribute.isnullable and made.dtype.kind not in "Mm":
            made = np.ma.array(made, mask=[number % 5 == 0 for number in numbers])
        return made

    def coordinates(self, dimension, count):
        of = self.of
        if dimension.dtype.kind in "SO" or dimension.isvar:
            return np.array([of.choice(ASCII) + of.choice(ASCII) for _ in range(count)], object)
        first, last = dimension.domain
        if dimension.dtype.kind == "f":
            return np.array([of.choice((first, last, first + of.randint(0, 8 * int(last - first)) / 8)) for _ in range(count)],
                            dimension.dtype)
        first, last = content.integer(first), content.integer(last)
        return np.array([of.randint(first, last) for _ in range(count)], "i8").astype(dimension.dtype)

    def write(self):
        with tiledb.open(self.path, "w", timestamp=self.time) as array:
            schema, domain = array.schema, array.schema.domain
            dimensions = [domain.dim(at) for at in range(domain.ndim)]
            attributes = [schema.attr(at) for at in range(schema.nattr)]
            if self.is_sparse:
                columns = [self.coordinates(dimension, self.of.randint(1, 40)) for dimension in dimensions[:1]]
                columns += [self.coordinates(dimension, len(columns[0])) for dimension in dimensions[1:]]
                if not schema.allows_duplicates:
                    different = list({cell: None for cell in zip(*(column.tolist() for column in columns))})
                    at = [list(zip(*(column.tolist() for column in columns))).index(cell) for cell in different]
                    columns = [column[at] for column in columns]
                array[tuple(columns)] = {each.name: self.values(each, len(columns[0])) for each in attributes}
                return
            part, shape = tiledb.Subarray(array), []
            for at, (first, last) in enumerate(content.extents(array)):
                start = self.of.randint(first, last)
                end = self.of.randint(start, last)
                part.add_dim_range(at, tuple(self.ends(dimensions[at], (start, end))))
                shape.append(end + 1 - start)
            made = {each.name: self.values(each, int(np.prod(shape))).reshape(shape) for each in attributes}
            array.write_subarray(part, made)

    @staticmethod
    def ends(dimension, ends):
        return np.array(ends, "i8").astype(dimension.dtype)

    def put_metadata(self):
        values = ["a text", "ü", "", b"\0bytes", 5, -2.5, True, (1, 2, 3), (1.5, 2.5), np.arange(4, dtype="u2")]
        with tiledb.open(self.path, "w", timestamp=self.time) as array:
            array.meta[f"key {self.of.randint(0, 3)}"] = self.of.choice(values)
            gone = f"key {self.of.randint(0, 3)}"
            if self.of.random() < 0.3:
                del array.meta[gone]

    def evolve(self):
        with tiledb.open(self.path) as array:
            names = [array.schema.attr(at).name for at in range(array.schema.nattr)]
        evolution = tiledb.ArraySchemaEvolution()
        evolution.timestamp(self.time)
        if len(names) > 1 and self.of.random() < 0.5:
            evolution.drop_attribute(self.of.choice(names))
        else:
            evolution.add_attribute(self.attribute(f"e{self.time}"))
        evolution.array_evolve(self.path)

    def delete(self):
        with tiledb.open(self.path) as array:
            names = [array.schema.attr(at).name for at in range(array.schema.nattr)
                     if array.schema.attr(at).dtype.kind in "iuf" and not (array.schema.attr(at).isvar or array.schema.attr(at).enum_label)]
        if self.is_sparse and names:
            with tiledb.open(self.path, "d", timestamp=self.time) as array:
                array.query(cond=f"{self.of.choice(names)} {self.of.choice(('<', '==', '!=', '>='))} {self.of.randint(0, 100)}").submit()

    def consolidate(self):
        mode = self.of.choice(("fragments", "fragments", "fragment_meta", "commits", "array_meta"))
        config = tiledb.Config({"sm.consolidation.mode": mode, "sm.vacuum.mode": mode})
        tiledb.consolidate(self.path, config=config)
        if self.of.random() < 0.5:
            tiledb.vacuum(self.path, config=config)

    def step(self):
        """One more step at a later time. tiledb-py rejects some, for example filters that do not suit a type."""
        self.time += 10
        step = self.of.choice((self.write, self.write, self.write, self.put_metadata, self.evolve, self.delete, self.consolidate))
        self.steps.append(step.__name__)
        step()


def write_all(folder, first, end):
    """Writes arrays, and next to each what tiledb-py reads in it."""
    for seed in range(first, end):
        path = os.path.join(folder, str(seed))
        told = {"seed": seed, "times": []}
        try:
            trial = Trial(path, seed)
            for _ in range(6):
                trial.step()
        except REFUSED as error:
            told["refused"] = f"{type(error).__name__}: {error}"
        if os.path.exists(path):
            told["steps"] = ", ".join(trial.steps)
            for time in (None, *trial.of.sample(range(START, START + 70, 5), 2)):
                with tiledb.open(path, timestamp=time) as array:
                    rows = content.rows(array) if array.schema.sparse else None
                    told["times"].append([time, content.digests(array), rows])
        with open(f"{path}.json", "w") as file:
            json.dump(told, file)


def written(command, folder, first, end):
    """The result for each array from a command that writes arrays by their seeds, stored in a file next to each. None for an array
    at which the core crashed, which happens for some."""
    while first < end:
        subprocess.run([*command, folder, str(first), str(end)], check=False)
        while os.path.exists(path := os.path.join(folder, f"{first}.json")):
            with open(path) as file:
                yield json.load(file)
            first += 1
        if first < end:
            yield None
        first += 1


def compare(tally, hyperslab, path, told):
    for time, expected, rows in told["times"]:
        options = [] if time is None else ["--at", str(time)]
        found = content.found_digests(hyperslab, path, options)
        expected = {path: tuple(line) for path, line in expected.items()}
        reasons = list(content.differences(found, expected))
        if rows is not None and not reasons:
            done = subprocess.run([hyperslab, "show", "-q", "--json", *options, path], capture_output=True, text=True)
            with tiledb.open(path, timestamp=time) as array:
                found = content.shown(array, done.stdout) if done.returncode == 0 else []
            reasons += content.row_differences(found, rows)
        tally.check(not reasons, f"seed {told['seed']} at {time}: {told['steps']}", reasons)


def main():
    if sys.argv[1] == "--write":
        write_all(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        return
    hyperslab, count = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    tally, refused = Tally(), 0
    with tempfile.TemporaryDirectory() as folder:
        for told in written([sys.executable, __file__, "--write"], folder, first, first + count):
            refused += told is None or "refused" in told
            if told is not None:
                compare(tally, hyperslab, os.path.join(folder, str(told["seed"])), told)
    tally.check(4 * refused < count, "tiledb-py writes and reads most arrays", [f"not {refused} of {count}"])
    tally.close()


if __name__ == "__main__":
    main()
