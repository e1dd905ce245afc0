"""Reads chunks that this crate encodes with zarr-python: `foreign.py ENCODED`, where ENCODED was written by
`HYPERSLAB_ENCODED=/tmp/encoded.json cargo test -p hyperslab-zarr through_all_codecs`. Needs zarr 3.1 and numcodecs."""

import json
import pathlib
import sys
import warnings

import numpy as np
import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import MemoryStore

warnings.simplefilter("ignore")


def main():
    expected = json.loads((pathlib.Path(__file__).parent / "codecs.json").read_text())
    found = json.loads(pathlib.Path(sys.argv[1]).read_text())
    assert len(expected) == len(found)
    wrong = 0
    buffer = default_buffer_prototype().buffer
    for want, have in zip(expected, found):
        values = {k: bytes.fromhex(v) for k, v in have["values"].items()}
        # Only the chunks are from this crate.
        values |= {k: bytes.fromhex(v) for k, v in want["values"].items() if "zar" in k or "zattr" in k}
        try:
            data = zarr.open_array(MemoryStore({k: buffer.from_bytes(v) for k, v in values.items()}), mode="r")[...]
            if "texts" in want:
                texts = [text if isinstance(text, bytes) else str(text).encode() for text in data.ravel()]
                same = [text.hex() for text in texts] == want["texts"]
            else:
                same = np.ascontiguousarray(data.astype(data.dtype.newbyteorder("="))).tobytes().hex() == want["rows"]
        except Exception as error:  # a failure of any kind is a finding
            same, data = False, repr(error)
        if not same:
            wrong += 1
            print(want["name"], data)
    print(f"{len(found) - wrong} of {len(found)} are read as they should be")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
