"""Writes the files installed beside the command: manual, completions and documents, in the folders of Unix systems.

    shared.py PROGRAM SHARE SECONDS

SECONDS since 1970 is the date of the release, from which all dates in the files are derived.
"""

import gzip
import re
import shutil
import subprocess
import sys
import tomllib
from email.utils import formatdate
from pathlib import Path

ROOT = Path(__file__).parents[2]

# The folder and the file name of the completions of each shell.
COMPLETIONS = {
    "bash": "bash-completion/completions/hyperslab",
    "zsh": "zsh/site-functions/_hyperslab",
    "fish": "fish/vendor_completions.d/hyperslab.fish",
}

CHANGELOG = """\
hyperslab ({version}-1) unstable; urgency=medium

  * Release {version}, whose changes CHANGELOG.md describes.

 -- {maintainer}  {date}
"""

COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: hyperslab
Source: {repository}
Comment: The command contains other libraries. Their licences are in
 /usr/share/doc/hyperslab/THIRD-PARTY-LICENCES.txt.

Files: *
Copyright: {holder}
License: Expat or Apache-2.0

License: Expat
{mit}

License: Apache-2.0
 On Debian systems, the full text of this licence is in /usr/share/common-licenses/Apache-2.0.
"""


def main(program, share, seconds):
    share = Path(share)
    shutil.rmtree(share, ignore_errors=True)
    project = manifest("Cargo.toml")["workspace"]["package"]
    maintainer = manifest("crates/cli/Cargo.toml")["package"]["metadata"]["deb"]["maintainer"]

    def answer(*words):
        return subprocess.run([program, *words], check=True, stdout=subprocess.PIPE).stdout

    def packed(place, content):
        # Without a time and a name, the same content gives the same bytes.
        write(place.with_name(place.name + ".gz"), gzip.compress(content, mtime=0))

    top = answer("man")
    verbs = re.findall(rb"^\.BR hyperslab\\-([a-z\\-]+) ", top, re.M)
    packed(share / "man/man1/hyperslab.1", top)
    for verb in verbs:
        name = verb.decode().replace("\\", "")
        packed(share / f"man/man1/hyperslab-{name}.1", answer("man", name))
    for shell, place in COMPLETIONS.items():
        write(share / place, answer("completions", shell))

    documents = share / "doc/hyperslab"
    for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"]:
        write(documents / name, (ROOT / name).read_bytes())
    date = formatdate(int(seconds))
    changelog = CHANGELOG.format(version=project["version"], maintainer=maintainer, date=date)
    packed(documents / "changelog.Debian", changelog.encode())
    mit = (ROOT / "LICENSE-MIT").read_text()
    write(documents / "copyright", copyright_file(mit, project["repository"]).encode())
    print(f"{len(verbs) + 1} pages of the manual, completions for {len(COMPLETIONS)} shells")


def copyright_file(mit, repository):
    """The machine-readable copyright file of a Debian package, with the holder that our licence names."""
    holder = re.search(r"^Copyright (?:\(c\) )?(.+)$", mit, re.M).group(1)
    lines = [line.strip() for line in mit.strip().splitlines()]
    paragraphs = "\n".join(f" {line or '.'}" for line in lines)
    return COPYRIGHT.format(repository=repository, holder=holder, mit=paragraphs)


def manifest(name):
    return tomllib.loads((ROOT / name).read_text())


def write(place, content):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)


if __name__ == "__main__":
    main(*sys.argv[1:])
