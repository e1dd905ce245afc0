"""The results of `diff` and `check`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _text
from ._reports import Cells, Rows, record

_SIGNS = {"a": "-", "b": "+", "both": "~"}


@dataclass(frozen=True, slots=True)
class DifferingValue:
    """An element that differs: its position, and its value on both sides."""

    at: list[Any]
    a: Any
    b: Any
    text: list[str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Found:
    """One difference.

    path: the object, or ``/path@name`` for an attribute
    kind: group, array, dimension, datatype, link, attribute or unreadable
    on: "a" or "b" if only one side has it, "both" if it differs
    what: the property that differs: presence, type, shape, value, values, unreadable, ...
    a, b: the property on both sides, as strings
    differing, compared: numbers of elements; values: the first elements that differ; largest: the largest difference
    """

    path: str
    kind: str
    on: str
    what: str
    a: str
    b: str
    values: list[DifferingValue] = field(default_factory=list)
    differing: int | None = None
    compared: int | None = None
    largest: str | None = None
    floats: bool = field(default=False, repr=False)

    @staticmethod
    def of(row: dict[str, Any]) -> Found:
        """The record for a row of the library."""
        row["values"] = [DifferingValue(**value) for value in row.get("values", ())]
        return record(Found, row)


class Difference(Rows[Found]):
    """The differences between two stores or objects: empty, and so false, if both have the same content."""

    def __init__(self, rows: Sequence[Found], about: dict[str, Any], stores: tuple[str, str], rules: dict[str, Any]) -> None:
        super().__init__(rows)
        self.is_same: bool = about["is_same"]
        self.summary: str = about["label"]
        self.missing: list[str] = about["missing"]
        self._stores, self._rules = stores, rules

    def __bool__(self) -> bool:
        return not self.is_same

    def _table(self) -> Cells:
        return ("", "WHERE", "WHAT"), [(_SIGNS[row.on], row.path, self._said(row)) for row in self], []

    def __str__(self) -> str:
        widest = max((len(row.path) for row in self if len(row.path) <= 40), default=0)
        lines = []
        for row in self:
            lines.append(f"{_SIGNS[row.on]} {row.path:{widest}}  {self._said(row)}".rstrip())
            if not row.a:
                lines += _values(row)
        return "\n".join([*lines, self.summary] if not self.is_same else lines)

    def _said(self, row: Found) -> str:
        if row.on != "both":
            return row.a if row.on == "a" else row.b
        if row.what == "unreadable":
            if row.a and row.b:
                return "unreadable in both"
            return f"unreadable in {self._stores[0 if row.a else 1]}"
        if row.differing is not None and not row.a:
            said = f"{row.differing} of {row.compared} values {'differs' if row.differing == 1 else 'differ'}"
            said += f", at most {row.largest}" if row.largest is not None else ""
            if row.floats:
                said += f" (rtol {_plain(self._rules['rtol'])}, atol {_plain(self._rules['atol'])}"
                said += f", ulp {self._rules['ulp']})" if self._rules["ulp"] else ")"
            return said
        return f"{'' if row.what == 'value' else row.what + ' '}{row.a} → {row.b}"


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


def _values(row: Found) -> list[str]:
    cells = [value.text for value in row.values]
    at, a, b = (min(max((len(cell[column]) for cell in cells), default=0), 40) for column in range(3))
    return [f"    {cell[0]:{at}}  {cell[1]:>{a}}  {cell[2]:>{b}}  {cell[3]}".rstrip() for cell in cells]


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation of a rule, or a note.

    severity: error, warning or note
    rule: name of the rule, such as ``hdf5/chunk-checksum``; specification: where it is stated
    message, hint: what was found and what was expected, and what to do
    object: path of the object, or ``/path@name``; key: the key of a value in a Zarr store
    structure, byte, length: the position in a file
    line, column, end_column: the position in a text, starting at 1
    """

    severity: str
    rule: str
    message: str
    hint: str | None = None
    specification: str | None = None
    object: str | None = None
    key: str | None = None
    structure: str | None = None
    byte: int | None = None
    length: int | None = None
    line: int | None = None
    column: int | None = None
    end_column: int | None = None
    rendered: str | None = field(default=None, repr=False)

    @property
    def path(self) -> str | None:
        """Path of the object."""
        return self.object

    def text(self, store: str) -> str:
        """The text that the command line prints for a store of this name."""
        if self.rendered is not None:
            return self.rendered.rstrip("\n")
        place = store + (f":{self.object}" if self.object is not None else "")
        for part in (self.structure, self.key):
            place += f" {part}" if part is not None else ""
        if self.line is not None and self.key is not None:
            place += f":{self.line}:{self.column}"
        place += f" byte {self.byte:#x}" if self.byte is not None else ""
        section = self.specification if (self.specification or "").startswith("CF ") else None
        rule = f"{self.rule} ({section})" if section else self.rule
        hint = f"\n  help: {self.hint}" if self.hint else ""
        return f"{place}  {self.severity}  {rule}  {self.message}{hint}"


class Report(Rows[Finding]):
    """The findings of a check: false if there are none.

    errors, warnings, notes: how many there are, including those that are not listed
    more: rules with further findings: names, severities and numbers
    """

    def __init__(self, store: str, answer: dict[str, Any]) -> None:
        super().__init__([record(Finding, row) for row in answer["findings"]])
        self.store = store
        self.errors: int
        self.warnings: int
        self.notes: int
        self.errors, self.warnings, self.notes = answer["counts"]
        self.more = [(rule, severity, count) for rule, severity, count in answer["more"]]

    @property
    def is_sound(self) -> bool:
        """Whether there are no errors."""
        return self.errors == 0

    def _table(self) -> Cells:
        cells = [(row.object or "", row.severity, row.rule, row.message) for row in self]
        return ("WHERE", "SEVERITY", "RULE", "FOUND"), cells, []

    def __str__(self) -> str:
        lines: list[str] = []
        shown: dict[str, int] = {}
        for finding in self:
            shown[finding.rule] = shown.get(finding.rule, 0) + 1
            if shown[finding.rule] <= _MAX:
                lines.append(finding.text(self.store))
        for rule, _, count in self.more:
            shown[rule] = shown.get(rule, 0) + count
        lines += [f"{count - _MAX} more of {rule}" for rule, count in sorted(shown.items()) if count > _MAX]
        counts = ((self.errors, "error"), (self.warnings, "warning"), (self.notes, "note"))
        found = ", ".join(_text.counted(count, one) for count, one in counts if count)
        return "\n".join([*lines, f"{found or 'no findings'} in 1 location"])


# The maximum number of findings of one rule that are shown as text.
_MAX = 20
