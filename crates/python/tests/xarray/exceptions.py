"""Tests of xarray that do not hold for our engine, and why."""

from __future__ import annotations

EXCEPTIONS: dict[str, str] = {}
