"""Write what the commands on pages of the documentation print anew, where it has changed.

``python scripts/outputs.py docs/guide/commands/train.rst`` runs all examples of a page in an empty folder,
and puts behind each ``$ command`` what it prints. Without a page: all pages that have commands. Of an
output that differs in times alone, nothing is written. Read what it has written.
"""

from __future__ import annotations

import doctest
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.test_docs import PAGES, Checker, Shell, commands  # noqa: E402  they are not installed


class Printed(doctest.DocTestRunner):
    """Notes what examples print that is not what a page says."""

    def __init__(self) -> None:
        super().__init__(Checker(), optionflags=doctest.NORMALIZE_WHITESPACE)
        self.by_line: dict[int, str] = {}

    def report_failure(self, _out, _test, example, got):  # noqa: D102  as its base
        if example.source.startswith("shell("):
            self.by_line[example.lineno] = got

    def report_unexpected_exception(self, _out, _test, _example, exc_info):  # noqa: D102  as its base
        raise exc_info[1]


def renewed(name: str, text: str) -> str:
    """Return a page with what its commands print now."""
    shown = commands(text)
    examples = [*doctest.DocTestParser().get_examples(text, name), *shown]
    examples.sort(key=lambda example: example.lineno)
    printed = Printed()
    printed.run(doctest.DocTest(examples, {"shell": Shell()}, name, name, 0, text), out=lambda _: None)
    lines = text.splitlines()
    for example in reversed(shown):
        if example.lineno in printed.by_line:
            command = lines[example.lineno]
            indent, first = command[: len(command) - len(command.lstrip())], example.lineno + 1
            new = [(indent + line).rstrip() for line in printed.by_line[example.lineno].splitlines()]
            lines[first : first + len(example.want.rstrip().splitlines())] = new
    return "\n".join(lines) + "\n"


def main() -> None:
    """Renew pages."""
    for page in sys.argv[1:] or PAGES:
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        if "   $ perceptrons " not in text:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            new = renewed(page, text)
            os.chdir(ROOT)
        if new != text:
            path.write_text(new, encoding="utf-8")
            print(f"{page} has new outputs")


if __name__ == "__main__":
    main()
