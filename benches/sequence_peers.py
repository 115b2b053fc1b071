"""Other taggers on the same sequences: python-crfsuite's perceptron and seqlearn's. For sequences.py."""

from __future__ import annotations

import sys
import tempfile
import time
import types
from pathlib import Path

import numpy as np


def timed(call):
    """Return the answer, and the CPU time of this process: other load on the machine does not count."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def crfsuite_tagger(X, y, epochs, folder):
    """Train "ap" from sequences that are encoded before the clock starts; return the tagger and its time."""
    try:
        import pycrfsuite
    except ImportError:
        return None
    trainer = pycrfsuite.Trainer(
        algorithm="ap", params={"max_iterations": epochs, "epsilon": 0.0}, verbose=False
    )
    for sentence, labels in zip(X, y, strict=True):
        trainer.append(pycrfsuite.ItemSequence([dict.fromkeys(token, 1.0) for token in sentence]), labels)
    model = str(Path(folder) / "model")
    _, seconds = timed(lambda: trainer.train(model))
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    return tagger, seconds


def crfsuite(X, y, X_test, y_test, epochs):
    """Train and tag, from strings."""
    with tempfile.TemporaryDirectory() as folder:
        made = crfsuite_tagger(X, y, epochs, folder)
        if made is None:
            return None
        tagger, seconds = made
        found, tagging = timed(lambda: [tagger.tag(sentence) for sentence in X_test])
    n = sum(map(len, y_test))
    right = sum(a == b for s, t in zip(found, y_test, strict=True) for a, b in zip(s, t, strict=True))
    return {"seconds": seconds, "accuracy": right / n, "strings": n / tagging}


def seqlearn(matrix, labels, lengths, test, truth, test_lengths, epochs):
    """Train its structured perceptron on the same rows.

    seqlearn 0.2 imports a module that scikit-learn has since renamed: it is stood in for.
    """
    stand_in = types.ModuleType("sklearn.externals")
    stand_in.six = types.SimpleNamespace(moves=types.SimpleNamespace(xrange=range))
    modules = {
        "sklearn.externals": stand_in,
        "sklearn.externals.six": stand_in.six,
        "sklearn.externals.six.moves": stand_in.six.moves,
    }
    missing = {name: module for name, module in modules.items() if name not in sys.modules}
    sys.modules.update(missing)
    try:
        from seqlearn.perceptron import StructuredPerceptron
    except ImportError as error:
        print(f"seqlearn: {error}")
        return None
    model = StructuredPerceptron(max_iter=epochs, random_state=0)
    _, seconds = timed(lambda: model.fit(matrix.astype(np.float64), labels, lengths=lengths))
    found, tagging = timed(lambda: model.predict(test.astype(np.float64), test_lengths))
    return {"seconds": seconds, "accuracy": float(np.mean(found == truth)), "rows": len(found) / tagging}
