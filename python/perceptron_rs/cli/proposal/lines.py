"""What learns from lines of text: of fastText, Vowpal Wabbit, svmlight, of tokens with tags, and of logs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from perceptron_rs.cli.proposal.columns import CLASSES, LEAST, PART_OF_TIME
from perceptron_rs.cli.proposal.objects import of_json
from perceptron_rs.cli.proposal.proposed import Proposal, most, to_train, unused
from perceptron_rs.cli.proposal.tables import of_table

_SVMLIGHT = re.compile(r"[-+.,\w]+( qid:\d+)?( +\d+:[-+.\w]+)+ *(#.*)?")
#: A blank ends the label, and what touches the bar is a tag.
_VW = re.compile(r"[^|]*\s[^|\s]*\|\w*( [^|]*)?(\|.*)?")
#: Tokens with their tags on one line.
_SLASHES = re.compile(r"(\S+/[^\s/a-z]+\s*)+")
_TAGS = '{for (i = 1; i <= NF; i++) {sub("/[^/]*$", "\\t&", $i); sub("\\t/", "\\t", $i); print $i}; print ""}'


def of_lines(word: str, suffix: str, lines: list[str], text: str) -> Proposal | None:
    """Propose what learns from a file, by its first lines; ``text`` may be all of it."""
    full = [line for line in lines if line.strip()]
    if not full:
        return None
    if any(line.startswith("__label__") for line in full[:LEAST]):
        labels = [line.split() for line in full]
        several = any(words[1:2] and words[1].startswith("__label__") for words in labels)
        many = ["--multilabel"] if several else []
        if suffix == ".csv" and all("," in words[0] for words in labels):
            new = unused(f"{Path(word).stem}.ft")
            return to_train(new, *many, steps=[f"sed 's/,/ /' {shlex.quote(word)} > {shlex.quote(new)}"])
        form = [] if suffix in (".ft", ".fasttext") else ["--format", "fasttext"]
        return to_train(word, *form, *many)
    if full[0].lstrip()[:1] in ("[", "{"):
        return of_json(word, suffix, full, text)
    if suffix not in (".csv", ".tsv") and most(full, _VW.fullmatch) and "\t|" not in full[0]:
        return to_train(word, *([] if suffix == ".vw" else ["--format", "vw"]))
    if most(full, _SVMLIGHT.fullmatch):
        form = [] if suffix in (".svm", ".libsvm", ".svmlight", ".txt") else ["--format", "svmlight"]
        return to_train(word, *form, *(["--multilabel"] if any("," in x.split()[0] for x in full) else []))
    if _is_tokens(lines):
        return to_train(word, command="tag-train")
    if most(full, _SLASHES.fullmatch):
        new = unused(f"{Path(word).stem}.tags.txt")
        steps = [f"awk {shlex.quote(_TAGS)} {shlex.quote(word)} > {shlex.quote(new)}"]
        return to_train(new, command="tag-train", steps=steps)
    return of_table(word, suffix, full, lines) or _of_log(word, full)


def _is_tokens(lines: list[str]) -> bool:
    """Whether each line is a token with its tags, and an empty line ends each sentence."""
    tokens = [line for line in lines if line.strip() and not line.startswith(("# ", "-DOCSTART-"))]
    if not tokens:
        return False
    blank = [not line.strip() for line in lines]
    ends = sum(one and not other for one, other in zip(blank, [True, *blank[:-1]], strict=True))
    separator = "\t" if "\t" in tokens[0] else None
    widths = {len(line.split(separator)) for line in tokens}
    return len(widths) == 1 and min(widths) > 1 and ends > 1


def _of_log(word: str, lines: list[str]) -> Proposal | None:
    """Propose labels and texts for lines of words: the label is the word with the fewest distinct values."""
    rows = [line.split() for line in lines]
    least, place = CLASSES + 1, -1
    for i in range(min(map(len, rows))):
        values = [row[i] for row in rows]
        n = len(set(values))
        if 2 <= n <= len(values) // 5 and n < least and not most(values, PART_OF_TIME.search):
            least, place = n, i
    if place < 0:
        return None
    name, field = unused(f"{Path(word).with_suffix('').name}.labels.txt"), f"${place + 1}"
    code = f'{{label = {field}; {field} = ""; print label "\\t" $0}}'
    return to_train(name, "--text", steps=[f"awk '{code}' {shlex.quote(word)} > {shlex.quote(name)}"])
