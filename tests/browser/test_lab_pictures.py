"""What the lab draws of the proof, has the bits of Python; its pictures are files and frames."""

from __future__ import annotations

import math
import re
import time
from itertools import chain, pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from perceptron_rs import Perceptron, max_margin, proof, trace
from perceptron_rs.reference.arith.dot import dot

pytestmark = pytest.mark.browser
SIX = "data=six&intercept=no&tie=positive"
GAMMA = "\N{GREEK SMALL LETTER GAMMA}"


def check_lengths(said, margin, steps, X, y, bias):
    """Compare what the core says of a run with trace and max_margin, to the bit."""
    found = max_margin(X, y, bias=bias)
    u = np.append(found.coef, found.intercept) if bias == "augmented" else found.coef
    u = u / math.sqrt(dot(u[np.newaxis], u)[0])
    parts = [[*step.w.tolist(), step.b] if bias == "augmented" else step.w.tolist() for step in steps]
    w = np.array([np.array(part) / abs(step.step) for part, step in zip(parts, steps, strict=True)])
    assert margin["u"] == u.tolist()
    assert margin["gamma"] == found.lower
    assert margin["squared"] == found.radius**2 + (1 if bias == "augmented" else 0)
    assert margin["bound"] == pytest.approx(found.mistake_bound, rel=1e-12)
    assert said["w"] == w.tolist()
    assert said["squares"] == [float(dot(row[np.newaxis], row)[0]) for row in w]
    assert said["progress"] == dot(w, u).tolist()
    assert len(w) <= margin["bound"]


def drawn_runs(number):
    """Return links to separable points, and the data and settings of Python for each."""
    rng = np.random.default_rng(11)
    while number:
        X = np.round(rng.normal(size=(8, 2)) * 100) / 100
        intercept, rate, seed = bool(rng.integers(2)), float(rng.choice([1, 0.5, 0.1])), int(rng.integers(99))
        sides = X @ [3, 4] - (1 if intercept else 0)
        y = (sides > 0).astype(int)
        if min(abs(sides)) < 0.2 or len(set(y.tolist())) < 2:
            continue
        number -= 1
        points = ";".join(f"{a},{b},{k}" for (a, b), k in zip(X.tolist(), y.tolist(), strict=True))
        link = f"data=own&points={points}&order=shuffled&seed={seed}&epochs=10000&rate={rate}"
        link += f"&intercept={'yes' if intercept else 'no'}"
        yield link, X, y, Perceptron(fit_intercept=intercept, eta0=rate, random_state=seed, tol=None)


def test_the_proof_of_a_hundred_runs_has_the_bits_of_python(lab):
    lab.open(SIX)
    runs = list(drawn_runs(100))
    opened = [[["open", link], ["epochs", 1e9], ["margin", 0]] for link, *_ in runs]
    margins = lab.core([*chain.from_iterable(opened)])[2::3]
    traces = [trace(model, X, y) for _, X, y, model in runs]
    calls = []
    for begun, margin, run in zip(opened, margins, traces, strict=True):
        u = len(margin["u"]), *margin["u"], *[0.0] * (3 - len(margin["u"]))
        calls += [*begun, *(["lengths", 1e9, 0, start, *u] for start in (0, len(list(run)) // 2))]
    found = lab.core(calls)
    for (_, X, y, model), margin, run, said, rest in zip(
        runs, margins, traces, found[3::5], found[4::5], strict=True
    ):
        steps = list(run)
        check_lengths(said, margin, steps, X, y, "augmented" if model.fit_intercept else "none")
        assert rest == {name: values[len(steps) // 2 :] for name, values in said.items()}
        # The function of Python says the same, in the arithmetic of NumPy.
        assert said["progress"] == pytest.approx(proof(run).progress.tolist(), rel=1e-13)


@pytest.mark.parametrize("count", [0, 7, 16, 20])
def test_turned_examples_have_the_bits_of_python(lab, count):
    lab.open(SIX)
    said = lab.core([["turned", count]])[0]
    X, y = np.array(said["rows"]), np.array(said["labels"])
    run = trace(Perceptron(fit_intercept=False, shuffle=False, tol=None), X, y)
    check_lengths(said["lengths"], said["margin"], list(run), X, y, "none")
    assert np.array_equal(X[:count], np.eye(20, 22, 2)[:count])
    assert not X[count:, 2:].any()
    made, bound = len(list(run)), said["margin"]["bound"]
    assert made == math.floor(bound) == 20 if count == 20 else made < bound - 5


def test_the_proof_goes_with_the_run(lab):
    lab.open(f"{SIX}&t=3")
    assert lab.text("inequalities") == (
        f"After 2 of at most 5 mistakes: k {GAMMA} = 2 ≤ w · u = 2 ≤ |w| = 2.2361 ≤ √k R = 3.1623."
    )
    count = "return document.querySelectorAll('#lab-proof .norm-point, #lab-proof .progress-point').length"
    assert lab.run(count) == 4
    lab.run("document.querySelector('[data-go=end]').click()")
    lab.rest()
    assert lab.text("inequalities").startswith(f"After 3 of at most 5 mistakes: k {GAMMA} = 3 ≤ w · u = 3 ≤ ")
    assert lab.run(count) == 6
    lab.run("document.querySelector('[data-go=start]').click()")
    lab.rest()
    assert lab.text("inequalities") == "No mistake yet, of at most 5."
    assert lab.run(count) == 0
    lab.open("data=xor&t=9&epochs=20")
    assert lab.text("inequalities").startswith("There is no bound here")
    lab.open("data=moons&learner=kernel&t=9")
    assert lab.text("inequalities") == "The proof compares weights; this learner shows none."


def test_the_slider_goes_to_the_run_that_reaches_the_bound(lab):
    from selenium.webdriver.common.keys import Keys

    lab.open(SIX)
    assert re.search(
        r"^0 of 20 examples are orthogonal\. After \d of at most \d\d mistakes", lab.text("turned-text")
    )
    lab.run("document.querySelector('[data-copy=lab-code]').focus()")
    lab.run("document.getElementById('lab-turn').focus()")
    lab.press(Keys.END)
    assert lab.text("turned-text") == (
        "20 of 20 examples are orthogonal. "
        f"After 20 of at most 20 mistakes: k {GAMMA} = 4.4721 ≤ w · u = 4.4721 ≤ "
        "|w| = 4.4721 ≤ √k R = 4.4721. All four are equal: the run reaches the bound."
    )
    assert "&turn=20" in lab.text("link")
    link = lab.text("link").partition("#")[2]
    lab.open(link.replace("turn=20", "turn=9"))
    assert lab.text("turned-text").startswith("9 of 20 examples are orthogonal. ")
    lab.open(link.replace("turn=20", "turn=21"))
    assert "The link has a wrong turn." in lab.text("status")


def test_the_run_walks_into_the_cone(lab):
    """The cone that is drawn has all examples right, and the walk, through each weight, ends in it."""
    lab.open(f"{SIX}&t=100")
    cone = lab.run("return document.querySelector('#lab-weights .cone').getAttribute('d')")
    walk = lab.run("return document.querySelector('#lab-weights .walk').getAttribute('d')")
    model, _ = lab.model()
    w = np.array([[0, 0], [1, -2], [2, -1], [3, 1]])
    assert model.coef_[0].tolist() == w[-1].tolist()
    far = 1.35 * 3

    def places(d):
        drawn = [[float(v) for v in place.split()] for place in re.split("[ML]", d.strip("Z"))[1:]]
        return (np.array(drawn) / 220 - 1) * [far, -far]

    assert places(walk) == pytest.approx(w, abs=0.02)
    X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]])
    signed = X * np.array([-1, 1, 1, -1, -1, 1])[:, np.newaxis]
    corners = places(cone)
    assert (corners @ signed.T >= -0.05).all()
    # Inside of it: the last weights are on the same side of all its edges, going around.
    edges = [(a, b) for a, b in pairwise([*corners, corners[0]]) if np.hypot(*(b - a)) > 0.05]
    turns = [np.linalg.det([b - a, w[-1] - a]) for a, b in edges]
    assert len(turns) > 2
    assert min(turns) > 0 or max(turns) < 0
    assert lab.run("return document.querySelectorAll('#lab-weights .edge').length") == 18
    lab.open("data=xor&intercept=no&t=9&epochs=20")
    assert lab.text("cone") == "In this picture no place is right for all examples."
    assert lab.run("return document.querySelector('#lab-weights .cone')") is None


PICTURES = {"plane": "lines", "curve": "curve", "proof": "proof", "weights": "weights", "turned": "turned"}


def choose(lab, name):
    script = f"const chosen = document.getElementById('lab-picture'); chosen.value = {name!r};"
    lab.run(f"{script} chosen.dispatchEvent(new Event('change'))")


@pytest.mark.parametrize("name", PICTURES)
def test_a_frame_shows_one_picture_and_its_controls(lab, name):
    shown = (
        "return [...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && e.matches({!r}))"
    )
    lab.open(f"{SIX}&t=3")
    choose(lab, name)
    frame = lab.text("iframe")
    address = ET.fromstring(frame.replace("></iframe>", "/>")).attrib["src"]
    assert address == f"{lab.text('link')}&embed={name}"
    lab.open(address.partition("#")[2])
    ids = lab.run(
        f"{shown.format('#lab svg, #lab form, #lab table, nav, header, h1')}.map(e => e.id || e.tagName)"
    )
    assert ids == (["lab-lines", "lab-plane"] if name == "plane" else [f"lab-{PICTURES[name]}"])
    assert bool(lab.run(f"{shown.format('[data-go=step]')}.length")) == (name != "turned")
    assert lab.run("return document.documentElement.scrollWidth <= window.innerWidth")
    if name != "turned":
        lab.run("document.querySelector('[data-go=step]').click()")
        lab.rest()
        assert lab.text("link").endswith(f"&t=4&embed={name}")
    lab.open(f"{SIX}&embed=all")
    assert "The link has a wrong embed." in lab.text("status")


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_a_file_of_its_own(lab, name, tmp_path):
    driver = lab.browser.driver
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    lab.open("data=four&epochs=3&t=11&intercept=no")
    choose(lab, name)
    lab.run("document.getElementById('lab-save').click()")
    file, end = tmp_path / f"perceptron-{name}.svg", time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    root = ET.parse(file).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    drawn = [e for e in root if e.tag.split("}")[1] not in ("title", "image", "text", "rect")]
    assert drawn
    assert all("class" not in e.attrib and "var(" not in e.attrib["stroke"] for e in drawn)
    inside = lab.run(f"return document.getElementById('lab-{PICTURES[name]}').children.length")
    points = 4 if name == "plane" else 0  # with the colours of the plane
    assert len(root) == 2 + inside + points + (name == "plane")
