"""Parts of `hyperslab.xarray`: datasets read and written."""
