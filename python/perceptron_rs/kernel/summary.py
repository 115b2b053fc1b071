"""What ``inspect`` shows of a kernel perceptron: the examples with the most mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from perceptron_rs.kernel.perceptron import KernelPerceptron
from perceptron_rs.models.summary import Description, label_text, plain

if TYPE_CHECKING:
    from perceptron_rs.kernel.base import KernelLearner


def shown(model: KernelLearner, top: int) -> Description:
    """Return the kernel, and for each class the examples with the most mistakes."""
    spec, steps, counts = model._spec, model.dual_coef_, model.mistakes_per_support_
    classes = model.classes_[1:] if len(steps) == 1 else model.classes_
    planes = []
    for k, (label, row, number) in enumerate(zip(classes, steps, counts, strict=True)):
        order = np.argsort(-number, kind="stable")[:top]
        examples = [
            {"row": int(model.support_[i]), "mistakes": int(number[i]), "step": float(row[i])}
            for i in order.tolist()
            if number[i]
        ]
        plane = {"class": plain(label), "most_mistaken": examples}
        if isinstance(model, KernelPerceptron):  # else there is neither
            plane["intercept"] = float(model.intercept_[k])
            plane["n_vectors"] = int(model.n_vectors_[k])
        planes.append(plane)
    return {
        "kernel": {"name": spec.name, "gamma": spec.gamma, "coef0": spec.coef0, "degree": spec.degree},
        "n_support": len(model.support_),
        "planes": planes,
    }


def lines(description: Description) -> tuple[str, list[str], list[str]]:
    """Return the lines of a description as text, in three parts: see `Family.lines`."""
    before = [
        f"kernel      {' '.join(f'{name}={value}' for name, value in description['kernel'].items())}",
        f"support     {description['n_support']} examples",
    ]
    after = []
    for plane in description["planes"]:
        vectors = ""
        if "n_vectors" in plane:
            vectors = f"{plane['n_vectors']} vectors, intercept {plane['intercept']!r}; "
        after.append(f"class {label_text(plane['class'])}: {vectors}examples with the most mistakes")
        after += [
            f"  row {entry['row']}: {entry['mistakes']} mistakes, step {entry['step']!r}"
            for entry in plane["most_mistaken"]
        ]
    return "", before, after
