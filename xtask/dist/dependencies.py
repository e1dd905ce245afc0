"""Writes which crates the command contains: their licences with all texts, and a software bill of materials (CycloneDX 1.5).

    dependencies.py LICENCES BILL VERSION SECONDS TARGET

The crates are those that `cargo tree` finds in the command for TARGET, excluding those used only to build it. The date of the bill
is SECONDS since 1970. Otherwise, both files depend only on Cargo.lock and the sources of the crates.
"""

import json
import os
import re
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = "hyperslab-cli"

# Names of files with licences. Crates with C sources have the licence of the C library in a folder below.
TEXTS = re.compile(r"(licen[sc]e|copying|notice|unlicense|copyright)([-._].*)?$", re.I)
DEPTH = 3

HEAD = """\
hyperslab {version} contains the libraries below and the standard library of Rust (MIT OR Apache-2.0).
Each is listed with its licence; the texts follow, each with the libraries that it comes from.
"""
RULE = "=" * 80


def main(licences, bill, version, seconds, target):
    crates = in_command(target)
    Path(licences).write_text(licence_list(crates, version))
    Path(bill).write_text(json.dumps(bill_of_materials(crates, version, int(seconds)), indent=2) + "\n")
    print(f"{len(crates)} crates in the command, {sum(not c['own'] for c in crates.values())} of them by others")


def cargo(*words):
    run = [os.environ.get("CARGO", "cargo"), *words, "--locked"]
    return subprocess.run(run, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def in_command(target):
    """The crates in the command by name and version, with the data of their manifests and their dependencies."""
    tree = cargo("tree", "-p", COMMAND, "-e", "normal,no-proc-macro", "--target", target, "--prefix", "depth")
    lines = [re.match(r"(\d+)(\S+) v(\S+)", line).groups() for line in tree.splitlines() if line]
    uses, path = {}, []
    for depth, name, version in lines:
        crate = (name, version)
        uses.setdefault(crate, set())
        del path[int(depth):]
        if path:
            uses[path[-1]].add(crate)
        path.append(crate)
    known = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", target))
    manifests = {(crate["name"], crate["version"]): crate for crate in known["packages"]}
    checksums = dict(locked())
    return {
        crate: {
            "uses": sorted(uses[crate]),
            "licence": manifests[crate]["license"],
            "folder": Path(manifests[crate]["manifest_path"]).parent,
            "about": manifests[crate]["description"],
            "repository": manifests[crate]["repository"],
            "own": manifests[crate]["source"] is None,
            "checksum": checksums.get(crate),
        }
        for crate in sorted(uses)
    }


def locked():
    """The checksums in Cargo.lock."""
    for package in (ROOT / "Cargo.lock").read_text().split("[[package]]"):
        keys = dict(re.findall(r'^(name|version|checksum) = "(.*)"$', package, re.M))
        if "checksum" in keys:
            yield (keys["name"], keys["version"]), keys["checksum"]


def licence_list(crates, version):
    """All licences: a line for each crate, then each text once."""
    lines = [HEAD.format(version=version)]
    texts = {}
    for (name, number), crate in crates.items():
        if crate["own"]:
            continue
        lines.append(f"{name} {number}: {crate['licence']}, {crate['repository'] or 'no repository'}")
        found = list(licence_texts(crate["folder"]))
        # Some crates omit the text of this licence, which is the same for all works.
        if not found and crate["licence"] == "Apache-2.0":
            found = [(ROOT / "LICENSE-APACHE").read_text()]
        if not found:
            sys.exit(f"{name} {number} ({crate['licence']}) has no file with its licence, expected one in {crate['folder']}")
        for text in found:
            texts.setdefault(text.strip(), []).append(f"{name} {number}")
    for text, of in texts.items():
        lines += ["", RULE, ", ".join(dict.fromkeys(of)), RULE, "", text]
    return "\n".join(lines) + "\n"


def licence_texts(folder):
    for place in sorted(folder.rglob("*")):
        depth = len(place.relative_to(folder).parts)
        if depth <= DEPTH and TEXTS.match(place.name) and place.suffix not in (".rs", ".py") and place.is_file():
            yield place.read_text(errors="replace").replace("\r\n", "\n")


def bill_of_materials(crates, version, seconds):
    """The document of https://cyclonedx.org/docs/1.5/json/."""
    command = (COMMAND, version)
    content = json.dumps([[*crate, about["checksum"]] for crate, about in crates.items()])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component(command, crates[command]) | {"type": "application"},
        },
        "components": [component(*row) for row in crates.items() if row[0] != command],
        "dependencies": [
            {"ref": reference(crate), "dependsOn": [reference(used) for used in about["uses"]]}
            for crate, about in crates.items()
        ],
    }


def component(crate, about):
    name, version = crate
    # The schema allows only SPDX expressions; some old manifests have a slash for `OR`.
    expression = about["licence"].replace("/", " OR ")
    part = {
        "type": "library",
        "bom-ref": reference(crate),
        "name": name,
        "version": version,
        "description": " ".join((about["about"] or "").split()),
        "licenses": [{"expression": expression}],
        "purl": reference(crate),
    }
    if about["checksum"]:
        part["hashes"] = [{"alg": "SHA-256", "content": about["checksum"]}]
    if about["repository"]:
        part["externalReferences"] = [{"type": "vcs", "url": about["repository"]}]
    return part


def reference(crate):
    name, version = crate
    return f"pkg:cargo/{name}@{version.replace('+', '%2B')}"


if __name__ == "__main__":
    main(*sys.argv[1:])
