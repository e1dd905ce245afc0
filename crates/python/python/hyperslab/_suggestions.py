"""What a misspelled name may mean."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that is most like another one; None if none is."""
    # It takes longer to import than all of this package.
    from difflib import get_close_matches

    listed = list(known)
    alike = [one for one in listed if one.casefold() == name.casefold()] or get_close_matches(name, listed, n=1)
    return alike[0] if alike else None
