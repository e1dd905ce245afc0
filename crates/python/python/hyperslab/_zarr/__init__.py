"""Stores of any format expressed as Zarr: what `hyperslab.zarr` and `hyperslab.virtual` share."""
