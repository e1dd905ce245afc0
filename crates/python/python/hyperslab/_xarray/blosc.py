"""Blosc in the words of the encodings of netCDF4."""

from __future__ import annotations

# Codecs, as the Ndarray Data Language calls them.
CODECS = {"blosclz": "blosc_lz", "lz4": "blosc_lz4", "lz4hc": "blosc_lz4hc", "zlib": "blosc_zlib", "zstd": "blosc_zstd"}

SHUFFLES = {"none": 0, "byte": 1, "bit": 2}
