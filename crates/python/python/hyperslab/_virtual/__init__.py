"""Parts of `hyperslab.virtual`: references in the formats of other packages."""
