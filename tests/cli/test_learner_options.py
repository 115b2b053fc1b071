"""The options that only some learners have: what they set, and when they are refused."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import dataclass, field

import numpy as np
import pytest

from perceptron_rs import load
from perceptron_rs.cli import learning
from perceptron_rs.cli.data import weigh_classes
from perceptron_rs.cli.learning import LEARNER_NAMES, options_of
from perceptron_rs.cli.options import parse_arguments
from perceptron_rs.cli.status import UsageError
from perceptron_rs.linear import parameters as linear
from perceptron_rs.parameters.groups import Parameters, add_options, allowed, options
from perceptron_rs.parameters.kinds import AMOUNT, POSITIVE, SWITCH, TOLERANCE, parsed, sizes
from perceptron_rs.parameters.ranges import Choice
from perceptron_rs.registry import REGISTRY

LEARNERS = {name: learner.kind for name, learner in REGISTRY.items() if name in LEARNER_NAMES}

OPTIONS = {name: options_of(name) for name in (*LEARNERS, "sequence")}
#: What is written of parameters whose values say no example of it.
WRITTEN = {"class_weight": "-1=2", "hidden_layer_sizes": "5,3", "random_state": "7", "n_partitions": "3"}
READ = {"class_weight": [("-1", 2.0)], "hidden_layer_sizes": (5, 3), "random_state": 7, "n_partitions": 3}


def written(option, flag):
    """Return words that give an option a value, and the value."""
    how = option.values.option()
    if option.parameter in WRITTEN:
        return [f"{flag}={WRITTEN[option.parameter]}"], READ[option.parameter]
    if "choices" in how:
        return [flag, how["choices"][-1]], how["choices"][-1]
    if "type" not in how:
        return [f"--no-{flag[2:]}"], False
    try:
        return [flag, "2"], how["type"]("2")
    except ArgumentTypeError:
        return [flag, "0.5"], 0.5


@pytest.mark.parametrize("learner", OPTIONS)
def test_options_are_parameters(learner):
    """Each sets its own and no other, also by its name in Python; a learner that lacks it says who has it."""
    argv = ["x.svm", "--model", "m"]
    command = ["tag-train"] if learner == "sequence" else ["train", learner]
    unset = vars(parse_arguments([*command, *argv]))
    for option in OPTIONS[learner]:
        for flag in option.flags:
            words, value = written(option, flag)
            told = vars(parse_arguments([*command, *argv, *words]))
            assert told == unset | {option.parameter: value}
        if learner == "sequence":
            continue
        other = next((name for name in LEARNERS if option not in OPTIONS[name]), None)
        if other is not None and option.parameter not in {known.parameter for known in OPTIONS[other]}:
            with pytest.raises(UsageError, match=rf"the learner {other} has no option --.*{learner}"):
                parse_arguments(["train", other, *argv, *words])


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["--threads", "2", "--engine", "reference"], {"n_jobs": 2, "engine": "reference"}),
        (["--tol", "none", "--no-intercept"], {"tol": None, "fit_intercept": False}),
        (["--class-weight", "balanced"], {"class_weight": "balanced"}),
        (["--class-weight=-1=0.5", "--class-weight", "1=2"], {"class_weight": {-1: 0.5, 1: 2.0}}),
        (["kernel", "--kernel", "sigmoid", "--gamma", "auto"], {"kernel": "sigmoid", "gamma": "auto"}),
        (["multilayer", "--hidden-layer-sizes", "none"], {"hidden_layer_sizes": ()}),
    ],
    ids=str,
)
def test_the_estimator_has_them(options, parameters):
    name = "perceptron" if options[0].startswith("-") else options[0]
    model = learning.learner(
        parse_arguments(["train", name, "x.svm", "--model", "m", *options[options[0] == name :]])
    )
    weigh_classes(model, np.array([-1, 1]))
    assert model.get_params() == LEARNERS[name](**parameters).get_params()


@pytest.mark.parametrize("command", [["train", "no.svm", "--model", "no/m"], ["parity", "no.svm"]])
def test_an_option_that_the_learner_lacks(refused, command):
    """It is said before DATA, which does not exist, is opened."""
    said = "the learner averaged has no option --penalty; leave it out, or choose the learner perceptron"
    assert refused(command[0], "averaged", *command[1:], "--penalty", "l1", status=2) == said


def test_parameters_that_exclude_each_other(refused, tmp_path):
    """Before DATA, which does not exist, is opened."""
    options = ("--multi-class", "joint", "--margin-threshold", 1)
    said = "--margin-threshold 1.0 is not available with --multi-class joint; set --margin-threshold 0"
    said += " or --multi-class ovr"
    assert refused("train", "no.svm", "--model", tmp_path / "m", *options, status=2) == said


def test_the_learner_may_be_left_out():
    with_it = vars(parse_arguments(["train", "averaged", "x.svm", "--model", "m"]))
    assert vars(parse_arguments(["train", "x.svm", "--model", "m"])) == with_it | {"is_named": False}
    assert vars(parse_arguments(["train", "--multilabel", "x.svm", "--model", "m"]))["multilabel"]
    assert parse_arguments(["parity", "x.svm"]).learner == "averaged"


def test_an_option_is_one_entry(refused, monkeypatch):
    @dataclass(kw_only=True, eq=False, repr=False)
    class WithNovelty(linear.AveragedPerceptronParameters):
        novelty: str = field(default="some", metadata=allowed(Choice(("some", "much")), "what is new"))

    monkeypatch.setattr(linear, "AveragedPerceptronParameters", WithNovelty)
    arguments = ["no.svm", "--model", "m", "--novelty", "much"]
    told = parse_arguments(["train", "averaged", *arguments])
    assert learning.parameters_of(told, options_of("averaged")) == {"novelty": "much"}
    said = refused("train", "pocket", *arguments, status=2)
    assert "the learner pocket has no option --novelty; leave it out" in said


ASIDE = {"needs": {"on": (True,)}, "sets": {"off": True}}


@dataclass(kw_only=True, eq=False, repr=False)
class Told(Parameters):
    """Parameters with defaults of every kind."""

    on: bool = field(default=True, metadata=allowed(SWITCH, "on"))
    off: bool = field(default=False, metadata=allowed(SWITCH, "off", name="out"))
    number: float = field(default=2.0, metadata=allowed(AMOUNT, "number", of_model="that of the model"))
    limit: float | None = field(default=None, metadata=allowed(TOLERANCE, "limit", of_model=False))
    layers: tuple[int, ...] = field(default=(10,), metadata=allowed(parsed(sizes, "N,N"), "layers"))
    weight: float = field(default=0.5, metadata=allowed(AMOUNT, "weight", default="as it comes", **ASIDE))
    shape: float = field(default=0.5, metadata=allowed(AMOUNT, "shape", default=""))
    silent: int = field(default=1, metadata=allowed(POSITIVE))


@pytest.mark.parametrize(("of_model", "without"), [(False, ()), (True, ()), (False, ("on", "layers"))])
def test_what_help_says_of_a_default(of_model, without):
    place = ArgumentParser(add_help=False)
    add_options(place, Told, *without, of_model=of_model)
    texts = {
        "on": "on (the default)",
        "off": "off",
        "number": "number (that of the model)" if of_model else "number (2)",
        **({} if of_model else {"limit": "limit (none)"}),
        "layers": "layers (10)",
        "weight": "weight (as it comes)",
        "shape": "shape",
    }
    assert {action.dest: action.help for action in place._actions} == {
        name: text for name, text in texts.items() if name not in without
    }
    assert place.parse_args(["--out"]) == Namespace(off=True)
    weight = next(option for option in options(Told) if option.parameter == "weight")
    assert {"needs": weight.needs, "sets": weight.sets} == ASIDE
    assert (weight.flag, weight.flags, weight.default) == ("--weight", ("--weight",), 0.5)
    assert place.parse_args(["--weight", "3", "--no-off"]) == Namespace(weight=3.0, off=False)


@pytest.mark.parametrize("name", LEARNER_NAMES)
def test_who_can_keep_an_interrupted_fit(name):
    has = "keep_on_interrupt" in REGISTRY[name].kind._get_param_names()
    assert hasattr(parse_arguments(["train", name, "DATA", "--model", "m"]), "keep_on_interrupt") is has


def test_what_an_option_needs_may_be_in_the_model_that_goes_on(call, text_file, tmp_path):
    first, then = tmp_path / "first", tmp_path / "then"
    again = (
        "train",
        "perceptron",
        text_file,
        "--continue",
        first,
        "--model",
        then,
        "--alpha",
        0.01,
        "--quiet",
    )
    assert call("train", "perceptron", text_file, "--model", first, "--quiet").status == 0
    assert "--alpha has no effect without --penalty" in call(*again).err
    assert call("train", "perceptron", text_file, "--model", first, "--penalty", "l2", "--quiet").status == 0
    assert call(*again).status == 0
    assert (load(then).alpha, load(then).penalty) == (0.01, "l2")
