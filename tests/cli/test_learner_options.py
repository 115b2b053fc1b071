"""The options that only some learners have: what they set, and when they are refused."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from perceptron_rs import Perceptron
from perceptron_rs.cli import learning, modelfile
from perceptron_rs.cli.learning import COMMON, OPTIONS
from perceptron_rs.cli.options import LEARNER_NAMES, LINEAR_NAMES, parser
from perceptron_rs.common.options import Option
from perceptron_rs.linear.base import LinearLearner
from perceptron_rs.registry import LEARNERS as REGISTRY

from .support import svmlight

LEARNERS = {name: learner.kind for name, learner in REGISTRY.items() if name in LEARNER_NAMES}

CASES = [
    (["--multi-class", "joint"], {"multi_class": "joint"}),
    (
        ["--multi-class", "joint", "--joint-update", "proportional"],
        {"multi_class": "joint", "joint_update": "proportional"},
    ),
    (
        ["--multi-class", "joint", "--joint-update", "uniform"],
        {"multi_class": "joint", "joint_update": "uniform"},
    ),
    (["--margin-threshold", 1.5], {"margin_threshold": 1.5}),
    (["--added-feature", 0.5], {"added_feature": 0.5}),
    (["--max-mistakes-per-example", 1], {"max_mistakes_per_example": 1}),
    (["--penalty", "l2", "--alpha", 0.01], {"penalty": "l2", "alpha": 0.01}),
    (["--penalty", "l1"], {"penalty": "l1"}),
    (
        ["--penalty", "elasticnet", "--alpha", 0.01, "--l1-ratio", 0.5],
        {"penalty": "elasticnet", "alpha": 0.01, "l1_ratio": 0.5},
    ),
    (["--check", "update"], {"check": "update"}),
    (["--prediction", "average"], {"prediction": "average"}),
    (["--prediction", "longest"], {"prediction": "longest"}),
    (["--max-vectors", 3], {"max_vectors": 3}),
    (["--kernel", "linear"], {"kernel": "linear"}),
    (["--kernel", "precomputed"], {"kernel": "precomputed"}),
    (["--kernel", "poly", "--degree", 2], {"kernel": "poly", "degree": 2}),
    (
        ["--kernel", "sigmoid", "--coef0=-0.5", "--gamma", "auto"],
        {"kernel": "sigmoid", "coef0": -0.5, "gamma": "auto"},
    ),
    (["--gamma", 0.01], {"gamma": 0.01}),
    (["--prediction", "last", "--normalize"], {"prediction": "last", "normalize": True}),
    (["--budget", 20], {"budget": 20}),
    (["--budget", 20, "--budget-policy", "forgetron"], {"budget": 20, "budget_policy": "forgetron"}),
    (
        ["--budget=9", "--budget-policy=projectron", "--projection-distance=0.1"],
        {"budget": 9, "budget_policy": "projectron", "projection_distance": 0.1},
    ),
    (["--cache-size", 0.001, "--gamma", 2], {"cache_size": 0.001, "gamma": 2.0}),
    (["--hidden-layer-sizes", "5,3"], {"hidden_layer_sizes": (5, 3)}),
    (["--hidden-layer-sizes", "none"], {"hidden_layer_sizes": ()}),
    (["--activation", "tanh"], {"activation": "tanh"}),
    (["--learning-rate-init", 0.5, "--batch-size", 9], {"learning_rate_init": 0.5, "batch_size": 9}),
    (["--alpha", 2], {"alpha": 2.0}),
    (["--early-stopping"], {"early_stopping": True}),
    (
        ["--early-stopping", "--validation-fraction", 0.3],
        {"early_stopping": True, "validation_fraction": 0.3},
    ),
    (["--no-early-stopping", "--margin-threshold", 2], {"early_stopping": False, "margin_threshold": 2.0}),
]


@pytest.fixture
def examples(tmp_path):
    """Three classes that no hyperplanes separate."""
    rng = np.random.default_rng(4)
    X, y = rng.integers(-3, 4, (90, 5)) / 4, rng.integers(0, 3, 90)
    X[0] = 1
    path = tmp_path / "noise.svm"
    path.write_text(svmlight(X, y), encoding="ascii")
    return path, X, y


def lacking(learner, parameters):
    return sorted(set(parameters) - set(LEARNERS[learner]().get_params()))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(("options", "parameters"), CASES, ids=lambda value: str(value))
def test_the_model_is_that_of_the_estimator(call, tmp_path, examples, learner, options, parameters):
    path, X, y = examples
    out = tmp_path / "out.model"
    if parameters.get("kernel") == "precomputed":
        X = X @ X.T
        path.write_text(svmlight(X, y), encoding="ascii")
    answer = call("train", path, "--model", out, "--learner", learner, "--epochs", 7, "--quiet", *options)
    if lacking(learner, parameters) or (options[0] == "--alpha" and learner == "perceptron"):
        assert answer.status == 2
        assert not out.exists()
        return
    if (learner, parameters) == ("kernel", {"prediction": "longest"}):  # a choice of the voted one alone
        assert answer.status == 1
        assert "prediction" in answer.err
        return
    assert (answer.status, answer.err) == (0, "")
    found = modelfile.load_model(out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = LEARNERS[learner](max_iter=7, **parameters).fit(X, y)
        plain = LEARNERS[learner](max_iter=7).fit(X, y)
    assert found.decision_function(X).tobytes() == expected.decision_function(X).tobytes()
    assert {name: getattr(found, name) for name in parameters} == parameters
    stories = [
        (
            fit.n_iter_,
            np.asarray(getattr(fit, "n_seen_", ())).tolist(),
            len(getattr(fit, "swaps_", ())),
            None if learner not in LINEAR_NAMES else fit.coef_.tobytes(),
            fit.decision_function(X).tobytes(),
        )
        for fit in (expected, plain)
    ]
    assert stories[0] != stories[1], "the case does not show that the option does anything"


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.flag)
def test_each_option_is_a_parameter_of_some_learner_and_is_tried(option):
    having = [name for name, learner in LEARNERS.items() if option.parameter in learner._get_param_names()]
    assert having
    assert any(option.parameter in parameters for _, parameters in CASES)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_parameter_of_a_learner_has_an_option(learner):
    """Those that are left out have no meaning on a command line, or are always set there."""
    same = ("tol", "n_iter_no_change", "shuffle", "eta0", "tie", "class_weight", "engine")
    common = {"max_iter": "epochs", "random_state": "seed", "fit_intercept": "intercept", "n_jobs": "threads"}
    common |= {name: name for name in same}
    left_out = {"verbose", "warm_start", "track_mistakes", "callback", "keep_on_interrupt", "audit"}
    parameters = set(LEARNERS[learner]().get_params())
    assert parameters <= {*common, *left_out, *(option.parameter for option in OPTIONS)}
    without = {"fit_intercept"} if learner == "budgeted-kernel" else set()
    assert learner == "multilayer" or set(common) - parameters == without
    given = ["--epochs=1", "--seed=1", "--no-intercept", "--tol=1", "--n-iter-no-change=1", "--no-shuffle"]
    given += ["--eta0=1", "--tie=mistake", "--class-weight=balanced"]
    arguments = parser().parse_args(["train", "x.svm", "--model", "m", *given])
    assert {place for place, name in COMMON.items() if name in common} == {*common.values()} - {
        "threads",
        "engine",
    }
    for dest in common.values():
        assert hasattr(arguments, dest)
    arguments = parser().parse_args(["train", "x.svm", "--model", "m"])
    assert not set(vars(arguments)) & set(COMMON)  # the learner's defaults
    for option in OPTIONS:
        assert getattr(arguments, option.parameter) is None


@pytest.mark.parametrize("command", [["train", "no.svm", "--model", "no/m"], ["parity", "no.svm"]])
def test_an_option_that_the_learner_lacks(call, command):
    """It is said before DATA, which does not exist, is opened."""
    answer = call(*command, "--learner", "averaged", "--penalty", "l1")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == (
        "perceptron-rs: error: the learner averaged has no option --penalty; "
        "leave it out, or choose --learner perceptron\n"
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--joint-update", "uniform"], "--joint-update has no effect without --multi-class joint"),
        (
            ["--multi-class", "ovr", "--joint-update", "max"],
            "--joint-update has no effect without --multi-class joint",
        ),
        (["--alpha", 1], "--alpha has no effect without --penalty l2 or l1 or elasticnet"),
        (["--penalty", "l2", "--l1-ratio", 1], "--l1-ratio has no effect without --penalty elasticnet"),
        (["--validation-fraction", 0.2], "--validation-fraction has no effect without --early-stopping"),
        (
            ["--no-early-stopping", "--validation-fraction", 0.2],
            "--validation-fraction has no effect without --early-stopping",
        ),
        (["--multi-class", "one"], "invalid choice: 'one'"),
        (["--joint-update", "most"], "invalid choice: 'most'"),
        (["--margin-threshold", -1], "must be a finite number of at least 0, got '-1'"),
        (["--added-feature", "inf"], "must be a finite number of at least 0, got 'inf'"),
        (["--max-mistakes-per-example", 0], "must be a whole number from 1"),
        (["--penalty", "l3"], "invalid choice: 'l3'"),
        (["--penalty", "l1", "--alpha", "nan"], "must be a finite number of at least 0, got 'nan'"),
        (["--l1-ratio", 1.5], "must be a number from 0 to 1, got '1.5'"),
        (["--validation-fraction", 1], "must be a number above 0 and below 1, got '1'"),
        (["--validation-fraction", 0], "must be a number above 0 and below 1, got '0'"),
        (["--learner", "kernel", "--degree", 2], "--degree has no effect without --kernel poly"),
        (["--learner", "kernel", "--coef0", 2], "--coef0 has no effect without --kernel poly or sigmoid"),
        (
            ["--learner", "kernel", "--kernel", "linear", "--gamma", 2],
            "--gamma has no effect without --kernel rbf or poly or sigmoid",
        ),
        (["--gamma", 0], "must be scale, auto or a finite number above 0, got '0'"),
        (["--gamma", "nan"], "must be scale, auto or a finite number above 0, got 'nan'"),
        (["--coef0", "inf"], "must be a finite number, got 'inf'"),
        (["--degree", 0], "must be a whole number from 1"),
        (["--cache-size", 0], "must be a finite number above 0, got '0'"),
        (["--hidden-layer-sizes", "5,0"], "must be a whole number from 1"),
        (["--hidden-layer-sizes", ""], "must be a whole number from 1"),
        (["--kernel", "cubic"], "invalid choice: 'cubic'"),
        (
            ["--learner", "multilayer", "--eta0", 1],
            "the learner multilayer has no option --eta0; leave it out",
        ),
        (["--learner", "kernel", "--init-text", "no"], "--init-text needs weights of features"),
    ],
)
def test_wrong_usage(call, options, expected):
    answer = call("train", "no.svm", "--model", "no/m", *options)
    assert answer.status == 2
    assert expected in answer.err
    assert answer.out == ""


def test_what_the_estimator_refuses(refused, tmp_path, examples):
    line = refused(
        "train", examples[0], "--model", tmp_path / "m", "--multi-class", "joint", "--margin-threshold", 1
    )
    assert line == "margin_threshold=1.0 is not available with multi_class='joint'; set margin_threshold=0"


def test_options_of_a_new_learner_need_one_entry(call, monkeypatch):
    class Other(LinearLearner):
        def __init__(self, novelty="some"):
            self.novelty = novelty

    entry = Option("novelty", "what is new", {"choices": ("some", "much")})
    monkeypatch.setattr(learning, "OPTIONS", (*OPTIONS, entry))
    monkeypatch.setitem(
        REGISTRY, "averaged", SimpleNamespace(kind=Other, data="examples", family="linear", in_epochs=True)
    )
    arguments = ["train", "no.svm", "--model", "m", "--novelty", "much", "--learner"]
    assert learning.chosen(parser().parse_args([*arguments, "averaged"])) == {"novelty": "much"}
    answer = call(*arguments, "perceptron")
    assert answer.status == 2
    assert (
        "the learner perceptron has no option --novelty; leave it out, or choose --learner averaged"
        in answer.err
    )


def test_parity_takes_them(call, examples):
    path = examples[0]
    plain = call("parity", path, "--epochs", 2, "--json").json
    for options in (["--multi-class", "joint"], ["--margin-threshold", 2], ["--penalty", "l1"]):
        found = call("parity", path, "--epochs", 2, *options, "--json").json
        assert found["difference"] is None
        assert found["ways"][0]["sha256"] != plain["ways"][0]["sha256"]
        assert len(found["ways"]) == len(plain["ways"])
    stopped = call("parity", path, "--epochs", 2, "--early-stopping", "--json").json
    assert stopped["difference"] is None
    assert 0 < len(stopped["ways"]) < len(plain["ways"])  # not by partial_fit, which cannot stop early


def test_validation_scores_are_reported(call, tmp_path, examples):
    path, X, y = examples
    options = ("--early-stopping", "--validation-fraction", 0.2, "--epochs", 3, "--quiet", "--json")
    found = call("train", path, "--model", tmp_path / "m", *options).json
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Perceptron(early_stopping=True, validation_fraction=0.2, max_iter=3).fit(X, y)
    assert found["validation_scores"] == model.validation_scores_.tolist()
    assert len(found["validation_scores"]) == 3
    assert "validation_scores" not in call("train", path, "--model", tmp_path / "m", "--quiet", "--json").json


def test_start_from_the_text_of_a_joint_model(call, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, (30, 3)), rng.integers(0, 2, 30)
    path, text = tmp_path / "a.npz", tmp_path / "text"
    np.savez(path, X=X, y=y)
    options = (
        "--model",
        tmp_path / "m",
        "--multi-class",
        "joint",
        "--tol",
        "none",
        "--no-shuffle",
        "--quiet",
    )
    assert call("train", path, *options, "--epochs", 2).status == 0
    text.write_text(call("inspect", tmp_path / "m", "--text").out, encoding="ascii")
    assert call("train", path, *options, "--epochs", 1, "--init-text", text).status == 0
    whole = Perceptron(multi_class="joint", tol=None, shuffle=False, max_iter=3).fit(X, y)
    assert modelfile.load_model(tmp_path / "m").coef_.tobytes() == whole.coef_.tobytes()
