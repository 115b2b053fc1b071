"""What benches have kept in benches/results, as tables."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

HEAD = ("case", "scikit-learn, s", "perceptrons, s", "ratio", "averaged / plain")
INTERVALS = (
    "data",
    "rows x columns",
    "status",
    "margin",
    "relative gap",
    "radius",
    "support rows",
    "seconds",
)
TAGGERS = ("tagger", "attributes", "accuracy", "training, s", "tokens/s from rows", "from strings", "memory")
PROBES = (
    "layer",
    "`AveragedPerceptron`, 10 epochs",
    "``LogisticRegression``",
    "`is_separable`",
    "`max_margin`",
)
#: What may be said of a run, and how.
ABOUT = {
    "perceptrons": "perceptrons {}",
    "scikit-learn": "scikit-learn {}",
    "numpy": "NumPy {}",
    "python": "Python {}",
    "processor": "{}",
    "processors": "{} processors",
    "runs": "medians of {} alternating runs",
    "date": "{}",
    "epochs": "{} epochs",
    "sentences": "{} sentences",
}


def lines(results: dict[str, Any]) -> list[str]:
    """Return the results as reStructuredText."""
    about = results["about"]
    said = ", ".join(words.format(about[name]) for name, words in ABOUT.items() if name in about)
    return [f"{said}.", "", *list_table(table(results))]


def table(results: dict[str, Any]) -> list[Iterable[str]]:
    """Return the rows of the table, its head first."""
    for name, head, cells_of in (
        ("real", INTERVALS, interval),
        ("taggers", TAGGERS, tagger),
        ("probes", PROBES, probe),
    ):
        if name in results:
            return [head, *map(cells_of, results[name])]
    cases = results.get("results", [])
    if any("plain" in case for case in cases):
        return [HEAD, *map(row, cases)]
    return crossed(cases)


def list_table(rows: Iterable[Iterable[str]]) -> list[str]:
    """Return a table as reStructuredText; the first row is its head."""
    text = [".. list-table::", "   :header-rows: 1", ""]
    for cells in rows:
        text += [f"   {'* ' if number == 0 else '  '}- {cell}" for number, cell in enumerate(cells)]
    return text


def crossed(results: list[dict[str, Any]]) -> list[Iterable[str]]:
    """Return ratios as a table: a case "A, B" is in the column A and the row B."""
    ratios = {tuple(result["case"].split(", ")): result["ratio"] for result in results}
    columns, rows = (list(dict.fromkeys(case[part] for case in ratios)) for part in (0, 1))
    said = {case: f"{ratio:.{1 if ratio >= 1 else 2}f}" for case, ratio in ratios.items()}
    return [["", *columns], *([key, *(said.get((name, key), "") for name in columns)] for key in rows)]


def row(result: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of one case."""
    times = (f"{result[name]:.4f}" for name in ("scikit-learn", "plain"))
    return (result["case"], *times, f"{result['ratio']:.1f}", f"{result['averaged/plain']:.2f}")


def interval(result: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of one margin: its lower end and how far the upper one is, or the upper end alone."""
    low, high = result["lower"], result["upper"]
    if low > 0:
        margin, gap = f"{low:.6f}", f"{(high - low) / low:.0e}"
    else:
        margin, gap = (f"< 1e{math.ceil(math.log10(high))}" if high > 0 else "none"), ""
    shape = " x ".join(map(str, result["shape"]))
    status = result["status"].replace("_", " ")
    radius, support, seconds = f"{result['radius']:.2f}", str(result["support"]), f"{result['seconds']:.2f}"
    return (result["case"], shape, status, margin, gap, radius, support, seconds)


def tagger(result: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of one tagger; what was not measured stays empty."""
    forms = {"accuracy": ".2%", "seconds": ".1f", "rows": ",.0f", "strings": ",.0f", "memory": ".2f"}
    figures = ((result.get(name), form) for name, form in forms.items())
    cells = ("" if value is None else f"{value:{form}}" for value, form in figures)
    return (result["case"], result["attributes"], *cells)


def probe(result: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of one layer: accuracies, answers and seconds; a margin only of separable classes."""
    accuracies = (f"{result[name]:.4f}, {result[f'{name} s']:.1f} s" for name in ("averaged", "logistic"))
    answer = f"{'yes' if result['separable'] else 'no'}, {result['separable s']:.1f} s"
    margin = f"{result['margin'][0]:.5f}, {result['margin s']:.1f} s" if "margin" in result else "none"
    return (str(result["layer"]), *accuracies, answer, margin)
