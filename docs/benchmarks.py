"""What ``benches/compare.py --json`` has written, as the table of the page "Benchmarks"."""

from __future__ import annotations

from typing import Any

HEAD = ("case", "scikit-learn, s", "perceptron-rs, s", "ratio", "averaged / plain")
#: What may be said of a run, and how.
ABOUT = {
    "perceptron-rs": "perceptron-rs {}",
    "scikit-learn": "scikit-learn {}",
    "numpy": "NumPy {}",
    "python": "Python {}",
    "processor": "{}",
    "processors": "{} processors",
    "runs": "medians of {} alternating runs",
    "date": "{}",
}


def lines(results: dict[str, Any]) -> list[str]:
    """Return the results as reStructuredText."""
    about = results["about"]
    said = ", ".join(words.format(about[name]) for name, words in ABOUT.items() if name in about)
    text = [f"{said}.", "", ".. list-table::", "   :header-rows: 1", ""]
    for cells in [HEAD, *map(row, results["results"])]:
        text += [f"   {'* ' if number == 0 else '  '}- {cell}" for number, cell in enumerate(cells)]
    return text


def row(result: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of one case."""
    times = (f"{result[name]:.4f}" for name in ("scikit-learn", "plain"))
    return (result["case"], *times, f"{result['ratio']:.1f}", f"{result['averaged/plain']:.2f}")
