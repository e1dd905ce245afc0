"""Suggestions for misspelled names."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar to the given one; None if none is similar."""
    # Importing it takes longer than importing all of this package.
    from difflib import get_close_matches

    listed = list(known)
    alike = [one for one in listed if one.casefold() == name.casefold()] or get_close_matches(name, listed, n=1)
    return alike[0] if alike else None
