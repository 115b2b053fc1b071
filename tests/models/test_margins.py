"""Separators of largest margin in model files: the same bits come back, and what is unsound is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.support import bits

import perceptron_rs
from perceptron_rs import MaxMarginClassifier
from perceptron_rs.models.container import pack, unpack
from perceptron_rs.state.fitted_attributes import flat

from .conftest import again, at, change

DRAWN = np.random.default_rng(1)
X = DRAWN.normal(size=(30, 4))
TWO = np.where(X @ [1, 2, -1, 0.5] + 0.1 > 0, "up", "down")
X[TWO == "up"] += 0.5
THREE = DRAWN.integers(0, 3, 30)


def fitted(labels, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MaxMarginClassifier(inseparable="warn", **parameters).fit(X, labels)


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three that no plane separates"])
@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
def test_everything_comes_back(tmp_path, labels, bias):
    model = fitted(labels, bias=bias, n_jobs=2)
    loaded = again(model, tmp_path)
    assert bits(flat(loaded)) == bits(flat(model))
    for data in (X, sp.csr_matrix(X)):
        assert loaded.decision_function(data).tobytes() == model.decision_function(data).tobytes()
        assert loaded.predict(data).tolist() == model.predict(data).tolist()


@pytest.mark.parametrize("kernel", ["poly", "rbf", "precomputed"])
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("stored", [np.array, np.float32, sp.csr_matrix], ids=["dense", "float32", "csr"])
def test_kernels_come_back(tmp_path, kernel, labels, stored):
    options = {} if kernel == "precomputed" else {"gamma": "scale", "degree": 2, "coef0": 1.0}
    whole = np.round(4 * X)
    rows = stored((whole @ whole.T + 1) ** 2 if kernel == "precomputed" else X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MaxMarginClassifier(inseparable="warn", kernel=kernel, **options).fit(rows, labels)
    loaded = again(model, tmp_path)
    assert bits(flat(loaded)) == bits(flat(model))
    assert loaded.decision_function(rows).tobytes() == model.decision_function(rows).tobytes()
    assert loaded.results_[0].kernel == model.results_[0].kernel
    if kernel != "precomputed":
        assert (loaded.support_vectors_ != model.support_vectors_).sum() == 0
        perceptron_rs.verify(
            loaded.results_[0],
            perceptron_rs.kernel_matrix(rows, kernel=kernel, **options),
            labels == model.classes_[1 if labels is TWO else 0],
        )


def test_the_kernel_is_that_of_the_fit(tmp_path):
    model = MaxMarginClassifier(kernel="rbf", gamma=3.0).fit(X, TWO)
    with pytest.raises(
        ValueError, match=r"kernel='poly' differs from the fit .* had 'rbf'; set it back, or fit again"
    ):
        model.set_params(kernel="poly").save(tmp_path / "m")
    with pytest.raises(ValueError, match=r"kernel='rbf' differs from the fit .* had 'linear'"):
        MaxMarginClassifier().fit(X, TWO).set_params(kernel="rbf").save(tmp_path / "m")
    with pytest.raises(ValueError, match=r"gamma=7.0 differs from the fit .* had 3.0"):
        model.set_params(kernel="rbf", gamma=7.0).save(tmp_path / "m")
    model.set_params(gamma=3.0).save(tmp_path / "m")
    loaded = perceptron_rs.load(tmp_path / "m")
    assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_the_certificates_still_hold(tmp_path):
    loaded = again(fitted(TWO), tmp_path)
    perceptron_rs.verify(loaded.results_[0], X, TWO == "up")


def test_names_of_columns(tmp_path):
    model = MaxMarginClassifier().fit(pd.DataFrame(X, columns=list("abcd")), TWO)
    assert again(model, tmp_path).feature_names_in_.tolist() == list("abcd")


def tell(**parts):
    return lambda document, tensors: document["results"][0].update(parts)


NAMES = ("coef", "intercept", "support", "dual_coef", "margin_interval", "results", "results_0_coef")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        *((lambda document, tensors, name=name: tensors.pop(name), f"{name} is missing") for name in NAMES),
        (change("coef", at((0, 0), np.nan)), "NaN or an infinity"),
        (change("coef", lambda a: a[:, 1:].copy()), "coef has the shape"),
        (change("support", at(0, 10**6)), "support must rise"),
        (change("support", at(0, -1)), "counts of at most"),
        (change("dual_coef", lambda a: a[:, 1:].copy()), "dual_coef has the shape"),
        (change("margin_interval", at((0, 0), np.inf)), "a lower and an upper end"),
        (change("margin_interval", at((0, 1), np.nan)), "a lower and an upper end"),
        (change("results", at((0, 0), np.nan)), "results holds a NaN"),
        (change("results", lambda a: a[:, 1:].copy()), "results has the shape"),
        (change("results_0_dual_weights", lambda a: a[1:]), "results_0_dual_weights has the shape"),
        (tell(status="maybe"), "status of a result must be one of"),
        (tell(bias="some"), "bias of a result must be one of"),
        (tell(proof="none"), "proof of a result must be one of"),
        (tell(solver=1), "must name its solver"),
        (tell(work={"steps": -1}), "work of a result must be counts"),
        (tell(more=1), "each of its results must hold"),
        (lambda document, tensors: document.update(results=[]), "its results must be a list of 1"),
        (lambda document, tensors: document.pop("results"), "its results must be a list of 1"),
        (lambda document, tensors: document["history"].update(n_features=5), "coef has the shape"),
        (lambda document, tensors: document.update(history={}), "history must hold n_features"),
        (lambda document, tensors: tensors.update(more=np.zeros(1)), "unknown tensor 'more'"),
    ],
)
def test_unsound_files(tmp_path, spoil, message):
    refused(fitted(TWO), spoil, message, tmp_path / "m")


def refused(model, spoil, message, path):
    model.save(path)
    document, tensors = unpack(path)
    spoil(document, tensors)
    path.write_bytes(pack(document, tensors))
    with pytest.raises(ValueError, match=rf"cannot load .*{message}"):
        perceptron_rs.load(path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda document, tensors: tensors.pop("kernel"), "kernel is missing"),
        (lambda document, tensors: tensors.pop("support_rows"), "support_rows is missing"),
        (change("kernel", at(0, 0.0)), "gamma must be finite and above 0"),
        (change("kernel", at(2, 1.5)), "degree of its kernel must be a whole number"),
        (change("kernel", at(2, 0.0)), "degree of its kernel must be a whole number"),
        (change("support_rows", lambda a: a[:, 1:].copy()), "support_rows has the shape"),
        (change("support_rows", lambda a: a[1:].copy()), "support_rows has the shape"),
        (change("support_rows", at((0, 0), np.inf)), "support_rows must hold finite numbers"),
        (change("results_0_coef", at(0, np.nan)), "NaN or an infinity"),
        (lambda document, tensors: tensors.update(coef=np.zeros((1, 4))), "unknown tensor 'coef'"),
        (lambda document, tensors: document["parameters"].update(kernel="linear"), "coef is missing"),
        (lambda document, tensors: document["parameters"].update(kernel="precomputed"), "'support_rows'"),
        (lambda document, tensors: document["parameters"].update(coef0=-1.0), "coef0"),
    ],
)
def test_unsound_files_of_kernels(tmp_path, spoil, message):
    refused(fitted(TWO, kernel="rbf"), spoil, message, tmp_path / "m")
