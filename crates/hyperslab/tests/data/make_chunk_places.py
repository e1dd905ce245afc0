"""Writes chunk_places.tsv: where h5py says that each chunk lies, for the example files.

Columns: file, dataset, number of chunks, number of this one, first element, offset, bytes, filter mask. Of datasets with
many chunks, only some are in the table.

    target/oracles/venv/bin/python crates/hyperslab/tests/data/make_chunk_places.py
"""

from pathlib import Path

import h5py

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[3] / "examples"
OTHERS = HERE.parents[2] / "hdf5" / "tests" / "data"
FILES = ["big_endian.h5", "chunk_indexes.h5", "groups_old.h5", "ocean.nc", "strings.nc", "unlimited.nc", "userblock.h5", "hdf5/filters.h5"]


def places(dataset):
    plist, spaces = dataset.id.get_create_plist(), dataset.id
    if plist.get_layout() == h5py.h5d.CHUNKED:
        for number in range(spaces.get_num_chunks()):
            info = spaces.get_chunk_info(number)
            yield info.chunk_offset, info.byte_offset, info.size, info.filter_mask
    elif plist.get_layout() == h5py.h5d.CONTIGUOUS and spaces.get_offset() is not None:
        yield (0,) * len(dataset.shape), spaces.get_offset(), spaces.get_storage_size(), 0


def main():
    rows = []
    for name in FILES:
        path = OTHERS / name.removeprefix("hdf5/") if name.startswith("hdf5/") else EXAMPLES / name
        with h5py.File(path) as file:

            def visit(path, dataset):
                # The library has no mask for chunks at the edge that it stored without filters; we have one of all.
                if isinstance(dataset, h5py.Dataset) and not path.endswith("_edges"):
                    all_places = sorted(places(dataset))
                    count = len(all_places)
                    for number in range(0, count, max(1, count // 6)):
                        start, *rest = all_places[number]
                        rows.append([name, f"/{path}", count, number, ",".join(map(str, start)), *rest])

            file.visititems(visit)
    text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
    (HERE / "chunk_places.tsv").write_text(text)


main()
