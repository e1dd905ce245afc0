"""Reads arrays of all datatypes, orders, filters, nulls, sizes and fill values that we write with the current tiledb-py and that of core 2.25.

    tiledb_matrix.py HYPERSLAB CACHE [STEP]

tiledb-py writes the sources, `convert` writes the same arrays again, and `edit` continues both: the digests of cells, slices,
conditions and aggregates from all readers must be those of the sources. The wheel of core 2.25 is installed below CACHE. Only
every STEPth attribute is made.
"""

import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import tiledb

from tally import Tally
from tiledb_wheels import UNREACHABLE, installed, interpreter

# The last wheel of core 2.25 to 2.27, and a Python that has it.
OLD = ("0.31.1", "3.8")
INTEGERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
KINDS = (*INTEGERS, "f4", "f8", "M8[D]", "M8[ns]", "m8[h]", "bool", "pair", "U0", "ascii", "S0", "S7", "var i4", "var f8")
FILTERS = {
    "none": [], "zstd": [tiledb.ZstdFilter(3)], "gzip": [tiledb.GzipFilter(6)], "lz4": [tiledb.LZ4Filter()],
    "bzip2": [tiledb.Bzip2Filter(9)], "byteshuffle_zstd": [tiledb.ByteShuffleFilter(), tiledb.ZstdFilter()],
    "bitshuffle_lz4": [tiledb.BitShuffleFilter(), tiledb.LZ4Filter()], "md5": [tiledb.ChecksumMD5Filter()],
    "gzip_sha256": [tiledb.GzipFilter(), tiledb.ChecksumSHA256Filter()],
}
OF_INTEGERS = {
    "bit_width": [tiledb.BitWidthReductionFilter(64)], "delta": [tiledb.DeltaFilter()], "double_delta": [tiledb.DoubleDeltaFilter()],
    "xor": [tiledb.XORFilter()], "rle": [tiledb.RleFilter()],
}
OF_TEXTS = {"dictionary": [tiledb.DictionaryFilter()], "rle": [tiledb.RleFilter()]}
# The attribute of which `edit` writes a part.
EDITED = "i4_zstd_False"
SIDES = ((0, 9, 4), (-3, 8, 5))
COUNT = 60


def attributes(is_sparse, step):
    """Attributes for every kind of cells with its filters, with and without nulls and explicit fill values."""
    # tiledb-py cannot write nulls of these.
    never = {"pair", "var i4", "var f8", *(kind for kind in KINDS if kind[0] in "Mm"), *(() if is_sparse else ("U0", "ascii", "S0", "S7"))}
    made, number = [], 0
    for kind in KINDS:
        chains = FILTERS | (OF_INTEGERS if kind in INTEGERS else OF_TEXTS if kind == "ascii" else {})
        for (name, filters), nullable in itertools.product(chains.items(), (False, True)):
            if nullable and kind in never:
                continue
            number += 1
            made.append(attribute(f"{kind}_{name}_{nullable}".replace("[", "_").replace("]", "").replace(" ", "_"), kind, filters, nullable, number))
    return [of for at, of in enumerate(made) if at % step == 0 or of.name == EDITED]


def attribute(name, kind, filters, nullable, number):
    options = {"filters": tiledb.FilterList(filters), "nullable": nullable}
    if number % 2 and kind in (*INTEGERS, "f4", "f8"):
        options["fill"] = number % 100
    if kind == "pair":
        return tiledb.Attr(name, dtype=np.dtype([("", "f4"), ("", "f4")]), filters=options["filters"])
    if kind.startswith("var"):
        return tiledb.Attr(name, dtype=kind[4:], var=True, filters=options["filters"])
    if kind in ("U0", "ascii", "S0"):
        return tiledb.Attr(name, dtype=kind, var=True, **options)
    return tiledb.Attr(name, dtype=kind, **options)


def values(of, count, first):
    numbers = (np.arange(count) * 7 + first) % 101
    dtype = of.dtype
    if of.isvar and dtype.kind in "US":
        texts = ["" if number % 5 == 0 else "aé"[: 1 if of.isascii or dtype.kind == "S" else 2] * int(number % 4) + str(number) for number in numbers]
        made = np.array(texts if dtype.kind == "U" else [text.encode() for text in texts], object)
    elif of.isvar:
        made = np.empty(count, object)
        for at, number in enumerate(numbers):
            made[at] = np.arange(1 + number % 4, dtype=dtype) + number
        return made
    elif dtype.names:
        made = np.zeros(count, dtype)
        for name in dtype.names:
            made[name] = numbers / 4
        return made
    elif dtype.kind == "S":
        made = np.array([str(number).encode() * 2 for number in numbers], dtype)
    elif dtype.kind in "Mm":
        made = (numbers * 1000).astype("i8").view(dtype)
    elif dtype.kind == "b":
        made = numbers % 2 > 0
    elif dtype.kind == "f":
        made = (numbers / 8).astype(dtype)
    else:
        made = numbers.astype(dtype)
    return np.ma.array(made, mask=numbers % 5 == 0) if of.isnullable else made


def schemas(step):
    dims = lambda: [tiledb.Dim(name, domain=(first, last), tile=tile, dtype="i4") for name, (first, last, tile) in zip("yx", SIDES)]
    for cell_order, tile_order in itertools.product(("row-major", "col-major"), repeat=2):
        yield f"dense_{cell_order[0]}{tile_order[0]}", tiledb.ArraySchema(tiledb.Domain(*dims()), attributes(False, step), cell_order=cell_order, tile_order=tile_order)
    for cell_order, dups in itertools.product(("row-major", "col-major", "hilbert"), (False, True)):
        yield f"sparse_{cell_order[0]}{'_dups' if dups else ''}", tiledb.ArraySchema(
            tiledb.Domain(*dims()), attributes(True, step), sparse=True, capacity=7, allows_duplicates=dups, cell_order=cell_order, tile_order="row-major")


def write(path, schema, first):
    """All cells of a dense array, some of a sparse one."""
    own = [schema.attr(at) for at in range(schema.nattr)]
    shape = [last - start + 1 for start, last, _ in SIDES]
    with tiledb.open(path, "w", timestamp=10 + first) as array:
        if not schema.sparse:
            array[:] = {of.name: values(of, math.prod(shape), first).reshape(shape) for of in own}
            return
        at = (np.arange(COUNT) * 37 + first) % math.prod(shape)
        y, x = at // shape[1] + SIDES[0][0], at % shape[1] + SIDES[1][0]
        array[y.astype("i4"), x.astype("i4")] = {of.name: values(of, COUNT, first) for of in own}


def now():
    time.sleep(0.004)
    return time.time_ns() // 1_000_000


class Wrong(Exception):
    pass


def hyperslab(*words):
    done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise Wrong(f"{words[1:]}: {done.stderr.strip()}")


def go_on(program, name, schema, source, ours, folder):
    """The same cells once more: by tiledb-py in the source, by `edit` in ours."""
    if schema.sparse:
        more = os.path.join(folder, "more")
        tiledb.Array.create(more, schema)
        write(more, schema, 5)
        hyperslab(program, "edit", "-q", ours, "--append", more)
        tiledb.vfs.VFS().remove_dir(more)
        write(source, schema, 5)
        return
    of = next(schema.attr(at) for at in range(schema.nattr) if schema.attr(at).name == EDITED)
    with tiledb.open(source) as array:
        found = array[:]
    found[of.name][2:7, 1:9] = np.arange(40).reshape(5, 8)
    file = os.path.join(folder, "part.npy")
    np.save(file, found[of.name][2:7, 1:9])
    hyperslab(program, "edit", "-q", ours, "--write", f"/{of.name}:2:7,1:9={file}")
    with tiledb.open(source, "w", timestamp=20) as array:
        array[:] = found


def told(python, packages, folder):
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tiledb_matrix_read.py")
    done = subprocess.run([python, "-W", "ignore", here, packages, folder], capture_output=True, text=True)
    if done.returncode:
        raise Wrong(done.stderr.strip()[-500:])
    return {(name, at): found for name, at, found in map(json.loads, done.stdout.splitlines())}


def different(found, expected):
    for key in sorted(expected.keys() | found.keys()):
        one, other = found.get(key), expected.get(key)
        if isinstance(one, list) and isinstance(other, list):
            same = all(a == b or None not in (a, b) and math.isclose(a, b, rel_tol=1e-6) for a, b in zip(one, other))
        else:
            same = one == other
        if not same:
            if isinstance(one, dict) and isinstance(other, dict):
                one, other = ({name: of[name] for name in of if one.get(name) != other.get(name)} for of in (one, other))
            yield f"{key}: {str(one)[:200]}, expected {str(other)[:200]}"


def compare(tally, what, found, expected):
    tally.check(found.keys() == expected.keys(), f"{what} reads {len(expected)} arrays", [str(found.keys() ^ expected.keys())])
    for key in sorted(found.keys() & expected.keys()):
        reasons = list(different(found[key], expected[key]))
        tally.check(not reasons, f"{what}: {key[0]}, {'now' if key[1] == 0 else 'before'}", reasons)


def main():
    program, cache = sys.argv[1:3]
    step = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        sources, ours = (os.path.join(folder, name) for name in ("sources", "ours"))
        os.mkdir(sources), os.mkdir(ours)
        for name, schema in schemas(step):
            source, own = os.path.join(sources, name), os.path.join(ours, f"{name}")
            tiledb.Array.create(source, schema)
            write(source, schema, 0)
            try:
                hyperslab(program, "convert", "-q", "--format", "tiledb", source, own)
                times = {source: 12, own: now()}
                now()
                go_on(program, name, schema, source, own, folder)
            except Wrong as error:
                tally.check(False, name, [str(error)])
                continue
            for path, moment in times.items():
                with open(f"{path}.times", "w") as file:
                    json.dump([moment], file)
        expected = told(sys.executable, "-", sources)
        compare(tally, f"tiledb-py {tiledb.__version__}", told(sys.executable, "-", ours), expected)
        wheel, version = OLD
        python = interpreter(version)
        packages, missing = installed(python, wheel, cache) if python else (None, f"no Python {version}")
        if packages is None:
            tally.skip(f"{UNREACHABLE if python else 'no Python'}: tiledb {wheel}: {missing}")
        else:
            # Its sums of narrow integers wrap, whoever wrote the array.
            compare(tally, f"tiledb-py {wheel}", told(python, packages, ours), told(python, packages, sources))
    tally.close()


if __name__ == "__main__":
    main()
