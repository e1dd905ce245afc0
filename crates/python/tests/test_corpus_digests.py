"""Every array of the corpus is the same in NumPy as in the library, by digests that Python computes from its elements."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("blake3")
pytest.importorskip("netCDF4")

from corpus_digests import compared  # noqa: E402
from digests import Encoder, Type, digest, parsed, string  # noqa: E402

# The minimum number of arrays in each archive.
ARRAYS = {"HDF5": 10_700, "ZARR": 650, "TILEDB": 900}


@pytest.mark.parametrize("archive", ARRAYS)
def test_every_array_of_the_corpus_has_its_digest_in_numpy(archive: str) -> None:
    root = os.environ.get(f"HYPERSLAB_CORPUS_{archive}")
    if root is None:
        pytest.skip(f"HYPERSLAB_CORPUS_{archive} names no folder")
    done = compared(Path(root))
    assert not done.faults, "\n".join(done.faults)
    assert done.counts["arrays"] >= ARRAYS[archive], done.counts


def test_every_array_of_the_examples_has_its_digest_in_numpy(examples: Path) -> None:
    done = compared(examples)
    assert not done.faults and done.counts["arrays"] > 50, (done.faults, done.counts)


def test_an_element_that_differs_is_found(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = Encoder.encoded

    def other(self: Encoder, of: Type, values: np.ndarray) -> bytes:
        content = encoded(self, of, values)
        return content[:-1] + bytes([content[-1] ^ 1]) if content else content

    expected = compared(examples).counts
    monkeypatch.setattr(Encoder, "encoded", other)
    done = compared(examples)
    assert len(done.faults) > expected["arrays"] - 20, done.counts
    assert all("NumPy has blake3:" in fault for fault in done.faults)


def test_digests_of_the_specification() -> None:
    encoder = Encoder(lambda path: 0)
    number = encoder.encoded(parsed("int32"), np.array([42], "i4"))
    assert digest("int32", [], [number]) == "blake3:6bb45e5f179b49e5b80e08d5155fcc9b100d0bc916776c3726b7a3bde0ca801a"
    texts = encoder.encoded(parsed("string"), np.array(["a", "é"], object))
    assert digest("string", [2], [texts]) == "blake3:cd30cd073d2f88b1b0e43b98015ed2bb971d979463d59b13d4e4179cc235370b"


def test_types_are_read_from_their_text() -> None:
    number = Type("int8")
    assert parsed("enum(int8;A=-1;B=2)") == Type("enum", (number,), ("A", "B"))
    assert parsed("array(vlen(int8);2,3)") == Type("array", (Type("vlen", (number,)),), (), (2, 3))
    # Names may contain the characters that separate members.
    assert parsed("compound(a:b;c:int8;d):nullable(string))") == Type(
        "compound", (number, Type("nullable", (Type("string"),))), ("a:b;c", "d)")
    )
    assert parsed("opaque(5)").numbers == (5,) and parsed("datetime(ns)").names == ("ns",)
    with pytest.raises(ValueError, match="is not a type"):
        parsed("compound(a:int8")


def test_elements_of_another_dtype_are_refused() -> None:
    encoder = Encoder(lambda path: 0)
    for text, values in [("int32", np.zeros(2, "u4")), ("string", np.zeros(2, "i4")), ("compound(a:int8)", np.zeros(2, [("b", "i1")]))]:
        with pytest.raises((TypeError, ValueError)):
            encoder.encoded(parsed(text), values)


def test_references_are_what_they_lead_to() -> None:
    encoder = Encoder(lambda path: 3)
    path = string(b"/a")
    assert encoder.element(Type("objref"), "/a") == path
    assert encoder.element(Type("reference"), "{target: /a, attribute: b}") == b"\3" + path + string(b"b")
    assert encoder.element(Type("regref"), "{target: /a, all: true}") == path + b"\3" + bytes([3, *[0] * 15])
    block = encoder.element(Type("regref"), "{target: /a, start: [1], opposite: [2]}")
    assert block == path + b"\2" + np.array([1, 1, 1, 2], "<u8").tobytes()
