"""Reads a TileDB array with tiledb-py: its cells from the buffers of the core, as JSON values and as content digests."""

import json
import struct
import subprocess

import numpy as np
import tiledb
from tiledb import libtiledb
from tiledb.main import PyQuery

from hashed import digest, string

# The arrays are small, so threads would only wait for each other.
tiledb.default_ctx({"sm.compute_concurrency_level": "1", "sm.io_concurrency_level": "1"})
TEXTS = ("CHAR", "STRING_ASCII", "STRING_UTF8")
# NumPy's units, by the endings of the names of TileDB's types.
UNITS = {"YEAR": "Y", "MONTH": "M", "WEEK": "W", "DAY": "D", "HR": "h", "MIN": "m", "SEC": "s", "MS": "ms", "US": "us",
         "NS": "ns", "PS": "ps", "FS": "fs", "AS": "as"}

NAT = -(1 << 63)


class Column:
    """A dimension or an attribute: the type of its cells, and its name in hyperslab."""

    def __init__(self, array, of, is_dimension):
        self.name, self.is_dimension = of.name, is_dimension
        # A slash separates groups: a name has another character instead.
        self.shown = of.name.replace("/", "\ufffd2f") or "value"
        self.is_var = bool(of.isvar)
        self.kind = of._tiledb_dtype.name
        self.is_nullable = not is_dimension and of.isnullable
        labels = None if is_dimension else of.enum_label
        self.labels = None
        if labels:
            values = array.enum(labels).values()
            if array.enum(labels).dtype.kind in "SUO":
                self.labels = [value.decode() if isinstance(value, bytes) else str(value) for value in values]
        self.is_text = self.kind in TEXTS
        prefix, _, unit = self.kind.rpartition("_")
        self.unit = UNITS.get(unit) if prefix in ("DATETIME", "TIME") else None
        if self.unit:
            self.dtype, self.text = np.dtype("i8"), f"{'datetime' if prefix == 'DATETIME' else 'timedelta'}({self.unit})"
        elif self.is_text or self.kind in ("BLOB", "GEOM_WKB", "GEOM_WKT"):
            self.dtype, self.text = np.dtype("u1"), "string" if self.is_text else "uint8"
        elif self.kind == "BOOL":
            self.dtype, self.text = np.dtype("u1"), "bool"
        else:
            self.dtype = np.dtype(self.kind.lower())
            self.text = self.dtype.name
        self.count = 1 if is_dimension or self.is_var else of._ncell
        if self.is_text:
            self.count = 1 if self.is_var else self.count
        elif self.is_var:
            self.text = f"vlen({self.text})"
        elif self.count > 1:
            self.text = f"opaque({self.count})" if self.kind == "BLOB" else f"array({self.text};{self.count})"
        if self.labels is not None:
            pairs = ";".join(f"{label}={at}" for at, label in enumerate(self.labels))
            self.text = f"enum({self.text};{pairs})"
        if self.is_nullable:
            self.text = f"nullable({self.text})"

    def cells(self, data, offsets, validity):
        """The bytes of each cell, None for null."""
        data = data.tobytes()
        if self.is_var:
            ends = [*map(int, offsets[1:]), len(data)]
            cells = [data[start:end] for start, end in zip(map(int, offsets), ends)]
        else:
            size = self.dtype.itemsize * self.count
            cells = [data[at : at + size] for at in range(0, len(data), size)]
        if self.is_nullable:
            cells = [cell if valid else None for cell, valid in zip(cells, validity, strict=True)]
        return cells

    def hashed(self, cell):
        """The canonical bytes of an element."""
        if cell is None:
            return b"\0"
        if self.is_text:
            cell = cell if self.is_var else cell.rstrip(b"\0")
            cell = string(cell)
        elif self.is_var:
            cell = struct.pack("<Q", len(cell) // self.dtype.itemsize) + cell
        return b"\1" + cell if self.is_nullable else cell

    def order(self, cell):
        """The key by which coordinates are sorted."""
        return cell if self.is_text else np.frombuffer(cell, self.dtype)[0]

    def value(self, cell):
        """The expected JSON value."""
        if cell is None:
            return None
        if self.is_text:
            cell = cell if self.is_var else cell.rstrip(b"\0")
            try:
                return cell.decode()
            except UnicodeDecodeError:
                return {"x-bytes": "0x" + cell.hex()}
        values = np.frombuffer(cell, self.dtype)
        if self.labels is not None:
            at = int(values[0])
            return self.labels[at] if at < len(self.labels) else at
        if self.kind.startswith("DATETIME"):
            values = [str(value) for value in values.view(f"M8[{self.unit}]")]
        elif self.kind == "BOOL":
            values = [bool(value) for value in values]
        elif self.dtype.kind == "f":
            values = [self.real(value) for value in values]
        elif self.kind == "BLOB" and not self.is_var and self.count > 1:
            return {"x-bytes": "0x" + cell.hex()}
        else:
            values = ["NaT" if self.unit and value == NAT else value for value in values.tolist()]
        return values if self.is_var or self.count > 1 else values[0]

    def real(self, value):
        """A number that differs for all distinguishable values, such as signed zeros and NaN."""
        value = self.dtype.type(value)
        return "NaN" if np.isnan(value) else value.tobytes().hex()

    def found(self, value):
        """A JSON value in the form that `value` returns."""
        if self.dtype.kind == "f" and value is not None and self.labels is None:
            return [self.real(each) for each in value] if isinstance(value, list) else self.real(value)
        return value


def columns(array):
    """The columns of an array; those of dimensions first, if the array is sparse."""
    schema = array.schema
    dimensions = [Column(array, schema.domain.dim(at), True) for at in range(schema.domain.ndim if schema.sparse else 0)]
    return dimensions + [Column(array, schema.attr(at), False) for at in range(schema.nattr)]


def read(array, of, ranges=None):
    """The cells of columns within ranges of coordinates, both ends included."""
    layout = libtiledb.LayoutType.UNORDERED if array.schema.sparse else libtiledb.LayoutType.ROW_MAJOR
    names = [[column.name for column in of if column.is_dimension is which] for which in (False, True)]
    query = PyQuery(array.ctx, array, tuple(names[0]), tuple(names[1]), layout, False)
    subarray = tiledb.Subarray(array, array.ctx)
    ranges = ranges if ranges or array.schema.sparse else extents(array)
    for at, within in enumerate(ranges or []):
        if within is not None:
            subarray.add_dim_range(at, within)
    query.set_subarray(subarray)
    query.submit()
    if query.is_incomplete:
        raise RuntimeError("tiledb-py returned a part of the cells")
    results = query.results()
    return [column.cells(*results[column.name]) for column in of]


def rows(array, ranges=None):
    """The cells of a sparse array as rows of values, sorted as hyperslab sorts them."""
    of = columns(array)
    return [[column.value(cell) for column, cell in zip(of, row)] for row in ordered(of, read(array, of, ranges))]


def ordered(of, cells):
    """Rows of cells, by the coordinates, then by the bytes of the attributes."""
    def key(row):
        return tuple(column.order(cell) if column.is_dimension else column.hashed(cell) for column, cell in zip(of, row))

    return sorted(zip(*cells, strict=True), key=key)


def shown(array, text):
    """The rows of `hyperslab show --json`, in the form that `rows` returns."""
    of = columns(array)
    return [[column.found(row[column.shown]) for column in of] for row in json.loads(text)]


def extents(array):
    """The first and the last coordinate of each dimension of a dense array."""
    schema = array.schema
    domain = schema.domain
    current = schema.current_domain
    ends = None if current.is_empty else [current.ndrectangle.range(at) for at in range(domain.ndim)]
    ends = ends or [domain.dim(at).domain for at in range(domain.ndim)]
    return [(integer(first), integer(last)) for first, last in ends]


def integer(coordinate):
    return int(coordinate.astype("i8")) if isinstance(coordinate, (np.datetime64, np.timedelta64)) else int(coordinate)


def digests(array):
    """Type, shape and digest of each object, as `hyperslab digest` should report them."""
    of, lines = columns(array), {"/": ("group",)}
    cells = read(array, of)
    if array.schema.sparse:
        cells = list(zip(*ordered(of, cells))) or [()] * len(of)
        shape = [len(cells[0])]
    else:
        shape = [last - first + 1 for first, last in extents(array)]
    for column, each in zip(of, cells):
        path = f"/__dim/{column.name}" if column.is_dimension else f"/{column.shown}"
        lines[path] = (column.text, shape, digest(column.text, shape, map(column.hashed, each)))
    return lines | metadata(array)


def metadata(array):
    """The attributes of an array, from the types and bytes of its metadata."""
    lines = {}
    for key, value in array.meta.items():
        if isinstance(value, str):
            data = value.encode()
            kind, shape, elements = "string", [], string(data)
        elif isinstance(value, bytes):
            kind, shape, elements = f"opaque({len(value)})", [], value
        else:
            values = np.atleast_1d(np.asarray(value))
            kind, elements = values.dtype.name, values.tobytes()
            shape = list(values.shape) if values.size != 1 else []
        lines[f"/@{key}"] = (kind, shape, digest(kind, shape, [elements]))
    return lines


def found_digests(hyperslab, location, options=()):
    """The same from `hyperslab digest`."""
    done = subprocess.run([hyperslab, "digest", "--json", *options, location], capture_output=True, text=True)
    lines = {}
    for line in map(json.loads, done.stdout.splitlines()):
        if "digest" in line:
            lines[line["path"]] = (line["type"], line["shape"], line["digest"])
        else:
            lines[line["path"]] = (line.get("error") or line["kind"],)
    return lines or {"": (done.stderr,)}


def differences(found, expected):
    """What is wrong with lines of digests."""
    for path in sorted(found.keys() | expected.keys()):
        if found.get(path) != expected.get(path):
            yield f"{path}: {found.get(path)}, expected {expected.get(path)}"


def row_differences(found, expected):
    """What is wrong with rows of cells."""
    if len(found) != len(expected):
        yield f"{len(found)} cells, expected {len(expected)}"
    for at, (one, other) in enumerate(zip(found, expected)):
        if one != other:
            yield f"cell {at}: {one}, expected {other}"


def nested(values, shape):
    """Values in row-major order as nested lists."""
    for size in reversed(shape[1:]):
        values = [values[at : at + size] for at in range(0, len(values), size)]
    return values
