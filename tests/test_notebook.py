"""What a notebook shows: tables of results, and estimators that link to their pages."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from email.message import Message
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator

import perceptron_rs
from perceptron_rs import (
    Perceptron,
    max_margin,
    mistake_bounds,
    proof,
    sklearn_base,
    trace,
)
from perceptron_rs.datasets import lecture
from perceptron_rs.notebook import html_table

X, Y = [[2, 1], [-1, 1], [0, -1], [1, 2]], [1, -1, -1, 1]


def cells(text):
    """Return the texts of all cells, row by row."""
    rows = ET.fromstring(f"<div>{text}</div>").iter("tr")
    return [[cell.text or "" for cell in row] for row in rows]


def test_a_trace_is_a_table_of_its_steps():
    found = trace(Perceptron(shuffle=False, tol=None), X, Y)
    head, *rows = cells(found._repr_html_())
    assert head == ["epoch", "t", "row", "class", "y", "w . x + b", "predicted", "mistake", "step", "w", "b"]
    lines = str(found).splitlines()
    assert len(rows) == len(list(found))
    assert all(all(cell in line for cell in row) for row, line in zip(rows, lines[1:], strict=False))
    assert lines[-1] in found._repr_html_()  # about activations of 0


def test_a_proof_is_a_table_of_its_inequalities():
    found = proof(trace(Perceptron(shuffle=False, tol=None), X, Y))
    head, *rows = cells(found._repr_html_())
    _, *lines, end = str(found).splitlines()
    assert len(head) == 5
    assert rows == [line.replace("<=", "").split() for line in lines]
    assert end.partition(":")[0] in found._repr_html_()


@pytest.mark.parametrize("labels", [Y, [1, -1, 1, -1]])
def test_a_margin_says_what_its_text_says(labels):
    found = max_margin(X, labels)
    lines = str(found).splitlines()
    assert [f"{name:13}  {text}" for name, text in cells(found._repr_html_())] == lines


def test_bounds_and_lectures():
    found = mistake_bounds(X, Y)
    assert dict(cells(found._repr_html_()))["block_novikoff"] == f"{found.block_novikoff:.6g}"
    text = lecture("four_points")._repr_html_()
    assert "correctly classified" in text
    assert "y a = -4 &lt; 0" in text


def test_texts_are_escaped():
    assert cells(html_table([["<b>", "a & b"]], notes=["<"])) == [["<b>", "a & b"]]
    assert "<b>" not in html_table([["<b>"]])


def test_a_fitted_estimator_shows_what_it_has_learnt():
    model = Perceptron(shuffle=False, tol=None)
    plain = model._repr_mimebundle_()["text/html"]
    assert "by epoch" not in plain
    model.fit(X, Y).feature_names_in_ = ["<b>", "wide"]
    found = model._repr_mimebundle_()["text/html"]
    for shown in (found, model._repr_html_()):
        added = shown[shown.rindex("<p>mistakes by epoch") :]
        picture, text = added.split("</svg>\n")
        assert cells(text) == [["class", "largest weights"], ["1", "<b> 3, wide 1"]]
        assert "3 at first, 0 at last, 2 in all" in picture
        (line,) = ET.fromstring(f"<div>{picture}</svg></div>").iter("polyline")
        assert line.get("points") == "0.0,2.0 300.0,58.0"


@pytest.mark.parametrize("name", ["VotedPerceptron", "KernelPerceptron", "MultilayerPerceptron"])
def test_learners_without_weights_of_features_show_their_curve(name):
    model = getattr(perceptron_rs, name)(max_iter=2, tol=None).fit(X, Y)
    found = model._repr_mimebundle_()["text/html"]
    assert found.endswith("</svg>")
    assert "loss by epoch" in found or "mistakes by epoch" in found


def test_a_tagger_shows_the_weights_of_its_attributes():
    model = perceptron_rs.SequencePerceptron().fit([[["a"], ["b"]]], [["A", "B"]])
    found = model._repr_mimebundle_()["text/html"]
    assert "wrong tokens by epoch" in found
    assert ["B", "b 0.6667"] in cells(found[found.rindex("<table>") :])


def test_text_alone_stays_text():
    with config_context(display="text"):
        assert [*Perceptron().fit(X, Y)._repr_mimebundle_()] == ["text/plain"]


EXTRAS = {"perceptron_rs.dask": "dask", "perceptron_rs.spark": "pyspark"}


def pages():
    """Return the names of the pages that autosummary makes, as the API reference lists them."""
    text = (Path(__file__).parents[1] / "docs" / "api.rst").read_text(encoding="utf-8")
    module, found = "", []
    for line in text.splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   [\w.]+", line):
            found.append(f"{module}.{line.strip()}")
    return found


def test_estimators_link_to_their_pages(monkeypatch):
    named = Message()
    monkeypatch.setattr(sklearn_base, "metadata", lambda _: named)
    assert Perceptron()._get_doc_link() == ""
    named["Project-URL"] = "Homepage, https://example.org"
    named["Project-URL"] = "Documentation, https://example.org/docs"
    linked = {}
    for name in pages():
        home, _, last = name.rpartition(".")
        if home in EXTRAS and find_spec(EXTRAS[home]) is None:
            continue
        kind = getattr(import_module(home), last)
        if isinstance(kind, type) and issubclass(kind, BaseEstimator):
            linked[name] = kind.__new__(kind)._get_doc_link()
    assert linked == {name: f"https://example.org/docs/generated/{name}.html" for name in linked}
    for name in perceptron_rs.__all__:
        kind = getattr(perceptron_rs, name)
        if isinstance(kind, type) and issubclass(kind, BaseEstimator):
            assert f"perceptron_rs.{name}" in linked
    clustered = type("Perceptron", (Perceptron,), {"__module__": "perceptron_rs.dask.estimators"})()
    assert (
        clustered._get_doc_link() == "https://example.org/docs/generated/perceptron_rs.dask.Perceptron.html"
    )
    assert "perceptron_rs.dask.Perceptron" in pages()
    assert type("Mine", (Perceptron,), {"__module__": "mine"})()._get_doc_link() == ""
