"""The results of verbs that write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _text
from ._differences import Report
from ._errors import Error, LossError
from ._reports import Cells, ChunkCount, Rows, failures


@dataclass(frozen=True, slots=True)
class Lowered:
    """One kind of content that the target cannot store unchanged.

    places: the first objects, or ``/path@name`` for attributes; count: how many there are
    what, becomes: the content, and what replaces it
    fate: restored when converted back, changed, or lost
    kind: the kind of a loss, as `allow_loss` takes it
    """

    places: list[str]
    count: int
    what: str
    becomes: str
    fate: str
    kind: str | None


@dataclass(frozen=True, slots=True)
class Chunking:
    """The chunks of an array in the target: their number, and the bytes of the elements of each."""

    path: str
    shape: list[int]
    chunk: list[int]
    shard: list[int] | None
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of reading back: how many digests are equal, how many objects and attributes have a different type or shape as
    reported, and exceptions for content that is different or unreadable."""

    equal: int
    changed: int
    different: list[Error]
    unreadable: list[Error]


class LossReport(Rows[Lowered]):
    """What writing a store changes and loses; empty if everything is stored unchanged.

    source, target: what was read and written; None for a dry run without a target
    format: the format of the target
    bytes: bytes of the elements; arrays: number of arrays written, None for a dry run
    written: size of the new store in bytes, None for a dry run
    chunks: how arrays are divided into chunks
    left_out: exceptions for arrays that could not be read, where that was allowed
    unwritten: for arrays that were written by region, how many chunks were written, if not all of them
    verified: the result of reading back, if requested
    notes, advice: further remarks
    document: findings in the document from which a store was created; preview: what would be created
    """

    def __init__(self, source: str, target: str | None, answer: dict[str, Any]) -> None:
        super().__init__([Lowered(**row) for row in answer.get("rows", ())])
        self.source, self.target = source, target
        self.format: str | None = answer.get("format")
        self.bytes: int = answer.get("bytes", 0)
        self.arrays: int | None = answer.get("arrays")
        self.written: int | None = answer.get("written")
        self.chunks = [Chunking(**row) for row in answer.get("chunks", ())]
        self.left_out: list[Error] = answer["left_out"]
        self.unwritten: dict[str, ChunkCount] = {}
        self.verified: Verified | None = None
        if "equal" in answer:
            self.verified = Verified(**{part: answer[part] for part in ("equal", "changed", "different", "unreadable")})
        told = ("notes", "doubts", "join_notes", "gaps")
        self.notes: list[str] = [note for key in told for note in answer.get(key, ())]
        self.notes += [f"link not followed: {why}" for why in answer.get("unfollowed", ())]
        self.advice: list[str] = answer.get("advice", [])
        self.document: Report | None = None
        self.preview: dict[str, Any] | None = answer.get("preview")
        self._lines: list[str] = answer.get("table", [])

    @property
    def losses(self) -> list[Lowered]:
        """What is lost."""
        return [row for row in self if row.fate == "lost"]

    def _table(self) -> Cells:
        cells = [(_places(row), row.what, row.becomes, row.fate) for row in self]
        return ("WHERE", "WHAT", "BECOMES", "FATE"), cells, []

    def _remarks(self) -> list[str]:
        lines = [f"left out: {error}" for error in self.left_out]
        if self.verified is not None:
            lines += failures(self.verified.unreadable)
        return lines + [
            f"{path}: {of.written} of {_text.counted(of.of, 'chunk')} written; the rest has the fill value"
            for path, of in self.unwritten.items()
        ]

    def __str__(self) -> str:
        lines = [_text.shown(line) for line in self._lines]
        if self.arrays is None and self.chunks:
            cells = [
                (of.path, _text.shape(of.shape), _text.shape(of.chunk), _text.shape(of.shard), str(of.count), _text.size(of.bytes))
                for of in self.chunks
            ]
            headers = ("ARRAY", "SHAPE", "CHUNK", "SHARD", "COUNT", "EACH")
            lines += [*([""] if lines else []), _text.table(headers, cells, [4, 5])]
        return "\n".join(lines + self._remarks())


def _places(row: Lowered) -> str:
    match row.places:
        case [one] if row.count == 1:
            return one
        case [one, other] if row.count == 2:
            return f"{one}, {other}"
        case [first, *_]:
            return f"{first} and {row.count - 1} more"
        case _:
            return ""


def reported(
    source: str, path: str | None, answer: dict[str, Any], dry_run: bool = False, allowed: Sequence[str] = ()
) -> LossReport:
    """The report, unless a loss is not allowed, which raises an error."""
    report = LossReport(source, path, answer)
    refused = answer["refused"]
    if refused and not dry_run:
        error = LossError.of(refused[0], report)
        error.add_lines(_named([row for row in report.losses if row.kind not in allowed]))
        raise error
    verified = report.verified
    if verified is not None and verified.different:
        raise LossError.of(verified.different[0], report)
    return report


def _named(losses: Sequence[Lowered]) -> list[str]:
    """The first losses as lines for an error."""
    lines = [f"{_places(row)}: {row.what} would become {row.becomes}" for row in losses[:_MOST_NAMED]]
    left = sum(row.count for row in losses[_MOST_NAMED:])
    return [*lines, f"and {left} more; `report` of this error lists all of them"] if left else lines


# How many kinds of losses an error names.
_MOST_NAMED = 3
