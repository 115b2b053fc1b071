"""Models of streams that are trained again: from arrays, from the source, and what is named if it differs."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    Perceptron,
    VotedPerceptron,
    reproduce,
)
from perceptron_rs.audit import RECORD
from perceptron_rs.audit.digests import Digests
from perceptron_rs.audit.record import StreamRecord
from perceptron_rs.io import Source, open_arrays, open_svmlight

from .problems import refused, saved

rng = np.random.default_rng(3)
N = 1300
X = rng.integers(-2, 3, (N, 5)).astype(np.float64)
X[:, 4] = 1  # so that svmlight text is as wide
Y = np.array(["ham", "spam", "egg"])[np.argmax(X[:, :3] + rng.normal(size=(N, 3)), axis=1)]
WEIGHT = rng.integers(0, 3, N).astype(np.float64)
SHORT = {"max_iter": 3, "tol": None, "audit": True}
LEARNERS = [
    Perceptron(**SHORT, penalty="l2", alpha=1e-3, class_weight="balanced"),
    AveragedPerceptron(**SHORT),
    VotedPerceptron(**SHORT, max_vectors=9),
    BudgetedKernelPerceptron(max_iter=2, gamma=0.5, budget=20, audit=True),
]
NAMES = [type(learner).__name__ for learner in LEARNERS]
SHUFFLED = {"shuffle": "block", "block_size": 70}


def fitted(learner, source=(X, Y), **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(learner).fit_stream(source, **options)


@pytest.mark.parametrize("options", [{}, {"block_size": 70}, SHUFFLED], ids=["one", "blocks", "shuffled"])
@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_a_stream_is_reproduced_from_its_file(learner, options, tmp_path):
    model = saved(fitted(learner, **options), tmp_path)
    for given in ((X, Y), (sp.csr_matrix(X), Y), (open_arrays(X, Y),)):
        answer = reproduce(model, *given)
        assert answer, answer.message


@pytest.mark.parametrize("options", [{}, SHUFFLED], ids=["in order", "shuffled"])
def test_digests_are_those_of_fit(options):
    model = fitted(LEARNERS[1], **options)
    expected = clone(LEARNERS[1]).set_params(shuffle=False).fit(X, Y)
    (found,), (call,) = model._calls, expected._calls
    assert found.digests == call.digests
    assert (found.method, found.block_size) == ("fit_stream", options.get("block_size"))
    assert [size for size, _ in found.digests.blocks] == [N]


def test_a_source_is_compared_block_by_block():
    model = fitted(LEARNERS[1])

    def batches(x=X, y=Y):
        for first in range(0, N, 100):
            yield x[first : first + 100], y[first : first + 100]

    assert reproduce(model, Source(batches=batches))
    x, y = X.copy(), Y.copy()
    x[1200, 3] += 1
    y[30] = "egg" if Y[30] != "egg" else "ham"
    message = (
        "^other data: rows 0 to 1299 differ somewhere in their entries or labels; compare them with a copy$"
    )
    refused(reproduce(model, Source(batches=lambda: batches(x))), "data", message)
    message = (
        "^other data: rows 0 to 1299 differ somewhere in their entries or labels; compare them with a copy$"
    )
    refused(reproduce(model, Source(batches=lambda: batches(X, y))), "data", message)
    refused(reproduce(model, open_arrays(X[:-1], Y[:-1])), "data", "from 1300 rows, got 1299")
    refused(reproduce(model, open_arrays(np.hstack([X, X]), Y)), "data", "from 5 columns, got 10")
    y[30] = "none"
    refused(reproduce(model, open_arrays(X, y)), "data", "the label 'none' is no class of the model")


def test_other_parameters_and_numbers(tmp_path):
    model = saved(fitted(LEARNERS[1]).set_params(eta0=0.5), tmp_path)
    refused(reproduce(model, X, Y), "parameters", "eta0 is 0.5 in the model, which was trained with 1.0")
    model = fitted(LEARNERS[0])
    numbers = model._model.state()
    model._publish(numbers | {"coef": numbers["coef"] + np.eye(3, 5)})
    refused(reproduce(model, open_arrays(X, Y)), "numbers", "coef_ at index")


def test_text_and_its_cache(tmp_path):
    path = tmp_path / "data.svm"
    y = (Y == "ham").astype(int)
    dump_svmlight_file(X, y, str(path), zero_based=False)
    model = fitted(LEARNERS[1], open_svmlight(path), cache=tmp_path / "cache", **SHUFFLED)
    assert reproduce(model, open_svmlight(path))
    assert reproduce(model, X, y.astype(float)), "labels of such text are float64"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["cache", "data.svm"]


def test_text_without_the_last_columns_is_as_wide_as_the_model(tmp_path):
    """Text tells no number of columns: those that no example has are in the model all the same."""
    path = tmp_path / "data.svm"
    dump_svmlight_file(X, (Y == "ham").astype(int), str(path), zero_based=False)
    model = fitted(LEARNERS[1], open_svmlight(path, n_features=9))
    assert model.coef_.shape == (1, 9)
    answer = reproduce(model, open_svmlight(path))
    assert answer, answer.message


def test_weights_of_examples():
    model = fitted(LEARNERS[1], (X, Y, WEIGHT), block_size=70)
    assert reproduce(model, X, Y, WEIGHT)
    assert reproduce(model, open_arrays(X, Y, WEIGHT))
    other = WEIGHT.copy()
    other[1100] += 1
    refused(
        reproduce(model, X, Y, other),
        "data",
        "rows 0 to 1299 differ somewhere in their entries, labels or weights; compare them with a copy",
    )
    refused(reproduce(model, X, Y), "data", "was trained with sample_weight")


def test_without_audit_a_stream_can_be_repeated_but_nothing_named():
    model = fitted(clone(LEARNERS[1]).set_params(audit=False))
    assert model._calls[0].digests is None
    assert reproduce(model, open_arrays(X, Y))
    x = X.copy()
    x[:100] += 1
    refused(reproduce(model, x, Y), "numbers", "whether the data is the same is not known")


def test_a_stream_goes_on_from_a_fit(tmp_path):
    model = clone(LEARNERS[1]).set_params(warm_start=True).fit(X, Y)
    model.fit_stream((X, Y), block_size=70)
    assert [call.method for call in model._calls] == ["fit", "fit_stream"]
    assert reproduce(saved(model, tmp_path), X, Y)


class StoppedError(Exception):
    """What ends a run."""


@pytest.mark.parametrize("shuffle", [False, "block"])
def test_a_run_that_goes_on_has_the_record_of_one_that_was_not_stopped(shuffle, tmp_path):
    options = {"shuffle": shuffle, "block_size": 70}
    expected = fitted(LEARNERS[1], **options)._calls
    options |= {"checkpoint": tmp_path / "run", "checkpoint_every": 0, "resume": True}

    def source(stop_at):
        given = []

        def between(first, last):
            given.append(first)
            if len(given) == stop_at:
                raise StoppedError
            return X[first:last] + 0.0, Y[first:last]

        return Source(batches=lambda: iter([(X, Y)]), between=between, n_rows=N, n_features=5)

    for stop_at in (30, 60):
        with pytest.raises(StoppedError):
            fitted(LEARNERS[1], source(stop_at), **options)
    for _ in range(2):  # the second time it only looks
        assert fitted(LEARNERS[1], source(None), **options)._calls == expected


def test_what_cannot_be_repeated_is_said():
    with pytest.raises(ValueError, match="a source is for models that fit_stream has trained"):
        reproduce(clone(LEARNERS[1]).fit(X, Y), open_arrays(X, Y))
    model = fitted(LEARNERS[1])
    with pytest.raises(ValueError, match="can be read only once, but it is compared"):
        reproduce(model, Source(batches=lambda: iter([(X, Y)]), again=False))
    with pytest.raises(ValueError, match="y must be given with X"):
        reproduce(model, X)
    model._calls = (replace(model._calls[0], ended=("interrupt", 1)),)
    with pytest.raises(ValueError, match="Ctrl-C ended the training"):
        reproduce(model, X, Y)


def test_a_fit_that_ctrl_c_ended_says_so():
    def stop(record):
        if record.epoch == 1:
            raise KeyboardInterrupt

    model = fitted(clone(LEARNERS[1]).set_params(callback=stop, keep_on_interrupt=True), block_size=70)
    assert model._calls[0].ended == ("interrupt", 2)
    with pytest.raises(ValueError, match="Ctrl-C ended the training"):
        reproduce(model, X, Y)


@pytest.mark.parametrize("audit", [True, False])
def test_ctrl_c_before_the_examples_were_counted(audit):
    """What the run has learnt from is known to nobody: there is no record, rather than one of no examples."""

    def batches():
        yield X[:500], Y[:500]
        raise KeyboardInterrupt

    model = Perceptron(keep_on_interrupt=True, audit=audit)
    with pytest.warns(ConvergenceWarning):
        model.fit_stream(Source(batches=batches, n_features=5), classes=np.unique(Y), block_size=100)
    assert model.n_mistakes_ > 0
    assert getattr(model, RECORD, None) is None
    with pytest.raises(ValueError, match="has no record of its training"):
        reproduce(model, X, Y)


def test_a_fit_that_a_callback_ended():
    model = fitted(clone(LEARNERS[1]).set_params(callback=lambda record: record.epoch == 1))
    assert model._calls[0].ended == ("callback", 2)
    assert reproduce(model, open_arrays(X, Y))


@pytest.mark.parametrize("size", [1, 7, 999, 1000, 1001])
def test_digests_do_not_know_of_blocks(size):
    whole = Digests().with_call({"rows": X}, 5, np.unique(Y, return_inverse=True)[1].astype(np.uint32))
    model = fitted(Perceptron(max_iter=1, audit=True), (X, Y), block_size=size)
    assert model._calls[0].digests.blocks == whole.blocks


@pytest.mark.parametrize("behind", [0, 2])
def test_few_blocks_wait_for_their_digests(behind):
    model = Perceptron(audit=True)
    setattr(model, RECORD, ())
    model.n_features_in_ = X.shape[1]
    with StreamRecord(model, None, None, behind) as record:
        for first in range(0, N, 100):
            rows = slice(first, first + 100)
            labels = np.searchsorted(np.unique(Y), Y[rows]).astype(np.uint32)
            record.see(first, None, {"rows": X[rows]}, labels, None, None)
            assert len(record.working) <= behind
        record.end(N)
    (call,) = model._calls
    assert call.digests == Perceptron(audit=True).fit(X, Y)._calls[0].digests
