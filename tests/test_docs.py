"""The examples of the README and of the pages under docs/ run, and their links and commands exist."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = ["README.md", "ARCHITECTURE.md", "ARITHMETIC.md", "CONTRIBUTING.md", "CHANGELOG.md"]
PAGES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.rst")
               if not {"_build", "_templates", "generated"} & set(path.parts))  # fmt: skip
#: Pages that have nothing to run.
WITHOUT_EXAMPLES = {"docs/api.rst", "docs/benchmarks.rst", "docs/guide/index.rst", "docs/index.rst"}
WITHOUT_EXAMPLES |= {"docs/installation.rst"}
#: What must be there for a page to run: text that only such pages have, and the module.
NEEDED = {"$ perceptron-rs ": "perceptron_rs.cli", "perceptron_rs.io import": "perceptron_rs.io"}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Shell:
    """What runs the commands of a page; a command must succeed, unless ``echo $?`` follows it."""

    def __init__(self) -> None:
        self.status = 0

    def __call__(self, command: str) -> None:
        program, *arguments = shlex.split(command)
        if program == "echo" and arguments == ["$?"]:
            print(self.status)
            self.status = 0
            return
        assert program == "perceptron-rs", f"no program {program} here"
        self.check()
        done = subprocess.run(
            [sys.executable, "-m", "perceptron_rs", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        self.status = done.returncode
        print(done.stdout, end="")

    def check(self) -> None:
        assert self.status == 0, f"the command before ended with exit status {self.status}"


def markdown(text: str) -> str:
    """Keep the lines of the blocks of Python, and the numbers of the lines."""
    inside, kept = False, []
    for line in text.splitlines():
        fence = line.startswith("```")
        inside = line == "```pycon" or (inside and not fence)
        kept.append("" if fence or not inside else line)
    return "\n".join(kept)


def commands(text: str) -> list[doctest.Example]:
    """Return the commands in the console blocks of a page as examples that call ``shell``."""
    found: list[doctest.Example] = []
    inside = ""
    for number, line in enumerate(text.splitlines()):
        if inside and line.strip() and not line.startswith(inside):
            inside = ""
        if line.strip() == ".. code-block:: console":
            inside = line[: line.index("..")] + "   "
        elif inside and line.startswith(f"{inside}$ "):
            found.append(doctest.Example(f"shell({line.strip()[2:]!r})", "", lineno=number))
        elif inside and found and line.strip() != "":
            found[-1].want += line.removeprefix(inside) + "\n"
    return found


def run(name: str, text: str) -> doctest.DocTestRunner:
    """Run the examples of a text as one session: each may use what an earlier one has defined."""
    shell = Shell()
    examples = [*doctest.DocTestParser().get_examples(text, name), *commands(text)]
    examples.sort(key=lambda example: example.lineno)
    test = doctest.DocTest(examples, {"shell": shell}, name, name, 0, text)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report: list[str] = []
    runner.run(test, out=report.append)
    assert test.examples
    assert runner.failures == 0, "".join(report)
    shell.check()
    return runner


def test_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert run("README.md", markdown(text)).tries >= 15


@pytest.mark.parametrize("page", [page for page in PAGES if page not in WITHOUT_EXAMPLES])
def test_page(page, tmp_path, monkeypatch):
    text = (ROOT / page).read_text(encoding="utf-8")
    for sign, module in NEEDED.items():
        if sign in text and importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} does not exist yet")
    monkeypatch.chdir(tmp_path)
    run(page, text)
