"""What learns from JSON: objects, a line each, or in one list, or as pandas writes tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from perceptron_rs.cli.proposal.columns import LINES, OF_LABELS, TableColumns
from perceptron_rs.cli.proposal.proposed import Proposal, by_python, to_train, unused

_OF_JSON = (*OF_LABELS, "overall", "rating", "stars", "level", "type", "tag")
#: Keys of objects as vw and river write them, which hold objects of features.
_OF_RIVER = {"_label", "x"}
_FLAT = (
    "import json; flat = lambda x, before='': {k: v for n, y in x.items() for k, v in "
    "(flat(y, before + n + '.') if isinstance(y, dict) else {before + n: y}).items()}"
)
_TRANSPOSED = "[dict(zip({}, x)) for x in {}]"


def of_json(word: str, suffix: str, lines: list[str], text: str) -> Proposal | None:
    """Propose what learns from objects: as lines, whose values are no objects, however they are written."""
    rows, records = _records(lines, text)
    if not records:
        return None
    if rows is None and (proposed := _of_tokens(word, records[0])) is not None:
        return proposed
    keys = records[0].keys()
    is_nested = any(isinstance(records[0][key], dict) for key in keys) and not _OF_RIVER & keys
    options = _of_records([_flat(record) for record in records] if is_nested else records)
    if options is None:
        return None
    if rows is None and not is_nested:
        return to_train(word, *([] if suffix in (".jsonl", ".ndjson") else ["--format", "jsonl"]), *options)
    name = unused(f"{Path(word).with_suffix('').name}{'.flat' * (rows is None)}.jsonl")
    file, one = f"open({word!r}, encoding='utf-8')", "flat(x)" if is_nested else "x"
    source = f"map(json.loads, {file})" if rows is None else f"json.load({file})"
    code = f"{_FLAT if is_nested else 'import json'}; d = {source}; [print(json.dumps({one})) for x in "
    return to_train(name, *options, steps=[by_python(f"{code}{rows or 'd'}]", name)])


def _records(lines: list[str], text: str) -> tuple[str | None, list[dict[str, Any]]]:
    """Return objects, and the code that gives those of a file, which ``d`` holds; None: each is a line."""
    if lines[0].startswith("{") and len(lines) > 1:
        with suppress(ValueError):
            return None, _json_objects(map(json.loads, lines))
    begin = re.match(r'\s*(?:\{\s*"([^"\\]*)"\s*:\s*)?\[(?=\s*\{)', text)
    if begin:
        values: list[Any] = []
        at, decoder = begin.end(), json.JSONDecoder()
        with suppress(ValueError):  # behind the last one, which may be cut
            while len(values) < LINES:
                value, at = decoder.raw_decode(text, len(text) - len(text[at:].lstrip(", \r\n\t")))
                values.append(value)
        return "d" if begin[1] is None else f"d[{begin[1]!r}]", _json_objects(values)
    whole = json.loads(text)
    if len(lines) == 1 and not all(isinstance(value, dict | list) for value in whole.values()):
        return None, [whole]
    if whole.keys() >= {"columns", "data"}:  # as pandas writes tables: by "split", and by columns
        return _TRANSPOSED.format("d['columns']", "d['data']"), _rows(whole["columns"], whole["data"])
    is_list = all(isinstance(value, list) for value in whole.values())
    columns = [value if is_list else value.values() for value in whole.values()]
    each = "zip(*d.values())" if is_list else "zip(*(c.values() for c in d.values()))"
    return _TRANSPOSED.format("d", each), _rows(whole, zip(*columns, strict=True))


def _json_objects(values: Iterable[Any]) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)]


def _rows(names: Iterable[str], rows: Iterable[Iterable[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in islice(rows, LINES)]


def _flat(record: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Return an object whose keys are paths: it holds no objects."""
    cells: dict[str, Any] = {}
    for name, value in record.items():
        is_inner = isinstance(value, dict)
        cells |= _flat(value, f"{before}{name}.") if is_inner else {f"{before}{name}": value}
    return cells


def _of_tokens(word: str, record: dict[str, Any]) -> Proposal | None:
    """Propose to tag, where two lists of strings are as long as each other: tokens, and their tags."""
    lists = [name for name, value in record.items() if isinstance(value, list)]
    if len(lists) != 2 or len(record[lists[0]]) != len(record[lists[1]]):
        return None
    if not all(isinstance(value, str) for name in lists for value in record[name]):
        return None
    tokens, tags = sorted(lists, key=lambda name: "tag" in name.lower() or "label" in name.lower())
    name = unused(f"{Path(word).with_suffix('').name}.tags.txt")
    code = f"import json; [print(*map('\\t'.join, zip(x[{tokens!r}], x[{tags!r}])), '', sep='\\n') "
    code += f"for x in map(json.loads, open({word!r}, encoding='utf-8'))]"
    return to_train(name, command="tag-train", steps=[by_python(code, name)])


def _of_records(records: list[dict[str, Any]]) -> list[str] | None:
    """Return the options for objects; None if no key holds labels. Lists are labels, or no features."""
    names = list(dict.fromkeys(name for record in records for name in record))
    lists = [name for name in names if any(isinstance(record.get(name), list) for record in records)]
    several = next((name for name in lists if name.lower() in OF_LABELS), None)
    names = [name for name in names if name not in lists]
    cells = [[cell(record.get(name)) for record in records] for name in names]
    if not names:
        return None
    columns = TableColumns(names, cells, _OF_JSON)
    if several is not None:
        lists.remove(several)
        return columns.options(is_hashed=True, drop=lists, several=several)
    return columns.options(is_hashed=True, drop=lists) if columns.is_found else None


def cell(value: Any) -> str:
    """Return a value as a cell of text; an empty one is missing."""
    return "" if value is None else str(value)
