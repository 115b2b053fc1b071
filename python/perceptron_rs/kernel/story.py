"""What ``inspect`` shows of a kernel perceptron."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.common.story import head, label_text, parameters, plain, what

__all__ = ["as_text", "describe"]


def describe(model: Any, top: int) -> dict[str, Any]:
    """Return what a kernel perceptron is and how it came to be; ``top``: examples of each class."""
    spec, steps, counts = model._spec, model.dual_coef_, model.mistakes_per_support_
    planes = model.classes_[1:] if len(steps) == 1 else model.classes_
    found = []
    # On a budget the last vector alone is left.
    numbers = np.atleast_1d(model.n_vectors_) if model.budget is None else np.ones(len(steps), dtype=np.int64)
    for label, row, number, bias, vectors in zip(
        planes, steps, counts, model.intercept_, numbers, strict=True
    ):
        order = np.argsort(-number, kind="stable")[:top]
        examples = [
            {"row": int(model.support_[i]), "mistakes": int(number[i]), "step": float(row[i])}
            for i in order.tolist()
            if number[i]
        ]
        found.append(
            {
                "class": plain(label),
                "intercept": float(bias),
                "n_vectors": int(vectors),
                "most_mistaken": examples,
            }
        )
    return {
        **what(model),
        "kernel": {"name": spec.name, "gamma": spec.gamma, "coef0": spec.coef0, "degree": spec.degree},
        "history": {
            "n_iter": model.n_iter_,
            "converged": model.converged_,
            "n_mistakes": model.n_mistakes_,
            "mistakes_per_epoch": model.mistakes_per_epoch_.tolist(),
            "n_seen": model.n_seen_.tolist(),
        },
        "n_support": len(model.support_),
        "planes": found,
    }


def as_text(story: dict[str, Any]) -> str:
    """Return the same for people."""
    history, kernel = story["history"], story["kernel"]
    per_epoch = [int(np.sum(entry)) for entry in history["mistakes_per_epoch"]]
    shown = " ".join(map(str, per_epoch[:20])) + (f" ... {per_epoch[-1]}" if len(per_epoch) > 20 else "")
    lines = [
        *head(story),
        f"features    {story['n_features']}",
        f"kernel      {' '.join(f'{name}={value}' for name, value in kernel.items())}",
        f"support     {story['n_support']} examples",
        f"epochs      {history['n_iter']}, {'converged' if history['converged'] else 'not converged'}",
        f"mistakes    {history['n_mistakes']}; by epoch: {shown}",
        f"seen        {' '.join(map(str, history['n_seen'][:20]))} examples",
        *parameters(story),
    ]
    for plane in story["planes"]:
        lines.append(
            f"class {label_text(plane['class'])}: {plane['n_vectors']} vectors, "
            f"intercept {plane['intercept']!r}; examples with the most mistakes"
        )
        lines += [
            f"  row {entry['row']}: {entry['mistakes']} mistakes, step {entry['step']!r}"
            for entry in plane["most_mistaken"]
        ]
    return "\n".join(lines) + "\n"
