"""A figure that misses its bar, or has none, fails the bench that found it."""

import importlib
import json
from pathlib import Path

import pytest

BENCHES = Path(__file__).parents[2] / "benches"


@pytest.fixture
def bars(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(BENCHES)
    module = importlib.import_module("bars")
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    kept = [{"case": "faster", "ratio": 10.0}, {"case": "smaller", "ratio": 1.0}]
    (tmp_path / "some.json").write_text(json.dumps({"about": {}, "results": kept}))
    return module


@pytest.mark.parametrize(
    ("faster", "smaller", "code"), [(9.01, 1.1, 0), (8.99, 1.1, 1), (30.0, 1.12, 1), (30.0, 0.1, 0)]
)
def test_bars(bars, capsys, faster, smaller, code):
    figures = bars.Figures("some", write=False)
    words = figures.hold("faster", faster), figures.hold("smaller", smaller, at_most=True)
    assert figures.end() == code
    assert ("BELOW BAR" in "".join(words)) == ("missed" in capsys.readouterr().out) == bool(code)


def test_a_case_without_a_bar_fails_until_it_is_kept(bars):
    for write, code in ((False, 1), (True, 0), (False, 0)):
        figures = bars.Figures("some", write=write)
        assert "no bar" in figures.hold("new", 2.0, seconds=1) or not write
        assert figures.end() == code
    kept = json.loads((bars.RESULTS / "some.json").read_text())
    assert [result["case"] for result in kept["results"]] == ["faster", "smaller", "new"]
    assert kept["results"][2] == {"case": "new", "ratio": 2.0, "seconds": 1}
    assert {"processor", "numpy", "date"} <= kept["about"].keys()
