"""Constructors: what they do not take is refused in words that name the estimator and what helps."""

from __future__ import annotations

import inspect

import pytest

import perceptron_rs
from perceptron_rs import AveragedPerceptron, MultilayerPerceptron, Perceptron, SequencePerceptron
from perceptron_rs.registry import REGISTRY


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Perceptron(max_itr=5), "Perceptron has no parameter 'max_itr'; did you mean max_iter?"),
        (lambda: Perceptron("l2"), "Perceptron takes parameters by name alone, got 'l2'; write penalty='l2'"),
        (
            lambda: AveragedPerceptron(3),
            "AveragedPerceptron takes .* got 3; write AveragedPerceptron",
        ),
        (lambda: MultilayerPerceptron((3,), 4), "MultilayerPerceptron takes parameters by name alone, got 4"),
        (
            lambda: Perceptron(average=True),
            "parameter 'average'; AveragedPerceptron predicts with the av",
        ),
        (lambda: Perceptron(loss="hinge"), "no parameter 'loss'; the loss is that of the perceptron"),
        (lambda: Perceptron(learning_rate="constant"), "no parameter 'learning_rate'; the rate is eta0"),
        (lambda: SequencePerceptron(qq=1), "SequencePerceptron has no parameter 'qq'; it has C, audit"),
    ],
)
def test_what_no_constructor_takes_is_named(make, said):
    with pytest.raises(TypeError, match=said):
        make()


def test_a_learner_of_a_cluster_knows_the_parameters_of_the_local_one():
    dask = pytest.importorskip("perceptron_rs.dask")
    assert dask.Perceptron(max_iter=3).max_iter == 3
    with pytest.raises(TypeError, match="Perceptron has no parameter 'max_itr'; did you"):
        dask.Perceptron(max_itr=3)


def test_a_subclass_may_take_what_it_likes():
    class Own(Perceptron):
        def __init__(self, first=1, **others):
            super().__init__(**others)
            self.first = first

    assert Own(2, eta0=0.5).eta0 == 0.5
    with pytest.raises(TypeError, match="unexpected keyword argument 'eta'"):
        Own(2, eta=0.5)


@pytest.mark.parametrize("learner", REGISTRY)
def test_signatures_are_those_of_the_parameters(learner):
    kind = REGISTRY[learner].kind
    assert list(inspect.signature(kind).parameters) == list(inspect.signature(kind.__init__).parameters)[1:]
    assert kind in vars(perceptron_rs).values() or kind.__name__ in dir(perceptron_rs)
