"""Golden texts: bytes of files that the reference library wrote, as hex digits."""

import os

HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, what, data):
    """Writes `data` as NAME.hex, with a comment that says what it is."""
    data = bytes(data)
    with open(os.path.join(HERE, name + ".hex"), "w") as out:
        out.write(f"# {what}\n")
        for at in range(0, len(data), 32):
            out.write(data[at : at + 32].hex(" ") + "\n")


def offsets(data, signature):
    """Where `signature` occurs in `data`."""
    found, at = [], data.find(signature)
    while at >= 0:
        found.append(at)
        at = data.find(signature, at + 1)
    return found


def uint(data, at, width):
    """The little-endian integer of `width` bytes at `at`."""
    return int.from_bytes(data[at : at + width], "little")
