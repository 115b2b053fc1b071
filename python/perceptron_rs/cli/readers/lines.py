"""Examples from raw text: a line holds a label, a tab and the text; its words are hashed to columns.

Of examples to predict, the label may be left out. Whether it is there is said by an option; or there is no
tab; or what stands before each tab is a class of the model. Anything else is refused: it might be text.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.readers.data import Data
from perceptron_rs.cli.readers.wanted import Wanted

__all__ = ["TextLines", "hasher"]


def hasher(bits: int, kind: str) -> Any:
    """Return scikit-learn's hasher, by which Python makes the same columns."""
    from sklearn.feature_extraction import FeatureHasher

    return FeatureHasher(n_features=1 << bits, input_type=kind)


class TextLines:
    """Reads lines of text; parameters are those of ``SvmlightLines``."""

    def __init__(self, name: str, wanted: Wanted) -> None:
        self._name, self._wanted = name, wanted
        self._are_labelled: bool | None = None

    def part(self, first: int, text: bytes) -> Data:
        """Return the examples in whole lines, the first of which has this number."""
        labels, texts, wanted = [], [], self._wanted
        for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), first):
            label, tab, words = line.decode("utf-8").rstrip("\r").partition("\t")
            if wanted.labels and wanted.beside is None:
                has_label = True
            elif wanted.labelled is not None:
                has_label = wanted.labelled
            else:
                has_label = self._has_label(number, label, tab)
            if has_label and not tab:
                raise CommandError(
                    f"{self._name}: line {number} has no tab; write each line as a label, a tab and the text"
                )
            labels.append(label)
            texts.append((words if has_label else f"{label} {words}").split())
        assert self._wanted.hash_bits is not None
        X = hasher(self._wanted.hash_bits, "string").transform(texts)
        return Data(X, _labels(labels, self._wanted) if self._wanted.labels else None)

    def _has_label(self, number: int, label: str, tab: str) -> bool:
        """Return whether a line of unknown kind has a label; all lines must be alike."""
        known = self._wanted.classes
        has_label = bool(tab) and known is not None and _is_class(label, known)
        if tab and not has_label:
            raise CommandError(
                f"{self._name}: line {number} has a tab, and {label!r:.40} before it is none of the model's "
                f"classes; say --labelled if it is a label, or --unlabelled if all of the line is text"
            )
        if self._are_labelled not in (None, has_label):
            raise CommandError(
                f"{self._name}: line {number} has {'a' if has_label else 'no'} label, unlike the lines "
                f"before; say --labelled or --unlabelled"
            )
        self._are_labelled = has_label
        return has_label


def _is_class(text: str, classes: NDArray[Any]) -> bool:
    if classes.dtype.kind in "OU":
        return text in classes.tolist()
    try:
        return float(text) in classes.tolist()
    except ValueError:
        return False


def _labels(texts: list[str], wanted: Wanted) -> NDArray[Any]:
    """Return numbers if all labels are numbers, and the model has no strings."""
    if not wanted.strings:
        try:
            return np.array([float(text) for text in texts])
        except ValueError:
            pass
    return np.array(texts)
