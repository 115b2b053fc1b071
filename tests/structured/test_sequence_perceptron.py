"""SequencePerceptron: forms of input, prediction, constraints, history, and bad input."""

from __future__ import annotations

import copy
import pickle
import signal
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs import SequencePerceptron, load
from perceptron_rs.features import AttributeEncoder, word_attributes
from tests.support import contents
from tests.validation import validation_part

SENTENCES = [
    [("the", "D"), ("dog", "N"), ("barks", "V")],
    [("a", "D"), ("cat", "N"), ("sees", "V"), ("the", "D"), ("dog", "N")],
    [("dogs", "N"), ("bark", "V")],
    [("the", "D"), ("bark", "N"), ("falls", "V")],
    [("cats", "N"), ("see", "V"), ("a", "D"), ("tree", "N")],
]
WORDS = [[word for word, _ in sentence] for sentence in SENTENCES]
TAGS = [[tag for _, tag in sentence] for sentence in SENTENCES]
ATTRIBUTES = [word_attributes(words, window=1) for words in WORDS]


def numbers(seed=0, sequences=8, d=5, labels=3):
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 6, sequences)
    X = random.integers(-2, 3, (lengths.sum(), d)).astype(np.float64)
    return X, random.integers(0, labels, lengths.sum()), lengths


def state_of(model):
    arrays = {name: array.tobytes() for name, array in model._weights.items()}
    return arrays | {"errors": model.sequence_errors_per_epoch_.tolist(), "seen": model.n_seen_}


def test_learns_sentences(engine_name):
    model = SequencePerceptron(max_iter=20, engine=engine_name).fit(ATTRIBUTES, TAGS)
    assert model.converged_
    assert model.predict(ATTRIBUTES) == TAGS
    assert model.score(ATTRIBUTES, TAGS) == 1.0
    assert model.sequence_errors_per_epoch_[-1] == model.token_errors_per_epoch_[-1] == 0
    assert len(model.sequence_errors_per_epoch_) == model.n_iter_ < 20
    assert model.n_seen_ == model.n_iter_ * len(TAGS)


def test_dicts_and_lists_are_one():
    as_dicts = [[dict.fromkeys(token, 1.0) for token in sentence] for sentence in ATTRIBUTES]
    pairs = [[{"w": word} for word in sentence] for sentence in WORDS]
    joined = [[[f"w={word}"] for word in sentence] for sentence in WORDS]
    for left, right in ((ATTRIBUTES, as_dicts), (joined, pairs)):
        models = [SequencePerceptron().fit(X, TAGS) for X in (left, right)]
        assert state_of(models[0]) == state_of(models[1])


def test_a_matrix_and_attributes_are_one():
    by_attributes = SequencePerceptron().fit(ATTRIBUTES, TAGS)
    X = by_attributes.encoder_.transform([token for sentence in ATTRIBUTES for token in sentence])
    y, lengths = [tag for tags in TAGS for tag in tags], [len(tags) for tags in TAGS]
    by_matrix = SequencePerceptron().fit(X, y, lengths=lengths)
    assert state_of(by_attributes) == state_of(by_matrix)
    assert by_matrix.predict(X, lengths=lengths).tolist() == y
    assert by_matrix.coef_.shape == (3, X.shape[1])


@pytest.mark.parametrize("changes", [{}, {"transition_features": True}, {"decode": "beam", "beam_width": 2}])
def test_the_engines_agree(changes):
    X, y, lengths = numbers()
    models = [
        SequencePerceptron(engine=engine, max_iter=4, random_state=3, **changes).fit(
            kind(X), y, lengths=lengths
        )
        for engine in ("rust", "reference")
        for kind in (np.asarray, sp.csr_array, lambda X: X.astype(np.int8))
    ]
    assert all(state_of(model) == state_of(models[0]) for model in models)
    found = {model.predict(X, lengths=lengths).tobytes() for model in models}
    assert len(found) == 1


def test_no_lengths_are_one_sequence():
    X, y, _ = numbers()
    one = SequencePerceptron().fit(X, y)
    assert state_of(one) == state_of(SequencePerceptron().fit(X, y, lengths=[len(X)]))


def test_unknown_attributes_are_ignored_and_unknown_labels_are_errors():
    model = SequencePerceptron(max_iter=20).fit(ATTRIBUTES, TAGS)
    with_new = [[[*token, "new=1"] for token in sentence] for sentence in ATTRIBUTES]
    assert model.predict(with_new) == TAGS
    wrong = [["?", *tags[1:]] for tags in TAGS]
    n = sum(map(len, TAGS))
    assert model.score(ATTRIBUTES, wrong) == (n - len(TAGS)) / n


def test_allowed_and_forbidden(engine_name):
    X, y, lengths = numbers(labels=3)
    model = SequencePerceptron(max_iter=3, engine=engine_name).fit(X, y, lengths=lengths)
    free = model.predict(X, lengths=lengths)
    allowed = [None] * len(X)
    allowed[2] = {1}
    allowed[4] = [0, 2]
    found = model.predict(X, lengths=lengths, allowed=allowed)
    assert found[2] == 1
    assert found[4] in (0, 2)
    mask = np.ones((len(X), 3), dtype=bool)
    mask[2], mask[4] = [False, True, False], [True, False, True]
    assert model.predict(X, lengths=lengths, allowed=mask).tolist() == found.tolist()
    assert model.predict(X, lengths=lengths, allowed=[None] * len(X)).tolist() == free.tolist()
    forbidden = [(k, k) for k in range(3)]
    found = model.predict(X, lengths=lengths, forbidden=forbidden)
    ends = set(np.cumsum(lengths))
    assert all(found[i] != found[i - 1] for i in range(1, len(found)) if i not in ends)
    with pytest.raises(ValueError, match="allowed and forbidden leave no labels for sequence"):
        model.predict(X, lengths=lengths, forbidden=[(a, b) for a in range(3) for b in range(3)])


def test_n_jobs_changes_nothing():
    X, y, lengths = numbers(sequences=500)
    model = SequencePerceptron(max_iter=2).fit(X, y, lengths=lengths)
    alone = model.predict(X, lengths=lengths).tobytes()
    assert model.set_params(n_jobs=3).predict(X, lengths=lengths).tobytes() == alone


@pytest.mark.parametrize("changes", [{}, {"averaged": False}, {"decode": "beam", "beam_width": 2}])
def test_early_stopping_keeps_the_best_epoch(engine_name, changes):
    X, y, lengths = numbers(sequences=60)
    parameters = {"early_stopping": True, "validation_fraction": 0.3, "engine": engine_name} | changes
    model = SequencePerceptron(max_iter=30, **parameters).fit(X, y, lengths=lengths)
    scores = model.validation_scores_[:, 0]
    assert len(scores) == model.n_iter_ < 30
    best = int(np.argmax(scores))
    assert model.n_iter_ == best + 1 + model.n_iter_no_change
    # What is held out is not learnt from, and is judged by the weights that would predict.
    held_out = np.zeros(60, dtype=bool)
    held_out[validation_part([0] * 60, 0.3, 0)] = True
    rows = np.repeat(held_out, lengths)
    for epoch in range(model.n_iter_):
        upto = SequencePerceptron(max_iter=epoch + 1, **parameters).fit(X, y, lengths=lengths)
        if epoch <= best and int(np.argmax(scores[: epoch + 1])) == epoch:
            assert upto.score(X[rows], y[rows], lengths=lengths[held_out]) == scores[epoch]
            assert upto.n_seen_ == (epoch + 1) * 42
        assert upto.validation_scores_[:, 0].tolist() == scores[: epoch + 1].tolist()
    assert weights_of(upto) == weights_of(model)
    assert model.score(X[rows], y[rows], lengths=lengths[held_out]) == scores[best]


def test_verbose_changes_nothing_but_prints(capsys):
    X, y, lengths = numbers()
    quiet = SequencePerceptron(max_iter=4).fit(X, y, lengths=lengths)
    assert capsys.readouterr().out == ""
    loud = SequencePerceptron(max_iter=4, verbose=1).fit(X, y, lengths=lengths)
    assert state_of(loud) == state_of(quiet)
    assert capsys.readouterr().out.count("-- epoch") == loud.n_iter_


def test_last_weights_are_those_of_the_run():
    X, y, lengths = numbers()
    last = SequencePerceptron(averaged=False, max_iter=4).fit(X, y, lengths=lengths)
    assert (last.coef_ == np.trunc(last.coef_)).all()
    assert (last.coef_ != SequencePerceptron(max_iter=4).fit(X, y, lengths=lengths).coef_).any()


def test_clone_params_pickle_repr():
    model = SequencePerceptron(max_iter=3, decode="beam", beam_width=5)
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == "SequencePerceptron(beam_width=5, decode='beam', max_iter=3)"
    model.fit(ATTRIBUTES, TAGS)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(ATTRIBUTES) == model.predict(ATTRIBUTES)
    assert not hasattr(clone(model), "encoder_")


X, Y, LENGTHS = numbers(sequences=3)
BAD = [
    (X, Y, [1], "lengths must add up to the number of rows of X"),
    (X, Y, [len(X) + 1, -1], "lengths must be at least 0, got -1 for sequence 1"),
    (X, Y, [1.5], "lengths must be a vector of whole numbers"),
    (X, Y, [[1], [1, 2]], "lengths: setting an array element"),
    (X, Y, [2**62, 2**62, 2**62, 2**62 + len(X)], "lengths must add up to the number of rows of X"),
    (
        [X, X],
        [Y, Y],
        None,
        "X must be one matrix of the tokens of all sequences, got a list of 2 ones; stack",
    ),
    ([[{"a": 10**400}]], [["x"]], None, "attribute 'a' of token 0 must be finite, got 1000"),
    (X, Y[1:], LENGTHS, "inconsistent numbers of samples"),
    (np.where(X == 2, np.nan, X), Y, LENGTHS, "contains NaN"),
    (np.where(X == 2, np.inf, X), Y, LENGTHS, "contains infinity"),
    (np.full_like(X, 1e300), Y, LENGTHS, "overflowed in epoch"),
    (ATTRIBUTES, TAGS, [3], "lengths must be None for a list of sequences"),
    (ATTRIBUTES, TAGS[1:], None, "y must have as many sequences as X, 5, got 4"),
    (ATTRIBUTES, [TAGS[0][:2], *TAGS[1:]], None, "sequence 0 of y must have a label for each of 3 tokens"),
    ([*ATTRIBUTES, []], [*TAGS, ["D"]], None, "sequence 5 of y must have a label for each of 0 tokens"),
    (WORDS, TAGS, None, "is the string 'the'; give the attributes of each token"),
    (
        [[{"a": float("nan")}, {"a": 1.0}]],
        [["x", "y"]],
        None,
        "attribute 'a' of token 0 must be finite, got nan",
    ),
    (
        [[["w=the"]]],
        [[("the", "D")]],
        None,
        "got \\('the', 'D'\\); of pairs of words and tags, as NLTK",
    ),
    ([[{"a": None}, {"a": 1.0}]], [["x", "y"]], None, "attribute 'a' of token 0 must be a string, a number"),
    ([[{3: 1.0}, {"a": 1.0}]], [["x", "y"]], None, "attributes must be strings, got 3"),
]


@pytest.mark.parametrize(("X", "y", "lengths", "text"), BAD)
def test_bad_input(engine_name, X, y, lengths, text):
    model = SequencePerceptron(engine=engine_name, max_iter=50).fit(ATTRIBUTES, TAGS)
    before = contents(model)
    with pytest.raises((ValueError, TypeError), match=text):
        model.fit(X, y, lengths=lengths)
    assert contents(model) == before
    assert model.predict(ATTRIBUTES) == TAGS


BAD_PARAMETERS = [
    ({"eta0": 0.0}, "eta0"),
    ({"eta0": float("inf")}, "eta0"),
    ({"update": "early"}, "decode='viterbi' is not available with update='early'"),
    ({"beam_width": 0}, "beam_width"),
    ({"decode": "greedy"}, "decode"),
    (
        {"hash_columns": 8, "min_count": 2},
        "min_count=2 is not available with hash_columns=8, which keeps no counts",
    ),
    ({"early_stopping": True, "validation_fraction": 0.95}, "which leaves none to learn from"),
]


@pytest.mark.parametrize(("changes", "text"), BAD_PARAMETERS)
def test_bad_parameters(changes, text):
    with pytest.raises(ValueError, match=text):
        SequencePerceptron(**changes).fit(ATTRIBUTES, TAGS)


def test_forms_are_not_mixed():
    by_attributes = SequencePerceptron().fit(ATTRIBUTES, TAGS)
    with pytest.raises(ValueError, match="X must be a list of sequences of attributes"):
        by_attributes.predict(X, lengths=LENGTHS)
    by_matrix = SequencePerceptron().fit(X, Y, lengths=LENGTHS)
    with pytest.raises(ValueError, match="X must be a matrix"):
        by_matrix.predict(ATTRIBUTES)
    with pytest.raises(ValueError, match="which is not in classes_"):
        by_attributes.predict(ATTRIBUTES, forbidden=[("D", "?")])
    with pytest.raises(ValueError, match="allowed must have an entry for each"):
        by_attributes.predict(ATTRIBUTES, allowed=[None])


def test_callback_sees_each_epoch_and_can_stop(engine_name):
    X, y, lengths = numbers()
    seen = []
    watched = SequencePerceptron(callback=seen.append, max_iter=4, engine=engine_name).fit(
        X, y, lengths=lengths
    )
    assert [record.epoch for record in seen] == list(range(watched.n_iter_))
    assert [record.sequence_errors for record in seen] == watched.sequence_errors_per_epoch_.tolist()
    assert [record.token_errors for record in seen] == watched.token_errors_per_epoch_.tolist()
    assert {record.n_sequences for record in seen} == {len(lengths)}
    assert {record.validation_score for record in seen} == {None}
    assert state_of(watched) == state_of(SequencePerceptron(max_iter=4).fit(X, y, lengths=lengths))
    two = SequencePerceptron(callback=lambda record: record.epoch == 1, engine=engine_name).fit(
        X, y, lengths=lengths
    )
    assert state_of(two) == state_of(SequencePerceptron(max_iter=2).fit(X, y, lengths=lengths))
    assert not two.converged_


@pytest.mark.parametrize(
    "options", [{}, {"averaged": False}, {"n_partitions": 2}, {"early_stopping": True}], ids=str
)
def test_callback_sees_the_model_after_each_epoch(engine_name, options):
    X, y, lengths = numbers(sequences=12)
    models, records = [], []

    def watch(record):
        records.append(record)
        models.append(record.model())

    base = {"max_iter": 3, "engine": engine_name} | options
    last = SequencePerceptron(**base, callback=watch).fit(X, y, lengths=lengths)
    assert len(models) == last.n_iter_
    for number, model in enumerate(models, start=1):
        assert model.callback is None
        if "early_stopping" in options:  # a shorter fit need not keep its last epoch
            score = np.mean(model.predict(X, lengths=lengths) == y)
            assert 0 <= score <= 1
            assert model.n_seen_ == number * records[0].n_sequences
            continue
        expected = SequencePerceptron(**base | {"max_iter": number}).fit(X, y, lengths=lengths)
        assert {k: w.tobytes() for k, w in model._weights.items()} == {
            k: w.tobytes() for k, w in expected._weights.items()
        }
        assert model.predict(X, lengths=lengths).tolist() == expected.predict(X, lengths=lengths).tolist()
        assert model.n_seen_ == expected.n_seen_
    with pytest.raises(RuntimeError, match="while callback runs"):
        records[0].model()


def test_loss_curve(engine_name):
    """The mean loss of a sequence: the number of its wrong labels."""
    X, y, lengths = numbers(sequences=12)
    model = SequencePerceptron(max_iter=4, engine=engine_name).fit(X, y, lengths=lengths)
    assert model.loss_curve_ == (model.token_errors_per_epoch_ / 12).tolist()
    assert model.loss_curve_[0] > 0
    held = SequencePerceptron(
        max_iter=4, early_stopping=True, validation_fraction=0.25, engine=engine_name
    ).fit(X, y, lengths=lengths)
    assert held.loss_curve_ == (held.token_errors_per_epoch_ / 9).tolist()
    part = SequencePerceptron(engine=engine_name).partial_fit(X, y, lengths=lengths, classes=np.unique(y))
    assert part.loss_curve_ == (part.token_errors_per_epoch_ / 12).tolist()


def test_callback_sees_the_held_out_part(engine_name):
    X, y, lengths = numbers(sequences=12)
    seen = []
    model = SequencePerceptron(
        callback=seen.append, early_stopping=True, validation_fraction=0.4, engine=engine_name
    ).fit(X, y, lengths=lengths)
    assert [record.validation_score for record in seen] == model.validation_scores_[:, 0].tolist()
    assert {record.n_sequences for record in seen} == {12 - 5}


def test_an_error_in_the_callback_leaves_the_model_as_it_was(engine_name):
    X, y, lengths = numbers()
    model = SequencePerceptron(engine=engine_name).fit(X, y, lengths=lengths)
    before = state_of(model)

    def fail(record):
        raise LookupError("no")

    with pytest.raises(LookupError):
        model.set_params(callback=fail).fit(X, y + 1, lengths=lengths)
    assert state_of(model) == before


@pytest.mark.parametrize("keep", [False, True])
def test_ctrl_c_in_the_callback(engine_name, keep):
    X, y, lengths = numbers()

    def interrupt(record):
        if record.epoch == 1:
            raise KeyboardInterrupt

    model = SequencePerceptron(callback=interrupt, keep_on_interrupt=keep, engine=engine_name)
    if not keep:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y, lengths=lengths)
        assert not hasattr(model, "classes_")
        return
    with pytest.warns(ConvergenceWarning, match="ctrl-c ended the fit in epoch 2"):
        model.fit(X, y, lengths=lengths)
    assert state_of(model) == state_of(SequencePerceptron(max_iter=2).fit(X, y, lengths=lengths))


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and timers")
@pytest.mark.parametrize("keep", [False, True])
def test_ctrl_c_in_an_epoch(keep):
    X, y, lengths = numbers(sequences=3000, d=40, labels=40)

    def begin(record):
        if record.epoch == 0:
            signal.setitimer(signal.ITIMER_PROF, 0.3)

    model = SequencePerceptron(max_iter=100_000, keep_on_interrupt=keep, callback=begin)
    signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT))
    if keep:
        with pytest.warns(ConvergenceWarning, match="ctrl-c ended the fit"):
            model.fit(X, y, lengths=lengths)
        assert 0 < model.n_iter_ == len(model.token_errors_per_epoch_)
        assert len(model.predict(X, lengths=lengths)) == len(X)
    else:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y, lengths=lengths)
        assert not hasattr(model, "classes_")


def test_a_cold_start_of_rows_forgets_the_encoder_and_a_warm_one_keeps_it():
    model = SequencePerceptron(max_iter=2, warm_start=True).fit(ATTRIBUTES, TAGS)
    known = dict(model.encoder_.vocabulary_)
    assert model.fit(ATTRIBUTES[:1], TAGS[:1]).encoder_.vocabulary_ == known
    assert not hasattr(model.set_params(warm_start=False).fit(X, Y, lengths=LENGTHS), "encoder_")


def test_encoded_rows_are_the_attributes(engine_name):
    encoder = AttributeEncoder()
    X = encoder.fit_transform(token for sentence in ATTRIBUTES for token in sentence)
    y, lengths = [tag for tags in TAGS for tag in tags], [len(tags) for tags in TAGS]
    model = SequencePerceptron(engine=engine_name).fit_encoded(encoder, X, y, lengths=lengths)
    whole = SequencePerceptron(engine=engine_name).fit(ATTRIBUTES, TAGS)
    assert state_of(model) == state_of(whole)
    assert model.encoder_.vocabulary_ == whole.encoder_.vocabulary_
    assert model.predict(ATTRIBUTES) == whole.predict(ATTRIBUTES)
    with pytest.raises(ValueError, match="columns, but X has"):
        model.fit_encoded(encoder, X[:, 1:], y, lengths=lengths)
    with pytest.raises(
        ValueError, match="min_count and hash_columns must be those of the encoder, 1 and None"
    ):
        SequencePerceptron(min_count=2).fit_encoded(encoder, X, y, lengths=lengths)
    with pytest.raises(TypeError, match="encoder must be an AttributeEncoder"):
        model.fit_encoded(None, X, y, lengths=lengths)


def test_sparse_coef_is_coef():
    model = SequencePerceptron().fit(ATTRIBUTES, TAGS)
    assert model.sparse_coef_.shape == model.coef_.shape
    assert model.sparse_coef_.toarray().tobytes() == np.ascontiguousarray(model.coef_).tobytes()
    assert model.sparse_coef_.nnz == np.count_nonzero(model.coef_) < model.coef_.size


def weights_of(model):
    return {name: array.tobytes() for name, array in model._weights.items()}


def in_batches(model, X, y, lengths, size):
    """Learn from so many sequences at a time."""
    ends = np.cumsum(lengths)
    for first in range(0, len(lengths), size):
        part = lengths[first : first + size]
        begin, end = ends[first] - lengths[first], ends[first] - lengths[first] + sum(part)
        model.partial_fit(X[begin:end], y[begin:end], lengths=part, classes=np.unique(y))
    return model


@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize(
    "changes", [{}, {"transition_features": True}, {"decode": "beam", "update": "early"}]
)
def test_batches_are_one_pass(engine_name, averaged, changes):
    X, y, lengths = numbers(sequences=20)
    X, y = X * 0.1, np.asarray(y)
    changes = changes | {"averaged": averaged, "engine": engine_name, "eta0": 0.3}
    whole = SequencePerceptron(max_iter=1, shuffle=False, **changes).fit(X, y, lengths=lengths)
    for size in (1, 3, 20):
        model = in_batches(SequencePerceptron(**changes), X, y, lengths, size)
        assert weights_of(model) == weights_of(whole)
        assert model.n_seen_ == whole.n_seen_ == len(lengths)
        model = pickle.loads(pickle.dumps(model))
    model.partial_fit(X, y, lengths=lengths)
    two = SequencePerceptron(max_iter=2, shuffle=False, **changes).fit(X, y, lengths=lengths)
    assert two.n_iter_ == 1 or weights_of(model) == weights_of(two)
    assert model.sequence_errors_per_epoch_.tolist() == two.sequence_errors_per_epoch_[-1:].tolist()


def test_batches_of_attributes(engine_name):
    parameters = {"hash_columns": 64, "engine": engine_name}
    whole = SequencePerceptron(max_iter=1, shuffle=False, **parameters).fit(ATTRIBUTES, TAGS)
    model = SequencePerceptron(**parameters)
    labels = sorted({tag for tags in TAGS for tag in tags})
    for sequence, tags in zip(ATTRIBUTES, TAGS, strict=True):
        model.partial_fit([sequence], [tags], classes=labels)
    assert weights_of(model) == weights_of(whole)
    assert model.predict(ATTRIBUTES) == whole.predict(ATTRIBUTES)


@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize(
    "changes", [{}, {"transition_features": True}, {"decode": "beam", "update": "max_violation"}]
)
def test_a_pass_goes_on_from_a_fit_and_from_a_file(tmp_path, engine_name, averaged, changes):
    X, y, lengths = numbers(seed=3, sequences=20)
    X = X * 0.1
    parameters = changes | {"averaged": averaged, "engine": engine_name, "eta0": 0.3, "shuffle": False}
    model = SequencePerceptron(max_iter=1, **parameters).fit(X, y, lengths=lengths)
    model.save(tmp_path / "m")
    two = SequencePerceptron(max_iter=2, **parameters).fit(X, y, lengths=lengths)
    assert two.n_iter_ == 2
    other = SequencePerceptron(**parameters | {"averaged": not averaged}).fit(X, y, lengths=lengths)
    for again in (copy.deepcopy(model), load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        again.partial_fit(X, y, lengths=lengths)
        assert weights_of(again) == weights_of(two)
        assert again.n_seen_ == two.n_seen_ == 2 * len(lengths)
        assert again.set_params(max_iter=10, averaged=not averaged).fit(X, y, lengths=lengths)
        assert weights_of(again) == weights_of(other)


def test_a_pass_goes_on_from_the_best_epoch(engine_name):
    X, y, lengths = numbers(sequences=60)
    parameters = {"validation_fraction": 0.3, "engine": engine_name, "early_stopping": True}
    model = SequencePerceptron(max_iter=30, **parameters).fit(X, y, lengths=lengths)
    best = int(np.argmax(model.validation_scores_[:, 0]))
    assert best + 1 < model.n_iter_
    assert model.n_seen_ == (best + 1) * 42
    upto = SequencePerceptron(max_iter=best + 1, **parameters).fit(X, y, lengths=lengths)
    for other in (model, upto):
        other.set_params(early_stopping=False).partial_fit(X[:5], y[:5], lengths=[5])
    assert weights_of(model) == weights_of(upto)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"averaged": False, "transition_features": True},
        {"decode": "beam", "beam_width": 2, "update": "early"},
    ],
)
def test_predict_then_learn(engine_name, changes):
    X, y, lengths = numbers(seed=5, sequences=12)
    model, stepwise = (SequencePerceptron(engine=engine_name, eta0=0.3, **changes) for _ in range(2))
    X, ends, expected = X * 0.1, np.cumsum(lengths), []
    for end, length in zip(ends, lengths, strict=True):
        rows = slice(end - length, end)
        if hasattr(stepwise, "classes_"):
            last = copy.deepcopy(stepwise).set_params(averaged=False)
            expected += last.predict(X[rows], lengths=[length]).tolist()
        else:
            expected += [0] * length
        stepwise.partial_fit(X[rows], y[rows], lengths=[length], classes=[0, 1, 2])
    predicted, wrong = model.predict_then_learn(X, y, lengths=lengths, classes=[0, 1, 2])
    assert predicted.tolist() == expected
    assert wrong == np.count_nonzero(predicted != y) > 0
    assert weights_of(model) == weights_of(stepwise)
    assert model.n_seen_ == len(lengths)


def test_predict_then_learn_of_attributes(engine_name):
    model = SequencePerceptron(hash_columns=64, engine=engine_name)
    labels = sorted({tag for tags in TAGS for tag in tags})
    predicted, wrong = model.predict_then_learn(ATTRIBUTES, TAGS, classes=labels)
    pairs = [pair for parts in zip(predicted, TAGS, strict=True) for pair in zip(*parts, strict=True)]
    assert [len(tags) for tags in predicted] == [len(tags) for tags in TAGS]
    assert wrong == np.count_nonzero([z != y for z, y in pairs]) > 0
    before = state_of(model)
    with pytest.raises(ValueError, match="classes_"):
        model.predict_then_learn(ATTRIBUTES, [["?", *tags[1:]] for tags in TAGS])
    assert state_of(model) == before


def test_what_partial_fit_does_not_go_on_from(tmp_path):
    X, y, lengths = numbers()
    y = np.asarray(y)
    model = SequencePerceptron()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, y, lengths=lengths)
    assert not hasattr(model, "classes_")
    model.partial_fit(X, y, lengths=lengths, classes=np.unique(y))
    before = state_of(model)
    model.save(tmp_path / "m")
    assert state_of(load(tmp_path / "m")) == before
    for changes, words in (
        ({"early_stopping": True}, "early_stopping=True is not available with partial_fit"),
        ({"transition_features": True}, "transition_features=True differs from the fit"),
    ):
        other = copy.deepcopy(model).set_params(**changes)
        with pytest.raises(ValueError, match=words):
            other.partial_fit(X, y, lengths=lengths)
        assert state_of(other) == before
    with pytest.raises(ValueError, match="classes_"):
        model.partial_fit(X, y + 1, lengths=lengths)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X * np.nan, y, lengths=lengths)
    assert state_of(model) == before


def test_what_other_taggers_have_is_named():
    model = SequencePerceptron().fit(ATTRIBUTES, TAGS)
    for name in ("predict_marginals", "predict_marginals_single", "predict_proba"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=r"predict_margins says .*, predict_k finds"):
            getattr(model, name)
