"""What ``inspect`` shows of a tagger: its template, the largest weights of tags and of their pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from perceptron_rs.models.summary import Description, label_text, largest, largest_lines, plain

if TYPE_CHECKING:
    from perceptron_rs.sequence.base import SequenceLearner


def shown(model: SequenceLearner, top: int) -> Description:
    """Return the largest weights of each tag, and of a tag after another."""
    encoder = getattr(model, "encoder_", None)
    names = list(encoder.vocabulary_) if encoder is not None and encoder.vocabulary_ else None
    classes, transitions = [plain(label) for label in model.classes_], model.transition_
    order = np.argsort(-np.abs(transitions), axis=None, kind="stable")[:top]
    pairs = np.column_stack(np.unravel_index(order, transitions.shape)).tolist()
    numbers = [w for name, w in model.predictor_.items() if not name.endswith(("_indptr", "_indices"))]
    coef = model.sparse_coef_
    return {
        "template": getattr(model, "template_", None),
        "nonzero_weights": sum(int(np.count_nonzero(part)) for part in numbers),
        "transitions": [
            {"before": classes[a], "after": classes[b], "weight": float(transitions[a, b])}
            for a, b in pairs
            if transitions[a, b] != 0
        ],
        "weights": [
            {
                "class": label,
                "start": float(model.start_[k]),
                "end": float(model.end_[k]),
                "largest": largest(coef[[k]].toarray()[0], names, top),
            }
            for k, label in enumerate(classes)
        ],
    }


def lines(description: Description) -> tuple[str, list[str], list[str]]:
    """Return the lines of a description as text, in three parts: see `Family.lines`."""
    template, before = description["template"], []
    if template is not None:
        window = f", window {template['window']}" if template["kind"] == "words" else ""
        columns = str(template["columns"])
        if "positions" in template:
            columns = ", ".join(map(str, template["positions"]))
        what = "columns" if "positions" in template else "columns of a line:"
        tag = f"; tag in column {template['tag']}" if "tag" in template else ""
        before.append(f"template    {template['kind']}{window}; {what} {columns}{tag}")
    after = ["weights of a tag after another"]
    after += [
        f"  {label_text(entry['before'])} {label_text(entry['after'])}  {entry['weight']!r}"
        for entry in description["transitions"]
    ]
    for part in description["weights"]:
        label = label_text(part["class"])
        after.append(f"weights for tag {label}, first {part['start']!r}, last {part['end']!r}")
        after += largest_lines(part["largest"])
    return f", {description['nonzero_weights']} weights are not 0", before, after
