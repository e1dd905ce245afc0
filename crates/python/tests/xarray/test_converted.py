"""xarray shows the same of a converted store as of its source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

xr = pytest.importorskip("xarray")
pytest.importorskip("zarr")
h5netcdf = pytest.importorskip("h5netcdf")

import hyperslab  # noqa: E402


@pytest.mark.filterwarnings("ignore:variable 'v' has non-conforming")
@pytest.mark.parametrize("zarr_format", ["zarr2", "zarr3"])
@pytest.mark.parametrize("fill", [np.float64("nan"), np.float32(-2.5), np.float32(1e37), np.float64(-2.0), np.int16(-2)])
def test_fill_values_of_other_types(tmp_path: Path, fill: np.generic, zarr_format: str) -> None:
    source, target = tmp_path / "a.nc", tmp_path / "a.zarr"
    with h5netcdf.File(source, "w") as file:
        file.dimensions = {"x": 4}
        variable = file.create_variable("v", ("x",), "i2", data=np.array([-3, -2, 0, 7], "i2"))
        variable.attrs["_FillValue"], variable.attrs["scale_factor"] = fill, 0.5
    hyperslab.convert(source, target, format=zarr_format)
    with xr.open_dataset(source, engine="h5netcdf") as before, xr.open_dataset(target, engine="zarr") as after:
        xr.testing.assert_identical(before, after)
