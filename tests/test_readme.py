"""The examples of the README run, and its links and commands exist."""

import doctest
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = ["README.md", "ARCHITECTURE.md", "ARITHMETIC.md", "CONTRIBUTING.md", "CHANGELOG.md"]


def test_examples():
    blocks = re.findall(r"^```pycon\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    # One session: an example may use what an earlier one has defined.
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README.md", "README.md", 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    report = []
    runner.run(test, out=report.append)
    assert test.examples
    assert runner.failures == 0, "".join(report)


def test_links():
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (ROOT / target).exists(), f"{document} links to {target}"


def test_commands():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        for name in re.findall(r"`make ([a-z-]+)", text):
            assert name in targets, f"{document} names the command make {name}"
