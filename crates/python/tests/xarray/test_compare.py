"""Our engine reads the examples as those of netCDF4 and h5netcdf do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("netCDF4")
pytest.importorskip("h5netcdf")


def test_examples_are_read_as_other_engines_read_them(examples: Path) -> None:
    script = Path(__file__).with_name("corpus.py")
    run = subprocess.run([sys.executable, script, examples], capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    # The other engines read at least the NetCDF files, so something was compared.
    assert "'same': " in run.stdout and "ours" not in run.stdout.splitlines()[-1]


def test_the_comparison_can_fail() -> None:
    import numpy as np
    import xarray
    from corpus import differences

    one = xarray.Dataset({"v": ("x", np.array([1.0, np.nan]), {"units": "m"})}, attrs={"title": "a"})
    assert list(differences(one, one.copy(deep=True))) == []
    for other, subject in [
        (one.assign_attrs(title="b"), "@title"),
        (one.assign(v=one.v.copy(data=[1.0, 2.0])), "v"),
        (one.assign(v=one.v.astype("f4")), "v"),
        (one.assign(v=one.v.assign_attrs(units="km")), "v@units"),
        (one.assign(v=one.v.drop_attrs()), "v@units"),
        (one.rename(x="y"), "v"),
        (one.drop_vars("v"), "v"),
        (one.isel(x=[0]), "v"),
    ]:
        assert subject in dict(differences(one, other)), subject
