"""References in the Parquet files that kerchunk uses."""

from __future__ import annotations

import json
import math
import os
from typing import Any

import numpy as np

from .references import References


# Columns that are never null in kerchunk. Unless statistics also say so, fastparquet reads them as floats.
_NUMBERS = ["offset", "size"]


def write(
    folder: str,
    metadata: dict[str, Any],
    arrays: dict[str, References],
    urls: dict[str, list[str]],
    record_size: int,
) -> None:
    """Write documents and references to a new folder. Raises FileExistsError if it exists."""
    if record_size < 1:
        raise ValueError(f"record_size={record_size}, expected 1 or more")
    os.mkdir(folder)
    for path, of in arrays.items():
        below = os.path.join(folder, *path.split("/")) if path else folder
        os.makedirs(below, exist_ok=True)
        _write_array(below, of, urls[path], record_size)
    # The document is written last: without it, the references cannot be opened.
    with open(os.path.join(folder, ".zmetadata"), "w", encoding="utf-8") as file:
        json.dump({"metadata": metadata, "record_size": record_size}, file)


def _write_array(folder: str, of: References, urls: list[str], record_size: int) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    grid = of.plan.grid
    count = math.prod(grid)
    number = of.number
    offsets, sizes = np.zeros(count, "i8"), np.zeros(count, "i8")
    which = np.full(count, -1, "i4")
    offsets[number], sizes[number], which[number] = of.offset, of.length, of.which
    numbers = [pa.field(name, pa.int64(), nullable=False) for name in _NUMBERS]
    schema = pa.schema([pa.field("path", pa.string()), *numbers, pa.field("raw", pa.binary())])
    raws = {int(np.ravel_multi_index(at, grid)) if at else 0: content for at, content in of.inlined.items()}
    for record in range(-(-count // record_size)):
        start, stop = record * record_size, min((record + 1) * record_size, count)
        part = which[start:stop]
        pad = record_size - (stop - start)
        files = pa.array(np.maximum(np.pad(part, (0, pad)), 0), mask=np.pad(part < 0, (0, pad), constant_values=True))
        raw = [raws.get(at) for at in range(start, stop)] + [None] * pad if raws else [None] * record_size
        table = pa.table(
            {
                "path": pa.DictionaryArray.from_arrays(files, pa.array(urls, pa.string())).cast(pa.string()),
                "offset": np.pad(offsets[start:stop], (0, pad)),
                "size": np.pad(sizes[start:stop], (0, pad)),
                "raw": pa.array(raw, pa.binary()),
            },
            schema,
        )
        path = os.path.join(folder, f"refs.{record}.parq")
        # Its type stubs do not allow column names.
        parquet.write_table(table, path, compression="zstd", write_statistics=_NUMBERS)  # pyright: ignore[reportArgumentType]
