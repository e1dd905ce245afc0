"""Makes the seeds of the fuzz targets for Zarr, one folder per target, from the stores that zarr-python wrote for the
tests in crates/zarr/tests/fixtures/arrays.json. Needs nothing but Python."""

import io
import json
import pathlib
import struct
import zipfile

HERE = pathlib.Path(__file__).parent
FIXTURES = HERE.parent.parent / "crates/zarr/tests/fixtures/arrays.json"
MAX = 1500


def write(target, name, data):
    folder = HERE / target
    folder.mkdir(exist_ok=True)
    (folder / name.replace(" ", "_").replace("/", "_")).write_bytes(data)


def main():
    for array in json.loads(FIXTURES.read_text()):
        name = array["name"]
        values = {key: bytes.fromhex(value) for key, value in array["values"].items()}
        document = "zarr.json" if "zarr.json" in values else ".zarray"
        text = json.dumps(json.loads(values[document]), separators=(",", ":")).encode()
        chunks = [value for key, value in sorted(values.items()) if not key.startswith(".z") and key != "zarr.json"]
        chunk = chunks[0] if chunks else b""
        if len(text) + len(chunk) > MAX:
            continue
        version = 3 if document == "zarr.json" else 2
        write("zarr_metadata", name, bytes([0 if version == 3 else 2]) + text)
        write("zarr_store", name, struct.pack("<BH", version - 3 & 1, len(text)) + text + chunk)
        if "shard" in name or name.endswith("plain"):
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as file:
                for number, (key, value) in enumerate(sorted(values.items())):
                    info = zipfile.ZipInfo(key)
                    info.compress_type = zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED
                    file.writestr(info, value)
            write("zarr_zip", name, packed.getvalue())
    # Six inner chunks of four bytes and their index, in each of the forms that the target has.
    data = bytes(range(24))
    index = b"".join(struct.pack("<QQ", 4 * number, 4) for number in range(6))
    write("zarr_shard", "at_end", b"\0" + data + index)
    write("zarr_shard", "at_end_with_sum", b"\1" + data + index + bytes(4))
    moved = b"".join(struct.pack("<QQ", 100 + 4 * number, 4) for number in range(6))
    write("zarr_shard", "at_start_with_sum", b"\3" + moved + bytes(4) + data)
    big = b"".join(struct.pack(">QQ", 4 * number, 4) for number in range(6))
    write("zarr_shard", "big_endian", b"\x08" + data + big)


main()
