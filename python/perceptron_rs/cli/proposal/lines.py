"""What learns from lines of text: of fastText, Vowpal Wabbit, svmlight, of tokens with tags, and of logs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from contextlib import suppress

from perceptron_rs.cli.proposal.columns import CLASSES, LEAST, PART_OF_TIME, has_words, limit_of
from perceptron_rs.cli.proposal.objects import of_json
from perceptron_rs.cli.proposal.proposed import Proposal, made, most, parted, to_train
from perceptron_rs.cli.proposal.tables import of_table
from perceptron_rs.io.text.paths import SUFFIXES

_LABELS = '{l = t = ""; for (i = 1; i <= NF; i++) if ($i ~ /^__label__/) l = l $i " "; else t = t $i " "; '
_LABELS += "print l t}"
_TAGS = '{for (i = 1; i <= NF; i++) {sub("/[^/]*$", "\\t&", $i); sub("\\t/", "\\t", $i); print $i}; print ""}'
#: Lines that a program writes anew: what they look like, what the new file ends in, and the program.
_REWRITTEN = (
    (r"__label__[^\s,]+,.*", ".ft", "sed 's/,/ /'"),
    # Labels behind their text.
    (r"(?!__label__)((?!\s__label__).)*+(\s+__label__\S+)+\s*", ".ft", f"awk '{_LABELS}'"),
    (r"(\s*\S*/[^\s/a-z]+(?!\S))+\s*", ".tags.txt", f"awk '{_TAGS}'"),  # tokens with their tags on one line
)
#: By format: what its lines look like, which suffixes tell it, and what begins a line of several labels.
_FORMATS = (
    ("fasttext", r"__label__.*", (".ft", ".fasttext"), r"\S+\s+__label__"),
    # A blank ends the label of vw, and what touches the bar is a tag.
    ("vw", r"(?!.*\t\|)[^|]*\s[^|\s]*\|\w*( [^|]*)?(\|.*)?", (".vw",), None),
    (
        "svmlight",
        r"[-+.,\w]+( qid:\d+)?( +\d+:[-+.\w]+)+ *(#.*)?",
        (".svm", ".libsvm", ".svmlight", ".txt"),
        r"\S*,",
    ),
)
#: Empty columns of tokens are filled as the error of `tag-train` says.
_FILLED = """awk -F'\\t' -v OFS='\\t' '{for (i = 1; i <= NF; i++) if ($i == "") $i = "_"; print}'"""
#: Labels before a text: what a line looks like, and the program that puts a tab behind the label.
_SENT = r"\[?[0-9.\/-]+,? [0-9:]+( ?[AaPp][Mm])?\]?( -)? "
_HEADS = (
    (r"(\w+) ?(?:[,;]|:+ )", """awk '{sub(/ ?([,;]|:+ ) ?/, "\\t"); print}'"""),
    (rf"{_SENT}([^:]{{1,40}}): ", f"""awk '{{sub(/^{_SENT}/, ""); sub(/: /, "\\t"); print}}'"""),  # of a chat
)
#: What lines of a log with its times may be told apart by: how grave they are, and the answers of a server.
_GRAVE = re.compile(
    r"(?i).*\b(trace|debug|info|notice|warn(ing)?|err(or)?|crit(ical)?|alert|fatal)\b.*|[1-5]\d\d|[VDIWEF]"
)


def of_lines(word: str, suffix: str, lines: list[str], text: str) -> Proposal | None:
    """Propose what learns from a file, by its first lines; ``text`` may be all of it."""
    full = [line for line in lines if line.strip()]
    if not full:
        return None
    if full[0].lstrip()[:1] in ("[", "{"):
        with suppress(ValueError):  # logs, too, begin so
            return of_json(word, suffix, full, text)
    if not any(line.startswith("__label__") and "," not in line.split()[0] for line in full[:LEAST]):
        for pattern, ending, program in _REWRITTEN:
            if most(full, re.compile(pattern).fullmatch):
                many = ["--multilabel"] * any(line.count("__label__") > 1 for line in full)
                return made(
                    word, ending, program, *many, command="tag-train" if "tags" in ending else "train"
                )
    for form, pattern, suffixes, several in _FORMATS:
        is_one = re.compile(pattern).fullmatch
        if (most(full, is_one) or (form == "fasttext" and any(map(is_one, full[:LEAST])))) and (
            form != "vw" or suffix not in (".csv", ".tsv")
        ):
            options = [] if suffix in suffixes else ["--format", form]
            many = ["--multilabel"] if several and any(re.match(several, line) for line in full) else []
            return _of_numbers(word, suffix, full, options) or to_train(word, *options, *many)
    if _is_tokens(lines):
        filled = made(word, ".tags.txt", _FILLED, command="tag-train")
        return filled if "\t\t" in text else to_train(word, command="tag-train")
    return _of_heads(word, full) or of_table(word, suffix, full, lines) or _of_log(word, suffix, full)


def _of_numbers(word: str, suffix: str, lines: list[str], options: list[str]) -> Proposal | None:
    """Propose classes of the numbers before the columns of svmlight: whole ones may be many classes."""
    labels = [line.split()[0] for line in lines if not line.startswith("#")]
    if (limit := limit_of(labels)) is None or (options and "." not in "".join(labels)):
        return None
    program = f"awk '/^[^#]/ {{$1 = $1 > {limit} ? 1 : -1; print}}'"
    return made(word, f".classes{suffix}", program, *options, note=parted("the labels"))


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


def _of_heads(word: str, lines: list[str], heads: Sequence[tuple[str, str]] = _HEADS[1:]) -> Proposal | None:
    """Propose the few words that lines begin with as their labels."""
    for pattern, program in heads:
        found = {head and head[head.lastindex or 0] for head in (re.match(pattern, line) for line in lines)}
        if None not in found and 2 <= len(found) <= min(CLASSES, len(lines) // 5):
            return made(word, ".labels.txt", program, "--text")
    return None


def _of_log(word: str, suffix: str, lines: list[str]) -> Proposal | None:
    """Propose labels and texts for lines of words: the label is the word with the fewest distinct values."""
    if (proposed := _of_heads(word, lines, _HEADS)) is not None:
        return proposed
    rows = [line.split() for line in lines]
    is_timed = most(lines, lambda line: PART_OF_TIME.search(line[:60]))
    labels = []
    for i in range(min(map(len, rows))):
        values = [row[i] for row in rows]
        n = len(set(values))
        if 2 <= n <= min(CLASSES, len(values) // 5) and not most(values, PART_OF_TIME.search):
            is_grave = most(values, _GRAVE.fullmatch)
            labels += [(not is_grave, n, i + 1)] if is_grave or not is_timed else []
    is_other = SUFFIXES.get(suffix, "svmlight") != "svmlight"
    if not labels and (is_other or len(lines) < LEAST or not has_words(lines)):
        return None
    field = f"${min(labels)[2]}" if labels else '"LABEL"'
    code = f'{{label = {field}; {field} = ""; print label "\\t" $0}}' if labels else '{print "LABEL\\t" $0}'
    return made(word, ".labels.txt", f"awk {shlex.quote(code)}", "--text", is_by_hand=not labels)
