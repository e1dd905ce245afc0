"""Parts of `hyperslab.xarray`: reading and writing datasets."""
