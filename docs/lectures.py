"""What the course has beside its text: folded answers, and the table of lectures with derivations."""

from __future__ import annotations

import csv
import re
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks import list_table
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

#: How many columns the table has: section, passage, place, verdict.
COLUMNS = 4
VERDICTS = {"right": "right", "if": "**Right if** ", "wrong": "**Wrong.** "}


class Folded(nodes.General, nodes.Element):
    """A summary that opens what it names: ``<details>`` of HTML, which keys and screen readers know."""


def visit_folded(writer: Any, node: Folded) -> None:
    """Open it."""
    writer.body.append(writer.starttag(node, "details", CLASS="fold"))


def depart_folded(writer: Any, _: Folded) -> None:
    """Close it."""
    writer.body.append("</details>\n")


class Summary(nodes.General, nodes.TextElement):
    """The line that is always shown."""


def visit_summary(writer: Any, _: Summary) -> None:
    """Open it."""
    writer.body.append("<summary>")


def depart_summary(writer: Any, _: Summary) -> None:
    """Close it."""
    writer.body.append("</summary>\n")


class Fold(SphinxDirective):
    """``.. fold:: Question``: the content is shown to those who open it."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the summary with its content."""
        self.assert_has_content()
        inline, messages = self.parse_inline(self.arguments[0])
        content = self.parse_content_to_nodes()
        return [Folded("", Summary("", "", *inline), *content), *messages]


def derivations(path: Path) -> dict[str, str]:
    """Return the text below each ``.. derivation:: name`` of a file."""
    parts = re.split(r"^\.\. derivation:: (\w+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    texts = (re.sub(r"^   ", "", text, flags=re.MULTILINE) for text in parts[2::2])
    return dict(zip(parts[1::2], texts, strict=True))


def passages(path: Path) -> list[dict[str, str]]:
    """Return the rows of docs/course/lectures.csv."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Lectures(SphinxDirective):
    """``.. lectures:: FILE``: a table for each document; below each row that is not plainly right, why."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Return a heading and a table for each document."""
        table, reasons = (Path(self.env.relfn2path(name)[1]) for name in self.arguments)
        for file in (table, reasons):
            self.env.note_dependency(str(file))
        rows, why = passages(table), derivations(reasons)
        text: list[str] = []
        for document, of_document in groupby(rows, lambda row: row["document"]):
            cells = [["section", "what it says", "here", ""], *map(self.cells, of_document)]
            head, *lines = list_table(cells)
            widths = "   :widths: 18 32 24 26"
            text += [document, "-" * len(document), "", head, widths, "   :class: lectures", *lines, ""]
        made = self.parse_text_to_nodes("\n".join(text), allow_section_headings=True)
        shown = [
            row for node in made for body in node.findall(nodes.tbody) for row in body.findall(nodes.row)
        ]
        for row, passage in zip(shown, rows, strict=True):
            if passage["verdict"] != "right":
                row.parent.insert(row.parent.index(row) + 1, self.below(passage, why[passage["test"]]))
        return made

    def cells(self, row: dict[str, str]) -> list[str]:
        """Return the texts of a row."""
        marks = "``" if row["function"].endswith("_") else "`"
        shown = (
            f":ref:`{row['label']}`; {marks}{row['function']}{marks}"
            if row["function"]
            else f":ref:`{row['label']}`"
        )
        verdict = VERDICTS[row["verdict"]] + (f"{row['right']}." if row["right"] else "")
        return [row["section"], f"{row['says']}.".replace("?.", "?"), shown, verdict]

    def below(self, row: dict[str, str], why: str) -> nodes.row:
        """Return a row across the table: the derivation, and the step in the lab."""
        if row["lab"]:
            why += f"\n\n`This step in the lab <../lab.html#{row['lab']}>`__.\n"
        name = Summary("", "Why")
        made = Folded("", name, *self.parse_text_to_nodes(why))
        return nodes.row("", nodes.entry("", made, morecols=COLUMNS - 1), classes=["why"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directives known to Sphinx."""
    app.add_node(Folded, html=(visit_folded, depart_folded))
    app.add_node(Summary, html=(visit_summary, depart_summary))
    app.add_directive("fold", Fold)
    app.add_directive("lectures", Lectures)
    return {"parallel_read_safe": True}
