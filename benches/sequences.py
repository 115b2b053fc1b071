"""Tag the Brown corpus: accuracy, and time beside python-crfsuite's averaged perceptron ("ap").

The same attributes, the same sentences, the same number of epochs, one thread (CPU time). Training is
timed from encoded data, tagging from encoded data and from strings. PERCEPTRON_RS_DATA names the folder
with brown_pos.tsv.gz.

    python benches/sequences.py [--epochs 5] [--sentences 52000] [--template]
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from perceptron_rs import SequencePerceptron
from perceptron_rs.features import AttributeEncoder, word_attributes, word_shape

N_TRAIN = 52_000


def brown(path):
    """Return sentences of words and of tags."""
    words, tags = [[]], [[]]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line == "\n":
                words.append([])
                tags.append([])
            else:
                word, tag = line.rstrip("\n").split("\t")
                words[-1].append(word)
                tags[-1].append(tag)
    return [s for s in words if s], [s for s in tags if s]


def plain(words):
    """Seven attributes a token."""
    lower = ["<s>", *(word.lower() for word in words), "</s>"]
    return [
        [
            f"w={w}",
            f"suf2={w[-2:]}",
            f"suf3={w[-3:]}",
            f"first={word[0]}",
            f"shape={word_shape(word)}",
            f"p={p}",
            f"n={n}",
        ]
        for word, p, w, n in zip(words, lower, lower[1:], lower[2:], strict=False)
    ]


def timed(call):
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def crfsuite(X, y, X_test, y_test, epochs):
    try:
        import pycrfsuite
    except ImportError:
        print("python-crfsuite is not installed: no comparison")
        return None
    trainer = pycrfsuite.Trainer(
        algorithm="ap", params={"max_iterations": epochs, "epsilon": 0.0}, verbose=False
    )
    for sentence, labels in zip(X, y, strict=True):
        trainer.append(pycrfsuite.ItemSequence([dict.fromkeys(token, 1.0) for token in sentence]), labels)
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        _, seconds = timed(lambda: trainer.train(model))
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        found, tagging = timed(lambda: [tagger.tag(sentence) for sentence in X_test])
    n = sum(map(len, y_test))
    right = sum(a == b for s, t in zip(found, y_test, strict=True) for a, b in zip(s, t, strict=True))
    print(f"crfsuite ap: {seconds:.1f} s, accuracy {right / n:.4%}, tags {n / tagging:,.0f} tokens/s")
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=N_TRAIN)
    parser.add_argument("--template", action="store_true", help="the attributes of word_attributes")
    parser.add_argument("--peer", action="store_true", help="run python-crfsuite, too")
    arguments = parser.parse_args()
    folder = os.environ.get("PERCEPTRON_RS_DATA")
    if not folder:
        print("PERCEPTRON_RS_DATA is not set: nothing to measure")
        return 0
    words, tags = brown(Path(folder) / "brown_pos.tsv.gz")
    template = word_attributes if arguments.template else plain
    attributes, making = timed(lambda: [template(sentence) for sentence in words])
    n = min(arguments.sentences, N_TRAIN)
    X, y, X_test, y_test = attributes[:n], tags[:n], attributes[N_TRAIN:], tags[N_TRAIN:]
    tokens = sum(map(len, y))
    print(f"{tokens:,} tokens; attributes made at {sum(map(len, words)) / making:,.0f} tokens/s")

    encoder = AttributeEncoder()
    matrix, seconds = timed(lambda: encoder.fit_transform([token for sentence in X for token in sentence]))
    print(f"encoded at {tokens / seconds:,.0f} tokens/s: {matrix.shape[1]:,} columns, {matrix.nnz:,} entries")
    lengths, labels = [len(s) for s in y], np.array([tag for s in y for tag in s])
    model = SequencePerceptron(max_iter=arguments.epochs)
    _, fitting = timed(lambda: model.fit(matrix, labels, lengths))
    speed = tokens * model.n_iter_ / fitting
    transitions = speed * len(model.classes_) ** 2 / 1e9
    print(f"fit: {fitting:.2f} s, {speed:,.0f} tokens/s, {transitions:.2f} G transitions/s")

    flat = [token for sentence in X_test for token in sentence]
    test_lengths = [len(s) for s in y_test]
    truth = np.array([tag for s in y_test for tag in s])
    test, encoding = timed(lambda: encoder.transform(flat))
    found, tagging = timed(lambda: model.predict(test, test_lengths))
    print(
        f"accuracy {np.mean(found == truth):.4%}; tags {len(flat) / tagging:,.0f} tokens/s from rows, "
        f"{len(flat) / (tagging + encoding):,.0f} from attributes"
    )
    if arguments.peer:
        peer = crfsuite(X, y, X_test, y_test, arguments.epochs)
        if peer is not None:
            print(f"training is {peer / fitting:.1f} times as fast")
    return 0


if __name__ == "__main__":
    sys.exit(main())
