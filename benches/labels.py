"""Are 50 labels learnt in one pass faster than one by one? One thread.

50 labels of the same rows, fitted at once and by 50 fits, in turns: dense and sparse rows, linear and kernel
learners. First weights and scores are compared to the last bit; a fit of many labels must be at least 2.5
times as fast as the separate ones (averages of sparse rows: twice).

    python benches/labels.py [--write]
"""

from __future__ import annotations

import sys
import time

import bars
import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from perceptron_rs import AveragedPerceptron, KernelPerceptron, Perceptron

LABELS, RUNS = 50, 5
#: The sums of an average of many sparse columns fit in cache one by one, and not together.
LEAST = {"AveragedPerceptron, sparse": 2.0}


def rows(kind):
    """Return X, and a matrix of labels that planes of few columns make, with noise."""
    random = np.random.default_rng(7)
    if kind == "sparse":
        n, d = 20_000, 50_000
        columns = (random.pareto(1.0, size=n * 40) * 50).astype(np.int64) % d
        X = sp.csr_matrix((np.ones(n * 40), (np.repeat(np.arange(n), 40), columns)), shape=(n, d))
    else:
        n, d = (1_000, 20) if kind == "kernel" else (20_000, 100)
        X = random.normal(size=(n, d))
    scores = X[:, :100] @ random.normal(size=(min(d, 100), LABELS))
    Y = scores + random.normal(size=scores.shape) > np.quantile(scores, 0.9, axis=0)
    return X, Y.astype(np.int64)


def turns(*works):
    """Return the least seconds of each work; the runs alternate, after one of each that is not counted."""
    seconds = [[] for _ in works]
    for run in range(RUNS + 1):
        for work, found in zip(works, seconds, strict=True):
            begin = time.perf_counter()
            work()
            if run:
                found.append(time.perf_counter() - begin)
    return [min(found) for found in seconds]


def bench(figures, kind, learner, **options):
    X, Y = rows(kind)

    def together():
        return learner(**options).fit(X, Y)

    def one_by_one():
        return [learner(**options).fit(X, y) for y in Y.T]

    model, models = together(), one_by_one()
    some = X[:200]
    for k, own in enumerate(models):
        assert model.decision_function(some)[:, k].tobytes() == own.decision_function(some).tobytes(), k
        assert not hasattr(own, "coef_") or model.coef_[k].tobytes() == own.coef_[0].tobytes(), k
    ours, theirs = turns(together, one_by_one)
    case = f"{learner.__name__}, {kind}"
    least = LEAST.get(case, 2.5)
    assert theirs / ours >= least, f"{case}: {theirs / ours:.2f} times as fast, and not {least}"
    ratio = figures.hold(case, theirs / ours, seconds=round(ours, 4))
    print(f"{case}: {LABELS} labels at once {ours:.3f} s, one by one {theirs:.3f} s, {ratio}")


def main() -> int:
    options = bars.parser(__doc__).parse_args()
    figures = bars.Figures("labels", write=options.write)
    linear = {"max_iter": 5, "tol": None, "random_state": 0}
    with threadpool_limits(1):
        for learner in (Perceptron, AveragedPerceptron):
            bench(figures, "dense", learner, **linear)
            bench(figures, "sparse", learner, **linear)
        bench(figures, "kernel", KernelPerceptron, kernel="rbf", max_iter=3, random_state=0)
    return figures.end()


if __name__ == "__main__":
    sys.exit(main())
