"""The lab: what it shows of a run, and that Python learns the same bits: ``make test-lab``."""

from __future__ import annotations

import math
import re
import time
from itertools import chain

import numpy as np
import pytest

from perceptron_rs import (
    AveragedPerceptron,
    KernelPerceptron,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
    digest,
    max_margin,
    mistake_bounds,
    trace,
)
from perceptron_rs.datasets import lecture

from .conftest import CORE, DOCS, Lab

pytestmark = pytest.mark.browser
OWN = "own&points=0.5,-1.25,2;3,1,0;-2,0.1,1;1,1,1;0,-3,2;-0.75,0.5,0"
SIX = "data=six&intercept=no&tie=positive"
LARGE = "kernel=poly&degree=20&gamma=1000000&t=2"
#: Each learner, order, start and kernel; at the end of an epoch, within one, and at the end.
RUNS = [
    f"{SIX}&t=6",
    f"{SIX}&t=100",
    "data=xor&epochs=50&t=200",
    "data=line&learner=averaged&order=shuffled&seed=7&t=510",
    "data=line&learner=averaged&order=shuffled&seed=7&t=600",
    "data=line&learner=perceptron&order=shuffled&rate=0.1&start=1,-2,0.5&t=40",
    "data=moons&learner=voted&order=shuffled&seed=3&t=250",
    "data=noise&learner=pocket&t=600",
    "data=noise&n=400&learner=pocket&order=shuffled&intercept=no&t=1200",
    "data=moons&learner=kernel&gamma=2&order=shuffled&t=1000",
    "data=moons&learner=kernel&kernel=poly&degree=3&gamma=0.5&prediction=average&t=130",
    "data=three&learner=kernel&prediction=last&intercept=no&tie=positive&t=1000",
    "data=xor&learner=multilayer&rate=0.5&epochs=300&order=shuffled&t=1200",
    "data=three&learner=multilayer&activation=relu&hidden=3&t=77",
    "data=three&learner=voted&rate=0.3&t=90",
    f"data={OWN}&learner=averaged&start=1,-2,0.5&epochs=20&t=120",
    f"data={OWN}&t=4",
    "data=noise&learner=pocket&t=650",
    "data=three&order=shuffled&seed=5&t=200",
]


@pytest.mark.parametrize("link", RUNS)
def test_python_learns_the_same_bits(lab, link):
    lab.open(link)
    model, shown = lab.model()
    assert digest(model) == shown
    code = lab.text("code")
    assert f"print(digest(model))  # {shown}" in code
    if not lab.text("python-note"):
        X = np.array([[point["x"], point["y"]] for point in points(lab)])
        said = model.predict(X)
        named = dict(zip(model.classes_, sorted({point["class"] for point in points(lab)}), strict=True))
        wrong = sum(named[label] != point["class"] for label, point in zip(said, points(lab), strict=True))
        assert f"What predicts gets {wrong} of {len(X)} points wrong." in lab.text("place")


def points(lab: Lab) -> list[dict[str, float]]:
    """Return the points of the code."""
    names: dict[str, object] = {"print": lambda *args: None}
    code = lab.text("code").split("model = ")[0].split("order = ")[0]
    exec(code, names)
    X, y = np.array(names["X"]), np.array(names["y"])
    classes = {-1: 0, 1: 1} if set(y.tolist()) == {-1, 1} else {k: k for k in y.tolist()}
    return [
        {"x": float(x[0]), "y": float(x[1]), "class": classes[label]}
        for x, label in zip(X, y.tolist(), strict=True)
    ]


def rows_of(lab: Lab, link: str):
    """Return the points of a link, as arrays."""
    lab.open(link)
    found = points(lab)
    return np.array([[point["x"], point["y"]] for point in found]), [point["class"] for point in found]


def test_solutions_of_tasks_say_what_the_lab_shows(lab):
    """Of points that the lab draws; with points of their own, solutions are run on their pages."""
    last = {"max_iter": 100, "tol": None}
    X, y = rows_of(lab, "data=line&order=shuffled&seed=5&t=170")
    epochs = [Perceptron(random_state=seed, **last).fit(X, y).n_iter_ for seed in range(6)]
    assert epochs[5] == 2 < 4 < min(epochs[:5])
    assert "In the lab, seed 5 is the first one, with `two epochs" in page("epochs")

    X, y = rows_of(lab, "data=noise&order=shuffled&t=600")
    third, ranges = [], []
    paper = {"average": False, "check": "update"}
    for kind in Perceptron, AveragedPerceptron, VotedPerceptron, PocketPerceptron:
        own = paper if kind is PocketPerceptron else {}
        fits = [kind(max_iter=n, tol=None, **own).fit(X, y) for n in range(1, 21)]
        errors = [int((fit.predict(X) != y).sum()) for fit in fits]
        third.append(errors[2])
        ranges += [min(errors), max(errors)]
    assert f"What predicts gets {third[0]} of 200 points wrong." in lab.text("place")
    assert (
        "At this place, after three epochs, the last weights get {} of the 200 points wrong, the average {}, "
        "the vote {} and the pocket {}. Over the first 20 epochs, the last weights get {} to {} wrong, "
        "the average {} to {}, the vote {} to {}, and the pocket {} or {}."
    ).format(*third, *ranges) in page("noise")
    swaps = PocketPerceptron(max_iter=2, tol=None, **paper).fit(X, y).swaps_
    t, errors = int(swaps["t"][-1]), int(swaps["errors"][-1])
    assert (
        f"After the update at example {t}: these weights get {errors} points wrong, and up to example 400 no"
        in page("variants")
    )

    X, y = rows_of(lab, "data=moons&learner=kernel&gamma=2&t=300")
    widths = (0.125, 0.25, 0.5, 1)
    fits = [KernelPerceptron("rbf", gamma=g, shuffle=False, **last).fit(X, y) for g in widths]
    assert all(fit.converged_ for fit in fits)
    assert "{}, {}, {} and {} epochs".format(*(fit.n_iter_ for fit in fits)) in page("kernel")


def page(name: str) -> str:
    """Return a page of the course, in one line."""
    return " ".join((DOCS / "course" / f"{name}.rst").read_text(encoding="utf-8").split())


def test_the_table_is_that_of_the_slide(lab):
    lab.open(f"{SIX}&t=6")
    steps = lecture("six_points").trace()
    rows = lab.table()
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert [row[-1] for row in rows] == ["yes", "no", "yes", "no", "yes", "no"]
    assert [float(row[5]) for row in rows] == [step.activation for step in steps]
    assert rows[-1][3] == "(3, 1)"
    assert lab.text("sum").startswith("w = - (-1, 2) + (1, 1) - (-1, -2).")
    assert ": 3 mistakes so far, 3 in this epoch." in lab.text("place")
    assert "at most 5 mistakes" in lab.text("bound")


@pytest.mark.parametrize(("intercept", "bias"), [("yes", "free"), ("no", "none")])
def test_the_margin_and_the_bound_are_certified_as_in_python(lab, intercept, bias):
    lab.open(f"data=six&intercept={intercept}&t=100")
    X, y = lecture("six_points").X, lecture("six_points").y
    found = max_margin(X, y, bias=bias)
    ends = re.search(r"certain: ([\d.e-]+) \S+ \S+ \S+ ([\d.e-]+),", lab.text("margin"))
    assert ends is not None
    assert [float(end) for end in ends.groups()] == [found.lower, found.upper]
    origin = " through the origin" * (bias == "none")
    assert f"The largest margin of any line{origin}, a" in lab.text("margin")
    bounds = mistake_bounds(X, y, bias="none" if bias == "none" else "augmented")
    assert f"at most {math.floor(bounds.block_novikoff)} mistakes" in lab.text("bound")


def drawn_states(number):
    """Return links with places, and the step of each as Python has it: half of the predictions are right."""
    rng, states, steps = np.random.default_rng(5), [], []
    while len(states) < number:
        X = np.round(rng.normal(size=(6, 2)) * 100) / 100
        y = rng.permutation([0, 0, 0, 1, 1, 1])
        intercept, rate, seed = bool(rng.integers(2)), float(rng.choice([1, 0.5, 0.1])), int(rng.integers(99))
        tie, name = str(rng.choice(["mistake", "positive"])), str(rng.choice(["perceptron", "averaged"]))
        points = ";".join(f"{a},{b},{k}" for (a, b), k in zip(X.tolist(), y.tolist(), strict=True))
        link = f"data=own&points={points}&order=shuffled&seed={seed}&epochs=4&rate={rate}&learner={name}"
        link += f"&intercept={'yes' if intercept else 'no'}&tie={tie}"
        kind = AveragedPerceptron if name == "averaged" else Perceptron
        model = kind(fit_intercept=intercept, eta0=rate, random_state=seed, tie=tie, max_iter=4, tol=None)
        for step in trace(model, X, y, every="example"):
            right = bool(rng.integers(2))
            said = step.mistake if right else not step.mistake
            w = [*step.w.tolist(), step.b]
            if step.mistake and not right and rng.integers(2):  # a mistake, with other weights
                said, w[0] = True, w[0] + 0.01
            states.append([link, step.t - 1, 0, int(said), *w])
            steps.append((step, right))
    return states[:number], steps[:number]


def test_a_thousand_predictions_are_judged_by_the_bits_of_python(lab):
    lab.open(SIX)
    states, steps = drawn_states(1000)
    calls = [[["open", link], ["epochs", t + 1], ["check", t, *said]] for link, t, *said in states]
    found = lab.core([*chain.from_iterable(calls)])[2::3]
    assert len(found) == 1000
    for said, (step, right) in zip(found, steps, strict=True):
        assert said["right"] is right
        assert said["row"]["mistake"] is step.mistake
        assert said["row"]["point"] == step.row
        assert said["row"]["a"] == step.activation
        assert said["row"]["w"] == [*step.w_before.tolist(), step.b_before]
        assert said["after"] == [*step.w.tolist(), step.b]
    assert 300 < sum(right for _, right in steps) < 700


def test_the_next_example_is_a_question(lab):
    lab.open(f"{SIX}&t=0")
    lab.run("document.getElementById('lab-asks').click()")
    hidden = (
        "return [...document.querySelectorAll('#lab-table tr.lab-next td')].map(cell => cell.textContent)"
    )
    assert lab.run(hidden)[5:7] == ["?", "?"]
    lab.run("document.getElementById('lab-ask').requestSubmit()")  # no mistake
    lab.rest()
    assert lab.text("verdict") == (
        "Not so: a = 0 · -1 + 0 · 2 = 0, y a = 0 (a = 0 is predicted +), so it is a mistake: "
        "w = (0, 0) - (-1, 2) = (1, -2). 0 of 1 right."
    )
    lab.run("document.getElementById('lab-ask').requestSubmit()")  # t = 2 is none
    lab.rest()
    assert lab.text("verdict").startswith("Right: a = 1 · 1 + -2 · 0 = 1, y a = 1, so it is no mistake.")
    lab.run(
        "document.getElementById('lab-said').value = 'yes';"
        "document.getElementById('lab-w1').value = '2'; document.getElementById('lab-w2').value = '-1';"
        "document.getElementById('lab-ask').requestSubmit()"
    )
    lab.rest()
    assert lab.text("verdict").endswith("w = (1, -2) + (1, 1) = (2, -1). 2 of 3 right.")
    assert lab.text("status").startswith("Example 3, ")


def predict(lab, said="yes", **typed):
    """Answer the question as it is shown; return what is said of the answer."""
    lab.run("document.getElementById('lab-verdict').textContent = ''")
    for name, value in {"said": said, **typed}.items():
        lab.run(
            f"const e = document.getElementById('lab-{name}'); e.value = '{value}';"
            "e.dispatchEvent(new Event('change', { bubbles: true }))"
        )
    lab.run("document.getElementById('lab-ask').requestSubmit()")
    lab.rest()
    return lab.text("verdict")


def test_what_is_shown_is_enough_for_an_answer(lab):
    """Weights with more digits than a picture has, and a blank, which is no answer."""
    lab.open("data=own&points=123.456,0.25,1;-77.25,3,0&rate=0.125&t=0")
    lab.run("document.getElementById('lab-asks').click()")
    assert lab.text("next") == "Example 1: w = (0, 0), b = 0, x = (123.456, 0.25), y = +1. "
    assert predict(lab, w1="15.432", w2="", b="0.125") == ""
    assert predict(lab, w1="15.432", w2="0.03125", b="0.125").startswith("Right: ")
    assert lab.text("next").startswith("Example 2: w = (15.432, 0.03125), b = 0.125, ")
    assert lab.text("verdict").endswith("b = 0.125. 1 of 1 right.")


def test_an_intercept_of_before_is_no_part_of_an_answer(lab):
    lab.open("data=six&t=0")
    lab.run("document.getElementById('lab-asks').click()")
    assert predict(lab, w1="1", w2="-2", b="-1").endswith("1 of 1 right.")
    assert ": 1 mistake so far, 1 in this epoch." in lab.text("place")
    lab.run(
        "const e = document.querySelector('[name=intercept]'); e.value = 'no';"
        "e.dispatchEvent(new Event('change', { bubbles: true }))"
    )
    lab.rest()
    lab.run("document.querySelector('[data-go=start]').click()")
    lab.rest()
    assert predict(lab, w1="1", w2="-2").endswith("2 of 2 right.")


@pytest.mark.parametrize(("intercept", "line"), [("no", "No line through the origin"), ("yes", None)])
def test_without_an_intercept_lines_pass_through_the_origin(lab, intercept, line):
    lab.open(f"data=six&learner=kernel&intercept={intercept}&t=6")
    assert ('bias="none"' in lab.text("margin")) is (intercept == "no")
    lab.open(f"data=own&points=1,1,1;2,2,0&epochs=9&intercept={intercept}&t=18")
    for name in ("bound", "margin"):
        assert (f"{line} separates the points" in lab.text(name)) is (line is not None)
        assert "No line separates" not in lab.text(name)


def test_xor_does_not_end(lab):
    lab.open("data=xor&epochs=50&t=200")
    assert lab.model()[0].converged_ is False
    assert "ended after 50 epochs" in lab.text("status")
    half = "0.5 · (0, 0) + 0.5 · (1, 1) = 0.5 · (0, 1) + 0.5 · (1, 0)"
    assert half in lab.text("margin")
    # Rows 4 k + 1 to 4 k + 4 repeat: a cycle.
    assert lab.text("place").startswith("After 200 of 200 examples, in epoch 50: ")


def test_weights_are_the_sum_of_their_examples(lab):
    lab.open("data=four&epochs=3&t=11")
    model, _ = lab.model()
    terms = lab.text("sum").split(". Each")[0].removeprefix("w = ")
    found = re.findall(r"([+-]?) ?(?:(\d+) · )?\(([-\d]+), ([-\d]+)\)", terms)
    assert len(found) == 2
    sums = [sum((-1 if s == "-" else 1) * int(k or 1) * int(x[i]) for s, k, *x in found) for i in (0, 1)]
    assert sums == model.coef_[0].tolist()


def test_steps_and_the_way_back(lab):
    lab.open(SIX)
    click = "document.querySelector('[data-go={}]').click()"
    seen = []
    for _ in range(3):
        lab.run(click.format("step"))
        lab.rest()
        seen.append(lab.text("digest"))
    lab.run("document.getElementById('lab-unit').value = 'update'")
    lab.run(click.format("step"))
    lab.rest()
    assert lab.text("status").startswith("Example 5, point 5 ")
    lab.run(click.format("back"))
    lab.rest()
    assert (lab.text("digest"), lab.text("status")[:9]) == (seen[2], "Example 3")
    lab.run("document.getElementById('lab-unit').value = 'epoch'")
    lab.run(click.format("step"))
    lab.rest()
    assert lab.text("status").startswith("Example 6, ")
    lab.run(click.format("end"))
    lab.rest()
    assert "epoch 2 made no mistake" in lab.text("status")
    lab.run(click.format("start"))
    lab.rest()
    assert "nothing is learnt yet" in lab.text("digest")


def test_a_link_is_the_whole_of_a_place(lab):
    lab.open("data=moons&n=30&learner=kernel&kernel=poly&degree=3&prediction=last&order=shuffled&seed=9&t=47")
    link, code, status = lab.text("link"), lab.text("code"), lab.text("status")
    lab.open(SIX)
    lab.open(link.partition("#")[2])
    assert (lab.text("link"), lab.text("code"), lab.text("status")) == (link, code, status)


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ("data=seven", "data must be one of"),
        ("data=six&rate=-1", "rate must be a number from 0.001"),
        ("data=six&speed=3", '"speed" is no name that a link has'),
        ("data=own&points=1,1,1;2,2,1", "there must be points of two classes"),
        ("data=own&points=1,1", "a point must be x,y,class"),
        ("data=six&points=1,1,0", "points belong to data=own"),
        ("data=six&n=7", "n belongs to data that is drawn"),
        (f"data=own&points=9e5,9e5,1;-9e5,5,0&learner=kernel&{LARGE}", "training overflowed in epoch 0"),
        ("data=six&t=1.5", "The link has a wrong t."),
        ("data=six&tie=odd", "tie must be one of mistake, positive"),
        ("data=six%", "The link has a wrong %"),
    ],
)
def test_a_wrong_link_is_said_to_be_wrong(lab, link, fault):
    lab.open(link)
    assert fault in lab.text("status")


def test_keys_alone_can_do_all_of_it(lab):
    from selenium.webdriver.common.keys import Keys

    lab.open(SIX)
    lab.run("document.querySelector('.lab-examples a').focus()")
    lab.reach("#lab-plane")
    lab.press(Keys.PAGE_DOWN)
    assert lab.text("status") == "Point 1 of 6 at (-1, 2), class -."
    lab.press(Keys.ARROW_RIGHT)
    assert lab.text("status").startswith("Point 1 of 6 at (-0.9")
    lab.press("1")
    assert lab.text("status").endswith("class +.")
    lab.press(Keys.DELETE)
    lab.press(Keys.ENTER)
    assert lab.text("status").startswith("Point 6 of 6 at ")
    lab.reach("[data-go=step]")
    lab.press(Keys.ENTER)
    assert lab.text("status").startswith("Example 1, ")
    lab.reach("[data-go=run]")
    lab.focused().send_keys(Keys.ENTER)
    lab.focused().send_keys(Keys.ENTER)
    lab.reach("#lab-speed")
    lab.reach("[data-go=end]")
    lab.press(Keys.SPACE)
    assert "The run has ended" in lab.text("status")
    lab.reach("[name=learner]")
    lab.press("a")  # averaged
    model, shown = lab.model()
    assert (type(model).__name__, digest(model)) == ("AveragedPerceptron", shown)
    for name in ("order", "seed", "tie", "rate", "intercept", "start", "epochs"):
        lab.reach(f"[name={name}]")
    lab.reach("#lab-largest")
    lab.reach("[data-copy=lab-code]")
    lab.reach("#lab-link")


def test_points_are_added_dragged_and_deleted_by_a_pointer(lab):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    lab.open("data=xor")
    plane = lab.browser.driver.find_element(By.ID, "lab-plane")
    ActionChains(lab.browser.driver).move_to_element_with_offset(plane, 90, 60).click().perform()
    lab.rest()
    assert lab.text("status").startswith("Point 5 of 5 at (")
    assert "data=own&points=0,0,1;1,1,1;0,1,0;1,0,0;" in lab.text("link")
    point = plane.find_element(By.CSS_SELECTOR, "[data-i='4']")
    ActionChains(lab.browser.driver).drag_and_drop_by_offset(point, -40, 30).perform()
    lab.rest()
    before, after = lab.text("link"), None
    lab.run("document.getElementById('lab-delete').click()")
    lab.rest()
    after = lab.text("link")
    assert len(after.split(";")) == len(before.split(";")) - 1 == 4


@pytest.mark.parametrize("width", [1400, 400])
def test_nothing_is_cut_off(lab, width):
    lab.browser.resize(width)
    lab.open("data=line&learner=averaged&order=shuffled&t=300")
    assert lab.run("return document.documentElement.scrollWidth <= window.innerWidth")
    wide = "e.clientWidth && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display != 'inline'"
    script = f"return [...document.querySelectorAll('#lab *')].filter(e => !e.closest('svg') && {wide})"
    assert lab.run(f"{script}.map(e => e.outerHTML.slice(0, 80))") == []


def test_every_control_has_a_name(lab):
    lab.open(SIX)
    script = "return [...document.querySelectorAll('#lab input, #lab select')].filter(e => !e.labels.length)"
    assert lab.run(f"{script}.map(e => e.outerHTML)") == []
    assert lab.run("return document.getElementById('lab-status').getAttribute('aria-live')") == "polite"


def test_it_is_small_and_asks_for_nothing(lab):
    asked = lab.open(SIX)
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:", "blob:"))] == []
    sizes = [path.stat().st_size for path in (*CORE.parent.iterdir(), DOCS / "lab.html")]
    assert sum(sizes) < 650_000


LARGE_RUN = "data=noise&n=2000&order=shuffled&seed=1&epochs=1000"


def test_two_thousand_points_and_a_thousand_epochs(lab):
    lab.open(f"{LARGE_RUN}&learner=averaged&t=2000000")
    assert lab.text("place").startswith("After 2,000,000 of 2,000,000 examples, in epoch 1000: ")
    model, shown = lab.model()
    assert digest(model) == shown


#: Counts the pictures of a way, and the frames that the page draws while the core is at work.
WATCH = """
window.pictures = new Set();
window.framesAtWork = 0;
let atWork = 0;
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (...values) {
  atWork++;
  this.addEventListener("message", () => { atWork--; }, { once: true });
  return post.apply(this, values);
};
const look = () => {
  const place = document.getElementById("lab-place")?.textContent;
  if (place) window.pictures.add(/^After ([0-9,]+)/.exec(place)[1]);
  if (atWork) window.framesAtWork++;
  requestAnimationFrame(look);
};
look();
"""


@pytest.mark.parametrize("learner", ["pocket", "kernel"])
def test_a_long_run_is_shown_on_its_way_and_can_be_stopped(lab, learner):
    driver = lab.browser.driver
    watch = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    try:
        lab.browser.open("about:blank")
        lab.browser.open(f"{lab.address}#{LARGE_RUN}&learner={learner}&t=2000000")
        pause = "document.querySelector('[data-go=run]')"
        wait = f"return window.pictures.size > 2 && {pause}.textContent"
        while not (button := lab.run(wait)):
            time.sleep(0.01)
        lab.run(f"{pause}.click()")
        lab.rest()
    finally:
        driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", watch)
    assert button == "Pause"
    assert lab.run(f"return {pause}.textContent") == "Run"
    assert lab.run("return window.framesAtWork") > 0
    seen = re.match(r"After ([0-9,]+) examples, ", lab.text("place"))
    assert seen is not None, lab.text("place")
    t = int(seen[1].replace(",", ""))
    assert lab.run("return document.getElementById('lab').dataset.at") == str(t)
    model, shown = lab.model()
    assert (model.n_iter_, digest(model)) == (t // 2000, shown)
    lab.run("document.querySelector('[data-go=start]').click()")
    lab.rest()
    assert lab.text("status") == "At the start."


def test_a_new_wish_ends_the_one_before(lab):
    lab.open(f"{LARGE_RUN}&learner=kernel")
    steps = ("end", "start", "step", "end", "back", "start", "step")
    lab.run("".join(f"document.querySelector('[data-go={step}]').click();" for step in steps))
    lab.rest()
    assert lab.text("status").startswith("Example 1, ")
    model, shown = lab.model()
    assert digest(model) == shown
