"""What users own dies with what they hold: no cache of the package keeps an object or a class alive."""

from __future__ import annotations

import gc
import weakref
from pathlib import PurePosixPath

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import KernelPerceptron, Perceptron, SequencePerceptron, reproduce
from perceptron_rs.testing import assert_parity

X = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [1.0, 3.0]])
Y = [0, 1, 0, 1]


class Kernel:
    def __call__(self, A, B):
        return np.asarray(A) @ np.asarray(B).T


class Generator(np.random.RandomState):
    """One that can be referred to weakly."""


class Key(PurePosixPath):
    """A file of a key."""


class Number(float):
    """A parameter that a user has made."""


def gone(make, use):
    """Whether what `make` returns dies after it was used."""
    owned = make()
    use(owned)
    reference = weakref.ref(owned)
    del owned
    gc.collect()
    return reference() is None


def passes(model):
    model.partial_fit(X, Y, classes=[0, 1])
    model.partial_fit(X, Y, check_input=False) if isinstance(model, Perceptron) else model.partial_fit(X, Y)
    model.predict(X)


def refused(model):
    with pytest.raises(ValueError, match="audit_key has no effect"):
        model.fit(X, Y)


OWNED = [
    (Kernel, lambda kernel: KernelPerceptron(kernel=kernel).fit(X, Y).predict(X)),
    (Generator, lambda random: Perceptron(random_state=random).fit(X, Y)),
    (Generator, lambda random: passes(Perceptron(random_state=random))),
    (lambda: Key("k"), lambda key: refused(Perceptron(audit_key=key))),
    (lambda: Number(0.5), lambda rate: passes(Perceptron(eta0=rate))),
    (lambda: Number(2), lambda weight: passes(Perceptron(class_weight={0: weight}))),
    (Kernel, lambda told: Perceptron(callback=lambda record: told is None).fit(X, Y)),
]


@pytest.mark.parametrize(("make", "use"), OWNED)
def test_an_object_dies_with_its_estimator(make, use):
    assert gone(make, use)


def test_a_client_of_dask_dies_with_its_estimator():
    dask = pytest.importorskip("perceptron_rs.dask")
    assert gone(Kernel, lambda client: dask.Perceptron(client=client).get_params())


@pytest.mark.parametrize("base", [Perceptron, KernelPerceptron, SequencePerceptron])
def test_a_class_of_users_dies(base):
    def use(kind):
        given = {"lengths": [4]} if base is SequencePerceptron else {}
        model = kind().fit(X, Y, **given)
        assert reproduce(model, X, Y, **given)
        if base is Perceptron:
            passes(kind())
            assert_parity(kind(max_iter=2, tol=None), X, Y)

    assert gone(lambda: type("Own", (base,), {"__module__": __name__}), use)


def test_a_class_of_matrices_dies():
    def use(kind):
        model = Perceptron().fit(X, Y)
        model.partial_fit(kind(X), np.array(Y), check_input=False)

    assert gone(lambda: type("Own", (sp.csr_matrix,), {"__module__": __name__}), use)
