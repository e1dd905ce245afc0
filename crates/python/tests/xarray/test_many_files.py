"""Many files that are opened at the same time give the same values each time, without a crash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("netCDF4")
pytest.importorskip("dask")

import many_files  # noqa: E402

# `cargo xtask soak` uses 100.
RUNS = int(os.environ.get("HYPERSLAB_MANY_RUNS", "2"))


@pytest.mark.timeout(3600)
def test_300_files_are_opened_in_parallel(tmp_path: Path) -> None:
    # In a separate process, so that a crash is reported as a failure here.
    command = [sys.executable, "-X", "faulthandler", many_files.__file__, tmp_path, str(RUNS)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    print(run.stdout)
    assert run.stdout.startswith(f"{RUNS} runs of 300 files: "), run.stdout


def test_a_value_that_differs_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_files, "FILES", 3)
    paths, values = many_files.make(tmp_path), many_files.expected()
    many_files.run(paths, values)
    for name, other in [("packed", 5), ("single", 5), ("time", 5), ("name", "other")]:
        changed = {**values, name: values[name].copy()}
        changed[name].flat[7] = np.array(other, changed[name].dtype)
        with pytest.raises(AssertionError):
            many_files.run(paths, changed)
