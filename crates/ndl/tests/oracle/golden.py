"""Checks the golden documents without the crate: PyYAML (YAML 1.1) and ruamel.yaml (1.2) read the same, and the JSON
is the YAML with everything in its long form.

    python golden.py [DIRECTORY]
"""

import json
import math
import pathlib
import sys

import ruamel.yaml
import yaml

MAIN = {"deflate": "level", "zstd": "level"}


def inferred(value):
    if isinstance(value, str):
        return "string"
    if isinstance(value, float):
        return "float64"
    return "int32" if -(2**31) <= value < 2**31 else "int64" if value < 2**63 else "uint64"


def attributes(of):
    long = {}
    for name, value in of.items():
        if not isinstance(value, dict):
            value = {"shape": [], "type": inferred(value), "value": value}
        long[name] = value
    return long


def filters(of):
    long = []
    for one in of:
        name, parameters = (one, {}) if isinstance(one, str) else next(iter(one.items()))
        long.append({name: parameters if isinstance(parameters, dict) else {MAIN[name]: parameters}})
    return long


def member(entry):
    entry = dict(entry)
    if "attributes" in entry:
        entry["attributes"] = attributes(entry["attributes"])
    if "filter" in entry.get("storage", {}):
        entry["storage"] = {**entry["storage"], "filter": filters(entry["storage"]["filter"])}
    kind = entry.get("type")
    if isinstance(kind, dict) and "bitfield" in kind:
        entry["value"] = [f"0x{bits:0{2 * kind['bitfield']['size']}x}" for bits in entry["value"]]
    return entry


def long_form(document):
    groups = document if any(key.startswith("/") for key in document) else {"/": document}
    long = {}
    for path, group in groups.items():
        long[path] = group = dict(group)
        if "attributes" in group:
            group["attributes"] = attributes(group["attributes"])
        for section in ("datatypes", "dimcoords", "ndarrays"):
            if section in group:
                group[section] = {name: member(entry) for name, entry in group[section].items()}
    return long


def same(a, b):
    if isinstance(a, float) and not math.isfinite(a):
        return b == ("NaN" if math.isnan(a) else "Infinity" if a > 0 else "-Infinity")
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b and (not isinstance(a, float) or math.copysign(1, a) == math.copysign(1, b))


def main():
    directory = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "golden")
    wrong = 0
    for path in sorted(directory.glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        old, new = yaml.safe_load(text), ruamel.yaml.YAML(typ="safe", pure=True).load(text)
        if repr(old) != repr(new):
            print(f"{path.name}: YAML 1.1 and 1.2 read it differently")
            wrong += 1
        other = path.with_suffix(".json")
        if not other.exists():
            continue
        document = json.loads(other.read_text(encoding="utf-8"))
        head = document.pop("x-hyperslab")
        listed = next((line[14:] for line in text.splitlines() if line.startswith("# extensions: ")), "")
        if ", ".join(head.get("extensions", [])) != listed:
            print(f"{other.name}: other extensions than {path.name}")
            wrong += 1
        if not same(long_form(old), document):
            print(f"{other.name}: not what {path.name} says")
            wrong += 1
    print(f"{wrong} of the golden documents' promises broken")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
