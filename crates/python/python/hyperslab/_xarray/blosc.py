"""Blosc in the terms of netCDF4 encodings."""

from __future__ import annotations

# Codecs, by their names in the Ndarray Data Language.
CODECS = {"blosclz": "blosc_lz", "lz4": "blosc_lz4", "lz4hc": "blosc_lz4hc", "zlib": "blosc_zlib", "zstd": "blosc_zstd"}

SHUFFLES = {"none": 0, "byte": 1, "bit": 2}
