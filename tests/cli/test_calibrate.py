"""``train --calibrate``: on a share that is held out or on a file, with the bits of ``calibrate``."""

import itertools
import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import HashingVectorizer

from perceptron_rs import AveragedPerceptron, digest, load, load_predictor

pytestmark = pytest.mark.filterwarnings("ignore:the fit reached")
RNG = np.random.default_rng(4)
WORDS = ["buy", "now", "cheap", "see", "you", "soon", "meeting", "lunch", "offer", "free", "click", "report"]
N = 300


def drawn(n):
    for _ in range(n):
        c = int(RNG.integers(3))
        yield "abc"[c], " ".join(RNG.choice(WORDS[c * 3 : c * 3 + 6], 4))


EXAMPLES, OTHERS = list(drawn(N)), list(drawn(60))
OPTIONS = ("averaged", "--text", "--max-iter", "4")
BITS = ("--hash-bits", "8")


def columns(examples):
    return HashingVectorizer(n_features=256).transform([text for _, text in examples])


def labels(examples):
    return np.array([label for label, _ in examples])


@pytest.fixture
def train(call, tmp_path):
    for name, examples in (("a.txt", EXAMPLES), ("b.txt", OTHERS)):
        (tmp_path / name).write_text("".join(f"{label}\t{text}\n" for label, text in examples))
    (tmp_path / "m").unlink(missing_ok=True)

    def run(*options, status=0, data="a.txt", model="m"):
        own = () if "--continue" in options else BITS
        answer = call("train", *OPTIONS, *own, tmp_path / data, "--model", tmp_path / model, *options)
        assert answer.status == status, answer.err
        return answer

    return run


def shares(holdout, calibration):
    """Return which examples are learnt from, tested, and calibrated on, counted in fractions by hand."""
    held = np.array([int((i + 1) * holdout) > int(i * holdout) for i in range(N)])
    places = np.flatnonzero(held)
    part = calibration / holdout
    own = np.array([int((j + 1) * part) > int(j * part) for j in range(len(places))])
    return np.flatnonzero(~held), places[~own], places[own]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("method", [None, "sigmoid"])
@pytest.mark.parametrize("holdout", [0.25, 0])
def test_a_share_is_held_out_and_calibrates(train, tmp_path, streamed, method, holdout):
    options = ["--holdout", holdout, "--calibrate", 0.25, *(["--calibration", method] if method else [])]
    said = train(*options, "--json", *(["--stream"] if streamed else [])).out
    learnt, tested, calibrated = shares(holdout + 0.25, 0.25)
    model = load(tmp_path / "m")
    by_hand = AveragedPerceptron(max_iter=4, tol=model.tol, shuffle=not streamed)
    X, y = columns(EXAMPLES), labels(EXAMPLES)
    by_hand.fit(X[learnt], y[learnt])
    by_hand.calibrate(X[calibrated], y[calibrated], method=method or "temperature")
    texts = [text for _, text in OTHERS]
    expected = by_hand.predict_proba(columns(OTHERS))
    assert expected.tobytes() == model.predict_proba(texts).tobytes()
    assert expected.tobytes() == load_predictor(tmp_path / "m").predict_proba(texts).tobytes()
    report = json.loads(said)
    assert report["calibration"]["slope"] == by_hand.calibration_.slope.tolist()
    assert report["calibration"]["n_samples"] == len(calibrated)
    assert report.get("holdout", {"n_samples": 0})["n_samples"] == len(tested)
    if holdout:
        assert report["holdout"]["accuracy"] == by_hand.score(X[tested], y[tested])


def test_a_file_calibrates(train, call, tmp_path):
    train("--calibrate", tmp_path / "b.txt", "--calibration", "sigmoid")
    X, y = columns(EXAMPLES), labels(EXAMPLES)
    by_hand = AveragedPerceptron(max_iter=4, tol=load(tmp_path / "m").tol).fit(X, y)
    by_hand.calibrate(columns(OTHERS), labels(OTHERS), method="sigmoid")
    found = call("predict", tmp_path / "m", tmp_path / "b.txt", "--probabilities")
    numbers = np.array([line.split("\t")[1:] for line in found.out.splitlines()], dtype=float)
    assert numbers.tobytes() == by_hand.predict_proba(columns(OTHERS)).tobytes()
    again = call("reproduce", tmp_path / "m", tmp_path / "a.txt")
    assert "its calibration, of other examples, is taken as it is" in again.out
    assert f"calibrated  {by_hand.calibration_.in_words()}\n" in call("inspect", tmp_path / "m").out


def test_a_share_is_reproduced(train, call, tmp_path):
    train("--calibrate", "0.25")
    assert (
        "equal to the last bit, and so is its calibration"
        in call("reproduce", tmp_path / "m", tmp_path / "a.txt").out
    )
    model = load(tmp_path / "m")
    model.calibrate([text for _, text in OTHERS], labels(OTHERS))
    model.save(tmp_path / "m")
    answer = call("reproduce", tmp_path / "m", tmp_path / "a.txt")
    assert answer.status == 1
    assert "other numbers: the calibration of the model is temperature" in answer.out
    assert "and this data leads to" in answer.out


def test_a_model_that_goes_on_is_calibrated_on_the_same_share_again(train, call, tmp_path):
    train("--calibrate", "0.25", "--calibration", "sigmoid")
    answer = train("--continue", tmp_path / "m", model="again")
    assert "no longer calibrated" not in answer.err
    again = load(tmp_path / "again")
    assert again.calibration_.method == "sigmoid"
    assert digest(again) != digest(load(tmp_path / "m"))
    train("--calibrate", tmp_path / "b.txt")
    answer = train("--continue", tmp_path / "m", model="again")
    assert not hasattr(load(tmp_path / "again"), "predict_proba")
    online = call("online", tmp_path / "m", tmp_path / "b.txt", "--save", tmp_path / "again")
    assert online.err.count("no longer calibrated") == 1


def test_lists_of_labels_have_a_probability_each(call, tmp_path):
    lines = [f"{','.join({a, b})}\t{t} {u}\n" for (a, t), (b, u) in itertools.pairwise(EXAMPLES)]
    (tmp_path / "a.txt").write_text("".join(lines))
    argv = ("train", *OPTIONS, *BITS, tmp_path / "a.txt", "--model", tmp_path / "m", "--multilabel")
    answer = call(*argv, "--calibrate", "0.2")
    assert answer.status == 0, answer.err
    found = call("predict", tmp_path / "m", tmp_path / "a.txt", "--probabilities", "--json").out
    for line in found.splitlines():
        assert len(json.loads(line)["probabilities"]) == 3
    assert "sigmoid" in call("inspect", tmp_path / "m").out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--calibration", "sigmoid"], "--calibration has no effect without --calibrate"),
        (["--calibrate", "1.5"], "--calibrate: must be a number above 0 and below 1, got '1.5'"),
        (["--calibrate", "0.5", "--holdout", "0.5"], "leave no example to learn from; choose less"),
        (["--calibrate", "a.txt"], "is learnt from, where scores are larger; name another FILE"),
        (["--calibrate", "0.5", "--continue", "m"], "name a FILE of others"),
        (["--calibrate", "b.txt", "--model", "b.txt"], "is the file of --calibrate; name another one"),
    ],
)
def test_wrong_options_are_refused(train, call, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    train()
    answer = call("train", *OPTIONS, "a.txt", "--model", "m2", *options)
    assert answer.status == 2
    assert words in answer.err
    answer = call("train", *OPTIONS, "a.txt", "--model", "m2", "--calibrate", "none.txt")
    assert answer.err == "perceptrons: error: none.txt: no such file or directory\n"  # before the training
    answer = call("predict", "m", "b.txt", "--probabilities")
    assert "has none; train it with --calibrate, or print scores with --scores" in answer.err
