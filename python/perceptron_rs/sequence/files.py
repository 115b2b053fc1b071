"""Label-sequence learners in a model file: weights, sums, vocabulary, history, template.

Most attributes have weights for few labels, so emission and pair weights are kept and stored as the rows of a
CSR matrix: what is not 0 by its bits. Nothing is larger than the file and its classes say.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.terms import check_terms, terms
from perceptron_rs.features.encoder import AttributeEncoder
from perceptron_rs.models.taken import refuse_left, take
from perceptron_rs.models.values import is_count

__all__ = ["LEAST_CLASSES", "OWN_PARTS", "collect", "publish"]

#: A tagger of one tag predicts that.
LEAST_CLASSES = 1
#: Parts of a file's description that other families have not.
OWN_PARTS: frozenset[str] = frozenset({"encoder", "template"})

_EPOCHS = {
    "sequence_errors_per_epoch": np.int64,
    "token_errors_per_epoch": np.int64,
    "validation_scores": np.float64,
    "loss_curve": np.float64,
}
_NOT_ALWAYS = ("validation_scores", "loss_curve")  # files of early versions have no curve
_HISTORY = {"n_iter": "n_iter_", "n_seen": "n_seen_"}  # the second is with the weights in memory


def collect(estimator: Any) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays of a fitted estimator, and the parts of its description that only it has."""
    check_terms(estimator)
    tensors: dict[str, NDArray[Any]] = {}
    for name, weights in estimator._model.state().items():
        if not np.isfinite(weights).all():
            what = name.removesuffix("_u").removesuffix("_data")
            raise ValueError(f"the weights {what} hold a NaN or an infinity; fit again before saving")
        if name != "seen":
            tensors[name] = np.ascontiguousarray(weights)
    for name, dtype in _EPOCHS.items():
        if f"{name}_" in vars(estimator):
            tensors[name] = np.ascontiguousarray(getattr(estimator, f"{name}_"), dtype=dtype)
    history: dict[str, Any] = {name: int(getattr(estimator, place)) for name, place in _HISTORY.items()}
    history["epochs"] = int(getattr(estimator, "_n_epochs", 0))
    parts: dict[str, Any] = {"history": history | {"converged": bool(estimator.converged_)}}
    encoder = getattr(estimator, "encoder_", None)
    if encoder is not None:
        parts["encoder"] = {"min_count": int(encoder.min_count), "n_columns": encoder.n_columns}
        if encoder.n_columns is None:
            names = [name.encode("utf-8", "surrogatepass") for name in encoder.vocabulary_]
            tensors["vocabulary"] = np.frombuffer(b"".join(names), dtype=np.uint8)
            tensors["vocabulary_ends"] = np.cumsum([len(name) for name in names], dtype=np.int64)
        else:
            parts["encoder"]["n_columns"] = int(encoder.n_columns)
    if hasattr(estimator, "template_"):
        parts["template"] = dict(estimator.template_)
    return tensors, parts


def publish(estimator: Any, tensors: dict[str, NDArray[Any]], document: dict[str, Any]) -> None:
    """Put what ``collect`` returned on another estimator with those ``classes_``; ValueError if unsound."""
    left = dict(tensors)
    state = _weights(left, len(estimator.classes_), "") | _weights(left, len(estimator.classes_), "_u")
    ends = [len(array) for name, array in state.items() if "_indptr" in name]
    if len(set(ends)) > 1 or len(ends) == 3:
        raise ValueError("the weights and their sums have different shapes")
    columns = ends[0] - 1
    history = document["history"]
    if isinstance(history, dict):
        history = {"epochs": history.get("n_iter")} | history  # older files lack it
    if (
        not isinstance(history, dict)
        or set(history) != {*_HISTORY, "epochs", "converged"}
        or not all(is_count(history[name]) for name in (*_HISTORY, "epochs"))
        or type(history["converged"]) is not bool
    ):
        raise ValueError(f"the history must hold counts {', '.join(_HISTORY)}, epochs, and converged")
    for name, dtype in _EPOCHS.items():
        if name in left or name not in _NOT_ALWAYS:
            axis = (1,) if name == "validation_scores" else ()
            array = take(left, name, dtype, (history["n_iter"], *axis))
            if array.min(initial=0) < 0:
                raise ValueError(f"the tensor {name} must not hold anything below 0")
            setattr(estimator, f"{name}_", array.tolist() if name == "loss_curve" else array)
    if "encoder" in document:
        estimator.encoder_ = _encoder(left, document["encoder"], columns)
    if "template" in document:
        estimator.template_ = _template(document["template"])
    refuse_left(left)
    state["seen"] = np.array([history["n_seen"]], dtype=np.int64)
    estimator._average, estimator._terms = [], terms(estimator)
    estimator._publish(state)
    if not all(np.isfinite(weights).all() for weights in estimator._weights.values()):
        raise ValueError("its average weights hold a NaN or an infinity")
    estimator.n_features_in_ = columns
    estimator.converged_, estimator._n_epochs = history["converged"], history["epochs"]
    estimator.n_iter_ = history["n_iter"]


def _weights(left: dict[str, NDArray[Any]], labels: int, u: str) -> dict[str, NDArray[Any]]:
    """Return the weights, or the sums (``u`` is "_u"), as they are kept in memory."""
    weights = _matrix(left, "emission", labels, u)
    for name, shape in {"transition": (labels, labels), "start": (labels,), "end": (labels,)}.items():
        weights[f"{name}{u}"] = take(left, f"{name}{u}", np.float64, shape)
    if f"pair_indptr{u}" in left:
        weights |= _matrix(left, "pair", labels * labels, u)
    return weights


def _matrix(left: dict[str, NDArray[Any]], name: str, width: int, u: str) -> dict[str, NDArray[Any]]:
    """Return the three arrays of a matrix in the form CSR."""
    ends = take(left, f"{name}_indptr{u}", np.int64, (None,))
    indices = take(left, f"{name}_indices{u}", np.int32, (None,))
    data = take(left, f"{name}_data{u}", np.float64, (len(indices),))
    if len(ends) < 2 or ends[0] != 0 or ends[-1] != len(indices) or (np.diff(ends) < 0).any():
        raise ValueError(f"the tensor {name}_indptr does not divide {len(indices)} weights into rows")
    if indices.min(initial=0) < 0 or indices.max(initial=0) >= width:
        raise ValueError(f"the tensor {name}_indices must be from 0 to {width - 1}")
    rows = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    if (np.diff(rows * width + indices) <= 0).any():
        raise ValueError(f"the tensor {name}_indices must rise within each row")
    return {f"{name}_indptr{u}": ends, f"{name}_indices{u}": indices, f"{name}_data{u}": data}


def _encoder(left: dict[str, NDArray[Any]], description: Any, columns: int) -> AttributeEncoder:
    if not isinstance(description, dict) or set(description) != {"min_count", "n_columns"}:
        raise ValueError("its encoder must hold min_count and n_columns")
    hashed = description["n_columns"]
    if not is_count(description["min_count"]) or not (hashed is None or is_count(hashed)):
        raise ValueError("its encoder must hold counts")
    encoder = AttributeEncoder(**description)
    names: dict[str, int] = {}
    if hashed is None:
        text = take(left, "vocabulary", np.uint8, (None,)).tobytes()
        ends = take(left, "vocabulary_ends", np.int64, (columns,)).tolist()
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
    encoder.vocabulary_, encoder.n_columns_ = names, columns
    return encoder


def _template(description: Any) -> dict[str, Any]:
    """Return what the command line keeps to make attributes from columns."""
    if (
        not isinstance(description, dict)
        or set(description) - {"positions", "tag"} != {"kind", "window", "columns"}
        or description["kind"] not in ("words", "columns")
        or not all(is_count(description[name]) for name in ("window", "columns"))
        or description["columns"] < 1
        or description["window"] > 100
    ):
        raise ValueError("its template must hold a known kind, a window and a number of columns")
    places = description.get("positions", [1] * description["columns"])
    if not isinstance(places, list) or len(places) != description["columns"]:
        raise ValueError("the positions of its template must be one for each column")
    if not all(is_count(place) and place > 0 for place in places):
        raise ValueError("the positions of its template must be numbers from 1")
    tag = description.get("tag", 1)
    if not (is_count(tag) and tag > 0):
        raise ValueError(f"the tag of its template must be the number of a column, got {tag!r:.80}")
    return description
