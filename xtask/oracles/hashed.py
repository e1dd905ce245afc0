"""Computes the content digest of elements whose canonical bytes are supplied, both as defined by `hyperslab digest`."""

import struct

from blake3 import blake3


def digest(kind, shape, elements):
    """The digest of the canonical bytes of elements, given in parts. The shape of a null dataspace is None."""
    text = "null" if shape is None else ",".join(map(str, shape))
    hasher = blake3(f"ndl-digest-1\n{kind}\n{text}\n".encode())
    for part in elements:
        hasher.update(part)
    return f"blake3:{hasher.hexdigest()}"


def string(text):
    """The canonical bytes of a string."""
    return struct.pack("<Q", len(text)) + text
