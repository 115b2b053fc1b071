"""Tag the Brown corpus: accuracy, memory, and time beside the perceptrons of python-crfsuite and seqlearn.

The same attributes, the same sentences, the same number of epochs, one thread (CPU time). Training is
timed from encoded data, tagging from encoded data and from strings, and of one sentence at a time from
strings, in turns; memory is the peak of a training in a
process of its own, data and all, as a multiple of the encoded data. PERCEPTRON_RS_DATA names the folder
with brown_pos.tsv.gz. Figures are only held against their bars on the whole corpus.

    python benches/sequences.py [--epochs 5] [--part 1.0] [--template] [--peer] [--write]
"""

from __future__ import annotations

import argparse
import gzip
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import bars
import numpy as np
from sequence_peers import crfsuite, crfsuite_tagger, seqlearn, timed

from perceptron_rs import SequencePerceptron, load_predictor
from perceptron_rs.features import AttributeEncoder, word_attributes, word_shape

N_TRAIN = 52_000
#: Of the taggers that tag one sentence at a time: sentences that they learn from, attributes of a token.
FEW, ATTRIBUTES = 2_000, 20


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


def peak():
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def child(path):
    """Print the peak of a training above the data that lie in ``path``, and the size of these."""
    epochs, matrix, labels, lengths = pickle.loads(Path(path).read_bytes())
    # What is imported late does not count.
    SequencePerceptron(max_iter=1).fit(matrix[:99], labels[:99], lengths=[99])
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again here
    before = peak()
    SequencePerceptron(max_iter=epochs).fit(matrix, labels, lengths=lengths)
    parts = (matrix.data, matrix.indices, matrix.indptr, labels, lengths)
    print(peak() - before, sum(part.nbytes for part in parts))


def memory(epochs, matrix, labels, lengths):
    """Return the peak of a training, its data counted, as a multiple of the data."""
    if sys.platform != "linux":
        return None
    codes = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data"
        path.write_bytes(pickle.dumps((epochs, matrix, codes, np.array(lengths)), protocol=5))
        command = [sys.executable, __file__, "--child", str(path)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    added, size = map(int, done.stdout.split())
    return 1 + added / size


def ours(X, y, X_test, y_test, epochs):
    """Return our figures, and the encoded data for those who want to train on the same."""
    flat = [token for sentence in X for token in sentence]
    encoder = AttributeEncoder()
    matrix, encoding = timed(lambda: encoder.fit_transform(flat))
    lengths, labels = [len(s) for s in y], np.array([tag for s in y for tag in s])
    model = SequencePerceptron(max_iter=epochs)
    _, seconds = timed(lambda: model.fit(matrix, labels, lengths=lengths))
    test_lengths, truth = [len(s) for s in y_test], np.array([tag for s in y_test for tag in s])
    test, looking_up = timed(lambda: encoder.transform(token for sentence in X_test for token in sentence))
    found, tagging = timed(lambda: model.predict(test, lengths=test_lengths))
    tokens, n = len(labels), len(truth)
    figures = {
        "seconds": seconds,
        "accuracy": float(np.mean(found == truth)),
        "rows": n / tagging,
        "strings": n / (tagging + looking_up),
        "encoded": tokens / encoding,
        "trained": tokens * model.n_iter_ / seconds,
        "memory": memory(epochs, matrix, labels, lengths),
    }
    print(
        f"encoded at {figures['encoded']:,.0f} tokens/s: {matrix.shape[1]:,} columns, {matrix.nnz:,} entries"
    )
    speed = figures["trained"] * len(model.classes_) ** 2 / 1e9
    print(f"fit: {seconds:.2f} s, {figures['trained']:,.0f} tokens/s, {speed:.2f} G transitions/s")
    return figures, (matrix, labels, lengths, test, truth, test_lengths)


def one_at_a_time(words, tags):
    """Return microseconds of a sentence by the number of its tokens and by who tags it: the best of turns."""
    X = [[token[:ATTRIBUTES] for token in word_attributes(sentence)] for sentence in words]
    model = SequencePerceptron(max_iter=3).fit(X[:FEW], tags[:FEW])
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m")
        predictor = load_predictor(Path(folder) / "m")
        taggers = {"estimator": lambda x: model.predict([x]), "predictor": lambda x: predictor.predict([x])}
        peer = crfsuite_tagger(X[:FEW], tags[:FEW], 3, folder)
        if peer is not None:
            taggers["crfsuite"] = peer[0].tag
        found = {}
        for length in (2, 12):
            sentences = [x[:length] for x in X[FEW:] if len(x) >= length][:300]
            turns = {name: [] for name in taggers}
            for _ in range(15):
                for name, tag in taggers.items():
                    turns[name].append(timed(lambda: [tag(x) for x in sentences])[1])  # noqa: B023
            found[length] = {name: 1e6 * min(times) / len(sentences) for name, times in turns.items()}
    return found


def main():
    parser = bars.parser(__doc__)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--part", type=float, default=1.0, help="how much of the training sentences")
    parser.add_argument("--template", action="store_true", help="with those of word_attributes, too")
    parser.add_argument("--peer", action="store_true", help="run python-crfsuite and seqlearn, too")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child)
        return 0
    if arguments.write and arguments.part < 1:
        parser.error("--write keeps figures of the whole corpus; leave out --part")
    folder = os.environ.get("PERCEPTRON_RS_DATA")
    if not folder:
        print("PERCEPTRON_RS_DATA is not set: nothing to measure")
        return 0
    words, tags = brown(Path(folder) / "brown_pos.tsv.gz")
    n = round(N_TRAIN * arguments.part)
    taggers: list[dict[str, Any]] = []
    held = bars.Figures("sequences", write=arguments.write, epochs=arguments.epochs, sentences=n)
    for kind, template in (("plain", plain), ("template", word_attributes))[: 1 + arguments.template]:
        print(f"attributes: {kind}")
        X, X_test = ([template(sentence) for sentence in part] for part in (words[:n], words[N_TRAIN:]))
        y, y_test = tags[:n], tags[N_TRAIN:]
        figures, data = ours(X, y, X_test, y_test, arguments.epochs)
        taggers.append({"case": "perceptrons", "attributes": kind} | figures)
        print(f"accuracy {figures['accuracy']:.4%}, {figures['rows']:,.0f} tokens/s from rows")
        if n == N_TRAIN:
            judge(held, kind, figures)
        if arguments.peer and kind == "plain":
            # The longest part of a run is that of the others.
            for name, run in (
                ("crfsuite", lambda: crfsuite(X, y, X_test, y_test, arguments.epochs)),  # noqa: B023
                ("seqlearn", lambda: seqlearn(*data, arguments.epochs)),  # noqa: B023
            ):
                found = run()
                if found is None:
                    print(f"{name}: is not installed, or does not work here: no comparison")
                    continue
                taggers.append({"case": name, "attributes": kind} | found)
                print(f"{name}: {found['seconds']:.1f} s, accuracy {found['accuracy']:.4%}")
                print(f"{name} to ours:", held.hold(name, found["seconds"] / figures["seconds"]))
    if arguments.peer:
        for length, times in one_at_a_time(words, tags).items():
            print(f"{length} tokens:", ", ".join(f"{name} {us:.1f} us" for name, us in times.items()))
            for name in ("estimator", "predictor"):
                if "crfsuite" in times:
                    case, ratio = f"one sentence of {length}, {name}", times[name] / times["crfsuite"]
                    print(f"{case}:", held.hold(case, ratio, at_most=True, us=times[name]))
    return held.end(taggers=taggers) if n == N_TRAIN else 0


def judge(held, kind, figures):
    """Hold errors and memory against their bars; times have peers beside them."""
    print(f"errors, {kind}:", held.hold(f"errors, {kind}", 1 - figures["accuracy"], at_most=True))
    if figures["memory"] is not None:
        print(f"memory, {kind}:", held.hold(f"memory, {kind}", figures["memory"], at_most=True))


if __name__ == "__main__":
    sys.exit(main())
