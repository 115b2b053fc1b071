"""Multilayer perceptrons in model files: the same bits come back, and what is unsound is refused."""

import numpy as np
import pytest
from tests.support import contents

import perceptron_rs
from perceptron_rs import MultilayerPerceptron
from perceptron_rs.models.container import pack, unpack

from .conftest import change

from_random = np.random.default_rng(3)
X, Y = from_random.normal(size=(40, 3)), from_random.integers(0, 3, 40)
CLASSES = {"three": Y, "two": Y > 0, "text": np.array(["a", "b", "c"])[Y]}


def fitted(sizes=(4, 2), labels=Y, **parameters):
    return MultilayerPerceptron(sizes, max_iter=3, tol=None, **parameters).fit(X, labels)


@pytest.mark.parametrize("sizes", [(), 3, (4, 2), [2, 2, 2], np.array([3, 1])], ids=str)
@pytest.mark.parametrize("labels", CLASSES)
def test_everything_comes_back(tmp_path, sizes, labels):
    model = fitted(sizes, CLASSES[labels])
    model.save(tmp_path / "m")
    loaded = perceptron_rs.load(tmp_path / "m")
    if not isinstance(sizes, int):  # whatever the sequence was
        assert loaded.hidden_layer_sizes == tuple(sizes)
        model.hidden_layer_sizes = tuple(int(size) for size in sizes)
    assert contents(loaded) == contents(model)
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic"])
def test_what_goes_on_from_a_file_is_the_same_run(tmp_path, activation):
    model = fitted(activation=activation, warm_start=True)
    model.save(tmp_path / "m")
    loaded = perceptron_rs.load(tmp_path / "m")
    for each in (model, loaded):
        each.fit(X, Y)
        each.partial_fit(X[:9], Y[:9])
    assert contents(loaded) == contents(model)


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="RandomState"):
        fitted(random_state=np.random.RandomState(0)).save(tmp_path / "m")
    with pytest.raises(ValueError, match="not fitted"):
        MultilayerPerceptron().save(tmp_path / "m")
    model = fitted().set_params(hidden_layer_sizes=(9,))
    with pytest.raises(ValueError, match=r"hidden_layer_sizes=\(9,\) differs from the fit"):
        model.save(tmp_path / "m")
    model = fitted()
    numbers = model._model.state()
    model._publish(numbers | {"intercept_0": numbers["intercept_0"] * np.nan})
    with pytest.raises(ValueError, match="NaN or an infinity"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def say(part, **values):
    return lambda document, tensors: document[part].update(values)


UNSOUND = [
    (lambda document, tensors: tensors.pop("coef_1"), "coef_1 is missing"),
    (lambda document, tensors: tensors.pop("intercept_2"), "intercept_2 is missing"),
    (lambda document, tensors: tensors.pop("loss_curve"), "loss_curve is missing"),
    (change("coef_0", lambda a: a.T.copy()), "coef_0 has the shape"),
    (change("coef_0", lambda a: a * np.inf), "NaN or an infinity"),
    (change("coef_0", lambda a: a.astype(np.float32)), "must be of float64"),
    (change("intercept_1", lambda a: a[1:]), "intercept_1 has the shape"),
    (change("loss_curve", lambda a: a[1:]), "loss_curve has the shape"),
    (change("loss_curve", lambda a: -1 - a), "loss_curve must hold numbers from 0 or more"),
    (change("mistakes_per_epoch", lambda a: a[1:]), "mistakes_per_epoch has the shape"),
    (change("mistakes_per_epoch", lambda a: -1 - a), "counts of at most"),
    (lambda document, tensors: tensors.update(coef_3=np.zeros((1, 1))), "unknown tensor 'coef_3'"),
    (say("history", n_features=4), "coef_0 has the shape"),
    (say("history", n_features=0), "one feature or more"),
    (say("history", n_iter=0), "has the shape"),
    (say("history", epochs=True), "history must hold counts"),
    (say("history", more=1), "history must hold"),
    (lambda document, tensors: document.update(history=3), "history must hold"),
    (say("parameters", hidden_layer_sizes=[4]), "coef_1 has the shape"),
    (say("parameters", hidden_layer_sizes=[4, 0]), "or a list, each an int in the range [1, 2147483647]"),
    (say("parameters", hidden_layer_sizes=[[4], 2]), "or a list, each an int in the range [1, 2147483647]"),
    (say("parameters", hidden_layer_sizes=None), "hidden_layer_sizes"),
    (say("parameters", hidden_layer_sizes={}), "must not be a JSON dict"),
    (say("parameters", alpha=[1]), "The 'alpha' parameter"),
    (say("parameters", activation="sine"), "activation"),
    (say("classes", values=[0, 1]), "coef_2 has the shape"),
]


@pytest.mark.parametrize(("spoil", "message"), UNSOUND)
def test_unsound_files(tmp_path, spoil, message):
    fitted().save(tmp_path / "m")
    document, tensors = unpack(tmp_path / "m")
    spoil(document, tensors)
    (tmp_path / "m").write_bytes(pack(document, tensors))
    with pytest.raises(ValueError, match="cannot load") as caught:
        perceptron_rs.load(tmp_path / "m")
    assert message in str(caught.value)
