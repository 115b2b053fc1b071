"""What ``inspect`` shows of a linear classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.common.predictor import hyperplanes
from perceptron_rs.common.story import head, label_text, parameters, plain, what

__all__ = ["as_text", "describe"]


def describe(model: Any, top: int) -> dict[str, Any]:
    """Return what a model is and how it came to be."""
    names = getattr(model, "feature_names_in_", None)
    per_epoch = model.mistakes_per_epoch_
    base = vars(model).get("_column_base")
    planes = model.classes_[1:] if len(model.n_seen_) == 1 else model.classes_
    weights: list[dict[str, Any]] = []
    coef, intercept = hyperplanes(model) or (np.zeros((0, 0)), np.zeros(0))
    if len(coef) == 0:  # the vectors of a run vote
        numbers = zip(planes, model.n_vectors_.tolist(), strict=True)
        weights = [{"class": plain(label), "n_vectors": number, "largest": []} for label, number in numbers]
        planes = planes[:0]
    for label, row, bias in zip(planes, coef, intercept, strict=True):
        order = np.argsort(-np.abs(row), kind="stable")[:top]
        largest = [
            {"feature": f"x{j + (base or 0)}" if names is None else str(names[j]), "weight": float(row[j])}
            for j in order.tolist()
            if row[j] != 0
        ]
        weights.append({"class": plain(label), "intercept": float(bias), "largest": largest})
    return {
        **what(model),
        "history": {
            "n_iter": model.n_iter_,
            "converged": model.converged_,
            "n_mistakes": model.n_mistakes_,
            "mistakes_per_epoch": per_epoch.tolist(),
            "n_seen": model.n_seen_.tolist(),
        },
        "column_base": base,
        "nonzero_weights": int(np.count_nonzero(coef)) if len(coef) else None,
        "weights": weights,
    }


def as_text(story: dict[str, Any]) -> str:
    """Return the same for people."""
    history = story["history"]
    per_epoch = [int(np.sum(entry)) for entry in history["mistakes_per_epoch"]]
    shown = " ".join(map(str, per_epoch[:20])) + (f" ... {per_epoch[-1]}" if len(per_epoch) > 20 else "")
    base = story["column_base"]
    nonzero = story["nonzero_weights"]
    counted = "" if base is None else f" counted from {base}"
    lines = [
        *head(story),
        f"features    {story['n_features']}{counted}"
        + ("" if nonzero is None else f", {nonzero} weights are not 0"),
        f"epochs      {history['n_iter']}, {'converged' if history['converged'] else 'not converged'}",
        f"mistakes    {history['n_mistakes']}; by epoch: {shown}",
        f"seen        {' '.join(map(str, history['n_seen'][:20]))} examples",
        *parameters(story),
    ]
    for plane in story["weights"]:
        if "n_vectors" in plane:
            lines.append(f"class {label_text(plane['class'])}: {plane['n_vectors']} vectors vote")
            continue
        lines.append(f"weights for class {label_text(plane['class'])}, intercept {plane['intercept']!r}")
        width = max((len(entry["feature"]) for entry in plane["largest"]), default=0)
        lines += [f"  {entry['feature']:{width}}  {entry['weight']!r}" for entry in plane["largest"]]
    return "\n".join(lines) + "\n"
