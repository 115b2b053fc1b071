"""Sparse rows cost what their entries are, whatever the number of columns.

    python benches/sparse.py [--write] [kernel] [one] [text]

kernel   2,000 rows of 100 entries, rbf, one epoch, then predictions: seconds at three numbers of columns.
one      ``decision_function`` and ``partial_fit`` of one row of 50 entries, beside scikit-learn; with
         penalties, too.
text     ``partial_fit(check_input=False)`` of one row of some words, beside river's ``learn_one``.

Each case checks its answer. Ratios are of medians of turns in one process.
"""

from __future__ import annotations

import sys
import warnings

import bars
import numpy as np
from alternate import alternate
from scipy import sparse
from sklearn.linear_model import Perceptron as Peer

from perceptron_rs import AveragedPerceptron, BudgetedKernelPerceptron, KernelPerceptron, Perceptron

COLUMNS = 20_000, 200_000, 1_300_000


def report(figures, case, peer, ours):
    print(f"{case:62} {peer * 1e6:11.1f} {ours * 1e6:11.1f}", figures.hold(case, peer / ours), flush=True)


def growth(figures, case, few, more, most):
    ratio = figures.hold(case, most / few, at_most=True)
    print(f"{case:62} {few:.3f} {more:.3f} {most:.3f}", ratio, flush=True)


def rows(n, d, entries, seed=0):
    """Return n rows with as many entries in random columns, and classes that a few columns decide."""
    random = np.random.default_rng(seed)
    indices = np.sort(random.integers(0, d, (n, entries)), axis=1)
    values = random.standard_normal((n, entries))
    arrays = values.ravel(), indices.ravel().astype(np.int32), np.arange(n + 1, dtype=np.int32) * entries
    X = sparse.csr_matrix(arrays, (n, d))
    X.sum_duplicates()
    return X, random.integers(0, 2, n)


def renamed(X, columns):
    """Return the same rows with more columns in between; the lane of each column stays (rule 3)."""
    step = (columns // X.shape[1] - 1) // 8 * 8 + 1
    return sparse.csr_matrix((X.data, X.indices * step, X.indptr), (X.shape[0], columns))


def kernel(figures):
    """All three matrices are one, but for columns without entries between the others."""
    X, y = rows(2000, COLUMNS[0], 100)
    matrices = [renamed(X, d) for d in COLUMNS]
    for learner in (KernelPerceptron, BudgetedKernelPerceptron):
        name = learner.__name__
        options = {"kernel": "rbf", "gamma": 0.01, "max_iter": 1, "tol": None, "shuffle": False}
        models = [learner(**options) for _ in COLUMNS]
        fits = [lambda m=m, X=X: m.fit(X, y) for m, X in zip(models, matrices, strict=True)]
        few, more, most = alternate(3, *fits)
        found = {m.decision_function(M).tobytes() for m, M in zip(models, matrices, strict=True)}
        assert len(found) == 1
        growth(figures, f"{name}, fit", few, more, most)
        predictions = [lambda m=m, X=X: m.predict(X) for m, X in zip(models, matrices, strict=True)]
        few, more, most = alternate(3, *predictions)
        growth(figures, f"{name}, predict", few, more, most)


def learning(model, X, y, **options):
    model.partial_fit(X[:100], y[:100], classes=[0, 1])
    single = [(X[i : i + 1], y[i : i + 1]) for i in range(X.shape[0])]

    def run():
        for x, label in single:
            model.partial_fit(x, label, **options)

    return run


def one_case(figures, learner, d, n=300, **options):
    X, y = rows(n, d, 50)
    model, peer = learner(**options), Peer(**options)
    ours, theirs = learning(model, X, y), learning(peer, X, y)
    slow, fast = (t / n for t in alternate(5, theirs, ours))
    whole = learner(max_iter=1, tol=None, shuffle=False, **options).fit(
        sparse.vstack([X[:100], *[X] * 5]), np.concatenate([y[:100], *[y] * 5])
    )
    assert model.coef_.tobytes() == whole.coef_.tobytes()
    case = f"of one row, {learner.__name__}, {', '.join([*options.values(), f'd = {d}'])}"
    report(figures, f"partial_fit {case}", slow, fast)
    peer.coef_, peer.intercept_ = model.coef_, model.intercept_
    x = X[:1]
    assert np.allclose(peer.decision_function(x), model.decision_function(x), rtol=1e-12)
    if options:
        return
    slow, fast = alternate(200, lambda: peer.decision_function(x), lambda: model.decision_function(x))
    report(figures, f"decision_function {case}", slow, fast)


def one(figures, n=300):
    columns = 1000, 1 << 16, 1 << 20
    cases = [(Perceptron, {}), (AveragedPerceptron, {})]
    cases += [(Perceptron, {"penalty": penalty}) for penalty in ("l2", "l1")]
    for learner, options in cases:
        for d in columns:
            one_case(figures, learner, d, **options)
        # In turns with each other, not with a peer that goes over all columns and so empties the caches.
        works = [learning(learner(**options), *rows(n, d, 50), check_input=False) for d in columns]
        few, more, most = (seconds / n * 1e6 for seconds in alternate(15, *works))
        name = ", ".join([learner.__name__, *options.values(), "check_input=False"])
        growth(figures, f"{name}, one row, microseconds", few, more, most)
    for penalty in ("l2", "l1"):
        in_turns(figures, 1 << 20, penalty=penalty)


def in_turns(figures, d, n=100, **options):
    """Score each row, then learn from it, as a stream is watched."""
    X, y = rows(n, d, 50)
    models = Perceptron(**options), Peer(**options)

    def turns(model):
        for i in range(n):
            model.decision_function(X[i])
            model.partial_fit(X[i], y[i : i + 1])

    for model in models:
        model.partial_fit(X[:50], y[:50], classes=[0, 1])
    fast, slow = alternate(3, *(lambda model=model: turns(model) for model in models))
    case = f"one row scored, then learnt, {', '.join([*options.values(), f'd = {d}'])}"
    report(figures, case, slow / n, fast / n)


def text(figures, n=300):
    try:
        from river.linear_model import Perceptron as River
    except ImportError:
        print("river is not installed: the case text is left out")
        return
    for entries in (5, 10, 20, 50):
        X, y = rows(n, 1 << 20, entries)
        words = [
            {f"word{j}": value for j, value in zip(x.indices.tolist(), x.data.tolist(), strict=True)}
            for x in (X[i : i + 1] for i in range(n))
        ]
        labels = [bool(label) for label in y]
        for learner in (Perceptron, AveragedPerceptron):
            ours, peer = learning(learner(), X, y, check_input=False), River()

            def theirs(peer=peer, words=words, labels=labels):
                for x, label in zip(words, labels, strict=True):
                    peer.learn_one(x, label)

            slow, fast = alternate(15, theirs, ours)
            report(figures, f"learn_one of {entries} words, {learner.__name__}", slow / n, fast / n)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = bars.parser(__doc__)
    parser.add_argument("cases", nargs="*", choices=["kernel", "one", "text", []])
    options = parser.parse_args()
    found = bars.Figures("sparse", write=options.write)
    for case in (kernel, one, text):
        if case.__name__ in (options.cases or ("kernel", "one", "text")):
            case(found)
    sys.exit(found.end())
