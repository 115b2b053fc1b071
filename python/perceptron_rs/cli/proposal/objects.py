"""What learns from JSON: objects, a line each, or in one list, or as pandas writes tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import Any, TypeAlias

from perceptron_rs.cli.proposal.columns import LINES, OF_LABELS, OF_SCORES, TableColumns, cell, has_words
from perceptron_rs.cli.proposal.form import Form, Text, made
from perceptron_rs.cli.proposal.tables import of_records

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
