"""The options that only some learners have: what they set, and when they are refused."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest

from perceptron_rs import Perceptron, load
from perceptron_rs.cli import learning
from perceptron_rs.cli.learning import LEARNER_NAMES, options_of
from perceptron_rs.cli.options import parse
from perceptron_rs.cli.status import UsageError
from perceptron_rs.common.options.groups import allowed
from perceptron_rs.common.options.ranges import Choice
from perceptron_rs.linear import parameters as linear
from perceptron_rs.registry import LEARNERS as REGISTRY

from .support import svmlight

LEARNERS = {name: learner.kind for name, learner in REGISTRY.items() if name in LEARNER_NAMES}

LABELS = np.array([-1, 1])
#: Options, and the parameters that they set. Pairs of options stand where one needs the other.
CASES = [
    (["--epochs", 2], {"max_iter": 2}),
    (["--no-shuffle"], {"shuffle": False}),
    (["--seed", 5], {"random_state": 5}),
    (["--tie", "positive"], {"tie": "positive"}),
    (["--eta0", 0.1], {"eta0": 0.1}),
    (["--tol", "none"], {"tol": None}),
    (["--tol", 0.5, "--n-iter-no-change", 1], {"tol": 0.5, "n_iter_no_change": 1}),
    (["--intercept"], {"fit_intercept": True}),
    (["--no-intercept"], {"fit_intercept": False}),
    (["--class-weight", "balanced"], {"class_weight": "balanced"}),
    (["--class-weight=-1=0.5", "--class-weight", "1=2"], {"class_weight": {-1: 0.5, 1: 2.0}}),
    (["--threads", 2], {"n_jobs": 2}),
    (["--engine", "reference"], {"engine": "reference"}),
    (
        ["--multi-class", "joint", "--joint-update", "proportional"],
        {"multi_class": "joint", "joint_update": "proportional"},
    ),
    (["--margin-threshold", 1.5], {"margin_threshold": 1.5}),
    (["--added-feature", 0.5], {"added_feature": 0.5}),
    (["--max-mistakes-per-example", 1], {"max_mistakes_per_example": 1}),
    (
        ["--penalty", "elasticnet", "--alpha", 0.01, "--l1-ratio", 0.5],
        {"penalty": "elasticnet", "alpha": 0.01, "l1_ratio": 0.5},
    ),
    (["--step", "pa1", "--C", 0.03], {"step": "pa1", "C": 0.03}),
    (["--n-partitions", 3, "--mixing", "mistakes"], {"n_partitions": 3, "mixing": "mistakes"}),
    (["--no-average", "--check", "epoch"], {"average": False, "check": "epoch"}),
    (["--prediction", "longest"], {"prediction": "longest"}),
    (["--max-vectors", 3], {"max_vectors": 3}),
    (["--kernel", "precomputed"], {"kernel": "precomputed"}),
    (["--kernel", "poly", "--degree", 2], {"kernel": "poly", "degree": 2}),
    (
        ["--kernel", "sigmoid", "--coef0=-0.5", "--gamma", "auto"],
        {"kernel": "sigmoid", "coef0": -0.5, "gamma": "auto"},
    ),
    (["--prediction", "last", "--normalize"], {"prediction": "last", "normalize": True}),
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


def learner_of(arguments):
    model = learning.learner(arguments)
    learning.weigh_classes(model, LABELS)
    return model


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(("options", "parameters"), CASES, ids=lambda value: str(value))
def test_options_are_parameters(learner, options, parameters):
    """Of a learner that lacks one of them, or for which it would do nothing, they are refused."""
    kind = LEARNERS[learner]
    argv = ["train", learner, "x.svm", "--model", "m", *map(str, options)]
    if options[0] == "--threads" and "n_jobs" not in kind().get_params():
        parameters = {}  # they are those of the reader
    if not set(parameters) <= set(kind().get_params()):
        with pytest.raises(UsageError, match=rf"the learner {learner} has no option --|no effect without"):
            learner_of(parse(argv))
    elif (learner, *options[:2]) in {("kernel", "--prediction", "longest"), ("perceptron", "--alpha", 2)}:
        with pytest.raises(UsageError, match=r"invalid choice: 'longest'|has no effect without --penalty"):
            learner_of(parse(argv))
    else:
        found = learner_of(parse(argv))
        assert found.get_params() == kind(**parameters).get_params()


OPTIONS = {name: options_of(name) for name in LEARNERS}


@pytest.mark.parametrize(
    "parameter", sorted({option.parameter for part in OPTIONS.values() for option in part})
)
def test_each_option_is_tried(parameter):
    assert any(parameter in parameters for _, parameters in CASES)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_learner_has_an_option_for_every_parameter(learner):
    """Those that are left out have no meaning on a command line, or are set by each command."""
    left_out = {"verbose", "warm_start", "track_mistakes", "callback", "keep_on_interrupt", "audit"}
    left_out |= {"audit_key", "n_jobs", "engine"}
    options = OPTIONS[learner]
    assert {option.parameter for option in options} == set(LEARNERS[learner]().get_params()) - left_out
    arguments = parse(["train", learner, "x.svm", "--model", "m"])
    assert not set(vars(arguments)) & {option.parameter for option in options}  # the learner's defaults


@pytest.mark.parametrize("learner", LEARNERS)
def test_help_says_the_defaults(learner):
    """In brackets at the end, or in words."""
    defaults = LEARNERS[learner]().get_params()
    in_words = {"none", "the default"}
    for option in OPTIONS[learner]:
        value = defaults[option.parameter]
        said = option.help.rpartition(" (")[2].removesuffix(")") if option.help.endswith(")") else None
        if said is None:
            assert value in (None, False), option
        elif said not in in_words:
            assert said == str(value).strip("(),").removesuffix(".0"), option


@pytest.mark.parametrize("command", [["train", "no.svm", "--model", "no/m"], ["parity", "no.svm"]])
def test_an_option_that_the_learner_lacks(call, command):
    """It is said before DATA, which does not exist, is opened."""
    answer = call(command[0], "averaged", *command[1:], "--penalty", "l1")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == (
        "perceptrons: error: the learner averaged has no option --penalty; "
        "leave it out, or choose the learner perceptron\n"
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--joint-update", "uniform"], "--joint-update has no effect without --multi-class joint"),
        (["--multi-class", "ovr", "--joint-update", "max"], "no effect without --multi-class joint"),
        (["--alpha", 1], "--alpha has no effect without --penalty l2 or l1 or elasticnet"),
        (["--no-early-stopping", "--validation-fraction", 0.2], "no effect without --early-stopping"),
        (["--mixing", "uniform"], "--mixing has no effect without --n-partitions N"),
        (["--multi-class", "one"], "invalid choice: 'one'"),
        (["--added-feature", "inf"], "must be a finite number of at least 0, got 'inf'"),
        (["--max-mistakes-per-example", 0], "must be a whole number from 1 to 2147483647"),
        (["--epochs", "two"], "got 'two'"),
        (["--seed", -1], "from 0 to 4294967295"),
        (["--eta0", "nan"], "must be a finite number above 0, got 'nan'"),
        (["--tol", "inf"], "of at least 0, or none"),
        (["--threads", 0], "must not be 0"),
        (["--l1-ratio", 1.5], "must be a number from 0 to 1, got '1.5'"),
        (["--validation-fraction", 1], "must be a number above 0 and below 1, got '1'"),
        (["kernel", "--gamma", 0], "must be scale, auto or a finite number above 0, got '0'"),
        (["kernel", "--coef0", "inf"], "must be a finite number, got 'inf'"),
        (["multilayer", "--hidden-layer-sizes", "5,0"], "must be a whole number from 1"),
        (["multilayer", "--hidden-layer-sizes", ""], "must be a whole number from 1"),
        (["multilayer", "--eta0", 1], "the learner multilayer has no option --eta0; leave it out"),
    ],
)
def test_wrong_usage(call, options, expected):
    learner = () if str(options[0]).startswith("-") else options[:1]
    answer = call("train", *learner, "no.svm", "--model", "no/m", *options[len(learner) :])
    assert answer.status == 2
    assert expected in answer.err
    assert answer.out == ""


def test_parameters_that_exclude_each_other(call, tmp_path):
    """Before DATA, which does not exist, is opened."""
    options = ("--multi-class", "joint", "--margin-threshold", 1)
    answer = call("train", "no.svm", "--model", tmp_path / "m", *options)
    said = "--margin-threshold 1.0 is not available with --multi-class joint; set --margin-threshold 0"
    said += " or --multi-class ovr"
    assert (answer.status, answer.err) == (2, f"perceptrons: error: {said}\n")


def test_names_of_scikit_learn(call):
    given = ["--max-iter", "3", "--random-state", "4", "--no-fit-intercept", "--n-jobs", "2"]
    ours = ["--epochs", "3", "--seed", "4", "--no-intercept", "--threads", "2"]
    assert parse(["train", "x.svm", "--model", "m", *given]) == parse(
        ["train", "x.svm", "--model", "m", *ours]
    )


def test_the_learner_may_be_left_out():
    with_it = parse(["train", "perceptron", "x.svm", "--model", "m"])
    assert parse(["train", "x.svm", "--model", "m"]) == with_it
    assert parse(["parity", "x.svm"]).learner == "perceptron"


def test_an_option_is_one_entry(call, monkeypatch):
    @dataclass(kw_only=True, eq=False, repr=False)
    class WithNovelty(linear.AveragedPerceptronParameters):
        novelty: str = field(default="some", metadata=allowed(Choice(("some", "much")), "what is new"))

    monkeypatch.setattr(linear, "AveragedPerceptronParameters", WithNovelty)
    arguments = ["no.svm", "--model", "m", "--novelty", "much"]
    assert learning.chosen(parse(["train", "averaged", *arguments])) == {"novelty": "much"}
    answer = call("train", *arguments)
    assert answer.status == 2
    assert "the learner perceptron has no option --novelty; leave it out" in answer.err


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


@pytest.mark.parametrize("name", LEARNER_NAMES)
def test_who_can_keep_an_interrupted_fit(name):
    has = "keep_on_interrupt" in REGISTRY[name].kind._get_param_names()
    assert hasattr(parse(["train", name, "DATA", "--model", "m"]), "keep_on_interrupt") is has


def test_what_an_option_needs_may_be_in_the_model_that_goes_on(call, text_file, tmp_path):
    first, then = tmp_path / "first", tmp_path / "then"
    again = ("train", text_file, "--continue", first, "--model", then, "--alpha", 0.01, "--quiet")
    assert call("train", text_file, "--model", first, "--quiet").status == 0
    assert "--alpha has no effect without --penalty" in call(*again).err
    assert call("train", text_file, "--model", first, "--penalty", "l2", "--quiet").status == 0
    assert call(*again).status == 0
    assert (load(then).alpha, load(then).penalty) == (0.01, "l2")
