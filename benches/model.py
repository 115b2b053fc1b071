"""What a model costs: fits of few entries among many columns, passes over one row, scores of two.

    python benches/model.py [wide] [large] [row] [checked] [two] [--runs 3] [--write] [--against folder]

wide     a fit of 400 sparse rows of 20 entries, 20 classes, with 10^4 and 10^6 columns: processor time for
         each column that has entries, also beside scikit-learn; peak of the resident set beside the model.
large    a fit of 10^5 sparse rows of 80 entries, 2^20 columns, 20 classes: the peak beside the weights.
         So of 5 and 9 classes, and of an averaged fit with ``predict`` and ``coef_``.
row      ``partial_fit(check_input=False)`` of one row: dense with 20 columns, or 20 entries of 2^20; weights
         of examples of each type beside those of float64, and river's ``learn_one``.
checked  ``partial_fit`` of one row with its checks, beside scikit-learn.
two      ``decision_function`` of two dense rows of 10^6 columns beside one.

Each figure is the least of the runs, each a process of its own; in it, what is compared runs in turns.
With ``--against``, runs of another source tree (its ``python`` folder) are in between, and the last column is
our time beside its time. The answers are checked.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bars
import numpy as np
from scipy import sparse

PAGE = resource.getpagesize()
CLASSES, ENTRIES = 20, 20
COLUMNS = 10_000, 1_000_000
#: Numbers by case.
Figures = dict[str, float]


def rows(n: int, d: int, entries: int, dtype: str = "float32") -> Any:
    """Return n rows with as many entries in random columns."""
    random = np.random.default_rng(0)
    indices = np.sort(random.integers(0, d, (n, entries), dtype=np.int32), axis=1)
    values = random.standard_normal(n * entries).astype(dtype)
    X = sparse.csr_matrix((values, indices.ravel(), np.arange(n + 1, dtype=np.int32) * entries), (n, d))
    X.sum_duplicates()
    return X


def in_turns(works: dict[str, Callable[[], Any]], rounds: int = 8, seconds: float = 10) -> Figures:
    """Return the least processor time of each work, run in turns, twice each: the first fills the caches."""
    best, end = dict.fromkeys(works, float("inf")), time.process_time() + seconds
    for number in range(rounds):
        if number and time.process_time() > end:
            break
        for name, work in works.items():
            work()
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
    return best


def cost(model: Any, X: Any, y: Any, then: str = "") -> tuple[float, float]:
    """Fit, and answer; return the processor time, and the peak of the resident set above that of before."""
    small = type(model)(**model.get_params()).fit(X[:100, :50], y[:100])  # loads what is imported late
    small.predict(X[:100, :50])
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again here
    before = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
    start = time.process_time()
    model.fit(X, y)
    if then:
        model.predict(X) if then == "predict" else model.coef_
    seconds = time.process_time() - start
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    return seconds, max(peak - before, 0)


def one_fit(
    learner: str, n: int, d: int, entries: int, epochs: int, classes: int = CLASSES, then: str = ""
) -> Figures:
    if learner == "scikit-learn":
        from sklearn.linear_model import Perceptron as Peer

        kind: Any = Peer
    else:
        import perceptron_rs

        kind = getattr(perceptron_rs, learner)
    X, y = rows(n, d, entries), np.arange(n) % classes
    model = kind(max_iter=epochs, tol=None, shuffle=False)
    seconds, peak = cost(model, X, y, then)
    assert model.coef_.shape == (classes, d)
    if n < 1000:  # the other columns change nothing
        own, inverse = np.unique(X.indices, return_inverse=True)
        few = sparse.csr_matrix((X.data, inverse.astype(np.int32), X.indptr), (n, len(own)))
        alone = kind(**model.get_params()).fit(few, y)
        assert np.allclose(alone.coef_, model.coef_[:, own], rtol=1e-9)
    return {"seconds": seconds, "peak": peak, "columns": len(np.unique(X.indices))}


def single_rows(form: str, classes: int, n: int = 100) -> tuple[Any, Any]:
    """Return rows that no plane separates, so that some mistakes are made in every pass."""
    random = np.random.default_rng(1)
    X: Any = random.standard_normal((n, ENTRIES if form == "dense" else 50))
    y = X[:, :classes].argmax(axis=1)
    drawn = random.random(n) < 0.1
    y[drawn] = random.integers(0, classes, drawn.sum())
    y[:classes] = np.arange(classes)
    if form == "sparse":
        indices = np.sort([random.choice(50, ENTRIES, replace=False) for _ in range(n)], axis=1)
        columns = np.sort(random.choice(1 << 20, 50, replace=False)).astype(np.int32)
        values = np.take_along_axis(X, indices, axis=1).ravel()
        ends = np.arange(n + 1, dtype=np.int32) * ENTRIES
        X = sparse.csr_matrix((values, columns[indices].ravel(), ends), (n, 1 << 20))
    return X, y


def one_row(learner: str, form: str, classes: int) -> Figures:
    import perceptron_rs

    kind = getattr(perceptron_rs, learner)
    X, y = single_rows(form, classes)
    n = len(y)
    single = [(X[i : i + 1], y[i : i + 1]) for i in range(n)]
    types = {"none": None, "float64": "f8", "float32": "f4", "integer": "i8"}
    models = {name: kind().partial_fit(X, y, classes=np.arange(classes)) for name in types}

    def learning(name: str) -> Callable[[], None]:
        model, dtype = models[name], types[name]
        if dtype is None:

            def run() -> None:
                for x, label in single:
                    model.partial_fit(x, label, check_input=False)

        else:
            weight = np.ones(1, dtype=dtype)

            def run() -> None:
                for x, label in single:
                    model.partial_fit(x, label, sample_weight=weight, check_input=False)

        return run

    works = {name: learning(name) for name in types}
    if form == "dense" and classes == 2:
        peer = river(X, y)
        if peer:
            works["river"] = peer
    for work in works.values():
        work()
    whole = kind().partial_fit(X, y, classes=np.arange(classes)).partial_fit(X, y)
    assert {model.coef_.tobytes() for model in models.values()} == {whole.coef_.tobytes()}
    return {name: seconds / n for name, seconds in in_turns(works).items()}


def river(X: Any, y: Any) -> Callable[[], None] | None:
    try:
        from river.linear_model import Perceptron as River
    except ImportError:
        return None
    examples = [(dict(enumerate(row)), bool(label)) for row, label in zip(X.tolist(), y, strict=True)]
    model = River()

    def run() -> None:
        for x, label in examples:
            model.learn_one(x, label)

    return run


def one_checked_row(form: str) -> Figures:
    from sklearn.linear_model import Perceptron as Peer

    from perceptron_rs import Perceptron

    X, y = single_rows(form, 2)
    n = len(y)
    single = [(X[i : i + 1], y[i : i + 1]) for i in range(n)]
    models = {"ours": Perceptron(), "scikit-learn": Peer()}

    def learning(model: Any) -> Callable[[], None]:
        model.partial_fit(X[:2], y[:2], classes=[0, 1])
        some = single if model is models["ours"] or form == "dense" else single[:10]

        def run() -> None:
            for x, label in some:
                model.partial_fit(x, label)

        return run

    times = in_turns({name: learning(model) for name, model in models.items()})
    return {"ours": times["ours"] / n, "scikit-learn": times["scikit-learn"] / (n if form == "dense" else 10)}


def two_rows(planes: int, d: int = 1_000_000) -> Figures:
    from perceptron_rs import Perceptron

    random = np.random.default_rng(2)
    X, y = random.standard_normal((40, d)), np.arange(40) % max(planes, 2)
    model = Perceptron(max_iter=1, tol=None, shuffle=False).fit(X, y)
    assert model.coef_.shape == (planes, d)
    scores = {"one": lambda: model.decision_function(X[:1]), "two": lambda: model.decision_function(X[:2])}
    assert scores["two"]()[:1].tobytes() == scores["one"]().tobytes()
    return in_turns(scores)


class Bench:
    """Runs cases in processes of their own, here and in the other tree, and prints them."""

    def __init__(self, runs: int, other: str | None, figures: bars.Figures) -> None:
        self.runs, self.other, self.figures = runs, other, figures

    def least(self, work: str, *arguments: Any) -> tuple[Figures, Figures]:
        """Return the least of each figure: ours, and those of the other tree."""
        trees = [None, self.other] if self.other else [None]
        found: list[list[Figures]] = [[] for _ in trees]
        for _ in range(self.runs):
            for tree, figures in zip(trees, found, strict=True):
                env = os.environ | ({"PYTHONPATH": tree} if tree else {})
                command = [sys.executable, __file__, "--child", json.dumps([work, *arguments])]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=env)
                figures.append(json.loads(done.stdout))
        least = [{name: min(run[name] for run in each) for name in each[0]} for each in found]
        return least[0], least[1] if self.other else {}

    def report(self, case: str, value: str, ratio: float, beside: str = "", *, at_most: bool = True) -> None:
        """Print a figure beside its bar."""
        print(f"{case:52} {value:>16} ", self.figures.hold(case, ratio, at_most=at_most), beside, flush=True)


def beside(ours: Figures, theirs: Figures, name: str) -> str:
    return f"{ours[name] / theirs[name]:.2f} of the other tree" if theirs else ""


def peak(bench: Bench, case: str, figures: tuple[Figures, Figures], size: float) -> None:
    held = figures[0]["peak"]
    bench.report(f"{case}, peak", f"{held / 2**20:.0f} MB", held / size, beside(*figures, "peak"))


def wide(bench: Bench) -> None:
    peer, _ = bench.least("one_fit", "scikit-learn", 400, COLUMNS[1], ENTRIES, 3)
    for learner, parts in (("Perceptron", 1), ("AveragedPerceptron", 2)):
        few, _ = bench.least("one_fit", learner, 400, COLUMNS[0], ENTRIES, 3)
        figures = bench.least("one_fit", learner, 400, COLUMNS[1], ENTRIES, 3)
        many = figures[0]
        ratio = many["seconds"] / many["columns"] / (few["seconds"] / few["columns"])
        shown = f"{few['seconds'] * 1e3:.1f}, {many['seconds'] * 1e3:.1f} ms"
        bench.report(f"wide, {learner}", shown, ratio, beside(*figures, "seconds"))
        if learner == "Perceptron":
            shown = f"{peer['seconds'] * 1e3:.1f} ms"
            bench.report(
                f"wide, {learner}, scikit-learn", shown, peer["seconds"] / many["seconds"], at_most=False
            )
        peak(bench, f"wide, {learner}", figures, parts * CLASSES * COLUMNS[1] * 8)


def large(bench: Bench) -> None:
    for learner in ("Perceptron", "AveragedPerceptron"):
        figures = bench.least("one_fit", learner, 100_000, 1 << 20, 80, 1)
        print(f"large, {learner}: {figures[0]['seconds']:.2f} s", beside(*figures, "seconds"))
        peak(bench, f"large, {learner}", figures, CLASSES * (1 << 20) * 8)
    for classes in (5, 9):
        for learner, then in [
            ("Perceptron", ""),
            *(("AveragedPerceptron", then) for then in ("", "predict", "coef_")),
        ]:
            figures = bench.least("one_fit", learner, 100_000, 1 << 20, 80, 1, classes, then)
            case = ", ".join(filter(None, ("large", learner, f"K = {classes}", then)))
            peak(bench, case, figures, classes * (1 << 20) * 8)


def row(bench: Bench) -> None:
    for form in ("dense", "sparse"):
        for learner in ("Perceptron", "AveragedPerceptron"):
            for classes in (2, 10):
                ours, other = bench.least("one_row", learner, form, classes)
                case = f"row, {form}, {learner}, K = {classes}"
                for name in ("none", "float64", "float32", "integer"):
                    ratio, shown = ours[name] / ours["float64"], f"{ours[name] * 1e6:.2f} us"
                    bench.report(f"{case}, {name}", shown, ratio, beside(ours, other, name))
                if "river" in ours:
                    ratio, shown = ours["river"] / ours["none"], f"{ours['river'] * 1e6:.2f} us"
                    bench.report(f"{case}, river", shown, ratio, at_most=False)
                elif form == "dense" and classes == 2:
                    print("river is not installed: it is left out")


def checked(bench: Bench) -> None:
    for form in ("dense", "sparse"):
        ours, other = bench.least("one_checked_row", form)
        ratio, shown = ours["scikit-learn"] / ours["ours"], f"{ours['ours'] * 1e6:.2f} us"
        case = f"checked, {form}, scikit-learn"
        bench.report(case, shown, ratio, beside(ours, other, "ours"), at_most=False)


def two(bench: Bench) -> None:
    for planes in (1, 10):
        ours, other = bench.least("two_rows", planes)
        ratio, shown = ours["two"] / ours["one"], f"{ours['one'] * 1e3:.2f}, {ours['two'] * 1e3:.2f} ms"
        bench.report(f"two, K = {planes}", shown, ratio, beside(ours, other, "two"))


CASES = {work.__name__: work for work in (wide, large, row, checked, two)}


def main() -> int:
    parser = bars.parser(__doc__)
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument("--runs", type=int, default=3, help="processes for each case (default: 3)")
    parser.add_argument("--against", help="the python folder of another source tree, built")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        warnings.simplefilter("ignore")
        work, *arguments = json.loads(options.child)
        print(json.dumps(globals()[work](*arguments)))
        return 0
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"no case is called {sorted(unknown)[0]!r}; the cases are {', '.join(CASES)}")
    bench = Bench(options.runs, options.against, bars.Figures("model", write=options.write))
    for name in options.cases or CASES:
        CASES[name](bench)
    return bench.figures.end()


if __name__ == "__main__":
    sys.exit(main())
