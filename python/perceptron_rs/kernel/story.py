"""What ``inspect`` shows of a kernel perceptron."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.common.story import head, label_text, parameters, plain, what
from perceptron_rs.kernel.perceptron import KernelPerceptron

__all__ = ["as_text", "describe"]


def describe(model: Any, top: int) -> dict[str, Any]:
    """Return what a kernel perceptron is and how it came to be; ``top``: examples of each class."""
    spec, steps, counts = model._spec, model.dual_coef_, model.mistakes_per_support_
    planes = model.classes_[1:] if len(steps) == 1 else model.classes_
    found = []
    for k, (label, row, number) in enumerate(zip(planes, steps, counts, strict=True)):
        order = np.argsort(-number, kind="stable")[:top]
        examples = [
            {"row": int(model.support_[i]), "mistakes": int(number[i]), "step": float(row[i])}
            for i in order.tolist()
            if number[i]
        ]
        plane: dict[str, Any] = {"class": plain(label)}
        if isinstance(model, KernelPerceptron):  # else there is neither
            vectors = int(model.n_vectors_[k])
            plane |= {"intercept": float(model.intercept_[k]), "n_vectors": vectors}
        found.append(plane | {"most_mistaken": examples})
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
        vectors = (
            f"{plane['n_vectors']} vectors, intercept {plane['intercept']!r}; "
            if "n_vectors" in plane
            else ""
        )
        lines.append(f"class {label_text(plane['class'])}: {vectors}examples with the most mistakes")
        lines += [
            f"  row {entry['row']}: {entry['mistakes']} mistakes, step {entry['step']!r}"
            for entry in plane["most_mistaken"]
        ]
    return "\n".join(lines) + "\n"
