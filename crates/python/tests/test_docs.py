"""The blocks of docs/python.md run one after the other, in a folder with the example files."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

pytest.importorskip("xarray")
pytest.importorskip("dask")
pytest.importorskip("zarr")
pytest.importorskip("pyarrow")


def test_the_guide_runs(examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in examples.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    pages = [examples.parent / "crates" / "python" / "README.md", examples.parent / "docs" / "python.md"]
    text = "\n".join(page.read_text() for page in pages)
    blocks = re.findall(r"^## (.*?)$|^```python\n(.*?)^```", text, re.M | re.S)
    names: dict[str, object] = {"__name__": "guide"}
    heading, ran = "", 0
    for title, block in blocks:
        if title:
            heading = title
            continue
        exec(compile(block, f"docs/python.md: {heading}", "exec"), names)
        ran += 1
    assert ran >= 10
