"""What learns from JSON: objects, a line each, or in one list, or as pandas writes tables."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

from perceptron_rs.cli.proposal.columns import LINES, OF_LABELS, OF_SCORES, TableColumns, cell, has_words
from perceptron_rs.cli.proposal.proposed import Proposal, made, python, quoted, to_train, written
from perceptron_rs.cli.proposal.tables import of_cells

_OF_JSON = (*OF_LABELS, *OF_SCORES, "level", "type", "tag")
#: Keys of objects as vw and river write them, which hold objects of features.
_OF_RIVER = {"_label", "x"}
#: What somebody says in a turn of a talk.
_SAID = ("content", "value")
#: What is between the values of JSON.
_BETWEEN = re.compile(r"[\s,:]*")
_DECODER = json.JSONDecoder()
_FLAT = (
    'flat = lambda x, before="": {k: v for n, y in x.items() for k, v in '
    '(flat(y, before + n + ".") if isinstance(y, dict) else {before + n: y}).items()}; '
)
_TRANSPOSED = "[dict(zip({}, x)) for x in {}]"
_FILE = 'open(sys.argv[1], encoding="utf-8")'
_IN_LINES = "import json, sys; {}d = {}; [{} for x in {}]"


def of_json(word: str, suffix: str, lines: list[str], text: str) -> Proposal | None:
    """Propose what learns from objects: as lines, whose values are no objects, however they are written."""
    rows, records = _records(lines, text)
    if not records:
        return None
    if rows is None and (proposed := _of_tokens(word, records[0])) is not None:
        return proposed
    is_lines = rows is None
    if (unrolled := _unrolled(records[0], "d")) is not None:
        rows, records = _unrolled(records[0], rows or "d"), _objects(unrolled, records)
    keys = records[0].keys()
    is_nested = any(isinstance(records[0][key], dict) for key in keys) and not _OF_RIVER & keys
    records = _objects("map(flat, d)", records) if is_nested else records
    names = list(dict.fromkeys(name for record in records for name in record))
    lists = [name for name in names if any(isinstance(record.get(name), list) for record in records)]
    several = next((name for name in lists if name.lower() in OF_LABELS), None)  # other lists are no features
    names = [name for name in names if name not in lists]
    cells = [[cell(record.get(name)) for record in records] for name in names]
    columns = TableColumns(names, cells, _OF_JSON, ".", has_names=False) if names else None
    if columns is None or not (columns.is_found or several):
        return None
    one, source = "flat(x)" if is_nested else "x", f"map(json.loads, {_FILE})"
    source = source if is_lines else f"json.load({_FILE})"
    if several is None and (columns.mark or columns.limit):  # as a table, of which more can be read
        one = f"w.writerow([{one}.get(n) for n in {quoted(names)}])"
        code = f"import csv; w = csv.writer(sys.stdout); w.writerow({quoted(names)}); "
        code = _IN_LINES.format((_FLAT if is_nested else "") + code, source, one, rows or "d")
        return of_cells(*written(word, ".csv", python(code)), names, cells)
    drop = [name for name in lists if name != several]
    options = columns.options(is_hashed=True, drop=drop, several=several)
    if rows is None and not is_nested:
        return to_train(word, *([] if suffix in (".jsonl", ".ndjson") else ["--format", "jsonl"]), *options)
    code = _IN_LINES.format(_FLAT if is_nested else "", source, f"print(json.dumps({one}))", rows or "d")
    return made(word, f"{'.flat' * (rows is None)}.jsonl", python(code), *options)


def _records(lines: list[str], text: str) -> tuple[str | None, list[dict[str, Any]]]:
    """Return objects, and the code that gives those of a file, which ``d`` holds; None: each is a line."""
    if lines[0].startswith("{") and len(lines) > 1:
        with suppress(ValueError):
            return None, _objects("d", [json.loads(line) for line in lines])
    if (begin := _list_of_objects(text)) is not None:
        key, at = begin
        values: list[Any] = []
        with suppress(ValueError):  # behind the last one, which may be cut
            while len(values) < LINES:
                value, at = _value(text, at)
                values.append(value)
        return "d" if key is None else f"d[{quoted(key)}]", _objects("d", values)
    whole = json.loads(text)
    if len(lines) == 1 and not all(isinstance(value, dict | list) for value in whole.values()):
        return None, [whole]
    if whole.keys() >= {"columns", "data"}:  # as pandas writes tables: by "split", and by columns
        code = _TRANSPOSED.format('d["columns"]', 'd["data"]')
    elif all(isinstance(value, list) for value in whole.values()):
        code = _TRANSPOSED.format("d", "zip(*d.values())")
    else:
        code = _TRANSPOSED.format("d", "zip(*(c.values() for c in d.values()))")
    return code, _objects(code, whole)


def _value(text: str, at: int) -> tuple[Any, int]:
    """Return a value of JSON, and where what is behind it begins."""
    value, end = _DECODER.raw_decode(text, at)
    return value, _behind(text, end)


def _behind(text: str, at: int) -> int:
    between = _BETWEEN.match(text, at)
    return at if between is None else between.end()


def _first_object(text: str, at: int) -> int | None:
    """Return where the first object of a list is that begins here; None if none does."""
    first = _behind(text, at + 1)
    return first if text[at : at + 1] == "[" and text[first : first + 1] == "{" else None


def _list_of_objects(text: str) -> tuple[str | None, int] | None:
    """Return where the first object of a list is, and its key in an object, if that holds it."""
    at, key = _behind(text, 0), None
    if text[at : at + 1] == "{":
        at = _behind(text, at + 1)
        with suppress(ValueError):  # where no key comes
            key, at = _value(text, at)
            while _first_object(text, at) is None:
                at = _value(text, at)[1]
                key, at = _value(text, at)
    first = _first_object(text, at)
    return None if first is None else (key, first)


def _objects(code: str, d: Any) -> list[dict[str, Any]]:
    """Return objects as our own code, in which names of the file are quoted, makes them of others."""
    space: dict[str, Any] = {"d": d}
    exec(f"{_FLAT}r = {code}", space)
    return [value for value in space["r"] if isinstance(value, dict)][:LINES]


def _unrolled(record: dict[str, Any], objects: str) -> str | None:
    """Return code of examples in lists: talks, whose last turn is the label, or texts of one label."""
    label = next((name for name in record if name.lower() in (*_OF_JSON, "intent")), None)
    for name, value in record.items():
        one, of = (value[0], f"x[{quoted(name)}]") if isinstance(value, list) and value else (None, "")
        said = next((f'["{key}"]' for key in _SAID if isinstance(one, dict) and key in one), None)
        if said is not None and len(value) > 1:
            text = f'" ".join(m{said} for m in {of}[:-1])'
            return f'[{{"text": {text}, "label": {of}[-1]{said}}} for x in {objects}]'
        if isinstance(one, str) and label and has_words(value):
            return f'[{{"text": t, "label": x[{quoted(label)}]}} for x in {objects} for t in {of}]'
    return None


def _of_tokens(word: str, record: dict[str, Any]) -> Proposal | None:
    """Propose to tag, where two lists of strings are as long as each other: tokens, and their tags."""
    lists = [name for name, value in record.items() if isinstance(value, list)]
    if len(lists) != 2 or len(record[lists[0]]) != len(record[lists[1]]):
        return None
    if not all(isinstance(value, str) for name in lists for value in record[name]):
        return None
    tokens, tags = sorted(lists, key=lambda name: "tag" in name.lower() or "label" in name.lower())
    one = f'print(*map("\\t".join, zip(x[{quoted(tokens)}], x[{quoted(tags)}])), "", sep="\\n")'
    code = _IN_LINES.format("", f"map(json.loads, {_FILE})", one, "d")
    return made(word, ".tags.txt", python(code), command="tag-train")
