"""What a tagger has learnt: weights, sums, vocabulary, template.

Most attributes have weights for few labels, so emission and pair weights are kept and stored as the rows of a
CSR matrix: what is not 0 by its bits. Nothing is larger than the file and its classes say. Below the schema:
the weights of a cold start, those that predict, and a matrix in full or by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import csr_to_dense, row_numbers
from perceptron_rs.arrays.named import State
from perceptron_rs.arrays.scalars import whole_number
from perceptron_rs.engines import Engine
from perceptron_rs.estimator_attributes import feature_names
from perceptron_rs.features.templates import Template
from perceptron_rs.features.vocabulary import Vocabulary
from perceptron_rs.schema.schema import COUNTS, EPOCHS, Array, Schema, is_count

if TYPE_CHECKING:
    from perceptron_rs.features.encoder import AttributeEncoder


_REPORTS = {array.name: array for array in EPOCHS}


def _weight_arrays(u: str = "") -> tuple[Array, ...]:
    """Return the weights, or their sums: emission and pair weights as CSR, with a row for each column."""

    def matrix(name: str, entries: str, group: str = "") -> tuple[Array, ...]:
        parts: tuple[tuple[str, str, np.dtype[np.generic]], ...] = (
            ("indptr", "p", COUNTS),
            ("indices", entries, np.dtype(np.int32)),
            ("data", entries, np.dtype(np.float64)),
        )
        names = ((f"{name}_{part}{u}", axes, kind) for part, axes, kind in parts)
        return tuple(
            Array(full, (axes,), kind, label=f"last {full}", group=group) for full, axes, kind in names
        )

    vectors = ((f"transition{u}", "LL"), (f"start{u}", "L"), (f"end{u}", "L"))
    return (
        *matrix("emission", f"e{u}"),
        *matrix("pair", f"pairs{u}", group="pair"),
        *(Array(name, axes, label=f"last {name}") for name, axes in vectors),
    )


def _attribute_names(encoder: AttributeEncoder) -> list[bytes] | None:
    if encoder.n_columns is not None:
        return None
    return [name.encode("utf-8", "surrogatepass") for name in encoder.vocabulary_]


def _joined_names(encoder: AttributeEncoder) -> NDArray[np.uint8] | None:
    names = _attribute_names(encoder)
    return None if names is None else np.frombuffer(b"".join(names), dtype=np.uint8)


def _name_ends(encoder: AttributeEncoder) -> NDArray[np.int64] | None:
    names = _attribute_names(encoder)
    return None if names is None else np.cumsum([len(name) for name in names], dtype=np.int64)


_of_vocabulary = partial(
    Array, attribute="encoder_", group="vocabulary", predicts=False, compared=False, unpack=None
)

SEQUENCE = Schema(
    "sequence",
    (
        *_weight_arrays(),
        *_weight_arrays("_u"),
        Array("seen", (1,), COUNTS, shown="n_seen_", label="last seen", reported=True),
        *(
            Array(f"{name}_per_epoch", "E", COUNTS, f"{name}_per_epoch_", predicts=False, reported=True)
            for name in ("sequence_errors", "token_errors")
        ),
        replace(_REPORTS["validation_scores"], axes=("E", 1)),
        _REPORTS["loss_curve"],
        _of_vocabulary("vocabulary", "v", np.dtype(np.uint8), pack=_joined_names),
        _of_vocabulary("vocabulary_ends", "d", COUNTS, pack=_name_ends),
    ),
    {"n_iter": "n_iter_", "epochs": "_n_epochs", "n_features": "n_features_in_"},
    least_classes=1,
    document=frozenset({"encoder", "template"}),
    engine_name="chain",
)

#: Of structures of any kind, which a function of the caller searches: no file can hold it.
STRUCTURED = Schema(
    "",
    (
        Array("coef", "d", shown="last_coef_"),
        Array("coef_u", "d", label="_u"),
        Array("seen", (), COUNTS, shown="n_seen_", pack=lambda seen: seen[0]),
    ),
    engine_name="structured",
)


def check_matrices(arrays: State, labels: int) -> None:
    """Raise ValueError unless the emission and pair weights are CSR matrices, with entries in order."""
    for name, width in (("emission", labels), ("pair", labels * labels)):
        for u in ("", "_u"):
            if f"{name}_indptr{u}" in arrays:
                _check_matrix(f"{name}_ind", arrays[f"{name}_indptr{u}"], arrays[f"{name}_indices{u}"], width)


def _check_matrix(name: str, ends: NDArray[np.int64], indices: NDArray[np.int32], width: int) -> None:
    if ends[0] != 0 or ends[-1] != len(indices) or (np.diff(ends) < 0).any():
        raise ValueError(f"the tensor {name}ptr does not divide {len(indices)} weights into rows")
    if indices.min(initial=0) < 0 or indices.max(initial=0) >= width:
        raise ValueError(f"the tensor {name}ices must be from 0 to {width - 1}")
    rows = row_numbers(ends)
    if (np.diff(rows * width + indices) <= 0).any():
        raise ValueError(f"the tensor {name}ices must rise within each row")


def vocabulary_of(arrays: State, description: object, columns: int) -> Vocabulary:
    """Return the vocabulary of the encoder of a file; ValueError if it is unsound."""
    if not isinstance(description, dict) or set(description) != {"min_count", "n_columns"}:
        raise ValueError("its encoder must hold min_count and n_columns")
    hashed = description["n_columns"]
    if not is_count(description["min_count"]) or not (hashed is None or is_count(hashed)):
        raise ValueError("its encoder must hold counts")
    names: dict[str, int] = {}
    if hashed is None:
        if "vocabulary" not in arrays:
            raise ValueError("the tensor vocabulary is missing")
        text, ends = arrays["vocabulary"].tobytes(), arrays["vocabulary_ends"].tolist()
        starts = [0, *ends[:-1]]
        if ends[-1] != len(text) or any(a > b for a, b in zip(starts, ends, strict=True)):
            raise ValueError("the tensor vocabulary_ends does not divide the vocabulary")
        try:
            parts = [text[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=True)]
        except UnicodeDecodeError:
            raise ValueError("the tensor vocabulary is not UTF-8") from None
        names = {name: column for column, name in enumerate(parts)}
    if (columns if hashed else len(names)) != (hashed or columns):
        raise ValueError("its encoder and its weights have different numbers of columns")
    return Vocabulary(names, columns, hashed is not None)


def template_of(description: object) -> Template:
    """Return what the command line keeps to make attributes from columns; ValueError if it is unsound."""
    if (
        not isinstance(description, dict)
        or set(description) - {"positions", "tag", "separator"} != {"kind", "window", "columns"}
        or description["kind"] not in ("words", "columns")
        or not all(is_count(description[name]) for name in ("window", "columns"))
        or description["columns"] < 1
        or description["window"] > 100
    ):
        raise ValueError("its template must hold a known kind, a window and a number of columns")
    places = description.get("positions", [])
    if not isinstance(places, list) or len(places) != description["columns"] * ("positions" in description):
        raise ValueError("the positions of its template must be one for each column")
    if not all(is_count(place) and place > 0 for place in places):
        raise ValueError("the positions of its template must be numbers from 1")
    tag = description.get("tag", 1)
    if not (is_count(tag) and tag > 0):
        raise ValueError(f"the tag of its template must be the number of a column, got {tag!r:.80}")
    if description.get("separator", " ") not in ("\t", " "):
        raise ValueError(
            f"the separator of its template must be a tab or a blank, got {description['separator']!r:.80}"
        )
    template: Any = dict(description)
    return cast("Template", template)


if TYPE_CHECKING:
    from perceptron_rs.sequence.base import SequenceLearner
    from perceptron_rs.sequence.predictor import SequencePerceptronPredictor


def beam_of(model: SequencePerceptronPredictor) -> int | None:
    """Return how many labels of a token a search keeps; None: all."""
    if model.decode != "beam":
        return None
    return whole_number("beam_width", model.beam_width, 1, 2**31 - 1)


def cold_state(columns: int, labels: int, *, pair: bool) -> State:
    """Return the state of a cold start."""
    state: State = {"seen": np.zeros(1, dtype=np.int64)}
    for u in ("", "_u"):
        for name in ("emission", "pair") if pair else ("emission",):
            state[f"{name}_indptr{u}"] = np.zeros(columns + 1, dtype=np.int64)
            state[f"{name}_indices{u}"] = np.zeros(0, dtype=np.int32)
            state[f"{name}_data{u}"] = np.zeros(0)
        state[f"transition{u}"] = np.zeros((labels, labels))
        state[f"start{u}"], state[f"end{u}"] = np.zeros(labels), np.zeros(labels)
    return state


def predictor_weights(engine: Engine, state: State, averaged: bool) -> State:
    """Return the weights that predict: the averages, or the last ones."""
    if averaged:
        return engine.sequence_average(state)
    return {name: w for name, w in state.items() if not name.endswith("_u") and name != "seen"}


def dense_matrix(weights: State, name: str, planes: int) -> NDArray[np.float64]:
    """Return a matrix of sparse weights in full."""
    indptr, indices, data = (weights[f"{name}_{part}"] for part in ("indptr", "indices", "data"))
    return csr_to_dense(indptr, indices, data, planes)


def sparse_entries(weights: State, name: str) -> Iterator[tuple[int, int, float]]:
    """Give the column, the plane and the number of each sparse weight other than 0."""
    indptr, data = weights[f"{name}_indptr"], weights[f"{name}_data"]
    columns = row_numbers(indptr)
    some = np.flatnonzero(data)
    entries = (columns[some], weights[f"{name}_indices"][some], data[some])
    return zip(*(part.tolist() for part in entries), strict=True)


def attribute_names(model: SequenceLearner) -> Sequence[Any]:
    """Return what each column is called: by its attribute, by a table's column, or else its number."""
    if model._learnt.encoder is not None and model.encoder_.vocabulary_:
        return list(model.encoder_.vocabulary_)
    names = feature_names(model)
    return range(model.n_features_in_) if names is None else names.tolist()
