"""The results of the verbs: lists of small records, which print as on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from html import escape
from typing import Any, Generic, TypeVar, overload

import numpy as np

from . import _text
from ._errors import Error

_Row = TypeVar("_Row")

# Longer results are abbreviated in interactive sessions.
_MOST_LINES = 60

Cells = tuple[Sequence[str], Sequence[Sequence[str]], Sequence[int]]
"""Headers, cells, and the indices of right-aligned columns."""


class Rows(Sequence[_Row], Generic[_Row]):
    """Records in order. Indexing with a string returns the record of the object at that path."""

    def __init__(self, rows: Sequence[_Row]) -> None:
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, index: int | str) -> _Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[_Row]: ...
    def __getitem__(self, index: int | str | slice) -> _Row | Sequence[_Row]:
        if not isinstance(index, str):
            return self._rows[index]
        for row in self._rows:
            if getattr(row, "path", None) == index:
                return row
        raise KeyError(index)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[_Row]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._rows == getattr(other, "_rows", None)

    def __hash__(self) -> int:
        return hash((type(self), len(self._rows)))

    def __repr__(self) -> str:
        lines = str(self).splitlines()
        if len(lines) > _MOST_LINES:
            lines = [*lines[: _MOST_LINES // 2], f"… {len(lines) - _MOST_LINES // 2} more lines; print() shows all of them"]
        return "\n".join([f"<hyperslab.{type(self).__name__} of {len(self)}>", *lines])

    def to_dict(self) -> dict[str, Any]:
        """The records as ``rows``, next to what applies to all of them, as JSON-compatible values."""
        about = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return {"rows": _plain(self._rows), **_plain(about)}

    def _table(self) -> Cells:
        raise NotImplementedError

    def _remarks(self) -> list[str]:
        """Remarks on what the rows do not show, such as objects that could not be read."""
        return []

    def __str__(self) -> str:
        headers, cells, numbers = self._table()
        table = [_text.table(headers, cells, numbers)] if cells else []
        return "\n".join(table + self._remarks())

    def _repr_html_(self) -> str:
        headers, cells, _ = self._table()
        remarks = "".join(f"<p>{escape(remark)}</p>" for remark in self._remarks())
        return _text.html(headers, cells) + remarks


def _plain(value: Any) -> Any:
    """A value of a record as a JSON-compatible value."""
    if isinstance(value, Rows):
        return value.to_dict()
    if is_dataclass(value):
        return {of.name: _plain(getattr(value, of.name)) for of in fields(value)}
    if isinstance(value, Error):
        return {"kind": value.kind, "object": value.object, "message": str(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufU":
        return value.tolist()
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def failures(errors: Sequence[Error]) -> list[str]:
    """Exceptions as remarks."""
    return [f"error: {error}" for error in errors]


def record(kind: type[_Row], row: dict[str, Any]) -> _Row:
    """A record of the entries for which it has fields."""
    return kind(**{of.name: row[of.name] for of in fields(kind) if of.name in row})  # type: ignore[arg-type]


class Description(str):
    """The description of a store as text.

    objects: number of described objects, including those with errors
    errors: an exception for each object that cannot be read; the text marks these objects
    notes: what pure NDL cannot express
    missing: sentences about arrays whose sources do not exist
    """

    objects: int
    errors: list[Error]
    notes: list[str]
    missing: list[str]

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


@dataclass(frozen=True, slots=True)
class ListedStore:
    """A store in a folder: its path, its format ("unreadable" if it cannot be opened), and its size in bytes."""

    path: str
    format: str
    bytes: int | None


class Folder(Rows[ListedStore]):
    """The stores in a folder. `errors` has an exception for each store that cannot be read."""

    def __init__(self, path: str, rows: Sequence[ListedStore], errors: list[Error]) -> None:
        super().__init__(rows)
        self.path, self.errors = path, errors

    def _remarks(self) -> list[str]:
        return failures(self.errors)

    def _table(self) -> Cells:
        cells = [(row.path.rpartition("/")[2], row.format, _text.size(row.bytes)) for row in self]
        return ("NAME", "FORMAT", "SIZE"), cells, [2]

    def __str__(self) -> str:
        return f"{self.path}: directory, {_text.counted(len(self), 'store')}\n{super().__str__()}".rstrip()


@dataclass(frozen=True, slots=True)
class ListedObject:
    """An object or an attribute in a list.

    path: its path; ``/path@name`` for an attribute
    kind: group, array, dimension, datatype, link, attribute or unreadable
    type: its datatype in NDL notation
    shape, max: its lengths, and the maximum lengths (None for unlimited)
    dimensions: paths of its dimensions; None for an unnamed one
    chunk, filters: how it is stored
    stored: stored bytes
    target: the target of a link
    error: why it cannot be read
    value: the value of an attribute, or of an array of one element as a string
    units, nx_class, long_name: what it is about, as far as its attributes say
    """

    path: str
    kind: str
    type: str | None = None
    shape: list[int] | None = None
    max: list[int | None] | None = None
    dimensions: list[str | None] | None = None
    chunk: list[int] | None = None
    filters: str = ""
    stored: int | None = None
    target: str | None = None
    error: str | None = None
    value: Any = None
    units: str | None = None
    nx_class: str | None = None
    long_name: str | None = None
    label: str = field(default="", repr=False)
    shape_label: str = field(default="", repr=False)
    about: str = field(default="", repr=False)
    depth: int = field(default=0, repr=False)

    @property
    def name(self) -> str:
        """Last part of the path."""
        return self.path.rpartition("/")[2] or "/"


class Listing(Rows[ListedObject]):
    """The objects of a store or a group.

    location: what was listed; group: path of the group, None if objects were selected by a pattern
    format, size: those of the store; `size` only if all of it was listed
    counts: how many objects of each kind there are, as a string
    errors: exceptions for objects that cannot be read
    """

    def __init__(self, location: str, rows: Sequence[ListedObject], about: dict[str, Any], errors: list[Error]) -> None:
        super().__init__(rows)
        self.location, self.errors = location, errors
        self.group: str | None = about["group"]
        self.format: str = about["format"]
        self.counts: str = about["counts"]
        self.size: int | None = about["size"]
        # An object that is not a group is listed alone.
        is_alone = any(row.path == self.group and row.kind != "group" for row in rows[:1])
        self._is_tree: bool = about["recursive"] and self.group is not None and not is_alone

    def _remarks(self) -> list[str]:
        return failures(self.errors)

    def _table(self) -> Cells:
        cells: list[Sequence[str]] = []
        for row, branch in zip(self, self._branches(), strict=True):
            name = row.path if self.group is None else row.name
            if row.kind == "attribute" and self.group is not None:
                name = "@" + row.path.rpartition("@")[2]
            name = branch + name
            chunk = _text.shape(row.chunk)
            label = row.label or row.type or ""
            shape = row.shape_label or ("" if row.kind != "attribute" else _text.shape(row.shape))
            cells.append((name, label, shape, chunk, row.filters, _text.size(row.stored), _about(row)))
        last = "ABOUT" if any(cell[-1] for cell in cells) else ""
        return ("NAME", "TYPE", "SHAPE", "CHUNK", "FILTERS", "STORED", last), cells, [5]

    def _branches(self) -> list[str]:
        """The tree lines before each name; empty if no tree was listed."""
        if not self._is_tree:
            return [""] * len(self)
        # Going backwards shows whether an object is the last one of its group.
        later: set[int] = set()
        is_last = []
        for row in reversed(self._rows):
            is_last.append(row.depth not in later)
            if row.kind != "attribute":
                later = {depth for depth in later if depth < row.depth} | {row.depth}
        branches, ended = [], list[bool]()
        for row, last in zip(self, reversed(is_last), strict=True):
            if row.kind == "attribute":
                branches.append("".join("    " if done else "│   " for done in ended))
                continue
            ended = [*ended[: row.depth], last]
            above = "".join("    " if done else "│   " for done in ended[:-1])
            branches.append(above + ("└── " if last else "├── "))
        return branches

    def __str__(self) -> str:
        size = f", {_text.size(self.size)}" if self.size is not None else ""
        return f"{self.location}: {self.format}, {self.counts}{size}\n{super().__str__()}".rstrip()


def _about(row: ListedObject) -> str:
    if row.kind == "attribute":
        return row.about
    value = None if row.value is None else f"= {row.value}" + (f" {row.units}" if row.units else "")
    return ", ".join(part for part in (value or row.units, row.nx_class, row.long_name) if part)


@dataclass(frozen=True, slots=True)
class ChunkCount:
    """The shape of chunks, how many of them are written, and how many there are in total."""

    shape: list[int]
    written: int
    of: int

    def __str__(self) -> str:
        return f"{self.written}/{self.of}"


@dataclass(frozen=True, slots=True)
class ValueSummary:
    """Values of an array: how many there are and how many are missing, and the extremes and the mean of the others.

    `labels` has the last three as strings.
    """

    count: int
    missing: int
    min: Any
    max: Any
    mean: Any
    labels: list[str | None] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Advice:
    """What is costly about the storage of an array, and the keywords of `repack` that would store it better."""

    reason: str
    better: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ArrayStat:
    """How an array is stored.

    logical, stored, ratio: bytes of the elements, stored bytes, and the former divided by the latter
    chunks: those that are decoded one by one; shards: the shards that contain them
    chunk_bytes: bytes of the elements of a chunk
    values: a summary, if it was requested
    """

    path: str
    type: str
    shape: list[int] | None
    logical: int | None
    stored: int
    ratio: float | None
    chunks: ChunkCount | None
    shards: ChunkCount | None
    chunk_bytes: int | None
    filters: list[str]
    advice: list[Advice]
    missing_sources: str | None
    values: ValueSummary | None = None

    @staticmethod
    def of(row: dict[str, Any]) -> ArrayStat:
        """The record for a row of the library."""
        for key, kind in (("chunks", ChunkCount), ("shards", ChunkCount), ("values", ValueSummary)):
            if row.get(key) is not None:
                row[key] = kind(**row[key])
        row["advice"] = [Advice(**advice) for advice in row["advice"]]
        return record(ArrayStat, row)


class Statistics(Rows[ArrayStat]):
    """How arrays are stored. `errors` has an exception for each array that cannot be read."""

    def __init__(self, rows: Sequence[ArrayStat], errors: list[Error], has_values: bool) -> None:
        super().__init__(rows)
        self.errors, self._has_values = errors, has_values

    def _remarks(self) -> list[str]:
        return failures(self.errors)

    def _table(self) -> Cells:
        cells: list[Sequence[str]] = []
        for row in self:
            ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
            chunks = "" if row.chunks is None else str(row.chunks)
            if row.shards is not None:
                chunks = f"{chunks} in {row.shards}"
            cell = [row.path, row.type, _text.size(row.logical), _text.size(row.stored), ratio, chunks]
            cell += [_text.size(row.chunk_bytes), " ".join(row.filters)]
            if self._has_values:
                values = row.values
                cell += [*(label or "" for label in values.labels), str(values.missing)] if values else [""] * 4
            cells.append(cell)
        headers = ["ARRAY", "TYPE", "LOGICAL", "STORED", "RATIO", "CHUNKS", "EACH", "FILTERS"]
        headers += ["MIN", "MAX", "MEAN", "MISSING"] if self._has_values else []
        return headers, cells, [2, 3, 4, 5, 6, 8, 9, 10, 11]


@dataclass(frozen=True, slots=True)
class DigestLine:
    """The digest of an object or attribute: the BLAKE3 hash of its content, independent of format, chunks and compression.

    A link has a `target` instead; an object that cannot be read has an `error`.
    """

    path: str
    kind: str
    type: str
    shape: list[int] | None
    digest: str | None
    target: str | None = None
    error: str | None = None
    missing_sources: str | None = field(default=None, compare=False)


class Digest(Rows[DigestLine]):
    """Digests of everything in a store or below a group, sorted by path. Equal digests mean equal content."""

    @property
    def errors(self) -> list[DigestLine]:
        """Lines of objects that cannot be read."""
        return [line for line in self if line.error is not None]

    def _table(self) -> Cells:
        cells: list[Sequence[str]] = []
        for row in self:
            shape = "null" if row.digest and row.shape is None else ""
            shape = f"[{','.join(map(str, row.shape))}]" if row.shape is not None else shape
            error = f"error: {row.error}" if row.error is not None else ""
            leads = f"-> {row.target}" if row.target is not None else ""
            cells.append((row.kind, row.path, row.type, shape, row.digest or leads or error))
        return ("KIND", "PATH", "TYPE", "SHAPE", "DIGEST"), cells, []

    def __str__(self) -> str:
        headers, cells, _ = self._table()
        return _text.table([""] * len(headers), cells, widest=40).partition("\n")[2]
