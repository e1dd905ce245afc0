"""Warnings, which Python shows at the user's own line of code."""

from __future__ import annotations

import sys
import warnings

# This package, and packages that call it on behalf of the program.
_BETWEEN = frozenset(("hyperslab", "virtualizarr", "xarray"))


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning at the first line outside this package and the packages that call it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
