"""Warnings, which Python shows at the line of the program that a user has written."""

from __future__ import annotations

import sys
import warnings

# This package, and those that call it for the program.
_BETWEEN = frozenset(("hyperslab", "virtualizarr", "xarray"))


def warn(message: str, category: type[Warning]) -> None:
    """Warn of what the program asked for, at its line: the first one outside of this package, and of those that call it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
