"""Examples from raw text: a line holds a label, a tab and the text; its words are hashed to columns."""

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

    def part(self, first: int, text: bytes) -> Data:
        """Return the examples in whole lines, the first of which has this number."""
        labels, texts = [], []
        for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), first):
            label, tab, words = line.decode("utf-8").rstrip("\r").partition("\t")
            if not tab and self._wanted.labels and self._wanted.beside is None:
                raise CommandError(
                    f"{self._name}: line {number} has no tab; write each line as a label, a tab and the text"
                )
            labels.append(label)
            texts.append((words if tab else label).split())
        assert self._wanted.hash_bits is not None
        X = hasher(self._wanted.hash_bits, "string").transform(texts)
        return Data(X, _labels(labels, self._wanted) if self._wanted.labels else None)


def _labels(texts: list[str], wanted: Wanted) -> NDArray[Any]:
    """Return numbers if all labels are numbers, and the model has no strings."""
    if not wanted.strings:
        try:
            return np.array([float(text) for text in texts])
        except ValueError:
            pass
    return np.array(texts)
