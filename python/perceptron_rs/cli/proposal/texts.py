"""What learns from lines of text: JSON, fastText, Vowpal Wabbit, svmlight, tokens with tags, and logs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import Any, TypeAlias

from perceptron_rs.cli.proposal.form import LINES, Form, Text, made, parted
from perceptron_rs.cli.proposal.tables import (
    CLASSES,
    MIN_LINES,
    OF_LABELS,
    OF_SCORES,
    PART_OF_TIME,
    TableColumns,
    cell,
    has_words,
    limit_of,
    most,
    of_records,
    of_table,
)
from perceptron_rs.io.text.paths import SUFFIXES

Record: TypeAlias = dict[str, Any]

_OF_JSON = (*OF_LABELS, *OF_SCORES, "level", "type", "tag")
#: Keys of objects as vw and river write them, which hold objects of features.
_OF_RIVER = {"_label", "x"}
#: What somebody says in a turn of a talk.
_SAID = ("content", "value")


def of_json(text: Text) -> Form | None:
    """Return what learns from objects: as lines, whose values are no objects, however they are written."""
    is_lines = _are_lines(text)
    document = None if is_lines else json.loads(text.document())
    changes: list[Callable[[Record], list[Record]]] = []

    def objects(lines: Iterable[str]) -> Iterator[Record]:
        values = map(json.loads, filter(str.strip, lines)) if is_lines else _in_document(document)
        records: Iterable[Record] = (value for value in values if isinstance(value, dict))
        for change in changes:
            records = chain.from_iterable(map(change, records))
        yield from records

    first = next(objects(text.full), None)
    if first is None:
        return None
    if is_lines and (form := _of_tokens(text, first)) is not None:
        return form
    if (unrolled := _unrolled(first)) is not None:
        changes.append(unrolled)
        first = next(objects(text.full))
    if any(isinstance(value, dict) for value in first.values()) and not _OF_RIVER & first.keys():
        changes.append(lambda record: [_flat(record)])
    records = list(islice(objects(text.full), LINES))
    names = list(dict.fromkeys(name for record in records for name in record))
    lists = [name for name in names if any(isinstance(record.get(name), list) for record in records)]
    several = next((name for name in lists if name.lower() in OF_LABELS), None)  # other lists are no features
    names = [name for name in names if name not in lists]
    cells = [[cell(record.get(name)) for record in records] for name in names]
    columns = TableColumns(names, cells, _OF_JSON, ".", has_names=False) if names else None
    if columns is None or not (columns.is_found or several):
        return None
    if several is None and (columns.mark or columns.limit):
        return of_records(names, cells, lambda: objects(text.whole()))
    drop = [name for name in lists if name != several]
    options = columns.options(is_hashed=True, drop=drop, several=several)
    if is_lines and not changes:
        return text.learnt(*([] if text.suffix in (".jsonl", ".ndjson") else ["--format", "jsonl"]), *options)
    new_lines = lambda: (json.dumps(record) + "\n" for record in objects(text.whole()))  # noqa: E731
    return made(new_lines, ".new.jsonl", *options)


def _are_lines(text: Text) -> bool:
    """Whether each line is an object; one alone may also be a document of others."""
    objects: list[Any] = []
    if text.full[0].startswith("{"):
        with suppress(ValueError):
            objects = list(map(json.loads, text.full))
    if len(objects) != 1:
        return bool(objects)
    values = objects[0].values()
    holds_objects = any(isinstance(value, list) and value and isinstance(value[0], dict) for value in values)
    return not (holds_objects or all(isinstance(value, dict | list) for value in values))


def _in_document(document: Any) -> Iterable[Any]:
    """Return the objects of a document: of a list, perhaps in an object, or as pandas writes tables."""
    if isinstance(document, list):
        return document
    lists = (value for value in document.values() if isinstance(value, list) and value)
    if (objects := next((value for value in lists if isinstance(value[0], dict)), None)) is not None:
        return objects
    names, rows = document.keys(), zip(*map(_column, document.values()), strict=False)
    if names >= {"columns", "data"}:
        names, rows = document["columns"], document["data"]
    return (dict(zip(names, row, strict=False)) for row in rows)


def _column(values: Any) -> Iterable[Any]:
    return values.values() if isinstance(values, dict) else values


def _flat(record: Record, before: str = "") -> Record:
    """Return an object without objects in it: their keys follow its own."""
    flat: Record = {}
    for name, value in record.items():
        flat |= _flat(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
    return flat


def _unrolled(record: Record) -> Callable[[Record], list[Record]] | None:
    """Return what gives the examples in lists: talks, whose last turn is the label, or texts of one label."""
    label = next((name for name in record if name.lower() in (*_OF_JSON, "intent")), None)
    for name, value in record.items():
        first = value[0] if isinstance(value, list) and value else None
        said = next((key for key in _SAID if isinstance(first, dict) and key in first), None)
        if said is not None and len(value) > 1:
            return partial(_talk, name, said)
        if isinstance(first, str) and label and has_words(value):
            return partial(_texts, name, label)
    return None


def _talk(name: str, said: str, record: Record) -> list[Record]:
    *turns, last = (turn[said] for turn in record[name])
    return [{"text": " ".join(turns), "label": last}]


def _texts(name: str, label: str, record: Record) -> list[Record]:
    return [{"text": text, "label": record[label]} for text in record[name]]


def _of_tokens(text: Text, record: Record) -> Form | None:
    """Return what tags, where two lists of strings are as long as each other: tokens, and their tags."""
    lists = [name for name, value in record.items() if isinstance(value, list)]
    if len(lists) != 2 or len(record[lists[0]]) != len(record[lists[1]]):
        return None
    if not all(isinstance(value, str) for name in lists for value in record[name]):
        return None
    tokens, tags = sorted(lists, key=lambda name: "tag" in name.lower() or "label" in name.lower())

    def sentence(line: str) -> str:
        one = json.loads(line)
        return "".join(f"{token}\t{tag}\n" for token, tag in zip(one[tokens], one[tags], strict=True))

    return text.rewritten(sentence, ".tags.txt", command="tag-train")


def _labels_first(line: str) -> str:
    """Return the labels of fastText before the other words."""
    return " ".join(sorted(line.split(), key=lambda word: not word.startswith("__label__")))


def _token_a_line(line: str) -> str:
    """Return tokens and their tags, which are behind the last slash, as a sentence of lines."""
    return "".join("\t".join(word.rsplit("/", 1)) + "\n" for word in line.split())


#: Lines that are written anew: what they look like, what the new file ends in, and what a line becomes.
_REWRITTEN: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    (r"__label__[^\s,]+,.*", ".ft", lambda line: line.replace(",", " ", 1)),
    (r"(?!__label__)((?!\s__label__).)*+(\s+__label__\S+)+\s*", ".ft", _labels_first),
    (r"(\s*\S*/[^\s/a-z]+(?!\S))+\s*", ".tags.txt", _token_a_line),
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
#: Labels before a text: the last group of what a line begins with, such as of a chat with its times.
_SENDER = r"\[?[0-9.\/-]+,? [0-9:]+( ?[AaPp][Mm])?\]?( -)? ([^:]{1,40}): "
_WORD = r"(\w+) ?(?:[,;]|:+ ) ?"
#: What lines of a log with its times may be told apart by: how grave they are, and the answers of a server.
_GRAVE = re.compile(
    r"(?i).*\b(trace|debug|info|notice|warn(ing)?|err(or)?|crit(ical)?|alert|fatal)\b.*|[1-5]\d\d|[VDIWEF]"
)


def of_text(text: Text) -> Form | None:
    """Return what learns from a text, by its first lines."""
    full = text.full
    if not full:
        return None
    if full[0].lstrip()[:1] in ("[", "{"):
        with suppress(ValueError):  # logs, too, begin so
            return of_json(text)
    if not any(line.startswith("__label__") and "," not in line.split()[0] for line in full[:MIN_LINES]):
        for pattern, ending, change in _REWRITTEN:
            if most(full, re.compile(pattern).fullmatch):
                if "tags" in ending:
                    return text.rewritten(change, ending, command="tag-train")
                many = any(line.count("__label__") > 1 for line in full)
                return text.rewritten(change, ending, *["--multilabel"] * many)
    for form, pattern, suffixes, several in _FORMATS:
        is_one = re.compile(pattern).fullmatch
        if (most(full, is_one) or (form == "fasttext" and any(map(is_one, full[:MIN_LINES])))) and (
            form != "vw" or text.suffix not in (".csv", ".tsv")
        ):
            options = [] if text.suffix in suffixes else ["--format", form]
            many = several is not None and any(re.match(several, line) for line in full)
            return _of_numbers(text, options) or text.learnt(*options, *["--multilabel"] * many)
    if _is_tokens(text.lines):
        if "\t\t" not in text.begin:
            return text.learnt(command="tag-train")
        filled = lambda line: "\t".join(part or "_" for part in line.split("\t")) if line else ""  # noqa: E731
        return text.rewritten(filled, ".tags.txt", command="tag-train")
    return _of_heads(text, _SENDER) or of_table(text) or _of_log(text)


def _of_numbers(text: Text, options: Sequence[str]) -> Form | None:
    """Return classes of the numbers before the columns of svmlight: whole ones may be many classes."""
    labels = [line.split()[0] for line in text.full if not line.startswith("#")]
    if (limit := limit_of(labels)) is None or (options and "." not in "".join(labels)):
        return None

    def classified(line: str) -> str:
        label, _, columns = line.partition(" ")
        return f"{1 if float(label) > float(limit) else -1} {columns}" if line[:1] not in ("", "#") else line

    return text.rewritten(classified, f".classes{text.suffix}", *options, note=parted("the labels"))


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


def _of_heads(text: Text, pattern: str) -> Form | None:
    """Return texts whose labels are the few words that lines begin with."""

    def split(line: str) -> str:
        head = re.match(pattern, line)
        return line if head is None else f"{head[head.lastindex or 0]}\t{line[head.end() :]}"

    heads = [re.match(pattern, line) for line in text.full]
    labels = {head and head[head.lastindex or 0] for head in heads}
    is_label = None not in labels and 2 <= len(labels) <= min(CLASSES, len(heads) // 5)
    return text.rewritten(split, ".labels.txt", "--text") if is_label else None


def _of_log(text: Text) -> Form | None:
    """Return labels and texts of lines of words: the label is the word with the fewest distinct values."""
    if (form := _of_heads(text, _WORD)) is not None:
        return form
    lines = text.full
    rows = [line.split() for line in lines]
    is_timed = most(lines, lambda line: PART_OF_TIME.search(line[:60]))
    labels = []
    for i in range(min(map(len, rows))):
        values = [row[i] for row in rows]
        n = len(set(values))
        if 2 <= n <= min(CLASSES, len(values) // 5) and not most(values, PART_OF_TIME.search):
            is_grave = most(values, _GRAVE.fullmatch)
            labels += [(not is_grave, n, i)] if is_grave or not is_timed else []
    is_other = SUFFIXES.get(text.suffix, "svmlight") != "svmlight"
    if not labels:
        if is_other or len(lines) < MIN_LINES or not has_words(lines):
            return None
        return text.rewritten("LABEL\t{}".format, ".labels.txt", "--text", is_by_hand=True)
    place = min(labels)[2]

    def moved(line: str) -> str:
        words = line.split()
        label = "".join(words[place : place + 1])
        return f"{label}\t{' '.join([*words[:place], *words[place + 1 :]])}"

    return text.rewritten(moved, ".labels.txt", "--text")
