"""Write licenses/THIRD-PARTY.txt: the licences of everything that is compiled into the module.

``--check`` only says whether the file is current. Procedural macros and build scripts run on the builder's
machine and leave nothing of their own in the module, so they are not listed; crates for other platforms are,
so that the file is the same wherever it is made.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FILE = ROOT / "licenses" / "THIRD-PARTY.txt"

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


def third_party() -> str:
    """Return what the file must hold."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--features=abi3"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    parts = [HEAD, "Rust standard library: MIT OR Apache-2.0", STANDARD_LIBRARY]
    for package in compiled_in(metadata):
        parts += [f"{package['name']} {package['version']}: {package['license']}", *texts(package)]
    headed = [("-" * 100 + "\n" if part.count("\n") == 0 else "") + part for part in parts]
    lines = "\n\n".join(headed).split("\n")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def main() -> None:
    """Write the file, or say that it is not current."""
    text = third_party()
    if sys.argv[1:] == ["--check"]:
        if not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
            sys.exit(f"{FILE.relative_to(ROOT)} is not current: run `make licenses`")
    else:
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
