"""Write what is compiled into the module: licenses/THIRD-PARTY.txt, and licenses/sbom.cdx.json for programs.

The second is a bill of materials in CycloneDX, without serial number, time and paths, so that wheels stay
reproducible. ``--check`` only says whether the files are current. Procedural macros and build scripts run on
the builder's machine and leave nothing of their own in the module, so they are not listed; crates for other
platforms are, so that the files are the same wherever they are made.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
THIRD_PARTY = ROOT / "licenses" / "THIRD-PARTY.txt"
SBOM = ROOT / "licenses" / "sbom.cdx.json"

HEAD = """\
The compiled module of perceptrons contains the Rust standard library and the crates below.
Where a choice of licences is offered and MIT is among them, MIT is taken.
Made by scripts/licenses.py from Cargo.lock; do not edit.
"""

#: It comes with the compiler, not through Cargo.lock.
STANDARD_LIBRARY = """\
MIT License

Copyright (c) The Rust Project Contributors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""


def compiled_in(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the packages that the module is linked with, by name and version."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root = metadata["resolve"]["root"]
    found, waiting = {root}, [root]
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            name = dependency["pkg"]
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            macro = any("proc-macro" in target["kind"] for target in packages[name]["targets"])
            if normal and not macro and name not in found:
                found.add(name)
                waiting.append(name)
    return sorted((packages[name] for name in found - {root}), key=lambda p: (p["name"], p["version"]))


def choices(expression: str) -> list[str]:
    """Return the licences of which one may be chosen; the whole expression if it is not a plain choice."""
    if re.search(r"\bAND\b|[()]", expression):
        return [expression]
    return [part.strip() for part in re.split(r"\bOR\b|/", expression)]


def texts(package: dict[str, Any]) -> list[str]:
    """Return the texts that must come with a crate; it is an error if there is none."""
    folder = Path(package["manifest_path"]).parent
    pattern = re.compile(r"(un)?licen[cs]e|copying|notice", re.IGNORECASE)
    files = sorted(path for path in folder.iterdir() if pattern.match(path.name))
    if "MIT" in choices(package["license"] or ""):
        mit = [path for path in files if "MIT" in path.name.upper()]
        files = mit + [path for path in files if path.name.upper().startswith("NOTICE")] if mit else files
    if not files:
        sys.exit(f"{package['name']} {package['version']} comes without a licence file: add its text by hand")
    return [path.read_text(encoding="utf-8").replace("\r\n", "\n").strip() for path in files]


def third_party(metadata: dict[str, Any]) -> str:
    """Return the licences, for people."""
    parts = [HEAD, "Rust standard library: MIT OR Apache-2.0", STANDARD_LIBRARY]
    for package in compiled_in(metadata):
        parts += [f"{package['name']} {package['version']}: {package['license']}", *texts(package)]
    headed = [("-" * 100 + "\n" if part.count("\n") == 0 else "") + part for part in parts]
    lines = "\n\n".join(headed).split("\n")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def bill_of_materials(metadata: dict[str, Any], checksums: dict[tuple[str, str], str]) -> str:
    """Return the bill of materials; checksums are those of Cargo.lock, by name and version."""
    packages = {package["id"]: package for package in metadata["packages"]}
    root = metadata["resolve"]["root"]
    linked = [packages[root], *compiled_in(metadata)]
    names = {package["id"]: f"pkg:cargo/{package['name']}@{package['version']}" for package in linked}

    def component(package: dict[str, Any]) -> dict[str, Any]:
        name, version = package["name"], package["version"]
        checksum = checksums.get((name, version))
        return {
            "type": "library",
            "bom-ref": names[package["id"]],
            "name": name,
            "version": version,
            "licenses": [{"expression": (package["license"] or "").replace("/", " OR ")}],
            "purl": names[package["id"]],
        } | ({"hashes": [{"alg": "SHA-256", "content": checksum}]} if checksum else {})

    needs = {
        names[node["id"]]: sorted(names[edge["pkg"]] for edge in node["deps"] if edge["pkg"] in names)
        for node in metadata["resolve"]["nodes"]
        if node["id"] in names
    }
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(linked[0])},
        "components": [component(package) for package in linked[1:]],
        "dependencies": [{"ref": name, "dependsOn": needs[name]} for name in sorted(needs)],
    }
    return json.dumps(document, indent=1) + "\n"


def main() -> None:
    """Write the files, or say which is not current."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--features=abi3"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    checksums = {(p["name"], p["version"]): p["checksum"] for p in lock["package"] if "checksum" in p}
    contents = {THIRD_PARTY: third_party(metadata), SBOM: bill_of_materials(metadata, checksums)}
    for file, text in contents.items():
        if sys.argv[1:] != ["--check"]:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            sys.exit(f"{file.relative_to(ROOT)} is not current: run `make licenses`")


if __name__ == "__main__":
    main()
