"""The legend of the course says what the plotting functions draw."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from perceptron_rs import MaxMarginClassifier, Perceptron, max_margin, proof, trace
from perceptron_rs.datasets import lecture
from perceptron_rs.plots import (
    DistanceDisplay,
    HyperplaneDisplay,
    MarginDisplay,
    MistakesDisplay,
    ProofDisplay,
    SumDisplay,
    UpdateDisplay,
)

PAGE = Path(__file__).parents[2] / "docs" / "course" / "index.rst"
SIX = lecture("six_points")
PLAIN = Perceptron(fit_intercept=False, shuffle=False, tol=None)
STYLES = {"-": "solid", "--": "dashed", ":": "dotted"}


def legend() -> dict[str, str]:
    """Return the marks and lines that the table names, by the class that draws them."""
    rows = re.findall(r"^   \* - (.*)\n     - (.*)\n     - (.*)\n", PAGE.read_text("utf-8"), re.MULTILINE)
    return {name: " ".join(row[1:]) for row in rows for name in re.findall(r"plots\.(\w+)", row[0])}


def drawn(display) -> set[str]:
    """Return the words of a legend for what is in a picture: lines by style, rings and white centres."""
    words = {STYLES[line.get_linestyle()] for line in display.ax_.lines if line.get_linestyle() in STYLES}
    for found in display.ax_.collections:
        offsets, faces = found.get_offsets(), found.get_facecolors()
        if len(offsets) == 0:
            continue
        if len(faces) == 0:
            words.add("ring")
        elif np.allclose(faces[:, :3], 1):
            words.add("white centre")
    return words


def displays():
    step = [*trace(PLAIN, SIX.X, SIX.y)][1]
    run = proof(trace(PLAIN, SIX.X, SIX.y))
    fitted = PLAIN.fit(SIX.X, SIX.y)
    wrong = Perceptron(max_iter=1, tol=None, shuffle=False).fit(SIX.X, SIX.y)
    yield HyperplaneDisplay.from_estimator(fitted, SIX.X, SIX.y), {"solid", "dashed", "white centre"}
    yield HyperplaneDisplay.from_estimator(wrong, SIX.X, -SIX.y), {"solid", "ring"}
    yield UpdateDisplay.from_step(step, SIX.X, SIX.y), {"dotted", "solid", "ring"}
    yield SumDisplay.from_step(step, SIX.X), {"dotted", "solid"}
    found = MarginDisplay.from_result(max_margin(SIX.X, SIX.y), SIX.X, SIX.y)
    yield found, {"solid", "dashed", "white centre"}
    yield DistanceDisplay.from_weights([2, 3], 6, [[2, 1]], others=[0]), {"solid", "dashed", "dotted"}
    yield ProofDisplay.from_proof(run), {"dashed", "dotted", "solid"}
    yield MistakesDisplay.from_estimator(fitted, SIX.X, SIX.y), {"dashed", "solid"}


def test_the_legend_names_what_is_drawn():
    said = legend()
    seen = set()
    for display, words in displays():
        name = type(display).__name__
        assert drawn(display) == words, name
        # A solid line that joins points needs no legend.
        plain = {"solid"} if name in ("ProofDisplay", "MistakesDisplay", "DistanceDisplay") else set()
        assert words - plain <= {
            word for word in ("ring", "white centre", *STYLES.values()) if word in said[name]
        }
        seen.add(name)
    assert seen == set(said)


def test_white_centres_of_a_kernel_are_support_vectors():
    model = MaxMarginClassifier(kernel="rbf", gamma=1.0).fit(SIX.X, SIX.y)
    display = HyperplaneDisplay.from_estimator(model, SIX.X, SIX.y)
    assert len(display.support_.get_offsets()) == len(model.support_)
    assert "a support vector" in legend()["HyperplaneDisplay"]


def test_a_dashed_line_is_the_upper_bound_of_a_proof():
    lines = ProofDisplay.from_proof(proof(trace(PLAIN, SIX.X, SIX.y))).lines_
    assert (lines["most"].get_linestyle(), lines["least"].get_linestyle()) == ("--", ":")
    assert "dashed: an upper bound; dotted: a lower bound" in legend()["ProofDisplay"]
