"""The record of a training in a model file: its calls, and the weights that it started from."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from perceptron_rs.audit import RECORD
from perceptron_rs.audit.digests import LEAST_BLOCK, Digests
from perceptron_rs.audit.record import Call, FitMethod, calls_of, record_of
from perceptron_rs.errors import about
from perceptron_rs.estimator_attributes import Parametrised, parameter_names
from perceptron_rs.models.container import read_document
from perceptron_rs.models.document import CALLS, DIGESTS, ROUNDED, START, Tensors
from perceptron_rs.models.values import parameters_from_json, values_to_json
from perceptron_rs.prediction.predictor import Predictor
from perceptron_rs.schema.columns import COLUMNS, check_columns, packed, unpacked
from perceptron_rs.schema.schema import is_count

if TYPE_CHECKING:
    from perceptron_rs.prediction.estimator import Estimator

_NEEDED = {"method", "parameters", "n_features", "sizes", "weighted", "arithmetic_version"}
_OPTIONAL = {"ended", "block_size"}
_ENDS = ("callback", "interrupt")


def collect_record(estimator: Predictor) -> tuple[Tensors, dict[str, object]]:
    """Return the tensors and the part of the description; nothing if there is no record."""
    calls = record_of(estimator)
    if calls is None:
        return {}, {}
    tensors = {
        f"{START}{name}": np.ascontiguousarray(array)
        for call in calls
        for name, array in packed(call.start).items()
    }
    record: dict[str, object] = {CALLS: [_to_json(call) for call in calls]}
    digests = calls[-1].digests if calls else None
    if digests is not None:
        record[DIGESTS] = {"key": digests.key, "blocks": [list(block) for block in digests.blocks]}
    return tensors, record


def read_record(path: Path, model: object) -> dict[str, object]:
    """Return what the file of a model says of its versions and of the training, as JSON holds it."""
    with about(path):
        document = read_document(path)
    names = ("format_version", "written_by", "arithmetic_version", CALLS, DIGESTS, ROUNDED)
    calls = calls_of(model)
    starts = bool(calls and calls[0].start)
    return {name: document.get(name) for name in names} | {"starts_from_weights": starts}


def publish_record(estimator: Estimator, tensors: Tensors, document: dict[str, object]) -> None:
    """Put what ``collect_record`` returned on an estimator, and take its tensors; ValueError if unsound."""
    start = {name.removeprefix(START): tensors.pop(name) for name in list(tensors) if name.startswith(START)}
    if CALLS not in document:
        if start:
            raise ValueError(f"the tensor {START}{min(start)} belongs to no call")
        if DIGESTS in document:
            raise ValueError("its digests belong to no call")
        return
    descriptions = document[CALLS]
    if not isinstance(descriptions, list) or not descriptions:
        raise ValueError("its calls must be a list of one or more")
    calls = [_from_json(description, type(estimator)) for description in descriptions]
    if start:
        columns = start.pop(COLUMNS, None)
        if start.keys() != {"coef", "intercept"} or calls[0].method == "partial_fit":
            raise ValueError(f"the tensors {START}... must be the weights and intercepts of a first fit")
        if any(array.dtype != np.float64 or not np.isfinite(array).all() for array in start.values()):
            raise ValueError(f"the tensors {START}... must hold finite float64 numbers")
        if columns is not None:
            if check_columns(columns, f"{START}{COLUMNS}") != calls[0].columns:
                raise ValueError(f"the tensor {START}{COLUMNS} must end with the columns of the first fit")
            if start["coef"].ndim != 2 or start["coef"].shape[1] != len(columns) - 1:
                raise ValueError(f"the tensors {START}... must have the columns of {START}{COLUMNS}")
            start = unpacked(start | {COLUMNS: columns})
        calls[0].start.update(start)
    if DIGESTS in document:
        digests = _digests_from_json(document[DIGESTS], sum(call.rows for call in calls))
        calls[-1] = replace(calls[-1], digests=digests)
    setattr(estimator, RECORD, tuple(calls))


def _to_json(call: Call) -> dict[str, object]:
    record: dict[str, object] = {
        "method": call.method,
        "parameters": values_to_json(call.parameters),
        "n_features": int(call.columns),
        "sizes": [list(size) for size in call.sizes],
        "weighted": call.weighted,
        "arithmetic_version": call.arithmetic,
    }
    if call.block_size is not None:
        record["block_size"] = call.block_size
    if call.ended is not None:
        record["ended"] = list(call.ended)
    return record


def _from_json(description: Any, kind: type[Parametrised]) -> Call:
    if not _is_call(description):
        raise ValueError(f"each of its calls must be as a fit has left it, got {description!r:.200}")
    parameters = parameters_from_json(description["parameters"], parameter_names(kind), kind.__name__)
    ended, sizes = description.get("ended"), tuple(map(tuple, description["sizes"]))
    return Call(
        description["method"],
        parameters,
        description["n_features"],
        sizes,
        description["weighted"],
        description["arithmetic_version"],
        ended=None if ended is None else tuple(ended),
        block_size=description.get("block_size"),
    )


def _is_call(call: Any) -> bool:
    """Whether a description has what is said of a call, each in its type and range."""
    if not isinstance(call, dict) or set(call) - _OPTIONAL != _NEEDED:
        return False
    method, sizes = call["method"], call["sizes"]
    block_size, ended = call.get("block_size"), call.get("ended")
    if not _are_pairs(sizes) or not all(is_count(count) and count > 0 for size in sizes for count in size):
        return False
    is_one_call = len(sizes) == 1 and sizes[0][1] == 1
    return (
        method in get_args(FitMethod)
        and (is_one_call or (method == "partial_fit" and len(sizes) > 0))
        and (block_size is None or (method == "fit_stream" and is_count(block_size) and block_size > 0))
        and is_count(call["n_features"])
        and is_count(call["arithmetic_version"])
        and type(call["weighted"]) is bool
        and (ended is None or (_are_pairs([ended]) and ended[0] in _ENDS and is_count(ended[1])))
    )


def _are_pairs(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in values)


def _digests_from_json(description: Any, examples: int) -> Digests:
    """Return the digests of so many examples."""
    if not _are_digests(description):
        raise ValueError(f"its digests must be as a fit has left them, got {description!r:.200}")
    blocks = tuple(map(tuple, description["blocks"]))
    if sum(size for size, _ in blocks) != examples:
        raise ValueError(f"the blocks of its digests must have the {examples} examples of its calls")
    return Digests(blocks, description["key"])


def _are_digests(description: Any) -> bool:
    """Whether a description has a key, if any, and blocks of examples with their digests, if any."""
    if not isinstance(description, dict) or set(description) != {"key", "blocks"}:
        return False
    key, blocks = description["key"], description["blocks"]
    if not (key is None or _is_hex(key, 16)) or not _are_pairs(blocks):
        return False
    least = 1 if len(blocks) == 1 else LEAST_BLOCK
    return all(
        is_count(size)
        and size > 0
        and (digest is None or (_is_hex(digest, 64) and least <= size < 2 * LEAST_BLOCK))
        for size, digest in blocks
    )


def _is_hex(text: object, length: int) -> bool:
    return isinstance(text, str) and re.fullmatch(f"[0-9a-f]{{{length}}}", text) is not None
