"""Stores of any format in the words of Zarr: what `hyperslab.zarr` and `hyperslab.virtual` share."""
