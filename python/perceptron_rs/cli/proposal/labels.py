"""What makes one label of several that mean the same."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from pathlib import Path

from perceptron_rs.cli.proposal.form import unused
from perceptron_rs.io.text.paths import PACKED

_BEGIN = 'import csv, json, sys; m = {}; f = open(sys.argv[1], encoding="utf-8-sig", newline=""); '
_TABLE = "r = [*csv.reader(f, delimiter={0})]; k = {1}; csv.writer(sys.stdout, delimiter={0}).writerows("
_TABLE += "[*x[:k], m.get(x[k], x[k]), *x[k + 1:]] for x in r if x)"
#: By format: the program, of what separates columns, the place of the labels, and their name.
_MERGES = {
    "csv": _TABLE,
    "tsv": _TABLE,
    "lines": '[print(m.get(y, y), t, sep="\\t", end="") for y, _, t in (x.partition("\\t") for x in f)]',
    "jsonl": "[print(json.dumps(x | {{{2}: m.get(x[{2}], x[{2}])}})) for x in map(json.loads, f)]",
}


def merged(
    word: str, form: str, delimiter: str, target: str | None, alike: Iterable[tuple[str, ...]], *, named: bool
) -> tuple[str, str] | None:
    """Return a file that has the last one of each labels, and what makes it; None if nothing here does.

    ``named``: the first row of a table names the columns; else a target is ``f`` and its number.
    """
    suffix = Path(word).suffix
    if form not in _MERGES or suffix in PACKED or (form == "jsonl" and target is None):
        return None
    place = "len(r[0]) - 1" if target is None else target[1:]
    place = f"r[0].index({_quoted(target)})" if target is not None and named else place
    same = {label: labels[-1] for labels in alike for label in labels[:-1]}
    code = _MERGES[form].format(_quoted(delimiter), place, _quoted(target))
    new = unused(f"{Path(word).stem}.merged{suffix}")
    program = shlex.quote(_BEGIN.format(_quoted(same)) + code)
    return new, f"python -c {program} {shlex.quote(word)} > {shlex.quote(new)}"


def _quoted(value: object) -> str:
    """Return names and labels as Python code has them; the shell's quotes around it are others."""
    return json.dumps(value, ensure_ascii=False)
