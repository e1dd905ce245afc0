"""Reads with pyarrow the Parquet and Arrow files that `show` writes for all arrays.

    tables.py HYPERSLAB DIRECTORY

Both files must contain the same table, and its cells must be those that `show --as csv` prints.
"""

import csv
import datetime
import io
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from tally import Tally


def arrays(hyperslab, store):
    """The locations of all arrays of a store."""
    run = subprocess.run([hyperslab, "ls", "-r", "--json", store], capture_output=True)
    for line in run.stdout.decode().splitlines():
        object = json.loads(line)
        if object.get("kind") in ("array", "dimcoord", "ndarray") or "shape" in object:
            yield f"{store}:{object['path']}"


def text(value):
    """A cell as in CSV; None if CSV represents the type differently."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value)
        case datetime.datetime():
            return value.isoformat()
        case int() | str():
            return str(value)
        case _:
            return None


def same(cell, value):
    wanted = text(value)
    if wanted is None or cell == wanted or value is None and cell in ("NaT", "null"):
        return True
    if isinstance(value, int) and cell.startswith("0x"):
        # Bit fields.
        return int(cell, 16) == value
    if isinstance(value, float):
        return float(cell) == value or value != value and cell == "NaN"
    if isinstance(value, datetime.datetime):
        # Fractions of seconds have as many digits as they need.
        return cell.rstrip("0") == wanted.rstrip("0")
    return False


def same_short(cell, value, kind):
    """Whether the text, the shortest for a float32 or float16, represents the value. That of a bfloat16 is shorter."""
    if value is None or value != value:
        return cell in (("",) if value is None else ("NaN",))
    number = pa.scalar(float(cell), kind).as_py()
    return number == value or len(cell) <= 7 and abs(number - value) <= abs(value) / 256


def compare(tally, hyperslab, location, decode, folder):
    what = location + (" decoded" if decode else "")
    show = [hyperslab, "show", "-q", location, *(["--decode"] if decode else [])]
    printed = subprocess.run([*show, "--as", "csv"], capture_output=True)
    files = [os.path.join(folder, "table.parquet"), os.path.join(folder, "table.arrow")]
    runs = [subprocess.run([*show, "-o", file], capture_output=True) for file in files]
    codes = [run.returncode for run in (printed, *runs)]
    if len(set(codes)) > 1:
        tally.check(False, what, [f"exit codes {codes}: {runs[0].stderr.decode()[:300]}"])
        return
    if codes[0]:
        # An array that cannot be read.
        return
    parquet, arrow = pa.parquet.read_table(files[0]), pa.feather.read_table(files[1])
    for file in files:
        os.remove(file)
    reasons = []
    header, *rows = csv.reader(io.StringIO(printed.stdout.decode(), newline=""))
    if not parquet.equals(arrow) and not has_nan(parquet, arrow):
        reasons.append("Parquet and Arrow differ")
    if parquet.column_names != header:
        reasons.append(f"columns {parquet.column_names}, expected {header}")
    elif parquet.num_rows != len(rows):
        reasons.append(f"{parquet.num_rows} rows, expected {len(rows)}")
    else:
        for name, cells in zip(header, zip(*rows), strict=False):
            kind = parquet.schema.field(name).type
            for at, (cell, value) in enumerate(zip(cells, parquet[name].to_pylist(), strict=True)):
                is_short = kind in (pa.float16(), pa.float32())
                if not (same_short(cell, value, kind) if is_short else same(cell, value)):
                    reasons.append(f"row {at}, {name}: {value!r}, expected {cell!r}")
    tally.check(not reasons, what, reasons)


def compare_npy(tally, hyperslab, location, folder):
    """Strings must be those of JSON in NumPy."""
    file = os.path.join(folder, "array.npy")
    show = [hyperslab, "show", "-q", location]
    if subprocess.run([*show, "-o", file], capture_output=True).returncode:
        return
    found = np.load(file)
    os.remove(file)
    if found.dtype.kind == "U":
        lists = subprocess.run([*show, "--as", "lists"], capture_output=True)
        wanted = json.loads(lists.stdout)
        tally.check(found.tolist() == wanted, f"{location} in NumPy", [f"{found.tolist()!r}, expected {wanted!r}"[:400]])


def has_nan(one, other):
    """Whether the tables are equal, treating NaN, which pyarrow considers unequal to itself, as equal."""
    return one.schema.equals(other.schema) and repr(one.to_pydict()) == repr(other.to_pydict())


def main():
    hyperslab, directory = sys.argv[1:3]
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(os.listdir(directory)):
            if name.endswith((".h5", ".nc", ".zarr", ".zip", ".yaml")):
                for location in arrays(hyperslab, os.path.join(directory, name)):
                    for decode in (False, True):
                        compare(tally, hyperslab, location, decode, folder)
                    compare_npy(tally, hyperslab, location, folder)
    tally.close()


if __name__ == "__main__":
    main()
