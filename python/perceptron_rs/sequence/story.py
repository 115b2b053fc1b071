"""What ``inspect`` shows of a tagger."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.common.story import label_text, plain

__all__ = ["as_text", "describe"]


def describe(model: Any, top: int) -> dict[str, Any]:
    """Return what a model of sequences is and how it came to be."""
    encoder = getattr(model, "encoder_", None)
    names = list(encoder.vocabulary_) if encoder is not None and encoder.vocabulary_ else None
    classes = [plain(label) for label in model.classes_]
    transitions = model.transition_
    order = np.argsort(-np.abs(transitions), axis=None, kind="stable")[:top]
    pairs = np.column_stack(np.unravel_index(order, transitions.shape)).tolist()
    weights = []
    for k, label in enumerate(classes):
        row = model.sparse_coef_[[k]].toarray()[0]
        largest = [
            {"feature": f"x{j}" if names is None else names[j], "weight": float(row[j])}
            for j in np.argsort(-np.abs(row), kind="stable")[:top].tolist()
            if row[j] != 0
        ]
        weights.append(
            {
                "class": label,
                "start": float(model.start_[k]),
                "end": float(model.end_[k]),
                "largest": largest,
            }
        )
    return {
        "estimator": type(model).__name__,
        "parameters": {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in model.get_params().items()
        },
        "template": getattr(model, "template_", None),
        "n_features": int(model.n_features_in_),
        "classes": classes,
        "history": {
            "n_iter": model.n_iter_,
            "converged": model.converged_,
            "n_seen": model.n_seen_,
            "sequence_errors_per_epoch": model.sequence_errors_per_epoch_.tolist(),
            "token_errors_per_epoch": model.token_errors_per_epoch_.tolist(),
        },
        "nonzero_weights": sum(
            int(np.count_nonzero(part))
            for name, part in model.predictor_.items()
            if not name.endswith(("_indptr", "_indices"))
        ),
        "transitions": [
            {"before": classes[a], "after": classes[b], "weight": float(transitions[a, b])}
            for a, b in pairs
            if transitions[a, b] != 0
        ],
        "weights": weights,
    }


def as_text(story: dict[str, Any]) -> str:
    """Return the same for people."""
    history = story["history"]
    errors = history["token_errors_per_epoch"]
    shown = " ".join(map(str, errors[:20])) + (f" ... {errors[-1]}" if len(errors) > 20 else "")
    classes = [label_text(label) for label in story["classes"]]
    template = story["template"]
    lines = [
        f"format      {story['format']}, {story['bytes']} bytes",
        f"estimator   {story['estimator']}",
        f"tags        {' '.join(classes[:20])}{' ...' if len(classes) > 20 else ''}",
        f"features    {story['n_features']}, {story['nonzero_weights']} weights are not 0",
    ]
    if template is not None:
        window = f", window {template['window']}" if template["kind"] == "words" else ""
        columns = (
            ", ".join(map(str, template["positions"])) if "positions" in template else template["columns"]
        )
        what = "columns" if "positions" in template else "columns of a line:"
        tag = f"; tag in column {template['tag']}" if "tag" in template else ""
        lines.append(f"template    {template['kind']}{window}; {what} {columns}{tag}")
    lines += [
        f"epochs      {history['n_iter']}, {'converged' if history['converged'] else 'not converged'}",
        f"mistakes    tokens by epoch: {shown}",
        f"seen        {history['n_seen']} sequences",
        "parameters",
        *(f"  {name} = {value!r}" for name, value in story["parameters"].items()),
        "weights of a tag after another",
        *(
            f"  {label_text(entry['before'])} {label_text(entry['after'])}  {entry['weight']!r}"
            for entry in story["transitions"]
        ),
    ]
    for part in story["weights"]:
        lines.append(
            f"weights for tag {label_text(part['class'])}, first {part['start']!r}, last {part['end']!r}"
        )
        width = max((len(entry["feature"]) for entry in part["largest"]), default=0)
        lines += [f"  {entry['feature']:{width}}  {entry['weight']!r}" for entry in part["largest"]]
    return "\n".join(lines) + "\n"
