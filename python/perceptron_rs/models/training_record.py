"""The record of a training in a model file: its calls, and the weights that it started from."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np

from perceptron_rs.audit import RECORD
from perceptron_rs.audit.digests import BLOCK, Digests
from perceptron_rs.audit.record import Call, FitMethod, calls_of, record_of
from perceptron_rs.errors import about
from perceptron_rs.estimator_attributes import Parametrised, parameter_names
from perceptron_rs.models.container import read_document
from perceptron_rs.models.document import CALLS, DIGESTS, ROUNDED, START, Tensors
from perceptron_rs.models.parameters import parameters_from_json, values_to_json
from perceptron_rs.prediction.predictor import Predictor
from perceptron_rs.schema.columns import COLUMNS, check_columns, packed, unpacked
from perceptron_rs.schema.schema import is_count

if TYPE_CHECKING:
    from perceptron_rs.prediction.estimator import Estimator
    from perceptron_rs.prediction.predictor import Predictor

_NEEDED = {"method", "parameters", "n_features", "sizes", "weighted", "arithmetic_version"}
_OPTIONAL = {"ended", "block_size"}
_ENDS = ("callback", "interrupt")
_DIGEST = re.compile("[0-9a-f]{64}")
_KEY = re.compile("[0-9a-f]{16}")


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


def _from_json(description: object, kind: type[Parametrised]) -> Call:
    if not isinstance(description, dict) or set(description) - _OPTIONAL != _NEEDED:
        raise ValueError(f"each of its calls must hold {', '.join(sorted(_NEEDED))}")
    method, sizes = description["method"], description["sizes"]
    if method not in get_args(FitMethod):
        raise ValueError(f"a call must be of fit, partial_fit or fit_stream, got {method!r:.80}")
    if not isinstance(sizes, list) or not sizes or not all(_is_size(size) for size in sizes):
        raise ValueError("the sizes of a call must be pairs of counts of at least 1")
    if method != "partial_fit" and (len(sizes) > 1 or sizes[0][1] > 1):
        raise ValueError(f"the sizes of a {method} must be those of one call")
    block_size = description.get("block_size")
    if block_size is not None and not (method == "fit_stream" and is_count(block_size) and block_size > 0):
        raise ValueError("the block_size of a call must be a count of at least 1, of fit_stream")
    if not is_count(description["n_features"]) or not is_count(description["arithmetic_version"]):
        raise ValueError("a call must hold counts as n_features and arithmetic_version")
    if type(description["weighted"]) is not bool:
        raise ValueError("a call must hold whether it was weighted")
    return Call(
        method,
        parameters_from_json(description["parameters"], parameter_names(kind), kind.__name__),
        description["n_features"],
        tuple((rows, times) for rows, times in sizes),
        description["weighted"],
        description["arithmetic_version"],
        ended=_end(description.get("ended")),
        block_size=block_size,
    )


def _is_size(size: object) -> bool:
    return isinstance(size, list) and len(size) == 2 and all(is_count(count) and count > 0 for count in size)


def _end(ended: object) -> tuple[str, int] | None:
    if ended is None:
        return None
    if not isinstance(ended, list) or len(ended) != 2 or ended[0] not in _ENDS or not is_count(ended[1]):
        raise ValueError(f"a call must have ended by one of {_ENDS} after a number of epochs")
    return ended[0], ended[1]


def _digests_from_json(description: object, examples: int) -> Digests:
    """Return the digests of so many examples."""
    if not isinstance(description, dict) or set(description) != {"key", "blocks"}:
        raise ValueError("its digests must hold key and blocks")
    key, blocks = description["key"], description["blocks"]
    if key is not None and not (isinstance(key, str) and _KEY.fullmatch(key)):
        raise ValueError("the key of its digests must be named by 16 hexadecimal digits, or null")
    if not isinstance(blocks, list) or not all(
        isinstance(block, list) and len(block) == 2 for block in blocks
    ):
        raise ValueError("the blocks of its digests must be pairs of a count and a digest")
    for size, digest in blocks:
        if not is_count(size) or size == 0:
            raise ValueError("a block of digests must have at least 1 example")
        if digest is None:
            continue
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise ValueError("a digest must be 64 hexadecimal digits")
        if not (BLOCK <= size < 2 * BLOCK or (size < BLOCK and len(blocks) == 1)):
            raise ValueError(
                f"a digest must be of {BLOCK} to {2 * BLOCK - 1} examples, or of all, got {size}"
            )
    if sum(size for size, _ in blocks) != examples:
        raise ValueError(f"the blocks of its digests must have the {examples} examples of its calls")
    return Digests(tuple((size, digest) for size, digest in blocks), key)
