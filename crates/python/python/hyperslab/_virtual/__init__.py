"""Parts of `hyperslab.virtual`: references in the forms of other packages."""
