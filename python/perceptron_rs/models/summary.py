"""What ``inspect`` shows of a model, by its schema and by what its family adds; how classes are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NotRequired, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.prediction.predictor import Predictor
from perceptron_rs.schema.columns import COLUMNS, is_by_column
from perceptron_rs.schema.schema import Array
from perceptron_rs.state.learnt import learnt_of

if TYPE_CHECKING:
    from perceptron_rs.features.text import KeptWords
    from perceptron_rs.prediction.estimator import Estimator

_SHOWN = 20  # numbers of a line, and calls of a record


class FeatureWeight(TypedDict):
    """A weight with the name of its feature, and the n-grams that were hashed to its column."""

    feature: str
    weight: float
    words: NotRequired[list[str]]
    signs: NotRequired[list[int]]
    more_words: NotRequired[int]


#: What a family shows of a model, as JSON holds it: the dictionary that its `shown` makes.
Description: TypeAlias = Mapping[str, Any]


class Family(Protocol):
    """The module ``summary`` of a family."""

    def shown(self, model: object, top: int) -> Description:
        """Return what is shown beside parameters and history; ``top``: how many weights or examples."""

    def lines(self, description: Description) -> tuple[str, list[str], list[str]]:
        """Return what comes behind the number of features, before the history, and behind the parameters."""


def summary_of(model: Estimator, family: Family, top: int) -> dict[str, object]:
    """Return what a model is and how it came to be, as JSON holds it."""
    state, arrays = model._packed(), {}
    for name, w in model._schema.values(model, state).items():
        shape = [*w.shape]
        if COLUMNS in state and is_by_column(name, w):
            shape[-1] = int(state[COLUMNS][-1])
        arrays[name] = [w.dtype.name, shape]
    story = {**what(model), "history": _history(model), "arrays": arrays, **family.shown(model, top)}
    if (calibration := learnt_of(model).calibration) is not None:
        story["calibration"] = calibration.in_words()
    return story


def _history(model: Predictor) -> dict[str, object]:
    schema = model._schema
    history: dict[str, object] = {**schema.history(model)}
    history.pop("n_features", None)
    for part in schema.parts_of(model):
        if isinstance(part, Array) and part.reported:
            name = part.attribute or part.shown
            numbers = getattr(model, name, None)
            if numbers is not None:
                history[name.strip("_")] = np.asarray(numbers).tolist()
    return history


def summary_text(description: Mapping[str, Any], family: Family) -> str:
    """Return a description as lines for people."""
    behind, before, after = family.lines(description)
    classes = [label_text(label) for label in description["classes"]]
    classes = [repr(text) if not text or set(text) & set(" \t\n") else text for text in classes]
    lines = [
        f"format      {description['format']}, {description['bytes']} bytes",
        *_record_lines(description),
        f"estimator   {description['estimator']}",
        f"classes     {' '.join(classes[:_SHOWN])}{' ...' if len(classes) > _SHOWN else ''}",
        f"features    {description['n_features']}{behind}",
        *([f"input       {description['input']}"] if "input" in description else []),
        *(
            [f"weights     rounded to {description['rounded']['dtype']}"]
            if description.get("rounded")
            else []
        ),
        *([f"calibrated  {description['calibration']}"] if "calibration" in description else []),
        *before,
        *_history_lines(description["history"]),
        "parameters",
        *(f"  {name} = {value!r}" for name, value in description["parameters"].items()),
        *after,
    ]
    return "\n".join(lines) + "\n"


def _record_lines(description: Mapping[str, Any]) -> list[str]:
    """Return the lines of the digest, the versions and the calls that a file has a record of."""
    calls, digests = description["calls"] or [], description["digests"]
    versions = f"{description['written_by']}, arithmetic {description['arithmetic_version']}"
    lines = [
        f"digest      {description['digest']}",
        f"versions    {versions}, format {description['format_version']}",
    ]
    for number, call in enumerate(calls[:_SHOWN]):
        n_calls = sum(times for _, times in call["sizes"])
        n_examples = sum(size * times for size, times in call["sizes"])
        line = f"record      {call['method']} of {n_examples} examples with {call['n_features']} columns"
        line += f", {n_calls} calls" if n_calls > 1 else ""
        line += f", ended by {call['ended'][0]}" if "ended" in call else ""
        is_given = number == 0 and description["starts_from_weights"]
        lines.append(line + (", from weights that it was given" if is_given else ""))
    if len(calls) > _SHOWN:
        lines.append(f"record      and {len(calls) - _SHOWN} more, which --json shows")
    if not calls:
        lines.append("record      none: the training cannot be repeated")
    if digests is not None:
        sizes = [size for size, own in digests["blocks"] if own is not None]
        key = "" if digests["key"] is None else f", with the key {digests['key']}"
        lines.append(f"digests     {len(sizes)} of {sum(sizes)} examples{key}")
    return lines


def _history_lines(history: dict[str, Any]) -> list[str]:
    lines = []
    if "n_iter" in history:
        lines.append(
            f"epochs      {history['n_iter']}, {'converged' if history['converged'] else 'not converged'}"
        )
    if "loss_curve" in history:
        lines.append(f"losses      {_few([f'{loss:.6g}' for loss in history['loss_curve']])}")
    if "mistakes_per_epoch" in history:
        per_epoch = [int(np.sum(entry)) for entry in history["mistakes_per_epoch"]]
        lines.append(f"mistakes    {history['n_mistakes']}; by epoch: {_few(per_epoch)}")
    if "token_errors_per_epoch" in history:
        lines.append(f"mistakes    tokens by epoch: {_few(history['token_errors_per_epoch'])}")
    if "n_seen" in history:
        seen = history["n_seen"]
        of_examples = isinstance(seen, list)
        lines.append(f"seen        {_few(seen)} examples" if of_examples else f"seen        {seen} sequences")
    return lines


def _few(values: Sequence[object]) -> str:
    return " ".join(map(str, values[:_SHOWN])) + (f" ... {values[-1]}" if len(values) > _SHOWN else "")


def largest(
    row: NDArray[np.float64],
    names: Sequence[object] | NDArray[np.generic] | None,
    top: int,
    base: int = 0,
    words: KeptWords | None = None,
    columns: NDArray[np.int64] | None = None,
) -> list[FeatureWeight]:
    """Return the largest weights with the names of their features, and n-grams that were hashed to them.

    ``columns`` are those of the weights, in their order; None: all.
    """
    order = np.argsort(-np.abs(row), kind="stable")[:top]
    order = order[row[order] != 0]
    largest = []
    for j, weight in zip((order if columns is None else columns[order]).tolist(), row[order], strict=True):
        entry: FeatureWeight = {
            "feature": f"x{j + base}" if names is None else str(names[j]),
            "weight": float(weight),
        }
        if words is not None:
            entry["words"], entry["signs"], entry["more_words"] = words.of(j)
        largest.append(entry)
    return largest


def largest_lines(entries: Sequence[FeatureWeight]) -> list[str]:
    """Return a description as lines for people."""
    names = [_name(entry) for entry in entries]
    width = max(map(len, names), default=0)
    return [f"  {name:{width}}  {_weight(entry)!r}" for name, entry in zip(names, entries, strict=True)]


def rows_shown(planes: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return classes with their largest weights as rows of a table."""
    return [
        (label_text(plane["class"]), ", ".join(f"{_name(e)} {_weight(e):.4g}" for e in plane["largest"]))
        for plane in planes[:_SHOWN]
        if plane["largest"]
    ]


def _weight(entry: FeatureWeight) -> float:
    """Return the weight of the first n-gram, whose value in the column may be negative."""
    return entry["weight"] * (entry["signs"][0] if entry.get("signs") else 1)


def _name(entry: FeatureWeight) -> str:
    """Return the name of a feature: n-grams that share it, or else its column; (-) is of the other sign."""
    if not entry.get("words"):
        return str(entry["feature"])
    shown = [word if word.isprintable() else repr(word) for word in entry["words"]]
    signs = ["" if sign == entry["signs"][0] else "(-) " for sign in entry["signs"]]
    more = f" + {entry['more_words']} more" if entry["more_words"] else ""
    return " | ".join(sign + word for sign, word in zip(signs, shown, strict=True)) + more


def what(model: Estimator) -> dict[str, object]:
    """Return what a model is."""
    return {
        "estimator": type(model).__name__,
        "parameters": {name: _shown_parameter(value) for name, value in model.get_params().items()},
        "n_features": int(model.n_features_in_),
        "classes": [plain(label) for label in model.classes_],
    }


def plain(label: object) -> Any:
    """Return a class as a Python value; a whole float as an int."""
    value = label.item() if isinstance(label, np.generic) else label
    return int(value) if isinstance(value, float) and value.is_integer() else value


def label_text(label: object) -> str:
    """Return a class as it is printed, and as options name it."""
    return str(plain(label))


def _shown_parameter(value: object) -> object:
    """Return a parameter as JSON can hold it."""
    if isinstance(value, dict):
        return {label_text(label): float(weight) for label, weight in value.items()}
    return value.item() if isinstance(value, np.generic) else value
