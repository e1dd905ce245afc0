"""Fixtures for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder with the example files of the repository."""
    return Path(__file__).resolve().parents[3] / "examples"
