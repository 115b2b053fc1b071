"""The figures of the pages are those of the benches."""

import importlib.util
import json
import math
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def benchmarks():
    """What makes the tables of the pages."""
    spec = importlib.util.spec_from_file_location("benchmarks", ROOT / "docs" / "benchmarks.py")
    benchmarks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmarks)
    return benchmarks


def test_benchmarks(benchmarks):
    """The page shows the run of the results."""
    results = json.loads((ROOT / "benches" / "results" / "compare.json").read_text(encoding="utf-8"))
    rows = [benchmarks.row(result) for result in results["results"]]
    page = "\n".join(benchmarks.lines(results))
    assert page.startswith(f"perceptrons {results['about']['perceptrons']}, scikit-learn ")
    for case, *cells in rows:
        assert "\n     - ".join([f"   * - {case}", *cells]) in page


def test_beside_others():
    """The figures that a page cites are those of the benches."""
    page = " ".join((ROOT / "docs" / "beside.rst").read_text(encoding="utf-8").split())
    results = ROOT / "benches" / "results"
    ratios = [
        case["ratio"]
        for case in json.loads((results / "compare.json").read_text(encoding="utf-8"))["results"]
        if not case["case"].startswith("decision_function")
    ]
    assert f"{min(ratios):.1f} to {max(ratios):.1f} times" in page
    taggers = json.loads((results / "sequences.json").read_text(encoding="utf-8"))["taggers"]
    ours, theirs = (
        next(tagger for tagger in taggers if (tagger["case"], tagger["attributes"]) == (name, "plain"))
        for name in ("perceptrons", "crfsuite")
    )
    assert f"{theirs['seconds'] / ours['seconds']:.1f} times as long" in page
    assert f"{100 * theirs['accuracy']:.1f} % there and {100 * ours['accuracy']:.1f} % here" in page
    for loop in json.loads((results / "online_peers.json").read_text(encoding="utf-8"))["results"]:
        cells = loop["case"], f"{loop['mistakes'] / 200:.1f} %", f"{loop['microseconds']:.1f}"
        assert " - ".join(["*", *cells]) in page
    programs = json.loads((results / "programs.json").read_text(encoding="utf-8"))["results"]
    assert len(programs) == 4
    for case in programs:
        ratio, right, here = case["ratio"], 100 * case["right"], 100 * case["ours"]
        assert (f"{ratio:.2f} of the time" if ratio < 0.2 else f"{ratio:.2g}") in page, case
        assert f"{right:.1f} %" in page, case
        assert f"{here:.1f} %" in page, case


def test_a_table_of_taggers(benchmarks):
    ours = {"case": "us", "attributes": "plain", "accuracy": 0.96775, "seconds": 3.14, "rows": 250_000.4}
    lines = benchmarks.lines(
        {"about": {"epochs": 5}, "taggers": [ours | {"strings": 1e5, "memory": 1.234}, ours]}
    )
    assert lines[0] == "5 epochs."
    cells = [line.strip(" *-") for line in lines[-14:]]
    assert cells == [
        *("us", "plain", "96.78%", "3.1", "250,000", "100,000", "1.23"),
        *("us", "plain", "96.78%", "3.1", "250,000", "", ""),
    ]


def test_a_table_of_probes(benchmarks):
    probe = {"layer": 2, "averaged": 0.93001, "averaged s": 2.215, "logistic": 1.0, "logistic s": 0.06}
    probe |= {"separable": False, "separable s": 23.89}
    separable = probe | {"layer": 3, "separable": True, "margin": [5.1213480, 5.1213481], "margin s": 3.09}
    rows = [benchmarks.probe(result) for result in (probe, separable)]
    assert rows == [
        ("2", "0.9300, 2.2 s", "1.0000, 0.1 s", "no, 23.9 s", "none"),
        ("3", "0.9300, 2.2 s", "1.0000, 0.1 s", "yes, 23.9 s", "5.12135, 3.1 s"),
    ]
    kept = json.loads((ROOT / "benches" / "results" / "probes.json").read_text(encoding="utf-8"))
    assert len(benchmarks.lines(kept)) == 5 + 5 * (1 + len(kept["probes"]))


def test_a_table_of_ratios(benchmarks):
    cases = [{"case": "one row, us", "ratio": 0.894}, {"case": "one row, them", "ratio": 44.3}]
    cases += [{"case": "many, them", "ratio": 2.97}]
    assert benchmarks.table({"results": cases}) == [
        ["", "one row", "many"],
        ["us", "0.89", ""],
        ["them", "44.3", "3.0"],
    ]


def test_a_table_of_margins(benchmarks):
    result = {"case": "A", "shape": [2, 3], "status": "separable", "lower": 0.5, "upper": 0.500001}
    result |= {"radius": 2.0, "support": 7, "seconds": 0.126}
    open_ = result | {"status": "margin_at_most", "lower": -math.inf, "upper": 1.2e-14}
    none = result | {"status": "non_separable", "lower": -math.inf, "upper": -math.inf}
    assert [cells[2:5] for cells in map(benchmarks.interval, (result, open_, none))] == [
        ("separable", "0.500000", "2e-06"),
        ("margin at most", "< 1e-13", ""),
        ("non separable", "none", ""),
    ]
    assert benchmarks.interval(result)[5:] == ("2.00", "7", "0.13")
