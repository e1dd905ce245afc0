"""Tables and sizes as text, as the command line prints them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

from . import _hyperslab


def table(
    headers: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = (), widest: int | None = None
) -> str:
    """Lines with two spaces between columns; columns in `numbers` are right-aligned.

    Cells that are wider than `widest` do not widen their column.
    """
    lines = [list(headers), *([shown(cell) for cell in row] for row in rows)]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    widths = [min(width, widest or width) for width in widths]
    right = set(numbers)
    return "\n".join("  ".join(_padded(cell, widths[at], at in right) for at, cell in enumerate(line)).rstrip() for line in lines)


def html(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The same table as HTML for notebooks."""
    head = "".join(f"<th>{escape(header)}</th>" for header in headers)
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def size(count: int | None) -> str:
    """A number of bytes with a binary unit: 477 B, 1.1 KiB. Empty for None."""
    return "" if count is None else _hyperslab.human_bytes(count)


def counted(count: int, one: str) -> str:
    """A number and a word, such as 2 stores."""
    return f"{count} {one}" if count == 1 else f"{count} {one}s"


def shape(extents: Sequence[int] | None) -> str:
    """Extents in brackets."""
    return "" if extents is None else f"[{', '.join(map(str, extents))}]"


def _padded(cell: str, width: int, is_right: bool) -> str:
    space = " " * (width - _width(cell))
    return space + cell if is_right else cell + space


def _width(text: str) -> int:
    """The width in terminal columns."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) != 0 for character in text)


def shown(text: str) -> str:
    """The text on one line, with unprintable characters escaped as in Rust."""
    return text if text.isprintable() else "".join(of if of.isprintable() else _escaped(of) for of in text)


def _escaped(character: str) -> str:
    return {"\t": "\\t", "\n": "\\n", "\r": "\\r"}.get(character, f"\\u{{{ord(character):x}}}")
