"""Every array of the corpus is the same through `ZarrStore` as in NumPy, and as in h5py."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("blake3")
pytest.importorskip("h5py")
pytest.importorskip("zarr", minversion="3.1")

import zarr_corpus  # noqa: E402

# The minimum number of arrays in each archive.
ARRAYS = {"HDF5": 10_600, "ZARR": 660, "TILEDB": 1_400}

# The share of the HDF5 files that is read is that of xarray's own tests that are run.
STEP = int(os.environ.get("HYPERSLAB_UPSTREAM_STEP", "1"))


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("archive", ARRAYS)
def test_every_array_of_the_corpus_is_the_same_through_zarr(archive: str, stored: bool) -> None:
    root = os.environ.get(f"HYPERSLAB_CORPUS_{archive}")
    if root is None:
        pytest.skip(f"HYPERSLAB_CORPUS_{archive} names no folder")
    step = STEP if archive == "HDF5" else 1
    done = zarr_corpus.compared(Path(root), stored=stored, step=step)
    assert not done.faults, "\n".join(done.faults)
    # Files differ in their number of arrays.
    least = ARRAYS[archive] if step == 1 else ARRAYS[archive] // (2 * step)
    assert done.counts["arrays"] >= least, done.counts


def test_an_element_that_differs_is_found(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = zarr_corpus.compared(examples, stored=False)
    assert not expected.faults and expected.counts["arrays"] > 50, (expected.faults, expected.counts)
    monkeypatch.setattr(zarr_corpus, "same", lambda one, other: not np.asarray(one).size)
    done = zarr_corpus.compared(examples, stored=False)
    assert len(done.faults) > expected.counts["arrays"] - 20, done.counts
