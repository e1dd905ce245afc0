"""The verbs of the command line as functions."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import h5py
import hyperslab
import netCDF4
import numpy as np
import pytest
import zarr

COMMAND = os.environ.get("HYPERSLAB_COMMAND") or shutil.which("hyperslab")


def command(*words: Any) -> str:
    """What the command line prints, run in the folder of the examples."""
    if COMMAND is None:
        pytest.skip("the command line is not installed")
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, check=False).stdout.rstrip("\n")


# Texts


def test_answers_are_values_of_json(examples: Path, tmp_path: Path) -> None:
    ocean = examples / "ocean.nc"
    answers = [
        hyperslab.ls(ocean), hyperslab.stat(ocean, values=True), hyperslab.digest(ocean), hyperslab.check(ocean),
        hyperslab.diff(ocean, examples / "chunk_indexes.h5"), hyperslab.convert(ocean, tmp_path / "a.zarr", verify=True),
        hyperslab.create(examples / "buoys.yaml", dry_run=True), hyperslab.check(ocean, "CF-1.11"),
    ]  # fmt: skip
    for answer in answers:
        told = answer.to_dict()
        assert json.loads(json.dumps(told)) == told and len(told["rows"]) == len(answer)
    assert answers[0].to_dict()["rows"][0]["path"] == answers[0][0].path
    assert answers[4].to_dict()["is_same"] is False


def test_a_description_is_the_text_of_which_create_makes_the_store_again(examples: Path, tmp_path: Path) -> None:
    text = hyperslab.describe(examples / "ocean.nc", values=True)
    assert isinstance(text, str) and text.objects > 20 and text.errors == []
    made = hyperslab.create(text, tmp_path / "again.nc", allow_loss="all")
    assert made.arrays == 16 and made.document is not None and made.document.errors == 0
    with netCDF4.Dataset(examples / "ocean.nc") as first, netCDF4.Dataset(tmp_path / "again.nc") as again:
        assert np.array_equal(np.asarray(first["salinity"][:]), np.asarray(again["salinity"][:]))
        assert first["time"].units == again["time"].units


@pytest.mark.parametrize("format", ["ndl", "json", "cdl"])
def test_descriptions_are_those_of_the_command(examples: Path, format: str) -> None:
    path = examples / "nested_groups.nc"
    assert hyperslab.describe(path, 1000, format=format).rstrip("\n") == command("describe", "--as", format, "--values=1000", path)  # type: ignore[arg-type]


def test_a_part_is_described_and_json_is_json(examples: Path) -> None:
    text = hyperslab.describe(f"{examples}/ocean.nc:/waves", format="json")
    assert "salinity" not in text and "energy" in text and json.loads(text)
    group = hyperslab.open(examples / "ocean.nc")["waves"]
    assert hyperslab.describe(group, format="json") == text
    with pytest.raises(hyperslab.ArgumentError, match="expected ndl, cdl or json"):
        hyperslab.describe(group, format="yaml")  # type: ignore[arg-type]
    with pytest.raises(hyperslab.ArgumentError, match="storage=all"):
        hyperslab.describe(group, storage="all")  # type: ignore[arg-type]
    with pytest.raises(hyperslab.ArgumentError, match="CDL"):
        hyperslab.describe(group, format="cdl")


# Lists


def test_ls_lists_objects_with_their_properties(examples: Path) -> None:
    listed = hyperslab.ls(examples / "ocean.nc")
    assert isinstance(listed, hyperslab.Listing)
    salinity = listed["/salinity"]
    assert (salinity.kind, salinity.type, salinity.shape) == ("array", "float32", [9, 5, 3, 8])
    assert salinity.max == [None, 5, 3, 8] and salinity.dimensions == ["/time", "/depth", "/lat", "/lon"]
    assert salinity.chunk == [9, 1, 3, 8] and salinity.filters == "shuffle deflate" and salinity.stored == 305
    assert listed["/waves"].kind == "group" and listed["/bound"].kind == "dimension"
    assert listed.size == (examples / "ocean.nc").stat().st_size and listed.format == "NetCDF-4"
    with pytest.raises(KeyError):
        listed["/nothing"]
    waves = hyperslab.ls(hyperslab.open(examples / "ocean.nc")["waves"], recursive=True)
    assert [row.path for row in waves][-1] == "/waves/buoys/position"
    matched = hyperslab.ls(f"{examples}/ocean.nc:/**/t*")
    assert [row.path for row in matched] == ["/time", "/time_bounds", "/temperature", "/temperature_flag", "/transect"]


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["-l", "ocean.nc"], {}),
        (["-l", "-r", "ocean.nc"], {"recursive": True}),
        (["-l", "-r", "--attrs", "nested_groups.nc"], {"recursive": True, "attrs": True}),
        (["-l", "ocean.nc:/waves"], {}),
        (["-l", "ocean.nc:/**/t*"], {}),
        (["-l", "groups_new.h5"], {}),
        (["-l", "tides.zarr"], {}),
    ],
)
def test_the_text_of_a_list_is_that_of_the_command(
    examples: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], options: dict[str, Any]
) -> None:
    monkeypatch.chdir(examples)
    assert str(hyperslab.ls(words[-1], **options)) == command("ls", *words)


def test_ls_lists_the_stores_of_a_folder_and_attributes(examples: Path) -> None:
    folder = hyperslab.ls(examples)
    found = {Path(row.path).name: row for row in folder}
    assert found["ocean.nc"].format == "NetCDF-4" and found["ocean.nc"].bytes == (examples / "ocean.nc").stat().st_size
    assert "make.py" not in found and "tides.zarr" in found and str(folder).endswith("KiB")
    attributes = hyperslab.ls(f"{examples}/ocean.nc:/time", attrs=True)
    assert "/time@units" in [row.path for row in attributes]


def test_an_array_alone_is_no_tree(tmp_path: Path) -> None:
    zarr.create_array(str(tmp_path / "alone.zarr"), data=np.arange(4))
    listed = hyperslab.ls(tmp_path / "alone.zarr", recursive=True)
    assert [row.path for row in listed] == ["/"]
    assert str(listed) == command("ls", "-l", "-r", tmp_path / "alone.zarr")


# Storage and values


def test_stat_says_how_arrays_are_stored(examples: Path) -> None:
    told = hyperslab.stat(f"{examples}/ocean.nc:/salinity", values=True)
    (row,) = told
    with h5py.File(examples / "ocean.nc") as file:
        array = file["salinity"]
        assert row.stored == array.id.get_storage_size() and row.logical == array[:].nbytes
        assert row.chunks is not None and row.chunks.written == array.id.get_num_chunks()
        assert row.values is not None and row.values.max == array[:].max() and row.values.count == array.size
    assert row.filters == ["shuffle", "deflate"] and "/salinity" in str(told)
    assert "TYPE" in told._repr_html_()


def test_statistics_are_those_of_the_command(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(examples)
    assert str(hyperslab.stat("ocean.nc", values=True)) == command("stat", "--values", "ocean.nc")
    assert str(hyperslab.stat("tides.zarr")) == command("stat", "tides.zarr")
    # The columns of values are printed although strings have no values for them.
    assert str(hyperslab.stat("strings.nc", values=True)) == command("stat", "--values", "strings.nc")


def test_advice_is_keywords_of_repack(tmp_path: Path) -> None:
    path = tmp_path / "small.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.zeros(400_000), chunks=(10,))
    (row,) = hyperslab.stat(path)
    assert row.advice and "chunk" in row.advice[0].better
    hyperslab.repack(path, tmp_path / "better.h5", **row.advice[0].better)
    with h5py.File(tmp_path / "better.h5") as file:
        assert file["x"].chunks[0] > 1000
    (better,) = hyperslab.stat(tmp_path / "better.h5")
    assert "chunk" not in [key for advice in better.advice for key in advice.better]


def test_digests_are_equal_whatever_the_format(examples: Path, tmp_path: Path) -> None:
    hyperslab.convert(examples / "ocean.nc", tmp_path / "ocean.zarr", allow_loss="all", chunk="whole")
    first, other = hyperslab.digest(examples / "ocean.nc"), hyperslab.digest(tmp_path / "ocean.zarr")
    assert first["/salinity"] == other["/salinity"] and first["/salinity"].digest.startswith("blake3:")  # type: ignore[union-attr]
    assert first.errors == [] and first == hyperslab.digest(examples / "ocean.nc") and first != other[:-1]
    one = hyperslab.digest(hyperslab.open(examples / "ocean.nc")["salinity"])
    assert one["/salinity"] == first["/salinity"]
    assert str(first) == command("digest", examples / "ocean.nc")


# Comparing


def test_diff_finds_the_elements_that_differ(examples: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.nc"
    shutil.copy(examples / "ocean.nc", changed)
    assert not hyperslab.diff(examples / "ocean.nc", changed)
    with netCDF4.Dataset(changed, "a") as file:
        file["salinity"][1, 2, 0, 3] += 0.5
        file["time"].units = "days since 2024-03-01"
    found = hyperslab.diff(examples / "ocean.nc", changed)
    assert found and not found.is_same and len(found) == 2
    values = found["/salinity"]
    assert (values.on, values.what, values.differing, values.compared) == ("both", "values", 1, 9 * 5 * 3 * 8)
    assert values.values[0].at == [1, 2, 0, 3] and values.values[0].b - values.values[0].a == 0.5
    assert found["/time@units"].kind == "attribute"
    assert str(found) == command("diff", examples / "ocean.nc", changed)
    assert [row.path for row in hyperslab.diff(examples / "ocean.nc", changed, atol=1.0)] == ["/time@units"]
    assert not hyperslab.diff(f"{examples}/ocean.nc:/salinity", f"{changed}:/salinity", rtol=0.1)
    with pytest.raises(hyperslab.ArgumentError, match="expected one"):
        hyperslab.diff(f"{examples}/ocean.nc:/l*", changed)


def test_diff_of_parts_is_that_of_the_command(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(examples)
    assert str(hyperslab.diff("ocean.nc:/lat", "ocean.nc:/lon")) == command("diff", "ocean.nc:/lat", "ocean.nc:/lon")
    assert str(hyperslab.diff("ocean.nc", "classic.nc")) == command("diff", "ocean.nc", "classic.nc")
    assert "a.nc" not in repr(hyperslab.diff("ocean.nc", "ocean.nc"))


# Checking


def test_check_names_what_is_damaged(examples: Path, tmp_path: Path) -> None:
    sound = hyperslab.check(examples / "ocean.nc")
    assert sound.is_sound and not sound and str(sound) == "no findings in 1 location"
    damaged = bytearray((examples / "ocean.nc").read_bytes())
    place = hyperslab.open(examples / "ocean.nc")["temperature"].chunk_table()
    damaged[int(place.offset[0]) + 5] ^= 0xFF
    path = tmp_path / "damaged.nc"
    path.write_bytes(damaged)
    found = hyperslab.check(path)
    assert not found.is_sound and found.errors >= 1
    finding = found["/temperature"]
    assert finding.severity == "error" and finding.rule.startswith("hdf5/") and finding.byte is not None
    assert str(found) == command("check", path)
    assert hyperslab.check(bytes(damaged)).errors == found.errors
    assert hyperslab.check(hyperslab.open(path)).errors == found.errors
    with pytest.raises(hyperslab.ArgumentError, match="whole stores"):
        hyperslab.check(f"{path}:/temperature")


def test_check_of_conventions_and_contracts(examples: Path, tmp_path: Path) -> None:
    report = hyperslab.check(examples / "ocean.nc", "CF-1.8")
    assert {finding.rule for finding in report} >= {"cf/datatypes", "cf/conventions"}
    assert all((finding.specification or "").startswith("CF ") for finding in report)
    assert [finding.rule for finding in hyperslab.check(examples / "ocean.nc", "CF-1.8", rules=["cf/conventions"])] == ["cf/conventions"]
    contract = tmp_path / "contract.yaml"
    contract.write_text(hyperslab.describe(examples / "ocean.nc"))
    assert hyperslab.check(examples / "ocean.nc", against=contract).is_sound
    assert not hyperslab.check(examples / "classic.nc", against=contract).is_sound
    with pytest.raises(hyperslab.ArgumentError, match="files and folders"):
        hyperslab.check((examples / "ocean.nc").read_bytes(), "CF-1.8")


def test_findings_in_texts_show_the_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("ndl: 0.6.1\nroot:\n  x: {type: int99}\n")
    report = hyperslab.check(path, strict=True)
    assert report.errors and report[0].line is not None
    assert str(report) == command("check", "--strict", path)


# Writing


def test_convert_writes_what_zarr_reads(examples: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []
    report = hyperslab.convert(
        examples / "ocean.nc",
        tmp_path / "ocean.zarr",
        allow_loss="all",
        verify=True,
        chunk={"/salinity": {"time": 1}, None: "4MiB"},
        filters=[("zstd", {"level": 3})],
        progress=lambda path, count: told.append((path, count)),
    )
    assert report.arrays == 16 and report.verified is not None and report.verified.equal > 30
    assert report.verified.different == [] and report.target == str(tmp_path / "ocean.zarr") and report.written
    group = zarr.open_group(tmp_path / "ocean.zarr", mode="r")
    with h5py.File(examples / "ocean.nc") as file:
        assert np.array_equal(group["salinity"][:], file["salinity"][:])  # type: ignore[index]
    assert group["salinity"].chunks[0] == 1  # type: ignore[union-attr]
    assert told and all(isinstance(count, int) for _, count in told)
    with pytest.raises(hyperslab.ExistsError) as raised:
        hyperslab.convert(examples / "ocean.nc", tmp_path / "ocean.zarr", allow_loss="all")
    assert raised.value.errno == 17 and "overwrite=True replaces it" in raised.value.help
    hyperslab.convert(examples / "ocean.nc", tmp_path / "ocean.zarr", allow_loss=["all"], overwrite=True)


def test_a_loss_that_is_not_allowed_is_an_error_with_the_report(examples: Path, tmp_path: Path) -> None:
    with pytest.raises(hyperslab.LossError) as raised:
        hyperslab.convert(examples / "groups_new.h5", tmp_path / "groups.nc")
    error = raised.value
    assert isinstance(error, ValueError) and error.kind == "loss" and not (tmp_path / "groups.nc").exists()
    lost = error.report.losses
    assert "allow_loss=[" in str(error)
    assert lost and all(row.kind for row in lost) and "lost" in str(error.report)
    planned = hyperslab.convert(examples / "groups_new.h5", tmp_path / "groups.nc", dry_run=True)
    assert list(planned) == list(error.report) and planned.arrays is None and planned.chunks == error.report.chunks
    assert not (tmp_path / "groups.nc").exists()
    done = hyperslab.convert(examples / "groups_new.h5", tmp_path / "groups.nc", allow_loss={row.kind or "" for row in lost})
    assert done.losses == lost and (tmp_path / "groups.nc").exists()
    with pytest.raises(hyperslab.ArgumentError, match="did you mean links"):
        hyperslab.convert(examples / "groups_new.h5", tmp_path / "x.nc", allow_loss="linsk")


def test_the_text_of_a_report_is_that_of_the_command(examples: Path, tmp_path: Path) -> None:
    for name, target in (("nested_groups.nc", "x.zarr"), ("groups_new.h5", "x.nc"), ("ocean.nc", "x.h5")):
        report = hyperslab.convert(examples / name, tmp_path / target, dry_run=True)
        assert str(report) == command("convert", "-n", examples / name, tmp_path / target), name


def test_parts_and_selections_are_converted(examples: Path, tmp_path: Path) -> None:
    opened = hyperslab.open(examples / "ocean.nc")
    hyperslab.convert(opened["salinity"], tmp_path / "part.nc", select={"time": slice("2024-03-08", "2024-03-22")})
    with netCDF4.Dataset(tmp_path / "part.nc") as file:
        assert file["salinity"].shape == (3, 5, 3, 8) and "temperature" not in file.variables
        assert np.array_equal(file["salinity"][:], opened["salinity"][1:4])
    hyperslab.convert(f"{examples}/ocean.nc:/waves", tmp_path / "waves.zarr", allow_loss="all", select="time=0:2")
    assert zarr.open_group(tmp_path / "waves.zarr", mode="r")["waves/height"].shape == (2,)  # type: ignore[union-attr]


def test_bytes_and_open_stores_are_converted(examples: Path, tmp_path: Path) -> None:
    data = (examples / "ocean.nc").read_bytes()
    hyperslab.convert(data, tmp_path / "a.zarr", allow_loss="all")
    hyperslab.convert(hyperslab.open(data), tmp_path / "b.zarr", allow_loss="all")
    hyperslab.convert(examples / "ocean.nc", tmp_path / "c.zarr", allow_loss="all")
    assert not hyperslab.diff(tmp_path / "a.zarr", tmp_path / "c.zarr")
    assert not hyperslab.diff(tmp_path / "b.zarr", tmp_path / "c.zarr")
    with pytest.raises(hyperslab.ArgumentError, match="has no path"):
        hyperslab.repack(data, tmp_path / "d.nc")


def test_a_file_that_was_replaced_is_not_converted_through_what_was_opened(examples: Path, tmp_path: Path) -> None:
    path = tmp_path / "ocean.nc"
    shutil.copy(examples / "ocean.nc", path)
    opened = hyperslab.open(path)
    shutil.copy(examples / "classic.nc", tmp_path / "other.nc")
    os.replace(tmp_path / "other.nc", path)
    with pytest.raises(OSError, match="was replaced"):
        hyperslab.convert(opened, tmp_path / "x.zarr")


def test_options_of_formats(examples: Path, tmp_path: Path) -> None:
    hyperslab.convert(examples / "ocean.nc", tmp_path / "a.zarr", allow_loss="all", options={"zarr": {"consolidated": False}})
    assert "consolidated_metadata" not in json.loads((tmp_path / "a.zarr/zarr.json").read_text())
    with pytest.raises(hyperslab.ArgumentError, match='unknown option "zarr.consolidate"'):
        hyperslab.convert(examples / "ocean.nc", tmp_path / "b.zarr", options={"zarr.consolidate": True})
    with pytest.raises(hyperslab.ArgumentError, match="chunk="):
        hyperslab.convert(examples / "ocean.nc", tmp_path / "b.zarr", chunk="many")
    with pytest.raises(hyperslab.ArgumentError):
        hyperslab.convert(examples / "ocean.nc", tmp_path / "b.unknown")


def test_layouts_reach_the_target(examples: Path, tmp_path: Path) -> None:
    hyperslab.convert(
        examples / "ocean.nc",
        tmp_path / "a.h5",
        allow_loss="all",
        chunk={"/salinity": (3, 5, 3, 8)},
        filters={"/salinity": "shuffle,deflate=9", "/temperature": []},
        endian={"/salinity": "big"},
        fill={"/waves/energy": -1.0},
    )
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["salinity"].chunks == (3, 5, 3, 8) and file["salinity"].compression_opts == 9
        assert file["salinity"].dtype == ">f4" and file["temperature"].compression is None
        assert file["waves/energy"].fillvalue == -1.0
    filters = hyperslab.open(examples / "ocean.nc")["temperature"].filters
    hyperslab.convert(examples / "ocean.nc", tmp_path / "b.h5", allow_loss="all", filters={"/salinity": filters})
    assert hyperslab.open(tmp_path / "b.h5")["salinity"].filters == filters


def test_repack_keeps_everything(examples: Path, tmp_path: Path) -> None:
    report = hyperslab.repack(examples / "ocean.nc", tmp_path / "packed.nc", verify=True, filters="shuffle,deflate=9")
    assert report.verified is not None and not report.verified.different
    assert not hyperslab.diff(examples / "ocean.nc", tmp_path / "packed.nc")
    assert hyperslab.open(tmp_path / "packed.nc").format == "NetCDF-4"
    with pytest.raises(hyperslab.ArgumentError, match="expected a whole store"):
        hyperslab.repack(f"{examples}/ocean.nc:/waves", tmp_path / "x.nc")


def test_repack_knows_names_of_dimensions_and_its_own_suffixes(examples: Path, tmp_path: Path) -> None:
    hyperslab.repack(examples / "ocean.nc", tmp_path / "packed.nc", chunk={"time": 3})
    with netCDF4.Dataset(tmp_path / "packed.nc") as file:
        assert file["salinity"].chunking()[0] == 3
    with pytest.raises(hyperslab.ArgumentError, match="zarr"):
        hyperslab.repack(examples / "ocean.nc", tmp_path / "packed.zarr")


def test_concat_joins_stores(tmp_path: Path) -> None:
    for day in range(3):
        with netCDF4.Dataset(tmp_path / f"day{day}.nc", "w") as file:
            file.createDimension("time", None)
            file.createDimension("x", 4)
            file.createVariable("time", "f8", ("time",))[:] = [2 * day, 2 * day + 1]
            file["time"].units = "hours since 2024-01-01"
            file.createVariable("t", "f4", ("time", "x"))[:] = np.full((2, 4), day)
    sources = [tmp_path / f"day{day}.nc" for day in (2, 0, 1)]
    report = hyperslab.concat(sources, tmp_path / "all.nc", along="time", sort=True)
    assert report.arrays == 2
    with netCDF4.Dataset(tmp_path / "all.nc") as file:
        assert file["time"][:].tolist() == [0, 1, 2, 3, 4, 5] and file["t"][:, 0].tolist() == [0, 0, 1, 1, 2, 2]
    hyperslab.concat([hyperslab.open(source) for source in sources], tmp_path / "other.zarr", sort=True, allow_loss="all")
    assert zarr.open_group(tmp_path / "other.zarr", mode="r")["t"].shape == (6, 4)  # type: ignore[union-attr]
    for day, x in enumerate([0.3, 0.1 + 0.2]):
        with netCDF4.Dataset(tmp_path / f"day{day}.nc", "a") as file:
            file.createVariable("x", "f8", ("x",))[:] = x
    with pytest.raises(hyperslab.ArgumentError, match="by at most 5.55.*e-17") as raised:
        hyperslab.concat(sources[1:], tmp_path / "near.nc", along="time", sort=True)
    assert "atol=5.6e-17 treats them as equal" in str(raised.value)
    hyperslab.concat(sources[1:], tmp_path / "near.nc", along="time", sort=True, atol=5.6e-17)
    assert hyperslab.open(tmp_path / "near.nc")["x"][0] == 0.3
    with pytest.raises(hyperslab.ArgumentError):
        hyperslab.concat([], tmp_path / "none.nc")
    with pytest.raises(hyperslab.ArgumentError, match="the path differs from that"):
        hyperslab.concat([f"{sources[0]}:/t", sources[1]], tmp_path / "none.nc")


def test_create_takes_files_texts_and_mappings(examples: Path, tmp_path: Path) -> None:
    report = hyperslab.create(examples / "buoys.yaml", tmp_path / "buoys.nc", allow_loss="all")
    assert report.arrays and netCDF4.Dataset(tmp_path / "buoys.nc").variables
    text = hyperslab.describe(tmp_path / "buoys.nc", values=True, format="json")
    hyperslab.create(json.loads(text), tmp_path / "again.nc", allow_loss="all")
    assert not hyperslab.diff(tmp_path / "buoys.nc", tmp_path / "again.nc")
    planned = hyperslab.create(examples / "buoys.yaml", dry_run=True)
    assert planned.preview is not None and planned.preview["bytes"] > 0
    with pytest.raises(hyperslab.ArgumentError, match="no target"):
        hyperslab.create(examples / "buoys.yaml")
    with pytest.raises(hyperslab.FormatError) as raised:
        hyperslab.create("ndl: 0.6.1\nroot:\n  x: {type: int99}\n", tmp_path / "x.nc", strict=True)
    assert raised.value.report is not None and raised.value.report.errors and not (tmp_path / "x.nc").exists()
    with pytest.raises(FileNotFoundError):
        hyperslab.create(tmp_path / "missing.yaml", tmp_path / "x.nc")
    document = {"ndarrays": {"a": {"shape": [np.int64(2)], "type": "int32", "value": np.array([1, 2])}}}
    hyperslab.create(document, tmp_path / "values.h5")
    assert hyperslab.open(tmp_path / "values.h5")["a"][...].tolist() == [1, 2]
    with pytest.raises(TypeError, match="a document contains datetime64"):
        hyperslab.create({"attributes": {"a": np.datetime64("2020")}}, tmp_path / "x.nc")


# While verbs run


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that takes seconds to read."""
    path = tmp_path_factory.mktemp("large") / "large.h5"
    noise = np.random.default_rng(1).integers(0, 1000, 1 << 20, dtype="i4").reshape(1 << 10, -1)
    with h5py.File(path, "w") as file:
        array = file.create_dataset("x", (1 << 10, 1 << 10, 96), "i4", chunks=(16, 1 << 10, 96), compression="gzip", compression_opts=1)
        for start in range(0, 1 << 10, 16):
            array[start : start + 16] = np.repeat(noise[start : start + 16, :, None], 96, axis=2)
    return path


@pytest.fixture(scope="module")
def other(large: Path) -> Path:
    """The same content in other chunks, so that all of it must be compared."""
    path = large.with_name("other.h5")
    hyperslab.repack(large, path, chunk=(8, 1 << 10, 96))
    return path


def test_what_progress_raises_stops_the_verb(large: Path, tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def tell(path: str, count: int) -> None:
        assert path == "/x" and count > 0
        raise Enough

    begun = time.monotonic()
    with pytest.raises(Enough):
        hyperslab.digest(large, progress=tell)
    with pytest.raises(Enough):
        hyperslab.convert(large, tmp_path / "x.zarr", progress=tell)
    assert not (tmp_path / "x.zarr").exists() and time.monotonic() - begun < 10


def test_progress_grows_and_ends_with_everything(large: Path) -> None:
    told: list[int] = []
    hyperslab.digest(large, progress=lambda path, count: told.append(count))
    assert told == sorted(told) and told[-1] == 4 * 96 << 20


def test_other_threads_run_while_a_verb_does(large: Path) -> None:
    counts = []
    done = threading.Event()

    def count() -> None:
        number = 0
        while not done.is_set():
            number += 1
            time.sleep(0.001)
        counts.append(number)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.monotonic()
    hyperslab.digest(large)
    took = time.monotonic() - begun
    done.set()
    thread.join()
    assert counts[0] > 100 * took


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("verb", ["digest(path)", "check(path)", "convert(path, path + '.zarr')", "stat(path, values=True)", "diff(path, other)"])
def test_ctrl_c_stops_a_verb(large: Path, other: Path, tmp_path: Path, verb: str) -> None:
    path = tmp_path / "large.h5"
    path.symlink_to(large)
    # On a busy machine, a verb that only reads may finish before the signal arrives.
    again = "" if verb.startswith("convert") else "while True: "
    script = f"""
        import hyperslab, sys, time
        path, other = {str(path)!r}, {str(other)!r}
        hyperslab.ls(path)
        hyperslab.check
        print("ready", flush=True)
        try:
            {again}hyperslab.{verb}
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    begun = time.monotonic()
    assert child.stdout.readline() == "stopped\n"
    took = time.monotonic() - begun
    child.wait()
    child.stdout.close()
    # It takes 100 ms on an idle machine with optimised code.
    assert took < 2
    assert not (tmp_path / "large.h5.zarr").exists()


@pytest.mark.parametrize("version", ["zarr", "zarr2"])
@pytest.mark.parametrize("dtype", ["M8[D]", "M8[ns]", "m8[25s]"])
def test_times_of_h5py_are_times_of_zarr(tmp_path: Path, dtype: str, version: str) -> None:
    times = np.arange(4).astype(dtype)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["times"] = times.astype(h5py.opaque_dtype(times.dtype))
    hyperslab.convert(tmp_path / "a.h5", tmp_path / "a.zarr", format=version)
    found = zarr.open_group(tmp_path / "a.zarr", mode="r")["times"]
    assert found.dtype == times.dtype
    np.testing.assert_array_equal(found[...], times)
    hyperslab.convert(tmp_path / "a.zarr", tmp_path / "back.h5")
    with h5py.File(tmp_path / "back.h5") as file:
        assert file["times"].id.get_type().get_tag() == f"NUMPY:{times.dtype.str}".encode()
        np.testing.assert_array_equal(file["times"][...], times)


def test_raw_bytes_of_zarr_python_stay_readable(tmp_path: Path) -> None:
    elements = np.array([b"abcde", b"fg\0hi"], "V5")
    with pytest.warns(FutureWarning):  # The form is not registered.
        zarr.create_array(tmp_path / "a.zarr", name="raw", data=elements, fill_value=np.void(b"empty"))
    hyperslab.repack(tmp_path / "a.zarr", tmp_path / "b.zarr")
    hyperslab.convert(tmp_path / "b.zarr", tmp_path / "c.h5")
    hyperslab.convert(tmp_path / "c.h5", tmp_path / "d.zarr", options={"zarr.struct": "legacy"})
    for name in ("b.zarr", "d.zarr"):
        found = zarr.open_group(tmp_path / name, mode="r")["raw"]
        assert found.dtype == elements.dtype and found.fill_value.tobytes() == b"empty"
        np.testing.assert_array_equal(found[...], elements)
